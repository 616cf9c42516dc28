"""Two versions of a text: what is shown of them is what each gets when it is asked alone."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from components.analyses.compare import Compared
from components.errors import PoolscopeError
from components.exhibits.comparison.agreement import agreement
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.comparison.grid import grid
from components.exhibits.comparison.table import numbers
from components.exhibits.edit.moves import moves, signed
from components.exhibits.exhibit import Shown, to_csv
from components.exhibits.view import number, percent
from components.texts import load_texts
from components.types import Query
from tests.exhibits.compared import answer, comparison
from tests.exhibits.compared_html import Table, words
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
BEFORE, AFTER = "the plot is not good", "the plot is good"
KEYS = ["first", "last", "untrained", "many", "emotions", "score"]
NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])


def edited(keys: Sequence[str] = KEYS, before: str = BEFORE, after: str = AFTER) -> Comparison:
    """Two versions, compared by made-up backbones."""
    analyst, poolings = FakeAnalyst(), ("cls", "mean", "pooler")

    def answers(text: str) -> tuple[Compared, ...]:
        return tuple(analyst.compare([Query(key, text, pooling=one) for key in keys for one in poolings]))

    specs = {spec.key: spec for spec in analyst.backbones()}
    rows = tuple(specs[key] for key in keys)
    return Comparison(rows, poolings, answers(before), "done", answers(after))


def both(before: list[Any], after: list[Any], titles: tuple[str, ...] = ()) -> Comparison:
    return replace(comparison([before], titles), after=comparison([after], titles).compared)


def apart(before: str, after: str) -> str:
    """By how much two percentages differ, worked out from what is read of them."""
    was, now = (
        Decimal("0.0" if text.startswith("<") else "100.0" if text.startswith(">") else text.split()[0])
        for text in (before, after)
    )
    if was == now:
        return f"< {Decimal(1).scaleb(was.as_tuple().exponent)} pp"  # type: ignore[arg-type]  # no NaN
    moved = now - was
    return f"{'+' if moved > 0 else '−'}{abs(moved)} pp"


def said(given: Comparison) -> str:
    return words(agreement(given, {}, SAY).html)


def rows_of(given: Shown) -> list[dict[str, str]]:
    """The rows of the file."""
    assert given.data is not None
    return list(csv.DictReader(io.StringIO(to_csv(given.data), newline="")))


def test_every_cell_says_what_each_version_gets_alone() -> None:
    table = Table(grid(edited(), {}, SAY).html)
    for key, row, classes in zip(KEYS, table.rows[1:], table.classes[1:], strict=True):
        for pooling, cell, kind in zip(("cls", "mean"), row[1:3], classes[1:3], strict=True):
            old, new = (
                FakeAnalyst().ask("analyze", Query(key, text, pooling=pooling)) for text in (BEFORE, AFTER)
            )
            if old.problem_type == "regression":
                was, now = float(old.probabilities[0]), float(new.probabilities[0])
                before, after = number(was), number(now)
                moved = Decimal(after.replace("−", "-")) - Decimal(before.replace("−", "-"))
                swap = "; a swap: not the vector that this head was trained on" * new.swapped
                assert cell == f"before: {before}now: {after}{swap}{signed(float(moved), 2)}"
                continue
            for label in (*old.predicted, *new.predicted):
                assert label in cell
            if old.problem_type == "single_label":
                assert f"{percent(old.probabilities.max())}now: " in cell
                place = old.probabilities.argmax()
                points = apart(percent(old.probabilities[place]), percent(new.probabilities[place]))
                assert (points in cell) == old.head_trained
            assert ("flip" in kind) == (old.head_trained and set(old.predicted) != set(new.predicted))
            assert ("untrained" in kind) == (not old.head_trained)
            assert ("swap" in kind.split()) == new.swapped == (pooling == "mean")
        assert classes[3] == "absent"


def test_the_numbers_are_those_of_both_analyses() -> None:
    for row in rows_of(numbers(edited(), {}, SAY)):
        asked = [Query(row["backbone"], text, pooling=row["pooling"]) for text in (BEFORE, AFTER)]
        if row["pooling"] == "pooler":
            with pytest.raises(PoolscopeError, match=re.escape(row["why not"])):
                FakeAnalyst().ask("analyze", asked[0])
            continue
        old, new = (FakeAnalyst().ask("analyze", one) for one in asked)
        place = old.labels.index(row["output"])
        assert float(row["before"]) == pytest.approx(float(old.probabilities[place]), abs=1e-6)
        assert float(row["now"]) == pytest.approx(float(new.probabilities[place]), abs=1e-6)
        moved = float(new.probabilities[place]) - float(old.probabilities[place])
        assert float(row["moved"]) == pytest.approx(moved, abs=1e-6)
        assert row["tokens read before"] == str(old.reads.positions.sum())
        assert row["tokens read now"] == str(new.reads.positions.sum())


def test_words_are_as_near_as_each_version_says() -> None:
    rows = rows_of(moves(edited(), {}, SAY))
    old, new = (
        FakeAnalyst().ask("analyze", Query("first", text, pooling="cls")).similarity[-1]
        for text in (BEFORE, AFTER)
    )
    told = [row for row in rows if row["backbone"] == "first"]
    assert [(row["word"], row["kind"]) for row in told] == [
        *(("the", "in both"), ("plot", "in both"), ("is", "in both")),
        *(("not", "dropped"), ("good", "in both")),
    ]
    assert [float(row["similarity before"]) for row in told] == pytest.approx(list(old[1:-1]), abs=1e-6)
    later = [float(row["similarity now"]) for row in told if row["similarity now"]]
    assert later == pytest.approx(list(new[1:-1]), abs=1e-6)


def test_the_sentence_counts_who_changes_its_mind() -> None:
    less = answer([0.6, 0.4])
    some = both([NO, NO, NO, YES], [YES, less, NO, YES], ("GPT · x",))
    told = said(some)
    assert told.startswith(
        "1 of 4 combinations changes its mind: 1 from negative to positive (GPT under p0)."
        "The largest move: GPT under p0, negative 90 % → 20 % (−70 pp)."
    )
    assert "First version: 3 of 4 combinations say negative; 1 says positive: GPT under p3." in told
    assert "Second version: 2 combinations" not in told
    every = said(both([NO, NO], [YES, YES]))
    assert every.startswith("All 2 combinations change their mind, from negative to positive.")
    none = said(both([NO, YES], [less, YES]))
    assert none.startswith("None of 2 combinations changes its mind.The largest move: B0 under p0")
    same = said(both([NO, YES], [NO, YES]))
    assert same.startswith("None of 2 combinations changes its mind.No output moves at all.")


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        (0.536, 0.304, "54 % → 30 % (−24 pp)"),  # by 23.2
        (0.544, 0.546, "54 % → 55 % (+1 pp)"),
        (0.9, 0.904, "90 % → 90 % (< 1 pp)"),
        (0.996, 0.9962, "99.6 % → 99.6 % (< 0.1 pp)"),
        (0.996, 0.3, "99.6 % → 30 % (−69.6 pp)"),
        (0.99996, 0.0000001, "> 99.9 % → < 0.1 % (−100.0 pp)"),
    ],
)
def test_a_move_is_what_both_values_differ_by_as_they_are_read(
    before: float, after: float, moved: str
) -> None:
    both_ways = both([answer([before, 1 - before])], [answer([after, 1 - after])])
    assert f"negative {moved}." in said(both_ways)
    cell = Table(grid(both_ways, {}, SAY).html).rows[1][1]
    assert moved.partition("(")[2].rstrip(")") in cell


def test_what_does_not_count_is_said_apart() -> None:
    old, new = answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False)
    other = answer([0.5, 0.25, 0.25], ("a", "b", "c"))
    found = both([NO, old, NO, "no"], [NO, new, other, NO])
    told = said(found)
    assert told.startswith("1 combination, and it does not change its mind.")
    assert "1 with untrained weights: their outputs are random. 1 answered" in told
    assert told.endswith("1 cannot be answered.")
    table = Table(grid(found, {}, SAY).html)
    assert table.classes[1][1:] == ["edit told", "edit untrained", "edit told", "absent"]
    assert "pp" not in table.rows[1][2]
    assert "pp" not in table.rows[1][3]
