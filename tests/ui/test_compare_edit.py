"""A second version of the text: what is shown of it is what each version gets when it is asked alone."""

import csv
import io
import re
from base64 import b64decode
from dataclasses import replace
from typing import Any

import gradio as gr
import pytest

from components.errors import PoolscopeError
from components.figures.versions import Versions, versions
from components.figures.view import number, percent
from components.types import Query
from components.ui.compare.edit_agreement import edit_agreement
from components.ui.compare.edit_grid import edit_grid, signed
from components.ui.compare.edit_moves import edit_moves
from components.ui.compare.edit_table import moves_csv
from tests.figures.compared import answer, comparison
from tests.ui.compare_page import SAY, Page, Watched
from tests.ui.compared_html import Table, words
from tests.ui.fake import XSS, FakeAnalyst

BEFORE, AFTER = "the plot is not good", "the plot is good"
KEYS = ["first", "last", "untrained", "many", "emotions", "score"]
NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])


def edited(**more: Any) -> Page:
    """A page with two versions."""
    page = Page(more.pop("analyst", FakeAnalyst()))
    page.set(backbones=KEYS, poolings=["cls", "mean", "pooler"], text=BEFORE, version_text=AFTER)
    page.set(**more)
    return page


def both(before: list[Any], after: list[Any], titles: tuple[str, ...] = ()) -> Versions:
    found = versions(replace(comparison([before], titles), after=comparison([after], titles).compared))
    assert found
    return found


def linked_csv(html: str) -> list[dict[str, str]]:
    """The rows of the first file that is offered."""
    found = re.search(r"data:text/csv;base64,([^\"]+)", html)
    assert found
    return list(csv.DictReader(io.StringIO(b64decode(found[1]).decode("utf-8-sig"), newline="")))


def test_every_cell_says_what_each_version_gets_alone() -> None:
    page = edited()
    table = Table(page.ask()[page.tab.grid])
    for key, row, classes in zip(KEYS, table.rows[1:], table.classes[1:], strict=True):
        for pooling, cell, kind in zip(("cls", "mean"), row[1:3], classes[1:3], strict=True):
            old, new = (FakeAnalyst().analyze(Query(key, text, pooling=pooling)) for text in (BEFORE, AFTER))
            if old.problem_type == "regression":
                was, now = float(old.probabilities[0]), float(new.probabilities[0])
                assert cell == f"before: {number(was)}now: {number(now)}{signed(now - was, 2)}"
                continue
            for label in (*old.predicted, *new.predicted):
                assert label in cell
            if old.problem_type == "single_label":
                assert f"{percent(old.probabilities.max())}now: " in cell
                moved = 100 * (new.probabilities - old.probabilities)[old.probabilities.argmax()]
                points = f"{signed(float(moved), 0 if abs(moved) >= 1 else 1)} pp"
                assert (points in cell) == old.head_trained
            assert ("flip" in kind) == (old.head_trained and set(old.predicted) != set(new.predicted))
            assert ("untrained" in kind) == (not old.head_trained)
        assert classes[3] == "absent"


def test_the_numbers_are_those_of_both_analyses() -> None:
    page = edited()
    for row in linked_csv(page.ask()[page.tab.table]):
        asked = [Query(row["backbone"], text, pooling=row["pooling"]) for text in (BEFORE, AFTER)]
        if row["pooling"] == "pooler":
            with pytest.raises(PoolscopeError, match=re.escape(row["why not"])):
                FakeAnalyst().analyze(asked[0])
            continue
        old, new = map(FakeAnalyst().analyze, asked)
        place = old.labels.index(row["output"])
        assert float(row["before"]) == pytest.approx(float(old.probabilities[place]), abs=1e-6)
        assert float(row["now"]) == pytest.approx(float(new.probabilities[place]), abs=1e-6)
        moved = float(new.probabilities[place]) - float(old.probabilities[place])
        assert float(row["moved"]) == pytest.approx(moved, abs=1e-6)
        assert row["tokens read before"] == str(old.reads.positions.sum())
        assert row["tokens read now"] == str(new.reads.positions.sum())


def test_words_are_as_near_as_each_version_says() -> None:
    page = edited()
    rows = linked_csv(page.ask()[page.tab.moves])
    old, new = (
        FakeAnalyst().analyze(Query("first", text, pooling="cls")).similarity[-1] for text in (BEFORE, AFTER)
    )
    told = [row for row in rows if row["backbone"] == "first"]
    assert [(row["word"], row["kind"]) for row in told] == [
        *(("the", "in both"), ("plot", "in both"), ("is", "in both")),
        *(("not", "dropped"), ("good", "in both")),
    ]
    assert [float(row["similarity before"]) for row in told] == pytest.approx(list(old[1:-1]), abs=1e-6)
    later = [float(row["similarity now"]) for row in told if row["similarity now"]]
    assert later == pytest.approx(list(new[1:-1]), abs=1e-6)


def test_each_backbone_reads_each_version_once_and_the_grid_comes_row_by_row() -> None:
    analyst = Watched()
    page = edited(analyst=analyst, backbones=["first", "last", "many"])
    steps = list(page.steps())
    assert [one for one in analyst.log if one in KEYS] == ["first", "first", "last", "last", "many", "many"]
    assert "0 of 3 backbones, both versions each" in words(steps[0][page.tab.status])
    for done, step in enumerate(steps[1:], start=1):
        assert done == 3 or f"{done} of 3 backbones" in words(step[page.tab.status])
        assert step[page.tab.grid].count('class="pending"') == 3 * (3 - done)
    assert "9 combinations, both versions, from one forward pass for each of 3 backbones" in words(
        steps[3][page.tab.status]
    )


def test_cancelling_asks_neither_version_of_the_rest() -> None:
    analyst = Watched()
    page = edited(analyst=analyst)
    coming = page.tab.stream(page.values)
    for _ in range(2):
        page.take(next(coming))
    coming.close()  # type: ignore[attr-defined]
    assert analyst.log == ["asked", "first", "asked", "first", "left", "left"]
    stopped = page.take(page.tab.stop(page.values))
    assert "Stopped after 1 of 6" in words(stopped[page.tab.status])
    assert "read now" in stopped[page.tab.moves]


def test_a_version_that_cannot_be_read_leaves_everything_as_it_was() -> None:
    page = edited()
    page.ask()
    shown = page.values[page.tab.shown]
    page.set(version_text=" ", version_pair="a second text without a first")
    left = page.ask()
    assert "type at least one word" in words(left[page.tab.status])
    assert page.values[page.tab.shown] is shown


def test_one_version_only_forgets_the_second_and_asks_nothing() -> None:
    analyst = Watched()
    page = edited(analyst=analyst)
    page.ask()
    log = list(analyst.log)
    left = page.take(page.tab.single(page.values))
    assert (left[page.tab.version.text], left[page.tab.moves]) == ("", "")
    assert "now:" not in left[page.tab.grid]
    assert "18 combinations, from one forward pass" in words(left[page.tab.status])
    assert page.values[page.tab.shown].after is None
    assert analyst.log == log
    assert page.tab.single(page.values) == page.tab.version.empty


def test_buttons_fill_the_second_version_and_ask_for_the_comparison() -> None:
    page = Page(FakeAnalyst())
    version, tab = page.tab.version, page.tab
    page.set(text="not bad", pair="never mind")
    parts = (tab.text, tab.pair, tab.calls)
    assert version.copied(*parts, page.values) == {
        **{version.text: "not bad", version.pair: "never mind"},
        version.note: "",
    }
    dropped = version.dropped(*parts, page.values)
    assert (dropped[version.text], dropped[version.pair], dropped[tab.calls]) == ("bad", "never mind", 1)
    swapped = version.swapped(*parts, page.values)
    assert (swapped[version.text], swapped[version.pair]) == ("never mind", "not bad")
    page.set(text="fine")
    assert version.dropped(*parts, page.values)[version.pair] == "mind"
    page.set(pair="")
    assert "no “not”" in words(version.dropped(*parts, page.values)[version.note])
    assert "no second text" in words(version.swapped(*parts, page.values)[version.note])


def test_texts_of_another_tab_are_the_only_version() -> None:
    page = edited()
    (text, pair), tab = (gr.Textbox(), gr.Textbox()), page.tab
    page.take(tab.brought(text, pair, {**page.values, text: "good", pair: None}))
    assert page.values[tab.calls] == 1
    page.ask()
    queries = [cell.query for cell in page.values[tab.shown].cells]
    assert {(query.text, query.text_pair) for query in queries} == {("good", "")}
    assert page.values[tab.shown].after is None


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.256, 2, "+0.26"), (-12.4, 0, "−12"), (0.0, 0, "±0"), (-0.004, 2, "±0.00"), (-0.04, 1, "±0.0")],
)
def test_a_move_has_a_sign_if_it_is_one(value: float, digits: int, text: str) -> None:
    assert signed(value, digits) == text


def test_the_sentence_counts_who_changes_its_mind() -> None:
    less = answer([0.6, 0.4])
    some = both([NO, NO, NO, YES], [YES, less, NO, YES], ("GPT · x",))
    told = words(edit_agreement(some, SAY))
    assert told.startswith(
        "1 of 4 combinations changes its mind: 1 from negative to positive (GPT under p0)."
        "The largest move: GPT under p0, negative 90 % → 20 % (−70 pp)."
    )
    assert "First version: 3 of 4 combinations say negative; 1 says positive: GPT under p3." in told
    assert "Second version: 2 combinations" not in told
    every = words(edit_agreement(both([NO, NO], [YES, YES]), SAY))
    assert every.startswith("All 2 combinations change their mind, from negative to positive.")
    none = words(edit_agreement(both([NO, YES], [less, YES]), SAY))
    assert none.startswith("None of 2 combinations changes its mind.The largest move: B0 under p0")
    same = words(edit_agreement(both([NO, YES], [NO, YES]), SAY))
    assert same.startswith("None of 2 combinations changes its mind.No output moves at all.")


def test_what_does_not_count_is_said_apart() -> None:
    old, new = answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False)
    other = answer([0.5, 0.25, 0.25], ("a", "b", "c"))
    found = both([NO, old, NO, "no"], [NO, new, other, NO])
    told = words(edit_agreement(found, SAY))
    assert told.startswith("1 combination, and it does not change its mind.")
    assert "1 with an untrained head: their outputs are random. 1 answered" in told
    assert told.endswith("1 cannot be answered.")
    table = Table(edit_grid(found, {}, SAY))
    assert table.classes[1][1:] == ["edit told", "edit untrained", "edit told", "absent"]
    assert "pp" not in table.rows[1][2]
    assert "pp" not in table.rows[1][3]


def test_nothing_from_a_visitor_or_a_checkpoint_is_markup() -> None:
    page = edited(backbones=["hostile"], poolings=["cls", "pooler"], text=f"a {XSS}", version_text=XSS)
    left = page.ask()
    odd = both([answer([0.9, 0.1], (XSS, "x")), XSS], [answer([0.1, 0.9], (XSS, "x")), XSS], (XSS,))
    pieces = [left[part] for part in (page.tab.agreement, page.tab.grid, page.tab.moves, page.tab.table)]
    pieces += [edit_agreement(odd, SAY), edit_grid(odd, {"p0": XSS}, SAY), edit_moves(odd, SAY)]
    for piece in pieces:
        inside = re.sub(r"<a .*?>", "", piece)
        assert not re.search(r"<(img|svg|script)|onerror=pwn\(\)>|<a/", inside)
    assert "'" not in moves_csv(odd, SAY).splitlines()[0]
