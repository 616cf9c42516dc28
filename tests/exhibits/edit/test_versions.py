"""Two versions of a text, by hand: what moved in outputs, in words and in what is read."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from components.analyses.compare import Cell, Compared
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.edit.versions import (
    AlignedVersions,
    Versions,
    align_versions,
    furthest,
    match_words,
    reads_same,
    versions,
)
from components.types import Analysis, Query, Reads
from tests.exhibits.compared import answer, comparison
from tests.ui.fake import FakeAnalyst

NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])


def both(before: Sequence[Sequence[Analysis | str]], after: Sequence[Sequence[Analysis | str]]) -> Versions:
    found = versions(replace(comparison(before), after=comparison(after).compared))
    assert found
    return found


def test_one_version_is_none_to_compare() -> None:
    assert versions(comparison([[NO]])) is None


def test_a_move_follows_the_label_that_was_predicted() -> None:
    found = both([[NO, YES, NO]], [[YES, YES, answer([0.6, 0.4])]])
    assert [move.moved for move in found.moves] == pytest.approx([-0.7, 0.0, -0.3])
    assert [move.output for move in found.moves] == [0, 1, 0]
    assert [move.flips for move in found.moves] == [True, False, False]
    assert found.largest is found.moves[0]
    assert found.moves[1].before.query.pooling == "p1"


def test_an_untrained_head_never_changes_its_mind() -> None:
    old, new = answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False)
    found = both([[old, NO]], [[new, NO]])
    assert [move.flips for move in found.moves] == [False, False]
    assert [move.predicts for move in found.moves] == [False, True]
    assert found.moves[0].moved == pytest.approx(-0.8)
    assert found.largest is None


def test_of_several_labels_the_one_that_moved_most_is_followed() -> None:
    emotions = ("joy", "fear", "trust")
    old = answer([0.75, 0.25, 0.625], emotions, "multi_label")
    new = answer([0.625, 0.75, 0.625], emotions, "multi_label")
    (move,) = both([[old]], [[new]]).moves
    assert (move.output, move.moved, move.flips) == (1, 0.5, True)
    (other,) = both([[old]], [[answer([0.5625, 0.25, 0.625], emotions, "multi_label")]]).moves
    assert (other.output, other.moved, other.flips) == (0, -0.1875, False)


def test_a_regression_moves_by_its_value_and_has_no_mind_to_change() -> None:
    old, new = answer([-0.5], ("score",), "regression"), answer([2.25], ("score",), "regression")
    found = both([[old]], [[new]])
    assert [(move.moved, move.flips, move.predicts) for move in found.moves] == [(2.75, False, False)]
    assert found.largest is None


def test_what_cannot_be_held_against_each_other_has_no_move() -> None:
    other = answer([0.5, 0.25, 0.25], ("a", "b", "c"))
    found = both([[NO, "no", NO]], [[other, NO, "too long"]])
    assert [(move.moved, move.flips, move.output) for move in found.moves] == [(None, False, None)] * 3


def test_only_what_has_come_of_both_is_a_move() -> None:
    grid = comparison([[NO, NO], [YES, YES]])
    found = versions(replace(grid, after=grid.compared[:1]))
    assert found
    assert [move.before.query.backbone for move in found.moves] == ["b0", "b0"]


def told(before: list[str], after: list[str]) -> list[str]:
    """Every match as a word of the texts, one line of words for each: "a" kept, "-a" dropped, "+a" new."""
    old, new = [text.split() for text in before], [text.split() for text in after]
    said = []
    for was, now in match_words(old, new):
        if now is None:
            assert was is not None
            said.append("-" + old[was[0]][was[1]])
        elif was is None:
            said.append("+" + new[now[0]][now[1]])
        else:
            assert old[was[0]][was[1]] == new[now[0]][now[1]]
            said.append(new[now[0]][now[1]])
    return said


def test_words_are_kept_dropped_and_new_where_they_stand() -> None:
    assert told(["a b c"], ["a b c"]) == ["a", "b", "c"]
    assert told(["it is not good"], ["it is good"]) == ["it", "is", "-not", "good"]
    assert told(["a good film"], ["a very bad film"]) == ["a", "-good", "+very", "+bad", "film"]
    assert told(["a"], ["b"]) == ["-a", "+b"]


def test_the_same_word_twice_is_two_words() -> None:
    assert match_words([["so", "so"]], [["so"]]) == (
        ((0, 0), (0, 0)),
        ((0, 1), None),
    )
    assert told(["very very slow"], ["very slow"]).count("very") == 1


def test_each_text_of_a_pair_is_matched_with_where_it_went() -> None:
    assert told(["a b", "c d"], ["c d", "a b"]) == ["c", "d", "a", "b"]
    assert match_words([["a"], ["c"]], [["c"], ["a"]]) == (
        ((1, 0), (0, 0)),
        ((0, 0), (1, 0)),
    )
    assert told(["a b", "c d"], ["a x", "c d"]) == ["a", "-b", "+x", "c", "d"]


def test_a_text_more_or_less_is_new_or_dropped() -> None:
    assert told(["a"], ["a", "b c"]) == ["a", "+b", "+c"]
    assert told(["a", "b"], ["a"]) == ["a", "-b"]
    assert match_words([["a"], ["b"]], [["a"]])[-1] == ((1, 0), None)


BEFORE, AFTER = "it is not good", "it is good"  # [CLS] it is not good [SEP], without "not" in the second


def answered(text: str, similarity: list[float], share: list[float], text_pair: str = "") -> Analysis:
    """An answer whose last layer has these similarities, and whose head reads these shares."""
    one = FakeAnalyst().ask("analyze", Query("first", text, text_pair))
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


OLD = answered(BEFORE, [1, 0.25, 0.5, 0.75, 0.125, 0.5], [0.25, 0.25, 0, 0.5, 0, 0])
NEW = answered(AFTER, [1, 0.5, 0.5, 0.875, 0.5], [0.5, 0.25, 0, 0.25, 0])
EVERY = answered(BEFORE, [1, 0.25, 0.5, 0.75, 0.125, 0.5], [0.5, 0.125, 0.125, 0.125, 0.0625, 0.0625])
ALL = answered(AFTER, [1, 0.5, 0.5, 0.875, 0.5], [0.5, 0.125, 0.125, 0.125, 0.125])


def words_of(found: AlignedVersions) -> pd.DataFrame:
    assert found.words is not None
    return found.words


def rows(found: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    """What stands in these columns, with None for what is not there."""
    plain = found[list(columns)].astype(object)
    return list(plain.where(plain.notna(), None).itertuples(index=False, name=None))


def test_words_move_nearer_or_farther_and_others_come_and_go() -> None:
    words = words_of(aligned(OLD, NEW))
    assert set(words["backbone"]) == {"first"}
    assert rows(words, "word", "text", "kind") == [
        ("it", 0, "kept"),
        ("is", 0, "kept"),
        ("not", 0, "dropped"),
        ("good", 0, "kept"),
    ]
    assert rows(words, "before", "after", "moved") == [
        (0.25, 0.5, 0.25),
        (0.5, 0.5, 0.0),
        (0.75, None, None),
        (0.125, 0.875, 0.75),
    ]
    best = furthest(words)
    assert best is not None
    assert best["word"] == "good"


def test_what_is_read_moves_by_shares_and_a_dropped_word_has_none_left() -> None:
    reads = aligned(OLD, NEW).reads(OLD, NEW)
    assert rows(reads, "name", "before", "after", "moved") == [
        ("[CLS]", 0.25, 0.5, 0.25),
        ("it", 0.25, 0.25, 0.0),
        ("is", 0.0, 0.0, 0.0),
        ("not", 0.5, None, -0.5),
        ("good", 0.0, 0.25, 0.25),
        ("[SEP]", 0.0, 0.0, 0.0),
    ]
    assert rows(reads, "was", "now")[3:5] == [(True, False), (False, True)]
    assert not reads_same(reads)  # "good" is read only now; that "not" is gone is no matter
    best = furthest(reads)
    assert best is not None
    assert best["name"] == "not"
    assert reads_same(aligned(OLD, ALL).reads(EVERY, ALL))


def test_swapped_texts_are_held_against_where_they_went() -> None:
    # [CLS] a b [SEP] c [SEP] and [CLS] c [SEP] a b [SEP]
    old = answered("a b", [1, 0.25, 0.5, 0.0, 0.75, 0.0], [1, 0, 0, 0, 0, 0], "c")
    new = answered("c", [1, 0.5, 0.0, 0.125, 0.25, 0.0], [1, 0, 0, 0, 0, 0], "a b")
    words = words_of(aligned(old, new))
    assert rows(words, "word", "text", "kind") == [
        ("c", 0, "kept"),
        ("a", 1, "kept"),
        ("b", 1, "kept"),
    ]
    assert list(words["moved"]) == [-0.25, -0.125, -0.25]
    assert reads_same(aligned(old, new).reads(old, new))
