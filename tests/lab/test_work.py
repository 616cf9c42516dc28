"""The command's work: on every core it is that of one process, and what was stopped goes on."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from components.analyses.fit import Call, Pooled, Rows, Split, Steps, fit_table, splits_of, to_rows
from components.analyses.fit.classifier import divide, fold
from components.errors import PoolscopeError
from components.fitting import Fit, Plan, fit_json
from components.inference.engine import InProcess
from components.inference.jobs import in_turns
from components.inference.payload import pack
from components.lab.__main__ import main
from components.lab.work import on_cores, read, remembering, write
from components.settings import ASSETS, Settings
from components.types import Floats, Ints
from tests.plain import SPECS
from tests.tables import reviews

KEY = "bert-sentiment"


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


def test_without_ray_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    table = str(ASSETS / "lab" / "tickets.csv")
    assert main([table, "--out", str(tmp_path), "--ray", "auto"]) == 1
    assert "pip install -r requirements-ray.txt" in capsys.readouterr().err
