"""What a comparison costs beside the bare forward passes of its backbones."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from pydantic import ByteSize
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.inference.engine import Engine
from components.settings import Settings
from components.types import Query
from tests.benchmarks.engine import random_bert, words
from tests.benchmarks.timing import compare, row

LARGE = tuple(f"base-{index}" for index in range(5))
BUNDLED = tuple(f"{family}-sentiment" for family in ("bert", "distilbert", "roberta", "xlnet", "gpt2"))
BARS = {("BERT-base", 128): "bar 1.15"}


def report() -> None:
    """Print Engine.compare with every pooling that is not learned over bare forward passes."""
    with TemporaryDirectory() as folder:
        large = _large(Path(folder))
        print("\nEngine.compare, 5 backbones x 12 poolings, over a bare forward pass of each backbone")
        for length in (16, 128):
            _over_passes("BERT-base", large, LARGE, length, rounds=10)
        for length in (16, 128):
            _over_passes("bundled", Engine(Settings()), BUNDLED, length, rounds=30)


def _large(folder: Path) -> Engine:
    """Five checkpoints of BERT-base's size, kept together."""
    random_bert(folder / "base")
    catalogue = folder / "backbones.toml"
    entries = [f'[{key}]\ntitle = "R"\ntask = "t"\npath = "base"' for key in LARGE]
    catalogue.write_text("\n".join(entries), encoding="utf-8")
    return Engine(Settings(catalogue=catalogue, memory=ByteSize(3_000_000_000)))


def _over_passes(name: str, engine: Engine, keys: Sequence[str], length: int, rounds: int) -> None:
    """``length`` counts BERT's tokens; other tokenizers make about as many."""
    text = words(length)
    poolings = [spec.key for spec in engine.poolings() if not (spec.learned or spec.declared)]
    asked = [Query(key, text, pooling=pooling) for key in keys for pooling in poolings]
    places = {spec.key: spec.location for spec in engine.backbones()}
    models = [AutoModelForSequenceClassification.from_pretrained(places[key]).float().eval() for key in keys]
    tokenizers = [AutoTokenizer.from_pretrained(places[key]) for key in keys]
    inputs = [one(text, return_tensors="pt", truncation=True, max_length=128) for one in tokenizers]

    def bare() -> None:
        with torch.no_grad():
            for model, given in zip(models, inputs, strict=True):
                model(**given, output_hidden_states=True)

    result = compare(lambda: list(engine.compare(asked)), bare, rounds)
    print(row(f"{name}, {length} tokens", result, BARS.get((name, length), "")), flush=True)
