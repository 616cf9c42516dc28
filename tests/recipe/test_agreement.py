"""How alike answers and erasure rank tokens: the means of what transformers and SciPy give of each text."""

import numpy as np
import pytest
from scipy.stats import binomtest

from components.model.loading import load
from components.results import Row
from components.settings import ASSETS
from recipe.agreement import agreement_results
from recipe.corpus import Example
from recipe.steps import bundled
from tests.measured import made
from tests.recipe.weighing import rhos_by_hand

KEY = "distilbert-sentiment"
FOLDER = ASSETS / "models" / KEY
TEXTS = [
    "The plot is not bad, but the acting is not good at all.",
    "good",  # one token: no order, so no rho
    "A dull and lifeless film that never finds its way.",
    "One of the finest films of the year, warm and funny.",
]


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, int | None], Row]:
    examples = [Example((text,), 1) for text in TEXTS]
    found = agreement_results(load(bundled(KEY, FOLDER)), "sentiment", examples, seed=0)
    return {(row.method, row.layer): row for row in made(found)}


def test_rho_is_the_mean_of_what_is_computed_by_hand(
    rows: dict[tuple[str, int | None], Row],
) -> None:
    by_hand = rhos_by_hand(FOLDER, TEXTS)
    assert rows.keys() - by_hand.keys() == {
        (name, None) for name in ("rollout", "gradient_x_input", "integrated_gradients")
    }
    last = by_hand["similarity", max(layer for _, layer in by_hand)]
    for method, rhos in by_hand.items():
        row = rows[method]
        assert row.measured == len(TEXTS) - 1
        assert row.value == pytest.approx(np.nanmean(rhos), abs=1e-6)
        better, worse = int((rhos > last).sum()), int((rhos < last).sum())
        assert (row.better, row.worse) == (better, worse)
        assert row.p == pytest.approx(binomtest(better, better + worse).pvalue if better + worse else 1.0)


def test_means_lie_in_their_intervals(rows: dict[tuple[str, int | None], Row]) -> None:
    for row in rows.values():
        assert -1 <= row.low <= row.value <= row.high <= 1
        assert row.low < row.high
        assert (row.backbone, row.task) == (KEY, "sentiment")
