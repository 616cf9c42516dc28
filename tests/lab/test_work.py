"""The command's work: vectors as Parquet, folds on every core, and what a stopped run goes on from."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from components.analyses.fit.classifier import divide, fold
from components.analyses.fit.fit import Call, InMemory, Steps, fit_table, to_rows
from components.analyses.fit.rows import Pooled, Rows, Split, splits_of
from components.errors import PoolscopeError
from components.fitting import Fit, Plan, fit_json
from components.inference.engine import InProcess
from components.inference.jobs import in_turns
from components.lab.work import OnDisk, on_cores, parts_in, remembering
from components.settings import Settings
from components.types import Floats, Ints
from tests.plain import SPECS
from tests.tables import reviews

KEY = "bert-sentiment"


def part_of(rows: list[int], refused: bool = False) -> Pooled:
    draw = np.random.default_rng(rows[0])
    size = len(rows)
    found = {(key, 4): draw.normal(size=(size, 3)).astype(np.float32) for key in ("cls", "mean")}
    errors = {"pooler": PoolscopeError("pooling", "pooler", "errors.no_pooler")} if refused else {}
    return Pooled(np.array(rows), found, errors, np.arange(size) > 0, np.zeros(size, bool), 512)


def test_parts_on_disk_are_those_in_memory(tmp_path: Path) -> None:
    disk, memory = OnDisk(tmp_path / "parts"), InMemory()
    for part in (part_of([3, 0]), part_of([1, 4], refused=True), part_of([2])):
        disk.add(part)
        memory.add(part)
    assert sorted(file.suffix for file in (tmp_path / "parts").iterdir()) == [".parquet"] * 3
    for place in (("cls", 4), ("mean", 4)):
        np.testing.assert_array_equal(OnDisk(disk.folder).vectors(place), memory.vectors(place))
        assert disk.vectors(place).dtype == np.float32
    known = {int(part.rows[0]): part for part in disk.known()}
    for part in memory.known():
        again = known[int(part.rows[0])]
        np.testing.assert_array_equal(again.rows, part.rows)
        np.testing.assert_array_equal(again.cut, part.cut)
        assert list(again.vectors) == list(part.vectors)
        assert {key: str(one) for key, one in again.refused.items()} == {
            key: str(one) for key, one in part.refused.items()
        }


def test_vectors_lie_in_a_folder_by_all_that_they_depend_on(tmp_path: Path) -> None:
    plan = Plan((KEY,), ("cls",), folds=2)
    plans = [plan, replace(plan, seed=3), replace(plan, poolings=("mean",)), replace(plan, all_layers=True)]
    asked = [to_rows(reviews(40), one, Settings()) for one in plans] + [
        to_rows(reviews(41), plan, Settings())
    ]
    folders = [parts_in(tmp_path, one)(SPECS[KEY]).folder for one in asked]
    assert folders[0] == folders[1]
    assert len(set(folders)) == 4


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
    draw = np.random.default_rng(0)
    labels, vectors = draw.integers(0, 3, rows), draw.normal(size=(rows, 400)).astype(np.float32)
    splits = [*splits_of(divide(Rows(labels, np.arange(rows), 0), 3, 1)[0], 3)]
    call = Call("fold", SPECS[KEY], (vectors, labels), [(split,) for split in splits])
    found = [*on_cores(in_turns(InProcess(Settings()).run))(call)]
    get_reusable_executor().shutdown(wait=True)
    for split, probabilities in zip(splits, found, strict=True):
        np.testing.assert_array_equal(probabilities, fold(vectors, labels, split))
    processes = {int(file.read_text(encoding="ascii")) for file in tmp_path.iterdir()}
    assert (os.getpid() in processes) is (rows == 90)


def test_a_run_that_was_stopped_goes_on_and_says_the_same(tmp_path: Path) -> None:
    asked = to_rows(reviews(150), Plan((KEY,), ("mean", "cls"), True, 3), Settings())
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
        *_, last = fit_table(steps, [SPECS[KEY]], asked, parts_in(tmp_path, asked))
        assert isinstance(last, Fit)
        return last

    *_, whole = fit_table(here, [SPECS[KEY]], asked, lambda _spec: InMemory())
    assert isinstance(whole, Fit)
    with pytest.raises(KeyboardInterrupt):
        fitted(counting(stop=3))
    assert done == ["divide", "embed", "embed"]
    with pytest.raises(KeyboardInterrupt):
        fitted(counting(stop=13))
    assert done == ["divide", "embed", *["fold"] * 11]
    assert fit_json(fitted(counting()), ()) == fit_json(whole, ())
    assert "embed" not in done
    assert done.count("fold") == 9 * 6 + 4 * 3 + 3  # one combination of ten was tested before
    assert fit_json(fitted(counting()), ()) == fit_json(whole, ())
    assert done == ["divide", "divide", "conclude"]
