"""A swap is said of an own head that is given another vector than it was trained on, and of no other."""

import numpy as np
import pytest

from components.inference.engine import Engine
from components.types import Query
from tests.plain import FIRST, INPUTS, SPECS, load_plain

TEXT, PAIR = INPUTS[3]
SOME = ("bert-sentiment", "gpt2-paraphrase", "distilbert-pretrained")


def native(key: str) -> np.ndarray:
    """The final hidden state that the own head was trained on, by transformers alone, as the papers say."""
    (states,) = load_plain(SPECS[key].location)(TEXT, PAIR).hidden_states[-1]
    vector: np.ndarray = states[0 if key.split("-")[0] in FIRST else -1].numpy()
    return vector


@pytest.mark.parametrize("head", ["own", "probe"])
@pytest.mark.parametrize("key", SOME)
def test_a_swap_is_an_own_head_with_another_vector(engine: Engine, key: str, head: str) -> None:
    vector = native(key)
    asked = [Query(key, TEXT, PAIR, spec.key, head) for spec in engine.poolings()]
    (answers,) = engine.compare(asked)
    found = [cell.analysis for cell in answers.cells if cell.analysis is not None]
    for analysis in found:
        if analysis.query.pooling == "pooler" and head == "own":
            continue  # of the head itself: no other vector of hidden states
        same = vector.shape == analysis.pooled.shape and np.allclose(analysis.pooled, vector, atol=1e-5)
        assert analysis.swapped == (head == "own" and not same), analysis.query.pooling
    assert sum(analysis.swapped for analysis in found) > 3 * (head == "own") - 1
