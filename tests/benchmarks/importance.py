"""What it costs to say which tokens matter, and what erasure costs beside one batched pass of its rows."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from components.engine.backbone import Backbone
from components.engine.catalogue import read_catalogue
from components.engine.engine import Engine
from components.engine.examine import examine
from components.engine.importance import erased
from components.engine.loading import load
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.benchmarks.engine import random_bert, words
from tests.benchmarks.timing import compare, row

BARS = {("BERT-base", 128): "bar 1.10"}
ROUNDS = {"bundled BERT": 40, "BERT-base": 3}
LENGTH = 32  # tokens of the answers that are timed


def report() -> None:
    """Print erasure over one batched pass of as many rows, and the whole answer on the bundled models."""
    bundled = [spec for spec in read_catalogue(Settings().catalogue) if spec.source == "bundled"]
    with TemporaryDirectory() as folder:
        random_bert(Path(folder))
        base = BackboneSpec("BERT-base", "R", "t", "", "local", folder)
        bert = next(spec for spec in bundled if spec.key == "bert-sentiment")
        print("\nErasure of every token over one plain pass of as many texts")
        for name, spec in (("bundled BERT", bert), ("BERT-base", base)):
            backbone = load(spec)
            for length in (16, 32, 128):
                _erasure(name, backbone, length)
    print("\nEngine.importance, with integrated gradients and without them")
    engine = Engine(Settings(sources="bundled"))
    for spec in bundled:
        query = Query(spec.key, words(LENGTH))
        result = compare(
            lambda query=query: engine.importance(query, "", True),
            lambda query=query: engine.importance(query, "", False),
            10,
        )
        print(row(f"{spec.key}, {LENGTH} letters", result, "bar 300 ms"), flush=True)


def _erasure(name: str, backbone: Backbone, length: int) -> None:
    examined = examine(backbone, Query(backbone.spec.key, words(length)))
    eraser = int(backbone.tokenizer.mask_token_id)
    rows: dict[str, Tensor] = {name: value.repeat(length, 1) for name, value in examined.kept.inputs.items()}

    def bare() -> None:
        with torch.no_grad():
            backbone.model(**rows)

    result = compare(lambda: erased(examined, 0, eraser), bare, ROUNDS[name])
    print(row(f"{name}, {length} tokens", result, BARS.get((name, length), "")), flush=True)
