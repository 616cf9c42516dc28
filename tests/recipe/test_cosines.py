"""Raw cosines after centring, standardising and whitening, against scikit-learn and SciPy."""

import random

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from components.analyses.fit.embedding import available
from components.model.backbone import Backbone
from components.model.loading import load
from components.model.pooling import POOLINGS
from recipe.corpus import UNLABELLED, Example
from recipe.cosines import (
    STEPS,
    Scored,
    centred,
    cosine_results,
    postprocessed_results,
    standardised,
    unscored_texts,
    whitened,
)
from tests.measured import made
from tests.plain import cosine, load_plain
from tests.tiny import checkpoint

FILLERS = ("the", "film", "is", "at", "all", "a", "b", "c", "man", "sleeps", "!", ",")


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return load(checkpoint(tmp_path_factory.mktemp("cosines") / "tiny"))


def salad(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(FILLERS, k=rng.randint(2, 7))) for _ in range(count)]


def scored() -> list[Scored]:
    rng = random.Random(4)
    return [
        (one, other, float(rng.randint(0, 5))) for one, other in zip(salad(60, 5), salad(60, 6), strict=True)
    ]


def plain_means(backbone: Backbone, texts: list[str]) -> np.ndarray:
    """The average of all final hidden states of each text, with transformers alone: (N, D)."""
    model = load_plain(backbone.spec.location)
    return np.stack([model(text).hidden_states[-1][0].numpy().mean(axis=0) for text in texts])


def test_rhos_after_each_step_are_those_of_scikit_learn_and_scipy(backbone: Backbone) -> None:
    texts, pairs = salad(200, 1), scored()
    rows = made(postprocessed_results(backbone, texts, pairs, seed=0))
    unlearned = [key for key in available(backbone) if not POOLINGS[key].spec.learned]
    assert [(row.pooling, row.step) for row in rows] == [(key, step) for key in unlearned for step in STEPS]
    found = {row.step: row for row in rows if row.pooling == "mean"}
    fitted = plain_means(backbone, texts).astype(np.float64)
    sides = [plain_means(backbone, [pair[side] for pair in pairs]) for side in (0, 1)]
    rank = np.linalg.matrix_rank(fitted - fitted.mean(axis=0), tol=1e-3)
    assert rank == fitted.shape[1] - 1  # what the norm at the end of the layer takes away
    for step, fit in {
        "centred": StandardScaler(with_std=False).fit(fitted),
        "standardised": StandardScaler().fit(fitted),
        "whitened": PCA(n_components=rank, whiten=True, svd_solver="full").fit(fitted),
    }.items():
        cosines = [cosine(one, other) for one, other in zip(*map(fit.transform, sides), strict=True)]
        rho = spearmanr([score for *_, score in pairs], cosines).statistic
        row = found[step]
        assert row.value == pytest.approx(rho, abs=1e-3), step
        assert row.low < rho < row.high
        assert (row.fitted, row.measured) == (200, 60)
        (before,) = (one for one in made(cosine_results(backbone, pairs, seed=0)) if one.pooling == "mean")
        assert row.gain == pytest.approx(row.value - before.value, abs=1e-12)
        assert row.gain_low <= row.gain <= row.gain_high


def test_what_is_whitened_has_no_correlations_and_a_direction_without_variance_is_left_out() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6)) + 3
    vectors -= vectors.mean(axis=1, keepdims=True)  # as a layer norm does: the last direction is rounding
    vectors += rng.normal(scale=1e-7, size=vectors.shape)
    np.testing.assert_allclose(centred(vectors)(vectors).mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(standardised(vectors)(vectors).std(axis=0), 1)
    turned = whitened(vectors)(vectors)
    assert turned.shape == (500, 5)
    np.testing.assert_allclose(np.cov(turned, rowvar=False), np.eye(5), atol=1e-9)
    np.testing.assert_allclose(turned.mean(axis=0), 0, atol=1e-12)


def test_the_steps_are_fitted_to_no_text_of_a_scored_pair() -> None:
    pairs: list[Scored] = [("A man sleeps .", "A dog runs .", 0.4)]
    examples = [
        Example(("Oil rose.", "It fell."), UNLABELLED),
        Example(("a man sleeps.", "Someone else sleeps."), UNLABELLED),  # another spelling of a scored one
        Example(("It fell.", "Nobody knows."), UNLABELLED),
    ]
    assert unscored_texts(examples, pairs) == ["Oil rose.", "It fell.", "Nobody knows."]
