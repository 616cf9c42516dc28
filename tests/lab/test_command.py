"""The lab as a command: what it reads, and what comes out, which runs without Poolscope."""

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import load_file
from transformers import AutoModel, AutoTokenizer

from components.exhibits.lab import POINTS, Found, plane, so_far_html
from components.exhibits.panels import LAB
from components.exhibits.view import visible
from components.fitting import Reached, Table
from components.lab.__main__ import Done, main, read_file, reported
from components.tables import Columns, guess, to_table
from components.texts import Sentence, Texts, load_texts
from components.types import BackboneSpec
from tests.exhibits.answers import found
from tests.exhibits.showing import checked, rows
from tests.plain import SPECS
from tests.serving import ROOT
from tests.tables import reviews
from tests.ui.fake import XSS
from tests.ui.test_report import Document

KEY = "bert-sentiment"
SAY = load_texts()
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


def test_the_program_says_what_the_head_makes_of_the_text(out: Path) -> None:
    """Against transformers and NumPy alone."""
    best = json.loads((out / "classifier" / "fit.json").read_text(encoding="utf-8"))["rows"][0]
    text = reviews(60).texts[0]
    model = AutoModel.from_pretrained(SPECS[KEY].location, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(SPECS[KEY].location)
    with torch.no_grad():
        states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
    head = load_file(out / "classifier" / "head.safetensors")
    bias, weight = (head[name] for name in sorted(head))
    logits = weight @ states[best["layer"]][0].numpy().mean(axis=0) + bias
    expected = np.exp(logits) / np.exp(logits).sum()

    source = (out / "classifier" / "classify.py").read_text(encoding="utf-8")
    source = source.replace('"head.safetensors"', json.dumps(str(out / "classifier" / "head.safetensors")))
    command = [sys.executable, "-I", "-c", source]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    lines = [line.rsplit(": ", 1) for line in run.stdout.splitlines()]
    assert [label for label, _ in lines] == ["=1+1", "positive"]
    np.testing.assert_allclose([float(number) for _, number in lines], expected, rtol=1e-5, atol=1e-6)


def test_the_report_shows_the_best_one_of_those_that_were_fitted(out: Path) -> None:
    """Its numbers are those of `fit.json`."""
    best, *_ = rows = json.loads((out / "classifier" / "fit.json").read_text(encoding="utf-8"))["rows"]
    report = Document((out / "report.html").read_text(encoding="utf-8"))
    (dots, _values) = report.figures["lab-ranking"]["data"]
    assert dots["x"] == [pytest.approx(row["accuracy"], abs=1e-4) for row in rows]
    assert f"mean · layer {best['layer']}. It is right about {round(100 * best['accuracy'])} %" in report.text
    assert "=1+1" in report.text


def test_the_zip_holds_the_folder_and_no_formula(out: Path) -> None:
    with ZipFile(out / "classifier.zip") as archive:
        names = {name.removeprefix("classifier/") for name in archive.namelist()} - {""}
        predictions = archive.read("classifier/predictions.csv").decode()
    assert names == {file.name for file in (out / "classifier").iterdir()}
    assert names == {
        "README.md", "classify.py", "fit.json", "head.safetensors", "predictions.csv", "results.csv"
    }  # fmt: skip
    rows = list(csv.DictReader(predictions.splitlines()))
    assert [row["text"] for row in rows] == list(reviews(60).texts)
    assert {row["label"] for row in rows} == {"'=1+1", "positive"}


@pytest.mark.parametrize(
    ("file", "content", "more", "said"),
    [
        ("a.csv", "text,label\n", [], "at least one row"),
        ("a.csv", "text,label\na,b\n", ["--text", "review", "--label", "label"], "no such column"),
        ("a.csv", "text,label\na,1\n\ufffd,2\n", [], "UTF-8"),
        ("a.csv", "text,label\na,1\nb,2\n", ["--backbones", "no such model"], "no such model"),
        ("none.csv", None, [], "cannot be read"),
        ("a.parquet", "review,stars\na,1\n", [], "no Parquet file"),
        ("a.parquet", [b"\xff\xfe", b"\x00"], [], "no Parquet file"),
        ("a.parquet", [["a"], ["b"]], [], "no object of JSON"),
    ],
)
def test_what_is_refused_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, content: object, more: list[str], said: str
) -> None:
    if isinstance(content, str):
        (tmp_path / file).write_text(content, encoding="utf-8")
    elif isinstance(content, list):
        table = pd.DataFrame({"review": pd.Series(content, dtype=object), "stars": [1, 2]})
        table.to_parquet(tmp_path / file)
    assert main([str(tmp_path / file), "--out", str(tmp_path), *more]) == 1
    assert said in capsys.readouterr().err


def test_parquet_holds_what_the_same_rows_as_csv_do(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS, columns=["review", "stars"])
    frame.to_parquet(tmp_path / "reviews.parquet")
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    sheets = [read_file(tmp_path / name) for name in ("reviews.parquet", "reviews.csv")]
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
    assert set(report.figures) == {"lab-ranking", "lab-curve", "lab-confusion", "lab-plane"}
    for said in ("reviews.csv", "review", *(visible(note.said(say)) for note in NOTES)):
        assert said in report.text
    assert say("lab.column_of_pair") not in report.text
    assert report.scripts == 3  # Plotly, and two of our own
    assert report.handlers == []
    assert not {"img", "svg", "b"} & set(report.tags)
    assert all(address.startswith("data:text/csv;base64,") for address in report.addresses)
    assert say("lab.misses_open") not in report.text


def test_of_a_long_table_the_map_draws_a_part_and_the_file_has_all() -> None:
    fit, many = found()[0].fit, POINTS + 500
    labels = ("bad", "good") * (many // 2)
    table = Table(tuple(f"text {row}" for row in range(many)), (), labels)
    points = np.stack([np.arange(many), np.arange(many) % 2], axis=1).astype(np.float32)
    shown = plane(Found(replace(fit, table=table, map=points), {}), {}, SAY)
    drawn = [(x, y) for trace in checked(shown.figure).data for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(drawn) == len(set(drawn)) == POINTS
    assert {min(drawn)[0], max(drawn)[0]} == {0, many - 1}
    assert len(rows(shown)) == many + 1
    assert SAY("lab.plane_drawn", count=POINTS, total=many) in shown.above


def test_of_those_fitted_so_far_the_best_five_are_named_with_the_layer_where_there_are_several() -> None:
    titles = {"first": XSS[:20], "second": "Second"}
    scores = {"cls": 0.5, "mean": 0.9, "max": 0.7, "gem": 0.6, "native": 0.65}
    reached = [Reached("first", pooling, 2, accuracy) for pooling, accuracy in scores.items()]
    reached.append(Reached("second", "mean", 3, 0.8))
    shown = so_far_html(reached, titles, False, SAY)
    assert "Best of the 6 vectors that are fitted so far" in shown
    named = [("mean", "90"), ("mean", "80"), ("max", "70"), ("native", "65"), ("gem", "60")]
    assert re.findall(r"· (\w+): (\d+) %</li>", shown) == named
    assert "<img" not in shown
    assert "Second · mean · layer 3: 80 %" in so_far_html(reached, titles, True, SAY)
    assert so_far_html([], titles, False, SAY) == ""
