"""Own heads under a swap, many texts at a time: the same as the engine says of each text alone."""

import numpy as np
import pytest

from components.inference.engine import Engine
from components.model.loading import load
from components.settings import ASSETS
from components.types import Query
from recipe.corpus import Example
from recipe.steps import bundled
from recipe.swaps import swap_answers, swap_results
from tests.measured import made

TEXTS = (
    "good",
    "The plot is not bad, but the acting is not good at all.",
    "A dull and lifeless film that never finds its way.",
    "Prices of oil rose again; who knows why?",
    "One of the finest films of the year, warm and funny from the first scene to the last.",
)


def examples(label: int = 1) -> list[Example]:
    return [Example((text,), label) for text in TEXTS]


@pytest.mark.parametrize("key", ["bert-sentiment", "gpt2-sentiment"])
def test_a_batch_says_what_the_engine_says_of_each_text(engine: Engine, key: str) -> None:
    backbone = load(bundled(key, ASSETS / "models" / key))
    answers, _ = swap_answers(backbone, examples())
    asked = [Query(key, text, pooling=pooling) for text in TEXTS for pooling in answers]
    found = [engine.ask("analyze", query) for query in asked]
    expected = np.array([one.logits.argmax() for one in found]).reshape(len(TEXTS), -1).T
    assert {pooling: column.tolist() for pooling, column in answers.items()} == {
        pooling: column.tolist() for pooling, column in zip(answers, expected, strict=True)
    }


def test_a_swap_is_counted_against_the_own_vector() -> None:
    backbone = load(bundled("gpt2-sentiment", ASSETS / "models/gpt2-sentiment"))
    answers, _ = swap_answers(backbone, examples())
    own = answers["native"]
    for row in made(swap_results(backbone, "sentiment", examples(), seed=0)):
        given = answers[row.pooling]
        assert row.value == np.mean(given == 1)
        assert (row.better, row.worse) == (sum((given == 1) & (own == 0)), sum((given == 0) & (own == 1)))
        assert row.low <= row.value <= row.high
