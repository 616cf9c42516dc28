"""Hundreds of random and hostile questions to the functions behind the endpoints, on the bundled backbones.

Whatever is sent, the outcome is an answer of the right shape, or a message that names a field.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.pooling import POOLINGS
from components.settings import Settings
from components.ui.gradio_internals import block_functions
from components.ui.shell import build
from tests.serving import built

FIELDS = ("backbone", "text", "text_pair", "pooling", "head", "layer", "reference", "task")
SPECIALS = (
    "[CLS]", "[SEP]", "[MASK]", "[UNK]", "<s>", "</s>", "<pad>", "<cls>", "<eod>", "<|endoftext|>",
    "\x00", "\ufeff", "\u202e", "\u200b", "\u200d", "\u0301", "\ufffd", "\ud800", "\udfff", "\u2028",
    "😀", "\N{WOMAN}\u200d\N{GIRL}", "ﷺ", "مرحبا", "漢字", "ſ", "İ", "ß", "\r\n", "\t", " ", "{0}", "%s",
    "'; DROP TABLE x;--", "<script>pwn()</script>", "../../etc/passwd", "http://x", "a/b@evil", "None",
    "NaN", "-1", "1e999", "native", "cls", "own", "probe", "pooled", "bert-sentiment",
)  # fmt: skip
characters = st.characters(exclude_categories=())  # lone surrogates as well
words = st.sampled_from(SPECIALS) | st.text(characters, max_size=4) | st.sampled_from(("good", "not "))
texts = st.lists(words, max_size=3).map("".join)
odd = (10**400, -(2**63) - 1, 1e308, -0.0, True, "x" * 100_000)
huge = st.builds(pow, st.just(10), st.just(5_000))  # Python refuses to write it down
numbers = st.none() | st.integers() | st.floats() | st.sampled_from(odd) | huge
anything = st.recursive(
    numbers | texts | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def analyze(engine: Engine) -> Callable[..., Any]:
    """The function behind the endpoint."""
    page = built(lambda: build(engine, Settings()).page)
    return next(fn.fn for fn in block_functions(page).values() if fn.api_name == "analyze")


def is_refused(message: str) -> None:
    assert re.match(rf"({'|'.join(FIELDS)}): ", message), message
    assert len(message) < 2_000
    orjson.dumps(message)


def is_an_analysis(answer: dict[str, Any]) -> None:
    orjson.dumps(answer)  # as gradio does: no lone surrogate, no number that JSON has no word for
    count = len(answer["tokens"])
    assert count == len(answer["similarity"]) == len(answer["reads"]["share"]) > 0
    assert {len(row) for row in answer["similarity_by_layer"]} == {count}
    assert len(answer["labels"]) == len(answer["logits"]) == len(answer["probabilities"])
    assert all(math.isfinite(value) for value in answer["logits"])
    assert all(-1.00001 <= value <= 1.00001 for row in answer["similarity_by_layer"] for value in row)
    assert sum(answer["probabilities"]) == pytest.approx(1, abs=1e-4)
    assert 0 <= answer["cls_index"] < count


GOOD = {
    "backbone": st.sampled_from([f"{family}-sentiment" for family in ("bert", "roberta", "xlnet", "gpt2")]),
    "text": texts,
    "text_pair": st.one_of(st.just(""), texts),
    "pooling": st.sampled_from(tuple(POOLINGS)),
    "head": st.sampled_from(("own", "own", "probe")),
    "layer": st.integers(-6, 6),
    "reference": st.one_of(st.sampled_from(("cls", "pooled")), st.integers(-30, 30)),
}


@settings(
    max_examples=200,
    derandomize=True,  # the same every time: a failure here can be repeated anywhere
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.fixed_dictionaries(GOOD), st.dictionaries(st.sampled_from(FIELDS), anything, max_size=2))
def test_whatever_is_asked_is_answered_or_refused(
    analyze: Callable[..., Any], asked: dict[str, Any], wrong: dict[str, Any]
) -> None:
    try:
        answer = analyze(**{**asked, **wrong})
    except PoolscopeError as error:
        is_refused(str(error))
    else:
        is_an_analysis(answer)
