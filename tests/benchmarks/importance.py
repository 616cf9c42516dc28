"""What erasure costs beside one batched pass of its rows."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from components.analyses.importance import erased
from components.model.backbone import Backbone
from components.model.catalogue import read_catalogue
from components.model.examine import examine
from components.model.loading import load
from components.settings import Settings
from components.types import BackboneSpec, Query
from tests.benchmarks.engine import random_bert, words
from tests.benchmarks.timing import compare, row

BARS = {("BERT-base", 128): "bar 1.10"}
ROUNDS = {"bundled BERT": 40, "BERT-base": 3}


def report() -> None:
    """Print erasure over one batched pass of as many rows."""
    bert = next(spec for spec in read_catalogue(Settings().catalogue) if spec.key == "bert-sentiment")
    with TemporaryDirectory() as folder:
        random_bert(Path(folder))
        base = BackboneSpec("BERT-base", "R", "t", "", "local", folder)
        print("\nErasure of every token over one plain pass of as many texts")
        for name, spec in (("bundled BERT", bert), ("BERT-base", base)):
            backbone = load(spec)
            for length in (16, 32, 128):
                _erasure(name, backbone, length)


def _erasure(name: str, backbone: Backbone, length: int) -> None:
    examined = examine(backbone, Query(backbone.spec.key, words(length)))
    eraser = int(backbone.tokenizer.mask_token_id)
    rows: dict[str, Tensor] = {name: value.repeat(length, 1) for name, value in examined.kept.inputs.items()}

    def bare() -> None:
        with torch.no_grad():
            backbone.model(**rows)

    result = compare(lambda: erased(examined, 0, eraser), bare, ROUNDS[name])
    print(row(f"{name}, {length} tokens", result, BARS.get((name, length), "")), flush=True)
