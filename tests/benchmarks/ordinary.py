"""What it costs to measure what is ordinary, once for each loaded checkpoint."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from components.model.backbone import Backbone
from components.model.catalogue import read_catalogue
from components.model.loading import load
from components.model.ordinary import measured, sentences
from components.settings import ASSETS
from components.types import BackboneSpec
from tests.benchmarks.engine import SIZES, random_bert
from tests.benchmarks.timing import compare, row

ROUNDS = {"BERT 6 x 384": 10, "BERT-base": 5}
BUNDLED = 20  # rounds


def report() -> None:
    """Print it over a plain forward pass of the same sentences, padded to one batch, and over loading."""
    with TemporaryDirectory() as folder:
        specs = [spec for spec in read_catalogue(ASSETS / "backbones.toml") if spec.key == "bert-sentiment"]
        for name, config in SIZES.items():
            random_bert(Path(folder) / name, **config)
            specs.append(BackboneSpec(name, name, "", "", "local", str(Path(folder) / name)))
        ways: tuple[tuple[str, Callable[[Backbone], object]], ...] = (
            ("a forward pass of the same sentences in one padded batch", padded),
            ("loading", lambda backbone: load(backbone.spec)),
        )
        for title, base in ways:
            print(f"\nWhat is ordinary over {title}")
            for spec in specs:
                backbone, rounds = load(spec), ROUNDS.get(spec.key, BUNDLED)
                result = compare(partial(measured, backbone), partial(base, backbone), rounds)
                print(row(spec.key, result), flush=True)


def padded(backbone: Backbone) -> object:
    """The hidden states of every sentence, as transformers gives them."""
    inputs = backbone.tokenizer(sentences(), padding=True, return_tensors="pt")
    with torch.no_grad():
        return backbone.model(**inputs, output_hidden_states=True)
