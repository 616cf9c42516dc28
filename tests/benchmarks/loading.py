"""What loading a bundled checkpoint costs: read, measured where its head begins, and ready."""

from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging

from components.model.catalogue import read_catalogue
from components.model.loading import load
from components.settings import ASSETS
from tests.benchmarks.timing import compare, row

ROUNDS = 5


def report() -> None:
    """Print each checkpoint's loading over transformers' own reading of model and tokenizer."""
    logging.set_verbosity_error()  # the report on a new head, thirty times over
    print("\nLoading a bundled checkpoint over transformers' from_pretrained of model and tokenizer")
    bundled = [spec for spec in read_catalogue(ASSETS / "backbones.toml") if spec.source == "bundled"]
    for spec in bundled:

        def bare(folder: str = spec.location) -> None:
            AutoTokenizer.from_pretrained(folder)
            AutoModelForSequenceClassification.from_pretrained(folder)

        print(row(spec.key, compare(lambda spec=spec: load(spec), bare, ROUNDS), "bar 200 ms"), flush=True)
