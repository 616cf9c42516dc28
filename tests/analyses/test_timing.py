"""A timing: both poolings have as many turns, and a difference is told by the exact sign test."""

import numpy as np
import pytest
from scipy.stats import binomtest

from components.analyses.timing import LEAST, ROUNDS, Timed, exact
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.types import Analysis, Query

TEXT = "The plot is not bad."


def made_up(analysis: Analysis, against: str = "mean") -> Timed:
    """Rounds of a made-up answer in which the second pooling takes longer every time."""
    took = np.linspace(5, 6, 2 * ROUNDS, dtype=np.float32).reshape(-1, 2)
    return Timed(analysis, (analysis.query.pooling, against), took, took / 100)


def test_both_poolings_have_as_many_turns(engine: Engine) -> None:
    found: Timed = engine.ask("timing", Query("bert-sentiment", TEXT, pooling="cls"), against="mean")
    assert found.poolings == ("cls", "mean")
    for took in (found.whole, found.pooled):
        assert LEAST <= len(took) <= ROUNDS
        assert took.shape[1] == 2
        assert (took > 0).all()
    assert np.median(found.pooled) < np.median(found.whole)
    with pytest.raises(PoolscopeError, match=r"pooling: 'none'"):
        engine.ask("timing", Query("bert-sentiment", TEXT), against="none")


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (0, 1), (3, 12), (7, 8), (15, 0), (300, 251)])
def test_the_exact_test_is_that_of_scipy(better: int, worse: int) -> None:
    total = better + worse
    assert exact(better, worse) == pytest.approx(binomtest(better, total).pvalue if total else 1.0)
    ends = np.array([[1, 2]] * better + [[2, 1]] * worse + [[1, 1]] * 3, dtype=np.float32)
    assert Timed(analysis=None, poolings=("cls", "mean"), whole=ends, pooled=ends).p == exact(better, worse)  # type: ignore[arg-type]  # no answer is looked at
