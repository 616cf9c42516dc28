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
from recipe.evidence import size_result
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


def test_cosines_are_those_of_plain_vectors(backbone: Backbone) -> None:
    model, pairs = load_plain(backbone.spec.location), scored()
    sentences = {sentence for one, other, _score in pairs for sentence in (one, other)}
    hidden = {sentence: model(sentence).hidden_states[-1][0].numpy() for sentence in sentences}
    found = {row.pooling: row for row in made(cosine_results(backbone, pairs, seed=0))}
    assert list(found) == [key for key in available(backbone) if key != "attention"]
    for pooling, pool in {
        "cls": lambda hidden: hidden[0],
        "lasttoken": lambda hidden: hidden[-1],
        "mean": lambda hidden: hidden.mean(axis=0),
    }.items():
        plain = [[pool(hidden[side]) for side in pair[:2]] for pair in pairs]
        rho = spearmanr([score for *_, score in pairs], [cosine(*sides) for sides in plain]).statistic
        assert found[pooling].value == pytest.approx(rho, abs=1e-3)
        assert found[pooling].low < rho < found[pooling].high
        assert found[pooling].measured == 60


def test_poolings_that_give_the_same_vectors_have_the_same_numbers(backbone: Backbone) -> None:
    rows = made(postprocessed_results(backbone, salad(90, 1), scored(), seed=0))
    first = {row.pooling: row.vector for row in made(cosine_results(backbone, scored(), seed=0))}
    assert {row.vector for row in rows} < {row.pooling for row in rows}
    numbers = {(row.pooling, row.step): (row.value, row.low, row.gain, row.gain_high) for row in rows}
    for row in rows:
        assert row.vector == first[row.pooling]
        assert numbers[row.pooling, row.step] == numbers[row.vector, row.step]


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


def test_the_size_is_that_of_the_encoder_without_its_classifier(backbone: Backbone) -> None:
    (size,), model = made([size_result(backbone)]), load_plain(backbone.spec.location).model
    whole = sum(weight.numel() for weight in model.parameters())
    head = sum(weight.numel() for weight in model.classifier.parameters())
    assert size.parameters == whole - head
    states = load_plain(backbone.spec.location)("a b").hidden_states
    assert (size.layers, size.width) == (len(states) - 1, states[0].shape[-1])
