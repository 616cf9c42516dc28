"""`python -m tests.benchmarks.space`: a Space that was just pushed, then woken, with a random DistilBERT."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from transformers import AutoConfig, AutoModelForSequenceClassification

from components.model.catalogue import read_catalogue
from components.settings import ASSETS
from tests.resident import resident
from tests.serving import eventually, served
from tests.tiny import tokenizer

SPACE = {"SYSTEM": "spaces", "SPACE_ID": "org/name", "HF_HUB_OFFLINE": "1", "POOLSCOPE_WORKERS": "2"}
VIA = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "org-name.hf.space"}


if __name__ == "__main__":
    spec = next(one for one in read_catalogue(ASSETS / "backbones.toml") if one.key == "distilbert-sst2")
    asked = json.dumps({"backbone": spec.key, "text": "not good at all"})
    with TemporaryDirectory() as home:
        folder = Path(home, f"hub/models--{spec.location.replace('/', '--')}/snapshots/{spec.revision}")
        config = AutoConfig.for_model("distilbert", id2label={0: "NEGATIVE", 1: "POSITIVE"})
        AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        log, settings = Path(home, "log"), SPACE | dict.fromkeys(("HOME", "HF_HOME"), home)
        visitor = httpx.Client(headers=VIA)
        for _ in range(2):
            begun = time.perf_counter()
            with served("app.py", log=log, LOG=str(log), **settings) as url:
                html = time.perf_counter() - begun
                eventually(lambda: f"<dd>{spec.title}</dd>" in visitor.get(url).text, "no answer in the HTML")
                answer = time.perf_counter() - begun
                visitor.post(f"{url}/analyze", content=asked).raise_for_status()
                another = time.perf_counter() - begun - answer
                print(f"HTML {html:.2f} s, its answer {answer:.2f} s, another {another:.2f} s", resident(log))
