"""The independent way of knowing: transformers used directly, by hand, without Poolscope."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.model.catalogue import read_catalogue
from components.model.tracing import Call
from components.settings import Settings
from tests.families.cases import FACTS, with_hidden

SPECS = {spec.key: spec for spec in read_catalogue(Settings().catalogue) if spec.source == "bundled"}
KEYS = tuple(SPECS)

INPUTS = (
    ("The plot is thin, but the actors are a delight.", ""),
    ("not good, not good at all", ""),
    ("Ein Café, 😀 naïve façade — 你好!", ""),
    ("The firm sold its share on Monday.", "On Monday the firm sold the share it held."),
    ("A man sleeps.", "Prices of oil rose again, and nobody knew why they did so."),
)

FIRST = ("bert", "distilbert", "roberta")  # families that read the first position, as their papers say


@dataclass(frozen=True, eq=False)
class Plain:
    """A checkpoint as anybody would load it."""

    model: Any
    tokenizer: Any

    def __call__(self, text: str, text_pair: str = "") -> Any:
        """What the model gives for one text or pair, with every hidden state."""
        inputs = self.tokenizer(text, text_pair or None, return_tensors="pt")
        with torch.no_grad():
            return self.model(**inputs, output_hidden_states=True)


@cache
def load_plain(folder: str) -> Plain:
    """The checkpoint in single precision, loaded once for all tests: they leave it as it is.

    Weights that it lacks are drawn from the seed that the app says it draws them from.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    return Plain(model, AutoTokenizer.from_pretrained(folder))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of two vectors in double precision."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@contextmanager
def overwritten(model: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """Within, a forward pass goes on with ``change`` of the last layer's hidden states (B, T, D)."""
    body = model.base_model.get_submodule(FACTS["bodies"].get(model.config.model_type, ""))
    with body.register_forward_hook(lambda _body, _args, output: with_hidden(output, change)):
        yield


def rerun(calls: Sequence[Call], hidden: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
    """The logits (B, K) that traced calls give, one after the other, for ``hidden`` instead of ``start``."""
    values = {id(start): hidden}
    with torch.no_grad():
        for call in calls:
            for old, new in zip(call.given, call.again(values), strict=True):
                values[id(old)] = new
    return values[id(calls[-1].given[0])]
