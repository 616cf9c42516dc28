"""Cosines on vectors whose angles are known."""

import numpy as np
import pytest

from components.engine.similarity import cosine_by_layer


def test_known_angles() -> None:
    hidden = np.array([[[1, 0], [0, 2], [3, 3], [-5, 0]]], dtype=np.float32)  # (1, T, D)
    cosine = cosine_by_layer(hidden, hidden[:, 0])
    assert cosine.dtype == np.float32
    assert cosine[0].tolist() == pytest.approx([1, 0, np.sqrt(0.5), -1])


def test_centring_subtracts_the_mean_over_tokens() -> None:
    hidden = np.array([[[101, 0], [99, 0], [100, 1], [100, -1]]], dtype=np.float32)
    assert cosine_by_layer(hidden, hidden[:, 0])[0].min() > 0.99
    assert cosine_by_layer(hidden, hidden[:, 0], centre=True)[0].tolist() == pytest.approx([1, -1, 0, 0])


def test_layers_are_kept_apart() -> None:
    hidden = np.array([[[1, 0], [1, 0]], [[1, 0], [0, 1]]], dtype=np.float32)
    assert cosine_by_layer(hidden, hidden[:, 0]).tolist() == [[1, 1], [1, 0]]


def test_a_vector_of_length_zero_has_similarity_zero() -> None:
    hidden = np.array([[[0, 0], [1, 0]]], dtype=np.float32)
    assert cosine_by_layer(hidden, hidden[:, 1]).tolist() == [[0, 1]]
    one_token = hidden[:, 1:]
    assert cosine_by_layer(one_token, one_token[:, 0], centre=True).tolist() == [[0]]


def test_never_outside_minus_one_and_one() -> None:
    hidden = np.random.default_rng(0).normal(size=(3, 200, 64)).astype(np.float32) * 1e4
    for reference in (hidden[:, 0], -hidden[:, 0]):
        assert np.abs(cosine_by_layer(hidden, reference)).max() <= 1
