"""The command's work on a cluster of Ray's is that of one process, whatever dies."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from psutil import Process

from components.analyses.fit import Steps, Work, batches_of
from components.analyses.fit.classifier import fold
from components.errors import PoolscopeError
from components.inference.engine import Engine, InProcess
from components.inference.jobs import in_turns
from components.lab.work import on_cluster
from components.settings import Settings
from tests.lab.test_command import folds_of
from tests.tables import reviews

pytest.importorskip("ray")

POOLINGS = ("cls", "declared")
BACKBONE = "bert-pretrained"
# Ray kills a process of its own, waits a second for it, and leaves it then: a busy machine needs longer.
ABANDONED = "ignore:Exception ignored in. <function Popen.__del__:pytest.PytestUnraisableExceptionWarning"
ROWS = 1500  # so many batches that none of the processes has nothing to do

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context"),  # Ray's own
    pytest.mark.filterwarnings(ABANDONED),
]


@pytest.fixture(scope="module")
def here() -> Steps:
    return in_turns(InProcess(Settings()).run)


@pytest.fixture(scope="module")
def cluster(here: Steps) -> Iterator[Steps]:
    """A cluster of this machine's own, which ends with the tests."""
    with on_cluster("local", here) as steps:
        yield steps
    assert _begun("ray::") == []


def test_folds_on_a_cluster_are_those_of_one_process(cluster: Steps) -> None:
    call = folds_of(90)
    for (split,), probabilities in zip(call.each, cluster(call), strict=True):
        np.testing.assert_allclose(probabilities, fold(*call.given, split), rtol=0, atol=1e-6)


def test_a_worker_that_is_killed_midway_changes_no_vector(here: Steps, cluster: Steps) -> None:
    inputs = [(text,) for text in reviews(ROWS).texts]
    each = [(rows, [inputs[row] for row in rows]) for rows in batches_of(inputs)]
    call = Work("embed", Engine(Settings()).bring(BACKBONE), (POOLINGS, False), each)
    coming = cluster(call)
    first = next(coming)
    os.kill(_begun("ray::MapWorker")[0], signal.SIGKILL)
    found, expected = [first, *coming], [*here(call)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        for place, vectors in other.vectors.items():
            np.testing.assert_allclose(one.vectors[place], vectors, rtol=0, atol=1e-6)


def test_an_unreadable_checkpoint_is_refused_alike(here: Steps, cluster: Steps, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    said, spec = [], Engine(Settings()).bring(str(tmp_path))
    for steps in (here, cluster):
        with pytest.raises(PoolscopeError) as refused:
            list(steps(Work("embed", spec, (POOLINGS, False), [(np.arange(2), [("a",), ("b",)])])))
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_where_no_cluster_is_a_sentence_says_so(here: Steps) -> None:
    with pytest.raises(PoolscopeError, match="no Ray cluster answers there"), on_cluster("127.0.0.1:1", here):
        pass


def _begun(name: str) -> list[int]:
    """The processes that this one began, at any depth, whose command begins with ``name``."""
    every = (one.as_dict(["pid", "cmdline"]) for one in Process().children(recursive=True))
    return [one["pid"] for one in every if (one["cmdline"] or [""])[0].startswith(name)]
