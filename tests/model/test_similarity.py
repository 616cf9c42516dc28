"""Cosines on vectors whose angles are known."""

import numpy as np
import pytest

from components.model.similarity import cosine_by_layer, cosines


def test_known_angles() -> None:
    hidden = np.array([[[1, 0], [0, 2], [3, 3], [-5, 0]]], dtype=np.float32)  # (1, T, D)
    cosine = cosine_by_layer(hidden, hidden[:, 0])
    assert cosine.dtype == np.float32
    assert cosine[0].tolist() == pytest.approx([1, 0, np.sqrt(0.5), -1])


def test_each_of_some_with_each_of_others() -> None:
    found = cosines(np.array([[1.0, 0], [0, 2], [3, 3]]), np.array([[4.0, 0], [0, -1]]))
    np.testing.assert_allclose(found, [[1, 0], [0, -1], [np.sqrt(0.5), -np.sqrt(0.5)]], atol=1e-12)


def test_layers_are_kept_apart() -> None:
    hidden = np.array([[[1, 0], [1, 0]], [[1, 0], [0, 1]]], dtype=np.float32)
    assert cosine_by_layer(hidden, hidden[:, 0]).tolist() == [[1, 1], [1, 0]]


def test_a_vector_of_length_zero_has_similarity_zero() -> None:
    hidden = np.array([[[0, 0], [1, 0]]], dtype=np.float32)
    assert cosine_by_layer(hidden, hidden[:, 1]).tolist() == [[0, 1]]
    assert cosine_by_layer(hidden, hidden[:, 0]).tolist() == [[0, 0]]


def test_never_outside_minus_one_and_one() -> None:
    hidden = np.random.default_rng(0).normal(size=(3, 200, 64)).astype(np.float32) * 1e4
    for reference in (hidden[:, 0], -hidden[:, 0]):
        assert np.abs(cosine_by_layer(hidden, reference)).max() <= 1
