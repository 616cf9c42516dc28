"""The lab as a command: what it reads, how it works, and what comes out, which runs without Poolscope.

On every core its work is that of one process, and what was stopped goes on.
"""

import csv
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import torch
from joblib.externals.loky import get_reusable_executor
from safetensors.numpy import load_file
from transformers import AutoModel, AutoTokenizer

from components.analyses.fit import Pooled, Rows, Split, Steps, Work, fit_table, to_rows
from components.analyses.fit.classifier import divide, fold
from components.errors import PoolscopeError
from components.exhibits.lab import Found
from components.exhibits.panels import LAB
from components.exhibits.view import visible
from components.fitting import Fit, Plan, Stage, fit_json
from components.inference.engine import InProcess
from components.inference.jobs import in_turns
from components.inference.payload import pack
from components.lab import command
from components.lab.command import Done, main, read_file, reported
from components.lab.work import on_cores, read, remembering, write
from components.settings import ASSETS, Settings
from components.tables import Columns, guess, read_sheet, to_table
from components.texts import Sentence, Texts, environment, load_texts
from components.types import BackboneSpec, Floats, Ints
from tests.exhibits.answers import found
from tests.exhibits.showing import Document, checked
from tests.plain import SPECS
from tests.tables import reviews
from tests.ui.fake import XSS

KEY = "bert-sentiment"
REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))
NOTES = (Sentence("lab.missing", count=3), Sentence("lab.lopsided", label=XSS, share="95%"))
ROWS = [("a fine\nfilm", 5), ("a “poor” film\u2028é😀", None), ("=1+1, and\ttabs", 3), ("long", 5), ("", 3)]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command makes of 60 rows, one of whose labels is a formula's beginning."""
    folder = tmp_path_factory.mktemp("lab")
    table, file = reviews(60), folder / "reviews.csv"
    labels = [label.replace("negative", "=1+1") for label in table.labels]
    pd.DataFrame({"review": table.texts, "stars": labels}).to_csv(file, index=False)
    asked = [str(file), "--text", "review", "--label", "stars", "--backbones", KEY, "--layers", "all"]
    assert main([*asked, "--poolings", "mean", "--folds", "3", "--out", str(folder / "out")]) == 0
    return folder / "out"


RUNS = """
import json, runpy, sys
for sys.argv in json.loads(sys.argv[1]):
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        print(end, file=sys.stderr)
"""


def run_alone(folder: Path, *each: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    """Run the unpacked program from elsewhere with each of these, with no way to Poolscope or a network."""
    program = str(folder / "classifier" / "classify.py")
    command = [sys.executable, "-I", "-c", RUNS, json.dumps([(program, *given) for given in each])]
    alone = {"PATH": "", "HF_HUB_OFFLINE": "1", "HOME": str(folder)}
    place = {"cwd": folder / "elsewhere", "env": alone}
    return subprocess.run(command, check=False, capture_output=True, text=True, **place)


def test_the_unpacked_program_says_what_the_head_makes_of_texts_and_tables(out: Path, tmp_path: Path) -> None:
    """Against transformers and NumPy alone."""
    best = json.loads((out / "classifier" / "fit.json").read_text(encoding="utf-8"))["rows"][0]
    model = AutoModel.from_pretrained(SPECS[KEY].location, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(SPECS[KEY].location)
    bias, weight = (array for _, array in sorted(load_file(out / "classifier/head.safetensors").items()))

    @torch.no_grad()
    def by_hand(text: str) -> torch.Tensor:
        inputs = tokenizer(text, truncation=True, max_length=128, return_tensors="pt")
        states = model(**inputs, output_hidden_states=True).hidden_states[best["layer"]][0]
        return torch.tensor(weight @ states.numpy().mean(axis=0) + bias).softmax(dim=0)

    with ZipFile(out / "classifier.zip") as archive:
        archive.extractall(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    texts = [*reviews(60).texts, "", "not good " * 200]
    table = pd.DataFrame({"stars": "?", "review": texts}, index=range(len(texts)))
    table.to_csv(tmp_path / "elsewhere" / "in.csv", index=False)
    table[["stars"]].to_csv(tmp_path / "elsewhere" / "bare.csv", index=False)
    files = (("--csv", name, "--out", "out.csv") for name in ("in.csv", "gone.csv", "bare.csv"))
    done = run_alone(tmp_path, (texts[0],), *files)
    gone, bare = done.stderr.splitlines()
    assert gone == "[Errno 2] No such file or directory: 'gone.csv'"
    assert bare == "bare.csv has no column 'review', but stars"
    lines = [line.rsplit(": ", 1) for line in done.stdout.splitlines()]
    assert [label for label, _ in lines] == ["=1+1", "positive"]
    said = [float(number) for _, number in lines]
    np.testing.assert_allclose(said, by_hand(texts[0]), rtol=1e-5, atol=1e-6)
    said = pd.read_csv(tmp_path / "elsewhere" / "out.csv", keep_default_na=False)
    assert [*said] == ["stars", "review", "predicted", "p(=1+1)", "p(positive)"]
    assert said["review"].tolist() == texts
    numbers = said[["p(=1+1)", "p(positive)"]].to_numpy(float)
    np.testing.assert_allclose(numbers.sum(axis=1), 1, atol=1e-6)
    assert said["predicted"].tolist() == [["=1+1", "positive"][one] for one in numbers.argmax(axis=1)]
    for row in (0, 17, 42, 61):
        np.testing.assert_allclose(numbers[row], by_hand(texts[row]), rtol=1e-5, atol=1e-6)


def test_a_line_says_how_far_it_is_of_each_stage(capsys: pytest.CaptureFixture[str]) -> None:
    fit: Any = object()
    stages = [*(Stage(done, 40, "embed", KEY) for done in (8, 12, 40)), Stage(2, 2, "check", KEY)]
    assert command.told(iter([*stages, fit])) is fit
    lines = capsys.readouterr().err.strip().split("\n")
    expected = {"rows embedded": "40/40", "checks of the best one": "2/2"}
    for line, (title, done) in zip(lines, expected.items(), strict=True):
        assert f"{KEY}: {title}: 100%" in line
        assert done in line


def test_the_report_shows_the_best_one_of_those_that_were_fitted(out: Path) -> None:
    """Its numbers are those of `fit.json`."""
    best, *_ = rows = json.loads((out / "classifier" / "fit.json").read_text(encoding="utf-8"))["rows"]
    report = Document((out / "report.html").read_text(encoding="utf-8"))
    (dots, _values) = report.figures["lab-ranking"]["data"]
    assert dots["x"] == [pytest.approx(row["accuracy"], abs=1e-4) for row in rows]
    assert f"mean · layer {best['layer']}. It is right about {round(100 * best['accuracy'])} %" in report.text
    assert "=1+1" in report.text


@pytest.mark.parametrize(("which", "told"), [*enumerate(("| 0 of 3 |\n\nIt is", "30 rows of\na table.\n"))])
def test_a_card_counts_others_as_the_page_does(which: int, told: str) -> None:
    fit = found()[which].fit
    known = {"fit": fit, "best": fit.ranking[0], "spec": SPECS[KEY], "last": 4, "notes": (), "columns": []}
    card = environment(html=False).get_template("card.jinja").render(known, found=Found(fit, {}), level=0.05)
    assert told in card
    assert ("best one of those" in card) == (which == 0)


def test_the_zip_holds_the_folder_and_no_formula(out: Path) -> None:
    with ZipFile(out / "classifier.zip") as archive:
        names = {name.removeprefix("classifier/") for name in archive.namelist()} - {""}
        may = {archive.getinfo(f"classifier/{it}").external_attr for it in ("fit.json", "head.safetensors")}
        predictions = archive.read("classifier/predictions.csv").decode()
    encoder = {f"encoder/{file.name}" for file in Path(SPECS[KEY].location).iterdir()}
    assert names == {
        "README.md", "classify.py", "fit.json", "head.safetensors", "predictions.csv", "results.csv",
        "encoder/", *encoder,
    }  # fmt: skip
    assert len(may) == 1  # who may read one may read the other
    rows = list(csv.DictReader(predictions.splitlines()))
    assert [row["text"] for row in rows] == list(reviews(60).texts)
    assert {row["label"] for row in rows} == {"'=1+1", "positive"}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_refused_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str) -> None:
    case = REFUSED[said]
    file = tmp_path / case.get("file", "a.csv")
    file.write_text(case["text"], encoding="utf-8")
    assert main([str(file), "--out", str(tmp_path), *case.get("asked", [])]) == 1
    assert said in capsys.readouterr().err


def test_no_file_and_bytes_in_the_place_of_texts_are_refused(tmp_path: Path) -> None:
    table = pd.DataFrame({"review": pd.Series([b"\xff\xfe", b"\x00"], dtype=object), "stars": [1, 2]})
    table.to_parquet(tmp_path / "a.parquet")
    for file, said in (("a.parquet", "no Parquet file"), ("none.csv", "cannot be read")):
        with pytest.raises(PoolscopeError, match=said):
            read_file(tmp_path / file)


def test_parquet_holds_what_the_same_rows_as_csv_do(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS, columns=["review", "stars"])
    frame["written"] = pd.date_range("2024-01-01", periods=len(frame))
    frame.to_parquet(tmp_path / "reviews.parquet")
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    sheets = [read_sheet(read_file(tmp_path / name)) for name in ("reviews.parquet", "reviews.csv")]
    parquet, plain = (to_table(sheet, guess(sheet)) for sheet in sheets)
    assert parquet == plain
    assert parquet[0].texts == tuple(text for text, stars in ROWS if text and stars)


def made(fits: Found, say: Texts) -> Document:
    specs = tuple(BackboneSpec(key, title, "", "", "local", "") for key, title in fits.titles.items())
    done = Done(fits.fit, specs, Columns("review", XSS, ""), NOTES)
    return Document(reported(done, "reviews.csv", say))


@pytest.mark.parametrize(("tag", "fits"), [*zip(("en", "zh"), found(), strict=False)], ids=["en", "zh"])
def test_it_holds_every_exhibit_and_what_was_fitted(fits: Found, tag: str) -> None:
    say = load_texts(tag)
    report = made(fits, say)
    for exhibit in LAB.exhibits:
        shown = exhibit.shown(fits, {}, say)
        assert visible(shown.heading) in report.text
        if shown.figure is not None:
            drawn = checked(shown.figure).to_plotly_json()["data"]
            assert len(report.figures[exhibit.name]["data"]) == len(drawn)  # type: ignore[arg-type]  # JSON
    assert set(report.figures) == {"lab-ranking", "lab-curve"}
    for said in ("reviews.csv", "review", *(visible(note.said(say)) for note in NOTES)):
        assert said in report.text
    assert say("lab.column_of_pair") not in report.text
    assert report.scripts == 2  # Plotly, and our own
    assert report.handlers == []
    assert not {"img", "svg", "b"} & report.tags
    assert report.links == []
    assert say("lab.misses_open") not in report.text


def test_a_batch_on_disk_is_that_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    vectors = {(key, 4): draw.normal(size=(3, 5)).astype(np.float32) for key in ("cls", "mean")}
    faults = ("cut", {"limit": 512}), ("pooler", {"reason": Sentence("errors.no_pooler")})
    part = Pooled(np.array([3, 0, 7]), vectors, faults)
    write(part, tmp_path / "new" / "part.parquet")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["part.parquet"]
    found = read(tmp_path / "new" / "part.parquet")
    assert pack(replace(found, vectors={})) == pack(replace(part, vectors={}))
    assert list(found.vectors) == list(vectors)
    for place, expected in vectors.items():
        np.testing.assert_array_equal(found.vectors[place], expected, strict=True)
    monkeypatch.setattr(pd, "read_parquet", None)  # what it holds is known without its vectors
    assert ("mean", 4) in found.vectors
    assert ("mean", 3) not in found.vectors


def test_vectors_lie_in_a_file_by_all_that_they_depend_on(tmp_path: Path) -> None:
    def embedded(call: Work) -> Iterator[Pooled]:
        for rows, _inputs in call.each:
            yield Pooled(rows, {("cls", 4): np.ones((len(rows), 2), np.float32)})

    steps, rows = remembering(embedded, tmp_path), np.arange(2)
    calls = [
        Work("embed", SPECS[KEY], given, [(rows, [("a",), (other,)])])
        for given in ((("cls",), False), (("mean",), False), (("cls",), True))
        for other in ("b", "c", "b")
    ]
    for call in calls:
        (part,) = steps(call)
        np.testing.assert_array_equal(part.vectors["cls", 4], np.ones((2, 2)))
    assert len([*tmp_path.glob("vectors/*/*.parquet")]) == 6


def folds_of(rows: int) -> Work:
    draw = np.random.default_rng(0)
    labels, vectors = draw.integers(0, 3, rows), draw.normal(size=(rows, 20)).astype(np.float32)
    splits = divide(Rows(labels, np.arange(rows), 0), 3, 1).splits
    return Work("fold", SPECS[KEY], (vectors, labels), [(split,) for split in splits])


@pytest.mark.parametrize("rows", [90, 900])
def test_folds_on_every_core_are_those_of_one_process_bit_for_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rows: int
) -> None:
    """Few rows stay in this process."""

    def noted(vectors: Floats, labels: Ints, split: Split) -> Floats:
        (tmp_path / str(split.test[0])).write_text(str(os.getpid()), encoding="ascii")
        return fold(vectors, labels, split)

    monkeypatch.setattr("components.lab.work.cpu_count", lambda: 2)
    monkeypatch.setattr("components.lab.work.fold", noted)
    call = folds_of(rows)
    found = [*on_cores(in_turns(InProcess(Settings()).run))(call)]
    get_reusable_executor().shutdown(wait=True)
    for (split,), probabilities in zip(call.each, found, strict=True):
        np.testing.assert_array_equal(probabilities, fold(*call.given, split))
    processes = {int(file.read_text(encoding="ascii")) for file in tmp_path.iterdir()}
    assert (os.getpid() in processes) is (rows == 90)


def test_a_run_that_was_stopped_goes_on_and_says_the_same(tmp_path: Path) -> None:
    asked = to_rows(reviews(150), Plan((KEY,), ("mean",), False, 2), Settings())
    here, done = in_turns(InProcess(Settings()).run), list[str]()

    def counting(stop: int = -1) -> Steps:
        """Steps that are noted, until they are stopped."""
        done.clear()

        def steps(call: Work) -> Iterator[Any]:
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
    assert fit_json(fitted(counting()), ()) == fit_json(whole, ())
    assert done[:3] == ["divide", "embed", "fold"]
    assert fit_json(fitted(counting()), ()) == fit_json(whole, ())
    assert "embed" not in done


def test_without_ray_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    table = str(ASSETS / "lab" / "tickets.csv")
    assert main([table, "--out", str(tmp_path), "--ray", "auto"]) == 1
    assert "pip install -r requirements-ray.txt" in capsys.readouterr().err
