"""With a cluster of Ray's the lab gives what one process gives, whatever dies."""

import math
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from components.errors import PoolscopeError
from components.fitting import Fit, Plan
from components.inference.engine import Here, resolved
from components.inference.jobs import Embed, Validate
from components.lab.__main__ import main
from components.lab.cluster import on_cluster
from components.lab.kept import Kept
from components.lab.lab import Run, fit_table, to_rows
from components.lab.rows import Asked, Folded
from components.lab.validation import divide
from components.model.files import version
from components.settings import ASSETS, Settings
from components.tables import guess, read_sheet, to_table

POOLINGS = ("cls", "mean", "declared")
BACKBONE = "bert-pretrained"
TOLERANCE = 1e-6
# Ray kills a process of its own, waits a second for it, and leaves it then: a busy machine needs longer.
ABANDONED = "ignore:Exception ignored in. <function Popen.__del__:pytest.PytestUnraisableExceptionWarning"
MANY = 12  # times the table: so many batches that none of the processes has nothing to do

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context"),  # Ray's own
    pytest.mark.filterwarnings(ABANDONED),
]


@pytest.fixture(scope="module")
def here() -> Run:
    return Here(Settings()).run


@pytest.fixture(scope="module")
def cluster(here: Run) -> Iterator[Run]:
    """A cluster of this machine's own, which ends with the tests."""
    with on_cluster("local", here) as run:
        yield run
    assert _below(os.getpid(), "ray::") == []


@pytest.fixture(scope="module")
def asked() -> Asked:
    sheet = read_sheet((ASSETS / "lab" / "tickets.csv").read_text(encoding="utf-8"))
    table, _ = to_table(sheet, guess(sheet))
    return to_rows(table, Plan((BACKBONE,), POOLINGS, False, 3, 0), Settings())


@pytest.fixture(scope="module")
def alone(here: Run, asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> tuple[Fit, Kept]:
    """What one process gives."""
    return _fitted(Kept(tmp_path_factory.mktemp("alone"), asked, here))


def test_vectors_and_scores_are_those_of_one_process(
    cluster: Run, asked: Asked, alone: tuple[Fit, Kept], tmp_path: Path
) -> None:
    _same(_fitted(Kept(tmp_path, asked, cluster)), alone)


def test_a_worker_that_is_killed_midway_changes_nothing(here: Run, cluster: Run, asked: Asked) -> None:
    spec = resolved(BACKBONE)
    job = Embed(spec, version(spec), asked.inputs * MANY, POOLINGS, False, 0, math.inf)
    killed: list[int] = []

    def run(job: Any) -> Any:
        part = cluster(job)
        if not killed:
            killed.append(_kill("ray::MapWorker"))
        return part

    (one, rows), (other, others) = (_vectors(run, job), _vectors(here, job))
    assert killed
    np.testing.assert_array_equal(rows, others)
    for place, found in one.items():
        np.testing.assert_allclose(found, other[place], rtol=0, atol=TOLERANCE)


def _vectors(run: Run, job: Embed) -> tuple[dict[Any, Any], Any]:
    """The vectors of all inputs in the order in which they came, and whose they are."""
    parts, stop = [], 0
    while stop < len(job.inputs):
        parts.append(run(replace(job, start=stop)))
        stop = parts[-1].stop
    places = parts[0].vectors
    found = {place: np.concatenate([part.vectors[place] for part in parts]) for place in places}
    return found, np.concatenate([part.rows for part in parts])


def test_fits_are_those_of_one_process_bit_for_bit(here: Run, cluster: Run, asked: Asked) -> None:
    job = _fits(asked, 8)
    _equal(cluster(job), here(job))


def test_a_fit_that_is_killed_midway_changes_nothing(here: Run, cluster: Run, asked: Asked) -> None:
    job, over = _fits(asked, 256), Event()
    with ThreadPoolExecutor(1) as other:
        killed = other.submit(_kill_when_there, "ray::fitted_fold", over)
        try:
            found = cluster(job)
        finally:
            over.set()
    assert killed.result()
    _equal(found, here(job))


def _fits(asked: Asked, width: int) -> Validate:
    """All folds but the first, on vectors of so many numbers."""
    vectors = np.random.default_rng(0).normal(size=(len(asked.rows.labels), width)).astype(np.float32)
    spec = resolved(BACKBONE)
    return Validate(spec, version(spec), vectors, asked.rows, divide(asked.rows, 3, 2), 3, start=1)


def _equal(one: Folded, other: Folded) -> None:
    for field in fields(Folded):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


def test_a_checkpoint_that_cannot_be_read_is_refused_with_the_same_sentence(
    here: Run, cluster: Run, asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    spec = resolved(str(tmp_path))
    job = Embed(spec, version(spec), asked.inputs, POOLINGS, False, 0, 0.0)
    said = []
    for run in (here, cluster):
        with pytest.raises(PoolscopeError) as refused:
            run(job)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_where_no_cluster_is_a_sentence_says_so(here: Run) -> None:
    with pytest.raises(PoolscopeError, match="no Ray cluster answers there"), on_cluster("127.0.0.1:1", here):
        pass


def test_without_ray_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    table = str(ASSETS / "lab" / "tickets.csv")
    assert main([table, "--out", str(tmp_path), "--ray", "auto"]) == 1
    assert "pip install -r requirements-ray.txt" in capsys.readouterr().err


def _fitted(kept: Kept) -> tuple[Fit, Kept]:
    steps = list(fit_table(kept, (resolved(BACKBONE),), kept.asked, 5.0, kept.allocate))
    assert isinstance(steps[-1], Fit)
    return steps[-1], kept


def _same(one: tuple[Fit, Kept], other: tuple[Fit, Kept]) -> None:
    """Equal vectors within 1e-6, and equal scores, intervals and sentences."""
    for row in one[0].ranking:
        file = f"vectors/*/{row.pooling}-{row.layer}.npy"
        found, expected = (np.load(next(kept.folder.glob(file))) for _fit, kept in (one, other))
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)
    assert one[0].ranking == other[0].ranking
    np.testing.assert_array_equal(one[0].predicted, other[0].predicted)
    assert one[0].warnings == other[0].warnings


def _kill(name: str) -> int:
    """Kill one process of the cluster; gives its number."""
    process = _below(os.getpid(), name)[0]
    os.kill(process, signal.SIGKILL)
    return process


def _kill_when_there(name: str, over: Event) -> int | None:
    """Kill one process of the cluster as soon as there is one of this name; None: there was none."""
    while not over.is_set():
        with suppress(FileNotFoundError, IndexError, ProcessLookupError):  # another process has just ended
            return _kill(name)
    return None


def _below(process: int, name: str) -> list[int]:
    """The processes that ``process`` began, at any depth, whose command begins with ``name``."""
    found, unseen = [], [process]
    while unseen:
        for thread in Path(f"/proc/{unseen.pop()}/task").glob("*/children"):
            for child in map(int, thread.read_text().split()):
                unseen.append(child)
                if Path(f"/proc/{child}/cmdline").read_bytes().startswith(name.encode()):
                    found.append(child)
    return found
