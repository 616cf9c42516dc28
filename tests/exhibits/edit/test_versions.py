"""What moved between two versions, by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from components.exhibits.edit.versions import Versions, versions
from components.types import Analysis
from tests.exhibits.compared import answer, comparison

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
