"""On every core the lab gives what one process gives, whatever dies."""

import os
import signal
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from components.inference.engine import Here, resolved
from components.inference.jobs import Validate
from components.lab.cores import OnCores
from components.lab.folds import fitted_fold
from components.lab.lab import Run
from components.lab.rows import Folded, Rows
from components.lab.validation import divide
from components.model.files import version
from components.settings import Settings
from components.types import Floats


@pytest.fixture(scope="module")
def here() -> Run:
    return Here(Settings()).run


@pytest.fixture
def on_cores(here: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Two processes, whatever this machine has."""
    monkeypatch.setattr("components.lab.cores.cores", lambda: 2)
    yield OnCores(here)
    get_reusable_executor().shutdown(wait=True)


@pytest.fixture
def job() -> Validate:
    """All folds but the first, on vectors that are so many that they are given to processes as a file."""
    draw = np.random.default_rng(0)
    rows = Rows(draw.integers(0, 3, 900), np.arange(900), 0)
    vectors = draw.normal(size=(900, 400)).astype(np.float32)
    spec = resolved("bert-pretrained")
    return Validate(spec, version(spec), vectors, rows, divide(rows, 3, 2), 3, start=1)


def test_fits_are_those_of_one_process_bit_for_bit(
    here: Run, on_cores: Run, job: Validate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def noted(fold: Validate, vectors: Floats) -> Folded:
        (tmp_path / str(fold.start)).write_text(str(os.getpid()), encoding="ascii")
        return fitted_fold(fold, vectors)

    monkeypatch.setattr("components.lab.cores.fitted_fold", noted)
    _equal(on_cores(job), here(job))
    by = {int(file.name): int(file.read_text(encoding="ascii")) for file in tmp_path.iterdir()}
    assert sorted(by) == [1, 2, 3, 4, 5]
    assert os.getpid() not in by.values()


def test_where_the_system_ends_a_process_this_one_fits(
    here: Run, on_cores: Run, job: Validate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.lab.cores.fitted_fold", _ended)
    _equal(on_cores(job), here(job))


def test_vectors_that_would_not_fit_into_memory_twice_are_fitted_here(
    here: Run, on_cores: Run, job: Validate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.lab.cores.total", lambda: 7 * job.vectors.nbytes)
    monkeypatch.setattr("components.lab.cores.Parallel", None)  # nobody asks for it
    _equal(on_cores(job), here(job))


def _ended(_fold: Validate, _vectors: Floats) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _equal(one: Folded, other: Folded) -> None:
    for field in fields(Folded):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
