"""`python -m tests.benchmarks.space`: seconds of a Space that was just pushed, then woken, and its memory.

DistilBERT stands in the hub's cache as a Space fetches it, of the real size, with random weights.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from transformers import AutoConfig, AutoModelForSequenceClassification

from components.model.catalogue import read_catalogue
from components.settings import ASSETS
from tests.resident import resident
from tests.serving import eventually, started, status
from tests.tiny import tokenizer

SPACE = {"SYSTEM": "spaces", "SPACE_ID": "org/name", "HF_HUB_OFFLINE": "1", "POOLSCOPE_WORKERS": "2"}
PROXY = {
    "X-Forwarded-For": "192.0.2.7",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "org-name.hf.space",
}


def told(name: str, truth: Callable[[], object], begun: float) -> None:
    eventually(truth, name)
    print(f"{name:<36}{time.perf_counter() - begun:7.2f} s", flush=True)


if __name__ == "__main__":
    spec = next(one for one in read_catalogue(ASSETS / "backbones.toml") if one.key == "distilbert-sst2")
    asked = json.dumps({"backbone": spec.key, "text": "not good at all"})
    with TemporaryDirectory() as home:
        folder = Path(home, f"hub/models--{spec.location.replace('/', '--')}/snapshots/{spec.revision}")
        config = AutoConfig.for_model("distilbert", id2label={0: "NEGATIVE", 1: "POSITIVE"})
        AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        log, settings = Path(home, "log"), SPACE | dict.fromkeys(("HOME", "HF_HOME"), home)
        for _ in range(2):
            begun = time.perf_counter()
            with started("app.py", log=log, LOG=str(log), **settings) as (url, _), httpx.Client() as visitor:
                visitor.headers.update(PROXY)
                told("start to first HTML", lambda: status(url), begun)
                told("start to its answer", lambda: f"<dd>{spec.title}</dd>" in visitor.get(url).text, begun)
                begun = time.perf_counter()
                told("another", lambda: visitor.post(f"{url}/analyze", content=asked).is_success, begun)
                print({name: f"{taken / 1e9:.2f} GB" for name, taken in resident(log).items()})
