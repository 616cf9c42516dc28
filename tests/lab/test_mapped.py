"""Vectors in a mapped file are fitted as those in memory are, and what is copied of them goes to files."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from components.lab.classifier import PART, standardised
from components.lab.conclusion import plane
from components.lab.validation import Split, probabilities_on
from components.types import Floats, Ints
from tests.lab.test_lab import planted

Vectors = tuple[Floats, Floats, Ints]


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    """The same (N, D) in memory and in a file, and their labels (N,)."""
    found, labels = planted(2 * PART + 100, 5, seed=2)
    mapped = np.lib.format.open_memmap(tmp_path / "vectors.npy", "w+", np.float32, found.shape)
    mapped[:] = found
    return found, np.asarray(mapped), labels


def test_rows_of_a_file_are_standardised_in_another_that_goes_by_itself(
    vectors: Vectors, tmp_path: Path
) -> None:
    found, mapped, _labels = vectors
    rows = np.random.default_rng(0).permutation(len(found))[: PART + 50]
    scaler, scaled = standardised(mapped, rows)
    assert isinstance(scaled, np.memmap)
    assert [file.name for file in tmp_path.iterdir()] == ["vectors.npy"]
    expected = StandardScaler().fit(found[rows].astype(np.float64))
    np.testing.assert_allclose(scaler.mean_, expected.mean_, atol=1e-6)
    np.testing.assert_allclose(scaled, expected.transform(found[rows]), atol=1e-5)


def test_what_is_fitted_on_a_file_is_what_is_fitted_in_memory(vectors: Vectors) -> None:
    found, mapped, labels = vectors
    split = Split(*np.split(np.arange(len(found)), [PART, PART + 1000]))
    np.testing.assert_array_equal(*(probabilities_on(one, labels, split) for one in (found, mapped)))
    np.testing.assert_array_equal(plane(found, 0), plane(mapped, 0))
