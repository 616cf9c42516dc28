"""The shipped numbers of how alike answers and erasure rank tokens: complete, and what they are by hand."""

import numpy as np
import pytest
from transformers import AutoConfig

from recipe.corpus import read
from recipe.recipes import split_key
from tests.measured import measured
from tests.recipe.test_shipped import DATA, MODELS, RECIPES, RESULTS, TUNED, with_data
from tests.recipe.weighing import rhos_by_hand

ASKED = [key for key in TUNED if split_key(key)[1] in RECIPES.explaining.tasks]


def test_there_is_every_answer_of_every_checkpoint_that_was_asked() -> None:
    assert list(dict.fromkeys(row.backbone for row in measured(RESULTS, "agreement"))) == ASKED
    for key in ASKED:
        layers = AutoConfig.from_pretrained(MODELS / key).num_hidden_layers
        found = [
            (row.task, row.method, row.layer) for row in measured(RESULTS, "agreement") if row.backbone == key
        ]
        looks: list[tuple[str, int | None]] = [
            *(("similarity", layer) for layer in range(layers + 1)),
            *(("attention", layer) for layer in range(1, layers + 1)),
            *((name, None) for name in ("rollout", "gradient_x_input", "integrated_gradients")),
        ]
        assert found == [(split_key(key)[1], *look) for look in looks]


@with_data
def test_a_rho_with_erasure_is_what_the_results_say() -> None:
    examples = read(RECIPES.evaluations["sentiment"], DATA)
    key = "distilbert-sentiment"
    by_hand = rhos_by_hand(MODELS / key, [example.texts[0] for example in examples])
    rows = {(row.method, row.layer): row for row in measured(RESULTS, "agreement") if row.backbone == key}
    for method, rhos in by_hand.items():
        assert rows[method].measured == np.isfinite(rhos).sum()
        assert rows[method].value == pytest.approx(np.nanmean(rhos), abs=1e-4)  # of near ties, one may turn
