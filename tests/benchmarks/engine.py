"""What measuring costs beside a bare forward pass that gives the hidden states."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from components.inference.engine import Engine
from components.settings import ASSETS, Settings
from components.types import Query
from tests.benchmarks.timing import tell, turns
from tests.tiny import catalogue
from tests.vectors import features

BERT = ASSETS / "models" / "bert-sentiment"
SMALL = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
SIZES = {"BERT-6x384": SMALL, "BERT-base": {}}  # random weights: time does not depend on them
ROUNDS = {"bundled-BERT": 200, "BERT-6x384": 60, "BERT-base": 20}
BARS = {
    ("analyze", "BERT-base", 128): "bar 1.10",
    ("analyze", "BERT-6x384", 128): "bar 1.25",
    ("anatomy", "BERT-base", 128): "bar 1.30",
    ("compare", "BERT-base", 128): "bar 1.15",
    ("trace", "BERT-base", 32): "bar 1.30",
}


def report() -> None:
    """Print answers over a bare forward pass, a trace over its rows, and all poolings over one."""
    print("\nAnswers over a bare forward pass with output_hidden_states=True, traces over as many rows of it")
    with TemporaryDirectory() as folder:
        engine = _engine(Path(folder))
        poolings = [spec.key for spec in engine.poolings() if not (spec.learned or spec.declared)]
        for name, rounds in ROUNDS.items():
            for length in (16, 32, 128):
                query = Query(name, words(length))
                bare = _bare(engine, query)
                each = [replace(query, pooling=key) for key in poolings]
                ways = {title: partial(engine.ask, title, query) for title in ("analyze", "anatomy")}
                ways["compare"] = lambda each=each: list(engine.compare(each))
                pairs = {title: turns(way, bare, rounds) for title, way in ways.items()}
                if length < 128:
                    trace = partial(engine.ask, "trace", query, other=f"h{query.text[1:]}", other_pair="")
                    rows = _bare(engine, query, length + 1, trace().first.layers + 1)
                    pairs["trace"] = turns(trace, rows, max(3, rounds // 10))
                for title, times in pairs.items():
                    tell(f"{title}, {name}, {length} tokens", times, BARS.get((title, name, length), ""))
            found = partial(features, engine, name, [words(64)] * 8)
            pairs = turns(partial(found, poolings), partial(found, ["mean"]), max(10, rounds // 3))
            tell(f"all poolings over one, {name}, 8 x 64 tokens", pairs, "bar 1.05")


def words(length: int) -> str:
    """A text of ``length`` tokens, [CLS] and [SEP] included: a single letter is always one."""
    return " ".join("abcdefgh"[index % 8] for index in range(length - 2))


def _engine(folder: Path) -> Engine:
    """An engine with BERTs of random weights, and the bundled one, whose tokenizer they have."""
    tokenizer = AutoTokenizer.from_pretrained(BERT)
    tokenizer.model_max_length = 512
    for name, config in SIZES.items():
        whole = AutoConfig.for_model("bert", vocab_size=len(tokenizer), **config)
        AutoModelForSequenceClassification.from_config(whole).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    places = {"bundled-BERT": BERT} | {name: folder / name for name in SIZES}
    return Engine(Settings(catalogue=catalogue(folder, places)))


def _bare(engine: Engine, query: Query, rows: int = 1, times: int = 1) -> Callable[[], None]:
    """Forward passes of so many rows, of a text of each as it is, so many ``times``."""
    folder = next(spec.location for spec in engine.backbones() if spec.key == query.backbone)
    model = AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
    inputs = AutoTokenizer.from_pretrained(folder)(query.text, return_tensors="pt")
    batch = {key: value.expand(rows, -1) for key, value in inputs.items()}

    @torch.no_grad()
    def run() -> None:
        for _ in range(times):
            model(**batch, output_hidden_states=times == 1)

    return run
