"""The report of the command stands alone and holds what the Lab tab shows."""

from dataclasses import replace

import numpy as np
import pytest

from components.exhibits.lab import POINTS, Found, plane
from components.exhibits.panels import LAB
from components.exhibits.view import visible
from components.fitting import Table
from components.lab.__main__ import Done, reported
from components.tables import Columns
from components.texts import Sentence, Texts, load_texts
from components.types import BackboneSpec
from tests.exhibits.answers import found
from tests.exhibits.showing import checked, rows
from tests.ui.fake import XSS
from tests.ui.test_report import Document

SAY = load_texts()
NOTES = (Sentence("lab.missing", count=3), Sentence("lab.lopsided", label=XSS, share="95%"))


def made(fits: Found, say: Texts = SAY) -> Document:
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
