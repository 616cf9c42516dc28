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
from tests.benchmarks.timing import Comparison, compare, row

BERT = ASSETS / "models" / "bert-sentiment"
SMALL = (("hidden_size", 384), ("num_hidden_layers", 6), ("num_attention_heads", 12))
SIZES = {  # random weights: time does not depend on them
    "BERT 6 x 384": {**dict(SMALL), "intermediate_size": 1536},
    "BERT-base": {},
}
BARS = {
    "analyze": {("BERT-base", 128): "bar 1.10", ("BERT 6 x 384", 128): "bar 1.25"},
    "anatomy": {("BERT-base", 128): "bar 1.30"},
    "compare": {("BERT-base", 128): "bar 1.15"},
    "trace": {("BERT-base", 32): "bar 1.30"},
}
ROUNDS = {"bundled BERT": 200, "BERT 6 x 384": 60, "BERT-base": 20}


def report() -> None:
    """Print answers over a bare forward pass, a trace over its rows, and all poolings over one."""
    with TemporaryDirectory() as folder:
        engine = _engine(Path(folder))
        poolings = [spec.key for spec in engine.poolings() if not (spec.learned or spec.declared)]
        ways: dict[str, Callable[[Query], object]] = {
            "analyze": partial(engine.ask, "analyze"),
            "anatomy": partial(engine.ask, "anatomy"),
            "compare": lambda query: list(engine.compare([replace(query, pooling=key) for key in poolings])),
        }
        for title, ask in ways.items():
            print(f"\nEngine.{title} over a bare forward pass with output_hidden_states=True")
            for name, rounds in ROUNDS.items():
                for length in (16, 32, 128):
                    query = Query(name, words(length))
                    result = compare(partial(ask, query), _bare(engine, query), rounds)
                    _tell(title, name, length, result)
        print("\nEngine.trace of two texts over as many rows in plain batched forward passes")
        for name, rounds in ROUNDS.items():
            for length in (16, 32):
                query = Query(name, words(length))
                trace = partial(engine.ask, "trace", query, other=f"h{query.text[1:]}", other_pair="")
                bare = _bare(engine, query, length + 1, trace().first.layers + 1)
                _tell("trace", name, length, compare(trace, bare, max(3, rounds // 10)))
        print("\nEngine.features for all poolings over one pooling (mean), 8 texts of 64 tokens")
        for name, rounds in ROUNDS.items():
            features = partial(engine.features, name, [words(64)] * 8)
            result = compare(partial(features, poolings), partial(features, ["mean"]), max(10, rounds // 3))
            print(row(name, result, "bar 1.05"), flush=True)


def _tell(title: str, name: str, length: int, result: Comparison) -> None:
    print(row(f"{name}, {length} tokens", result, BARS[title].get((name, length), "")), flush=True)


def random_bert(folder: Path, **config: int) -> None:
    """Save a BERT of random weights with the bundled BERT's tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(BERT)
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    whole = AutoConfig.for_model("bert", vocab_size=len(tokenizer), **config)
    AutoModelForSequenceClassification.from_config(whole).save_pretrained(folder)


def words(length: int) -> str:
    """A text of ``length`` tokens, [CLS] and [SEP] included: a single letter is always one."""
    return " ".join("abcdefgh"[index % 8] for index in range(length - 2))


def _engine(folder: Path) -> Engine:
    lines = [f'["bundled BERT"]\ntitle = "B"\ntask = "t"\npath = "{BERT}"']
    for name, config in SIZES.items():
        random_bert(folder / name, **config)
        lines.append(f'["{name}"]\ntitle = "R"\ntask = "t"\npath = "{folder / name}"')
    catalogue = folder / "backbones.toml"
    catalogue.write_text("\n".join(lines), encoding="utf-8")
    return Engine(Settings(catalogue=catalogue))


def _bare(engine: Engine, query: Query, rows: int = 1, times: int = 1) -> Callable[[], None]:
    """Forward passes of so many rows, of a text of each as it is, so many ``times``."""
    folder = next(spec.location for spec in engine.backbones() if spec.key == query.backbone)
    model = AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
    inputs = AutoTokenizer.from_pretrained(folder)(query.text, return_tensors="pt")

    @torch.no_grad()
    def run() -> None:
        for _ in range(times):
            model(
                **{key: value.expand(rows, -1) for key, value in inputs.items()},
                output_hidden_states=times == 1,
            )

    return run
