"""The command's work: on every core or on a cluster of Ray's it is that of one process, whatever dies."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from components.analyses.fit import Call, Steps, fit_table
from components.analyses.fit.classifier import divide, fold
from components.analyses.fit.rows import Pooled, Rows, Split, batches_of, splits_of, to_rows
from components.errors import PoolscopeError
from components.fitting import Fit, Plan, fit_json
from components.inference.engine import InProcess, resolved
from components.inference.jobs import in_turns
from components.inference.payload import pack
from components.lab.__main__ import main
from components.lab.work import on_cluster, on_cores, read, remembering, write
from components.settings import ASSETS, Settings
from components.types import Floats, Ints
from tests.plain import SPECS
from tests.tables import reviews

KEY = "bert-sentiment"
POOLINGS = ("cls", "declared")
BACKBONE = "bert-pretrained"
# Ray kills a process of its own, waits a second for it, and leaves it then: a busy machine needs longer.
ABANDONED = "ignore:Exception ignored in. <function Popen.__del__:pytest.PytestUnraisableExceptionWarning"
ROWS = 1500  # so many batches that none of the processes has nothing to do

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context"),  # Ray's own
    pytest.mark.filterwarnings(ABANDONED),
]


def test_a_batch_on_disk_is_that_in_memory(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    vectors = {(key, 4): draw.normal(size=(3, 5)).astype(np.float32) for key in ("cls", "mean")}
    refused = {"pooler": PoolscopeError("pooling", "pooler", "errors.no_pooler")}
    part = Pooled(np.array([3, 0, 7]), vectors, refused, np.arange(3) > 0, np.zeros(3, bool), 512)
    write(part, tmp_path / "new" / "part.parquet")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["part.parquet"]
    found = read(tmp_path / "new" / "part.parquet")
    assert pack(replace(found, vectors={})) == pack(replace(part, vectors={}))
    assert list(found.vectors) == list(vectors)
    for place, expected in vectors.items():
        np.testing.assert_array_equal(found.vectors[place], expected, strict=True)


def test_vectors_lie_in_a_file_by_all_that_they_depend_on(tmp_path: Path) -> None:
    def embedded(call: Call) -> Iterator[Pooled]:
        for rows, _inputs in call.each:
            nothing = np.zeros(len(rows), bool)
            yield Pooled(rows, {("cls", 4): np.ones((len(rows), 2), np.float32)}, {}, nothing, nothing, 512)

    steps, rows = remembering(embedded, tmp_path), np.arange(2)
    calls = [
        Call("embed", SPECS[KEY], given, [(rows, [("a",), (other,)])])
        for given in ((("cls",), False), (("mean",), False), (("cls",), True))
        for other in ("b", "c", "b")
    ]
    for call in calls:
        (part,) = steps(call)
        np.testing.assert_array_equal(part.vectors["cls", 4], np.ones((2, 2)))
    assert len([*tmp_path.glob("vectors/*/*.parquet")]) == 6


def folds_of(rows: int) -> Call:
    draw = np.random.default_rng(0)
    labels, vectors = draw.integers(0, 3, rows), draw.normal(size=(rows, 20)).astype(np.float32)
    splits = splits_of(divide(Rows(labels, np.arange(rows), 0), 3, 1)[0], 3)
    return Call("fold", SPECS[KEY], (vectors, labels), [(split,) for split in splits])


@pytest.mark.parametrize("rows", [90, 900])
def test_folds_on_every_core_are_those_of_one_process_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: int
) -> None:
    """Few rows stay in this process."""

    def noted(vectors: Floats, labels: Ints, split: Split) -> Floats:
        (tmp_path / str(split.test[0])).write_text(str(os.getpid()), encoding="ascii")
        return fold(vectors, labels, split)

    monkeypatch.setattr("components.lab.work.cores", lambda: 2)
    monkeypatch.setattr("components.analyses.fit.classifier.fold", noted)
    call = folds_of(rows)
    found = [*on_cores(in_turns(InProcess(Settings()).run))(call)]
    get_reusable_executor().shutdown(wait=True)
    for (split,), probabilities in zip(call.each, found, strict=True):
        np.testing.assert_array_equal(probabilities, fold(*call.given, split))
    processes = {int(file.read_text(encoding="ascii")) for file in tmp_path.iterdir()}
    assert (os.getpid() in processes) is (rows == 90)


def test_a_run_that_was_stopped_goes_on_and_says_the_same(tmp_path: Path) -> None:
    asked = to_rows(reviews(150), Plan((KEY,), ("mean", "cls"), False, 3), Settings())
    here, done = in_turns(InProcess(Settings()).run), list[str]()

    def counting(stop: int = -1) -> Steps:
        """Steps that are noted, until they are stopped."""
        done.clear()

        def steps(call: Call) -> Iterator[Any]:
            for answer in here(call):
                if len(done) == stop:
                    raise KeyboardInterrupt
                done.append(call.name)
                yield answer

        return remembering(steps, tmp_path)

    def fitted(steps: Steps) -> Fit:
        *_, last = fit_table(steps, [SPECS[KEY]], asked)
        assert isinstance(last, Fit)
        return last

    whole = fitted(here)
    with pytest.raises(KeyboardInterrupt):
        fitted(counting(stop=3))
    assert done == ["divide", "embed", "embed"]
    with pytest.raises(KeyboardInterrupt):
        fitted(counting(stop=13))
    assert done == ["divide", "embed", *["fold"] * 11]
    assert fit_json(fitted(counting()), ()) == fit_json(whole, ())
    assert "embed" not in done
    assert done.count("fold") == 6 + 4 * 3 + 3  # one combination of two was tested before
    assert fit_json(fitted(counting()), ()) == fit_json(whole, ())
    assert done == ["divide", "divide", "conclude"]


@pytest.fixture(scope="module")
def here() -> Steps:
    return in_turns(InProcess(Settings()).run)


@pytest.fixture(scope="module")
def cluster(here: Steps) -> Iterator[Steps]:
    """A cluster of this machine's own, which ends with the tests."""
    with on_cluster("local", here) as steps:
        yield steps
    assert _below(os.getpid(), "ray::") == []


def test_folds_on_a_cluster_are_those_of_one_process(cluster: Steps) -> None:
    call = folds_of(90)
    for (split,), probabilities in zip(call.each, cluster(call), strict=True):
        np.testing.assert_allclose(probabilities, fold(*call.given, split), rtol=0, atol=1e-6)


def test_a_worker_that_is_killed_midway_changes_no_vector(here: Steps, cluster: Steps) -> None:
    inputs = [(text,) for text in reviews(ROWS).texts]
    each = [(rows, [inputs[row] for row in rows]) for rows in batches_of(inputs)]
    call = Call("embed", resolved(BACKBONE), (POOLINGS, False), each)
    coming = cluster(call)
    first = next(coming)
    os.kill(_below(os.getpid(), "ray::MapWorker")[0], signal.SIGKILL)
    found, expected = [first, *coming], [*here(call)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        for place, vectors in other.vectors.items():
            np.testing.assert_allclose(one.vectors[place], vectors, rtol=0, atol=1e-6)


def test_a_checkpoint_that_cannot_be_read_is_refused_with_the_same_sentence(
    here: Steps, cluster: Steps, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    said, spec = [], resolved(str(tmp_path))
    for steps in (here, cluster):
        with pytest.raises(PoolscopeError) as refused:
            list(steps(Call("embed", spec, (POOLINGS, False), [(np.arange(2), [("a",), ("b",)])])))
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_where_no_cluster_is_a_sentence_says_so(here: Steps) -> None:
    with pytest.raises(PoolscopeError, match="no Ray cluster answers there"), on_cluster("127.0.0.1:1", here):
        pass


def test_without_ray_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    table = str(ASSETS / "lab" / "tickets.csv")
    assert main([table, "--out", str(tmp_path), "--ray", "auto"]) == 1
    assert "pip install -r requirements-ray.txt" in capsys.readouterr().err


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
