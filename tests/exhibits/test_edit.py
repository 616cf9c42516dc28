"""Two versions of a text: what moved in outputs, words and reads is what each gets when asked alone."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from components.analyses.compare import Cell, Compared
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.edit import (
    AlignedVersions,
    Versions,
    align_versions,
    furthest,
    match_words,
    reads_same,
    signed,
    versions,
)
from components.exhibits.grid import agreement, grid, numbers
from components.exhibits.view import number, percent
from components.types import Analysis, Query, Reads
from tests.exhibits.answers import compared
from tests.exhibits.compared import Table, answer, comparison
from tests.exhibits.showing import SAY, analysis, plain, records
from tests.ui.fake import FakeAnalyst

NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])
OTHER = answer([0.5, 0.25, 0.25], ("a", "b", "c"))


def of_two(before: list[Any], after: list[Any], titles: tuple[str, ...] = ()) -> Comparison:
    """One backbone's answers to two versions, by pooling; a text is a refusal."""
    return replace(comparison([before], titles), after=comparison([after], titles).compared)


def both(before: list[Any], after: list[Any]) -> Versions:
    found = versions(of_two(before, after))
    assert found
    return found


def test_a_move_follows_the_label_that_was_predicted() -> None:
    found = both([NO, YES, NO], [YES, YES, answer([0.6, 0.4])])
    assert [move.moved for move in found.moves] == pytest.approx([-0.7, 0.0, -0.3])
    assert [move.output for move in found.moves] == [0, 1, 0]
    assert [move.flips for move in found.moves] == [True, False, False]
    assert found.largest is found.moves[0]
    assert found.moves[1].before.query.pooling == "p1"
    assert versions(comparison([[NO]])) is None  # one version is none to compare


def test_an_untrained_head_never_changes_its_mind() -> None:
    old, new = answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False)
    found = both([old, NO], [new, NO])
    assert [(move.flips, move.predicts) for move in found.moves] == [(False, False), (False, True)]
    assert found.moves[0].moved == pytest.approx(-0.8)
    assert found.largest is None


@pytest.mark.parametrize(
    ("before", "after", "output", "moved", "flips"),
    [
        ([0.75, 0.25, 0.625], [0.625, 0.75, 0.625], 1, 0.5, True),  # the one that moved most
        ([0.75, 0.25, 0.625], [0.5625, 0.25, 0.625], 0, -0.1875, False),
        ([-0.5], [2.25], 0, 2.75, False),
    ],
)
def test_of_several_labels_and_of_a_regression_an_output_is_followed(
    before: list[float], after: list[float], output: int, moved: float, flips: bool
) -> None:
    labels, kind = tuple("abc"[: len(before)]), "multi_label" if len(before) > 1 else "regression"
    old, new = (answer(one, labels, kind) for one in (before, after))  # type: ignore[arg-type]  # a kind
    (move,) = both([old], [new]).moves
    assert (move.output, move.moved, move.flips) == (output, moved, flips)
    assert move.predicts == (kind == "multi_label")


def test_what_cannot_be_held_against_each_other_and_what_has_not_come_has_no_move() -> None:
    found = both([NO, "no", NO], [OTHER, NO, "too long"])
    assert [(move.moved, move.flips, move.output) for move in found.moves] == [(None, False, None)] * 3
    grid = comparison([[NO, NO], [YES, YES]])
    some = versions(replace(grid, after=grid.compared[:1]))
    assert some
    assert [move.before.query.backbone for move in some.moves] == ["b0", "b0"]


def told(before: list[str], after: list[str]) -> str:
    """Every match as a word of the texts: "a" kept, "-a" dropped, "+a" new."""
    old, new = [text.split() for text in before], [text.split() for text in after]
    said = []
    for was, now in match_words(old, new):
        gone, come = was and old[was[0]][was[1]], now and new[now[0]][now[1]]
        assert gone == come or not (gone and come)
        said.append(f"-{gone}" if now is None else f"+{come}" if was is None else str(come))
    return " ".join(said)


@pytest.mark.parametrize(
    ("before", "after", "matches"),
    [
        (["a b c"], ["a b c"], "a b c"),
        (["it is not good"], ["it is good"], "it is -not good"),
        (["a good film"], ["a very bad film"], "a -good +very +bad film"),
        (["a"], ["b"], "-a +b"),
        (["so so"], ["so"], "so -so"),
        (["a b", "c d"], ["c d", "a b"], "c d a b"),
        (["a b", "c d"], ["a x", "c d"], "a -b +x c d"),
        (["a"], ["a", "b c"], "a +b +c"),
        (["a", "b"], ["a"], "a -b"),
    ],
)
def test_words_are_kept_dropped_and_new_where_they_stand(
    before: list[str], after: list[str], matches: str
) -> None:
    assert told(before, after) == matches


def test_each_text_of_a_pair_is_matched_with_where_it_went() -> None:
    assert match_words([["a"], ["c"]], [["c"], ["a"]]) == (((1, 0), (0, 0)), ((0, 0), (1, 0)))


def answered(text: str, similarity: list[float], share: list[float], text_pair: str = "") -> Analysis:
    """An answer whose last layer has these similarities, and whose head reads these shares."""
    one = analysis("first", text, text_pair)
    layers = one.similarity.copy()
    layers[-1] = similarity
    shares = np.array(share, dtype=np.float32)
    return replace(one, similarity=layers, reads=Reads(shares > 0, shares))


def aligned(before: Analysis, after: Analysis) -> AlignedVersions:
    one = [Compared(answer.backbone, (Cell(answer.query, answer),)) for answer in (before, after)]
    found = versions(Comparison((before.backbone,), ("native",), (one[0],), "done", (one[1],)))
    assert found
    compared = align_versions(found)
    assert compared
    return compared


# [CLS] it is not good [SEP], without "not" in the second
OLD = answered("it is not good", [1, 0.25, 0.5, 0.75, 0.125, 0.5], [0.25, 0.25, 0, 0.5, 0, 0])
NEW = answered("it is good", [1, 0.5, 0.5, 0.875, 0.5], [0.5, 0.25, 0, 0.25, 0])


def columns(found: pd.DataFrame | None, *names: str) -> list[tuple[object, ...]]:
    """What stands in these columns, with None for what is not there."""
    assert found is not None
    plain = found[list(names)].astype(object)
    return list(plain.where(plain.notna(), None).itertuples(index=False, name=None))


def test_words_move_nearer_or_farther_and_others_come_and_go() -> None:
    words = aligned(OLD, NEW).words
    assert columns(words, "word", "text", "kind", "before", "after", "moved") == [
        ("it", 0, "kept", 0.25, 0.5, 0.25),
        ("is", 0, "kept", 0.5, 0.5, 0.0),
        ("not", 0, "dropped", 0.75, None, None),
        ("good", 0, "kept", 0.125, 0.875, 0.75),
    ]
    best = None if words is None else furthest(words)
    assert best is not None
    assert (best["word"], best["backbone"]) == ("good", "first")


def test_what_is_read_moves_by_shares_and_a_dropped_word_has_none_left() -> None:
    reads = aligned(OLD, NEW).reads(OLD, NEW)
    assert columns(reads, "name", "before", "was", "after", "now", "moved") == [
        ("[CLS]", 0.25, True, 0.5, True, 0.25),
        ("it", 0.25, True, 0.25, True, 0.0),
        ("is", 0.0, False, 0.0, False, 0.0),
        ("not", 0.5, True, None, False, -0.5),
        ("good", 0.0, False, 0.25, True, 0.25),
        ("[SEP]", 0.0, False, 0.0, False, 0.0),
    ]
    assert not reads_same(reads)  # "good" is read only now; that "not" is gone is no matter
    best = furthest(reads)
    assert best is not None
    assert best["name"] == "not"
    every = answered("it is not good", [1] * 6, [0.5, *[0.125] * 3, *[0.0625] * 2])
    rest = answered("it is good", [1] * 5, [0.5, *[0.125] * 4])
    assert reads_same(aligned(every, rest).reads(every, rest))


def test_swapped_texts_are_held_against_where_they_went() -> None:
    # [CLS] a b [SEP] c [SEP] and [CLS] c [SEP] a b [SEP]
    old = answered("a b", [1, 0.25, 0.5, 0.0, 0.75, 0.0], [1, 0, 0, 0, 0, 0], "c")
    new = answered("c", [1, 0.5, 0.0, 0.125, 0.25, 0.0], [1, 0, 0, 0, 0, 0], "a b")
    found = aligned(old, new)
    assert columns(found.words, "word", "text", "kind", "moved") == [
        ("c", 0, "kept", -0.25),
        ("a", 1, "kept", -0.125),
        ("b", 1, "kept", -0.25),
    ]
    assert reads_same(found.reads(old, new))


NEGATED, PLAIN = "the plot is not good", "the plot is good"
KEYS = ["first", "last", "untrained", "many", "emotions", "score"]


def edited() -> Comparison:
    return compared(KEYS, NEGATED, PLAIN, poolings=("cls", "mean", "pooler"))


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
    return plain(agreement(given, {}, SAY).html)


def test_every_cell_says_what_each_version_gets_alone() -> None:
    table = Table(grid(edited(), {}, SAY).html)
    for key, row, classes in zip(KEYS, table.rows[1:], table.classes[1:], strict=True):
        for pooling, cell, kind in zip(("cls", "mean"), row[1:3], classes[1:3], strict=True):
            old, new = (analysis(key, text, pooling=pooling) for text in (NEGATED, PLAIN))
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
    for row in records(numbers(edited(), {}, SAY)):
        asked = [Query(row["backbone"], text, pooling=row["pooling"]) for text in (NEGATED, PLAIN)]
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


def test_the_sentence_counts_who_changes_its_mind() -> None:
    less = answer([0.6, 0.4])
    some = of_two([NO, NO, NO, YES], [YES, less, NO, YES], ("GPT · x",))
    told = said(some)
    assert told.startswith(
        "1 of 4 combinations changes its mind: 1 from negative to positive (GPT under p0)."
        "The largest move: GPT under p0, negative 90 % → 20 % (−70 pp)."
    )
    assert "First version: 3 of 4 combinations say negative; 1 says positive: GPT under p3." in told
    assert "Second version: 2 combinations" not in told
    every = said(of_two([NO, NO], [YES, YES]))
    assert every.startswith("All 2 combinations change their mind, from negative to positive.")
    none = said(of_two([NO, YES], [less, YES]))
    assert none.startswith("None of 2 combinations changes its mind.The largest move: B0 under p0")
    same = said(of_two([NO, YES], [NO, YES]))
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
    both_ways = of_two([answer([before, 1 - before])], [answer([after, 1 - after])])
    assert f"negative {moved}." in said(both_ways)
    cell = Table(grid(both_ways, {}, SAY).html).rows[1][1]
    assert moved.partition("(")[2].rstrip(")") in cell


def test_what_does_not_count_is_said_apart() -> None:
    old, new = answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False)
    found = of_two([NO, old, NO, "no"], [NO, new, OTHER, NO])
    told = said(found)
    assert told.startswith("1 combination, and it does not change its mind.")
    assert "1 with untrained weights: their outputs are random. 1 answered" in told
    assert told.endswith("1 cannot be answered.")
    table = Table(grid(found, {}, SAY).html)
    assert table.classes[1][1:] == ["edit told", "edit untrained", "edit told", "absent"]
    assert "pp" not in table.rows[1][2]
    assert "pp" not in table.rows[1][3]
