"""What an edit moves word by word, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from components.figures.grid import Comparison
from components.figures.moves import Moved, Word, moved
from components.figures.versions import versions
from components.types import Analysis, Cell, Compared, Query, Reads
from tests.ui.fake import FakeAnalyst

BEFORE, AFTER = "it is not good", "it is good"  # [CLS] it is not good [SEP], without "not" in the second


def answered(text: str, similarity: list[float], share: list[float], text_pair: str = "") -> Analysis:
    """An answer whose last layer has these similarities, and whose head reads these shares."""
    one = FakeAnalyst().analyze(Query("first", text, text_pair))
    layers = one.similarity.copy()
    layers[-1] = similarity
    shares = np.array(share, dtype=np.float32)
    return replace(one, similarity=layers, reads=Reads(shares > 0, shares))


def both(before: Analysis, after: Analysis) -> Moved:
    one = [Compared(answer.backbone, (Cell(answer.query, answer),)) for answer in (before, after)]
    found = versions(Comparison((before.backbone,), ("native",), (one[0],), "done", (one[1],)))
    assert found
    compared = moved(found)
    assert compared
    return compared


OLD = answered(BEFORE, [1, 0.25, 0.5, 0.75, 0.125, 0.5], [0.25, 0.25, 0, 0.5, 0, 0])
NEW = answered(AFTER, [1, 0.5, 0.5, 0.875, 0.5], [0.5, 0.25, 0, 0.25, 0])
EVERY = answered(BEFORE, [1, 0.25, 0.5, 0.75, 0.125, 0.5], [0.5, 0.125, 0.125, 0.125, 0.0625, 0.0625])
ALL = answered(AFTER, [1, 0.5, 0.5, 0.875, 0.5], [0.5, 0.125, 0.125, 0.125, 0.125])


def test_words_move_nearer_or_farther_and_others_come_and_go() -> None:
    words = both(OLD, NEW).words
    assert words.words == (
        Word("it", 0, "kept"),
        Word("is", 0, "kept"),
        Word("not", 0, "dropped"),
        Word("good", 0, "kept"),
    )
    row = words.rows["first"]
    assert [(one.before, one.after) for one in row] == [(0.25, 0.5), (0.5, 0.5), (0.75, None), (0.125, 0.875)]
    assert [one.moved for one in row] == [0.25, 0.0, None, 0.75]
    assert words.furthest("first") == 3


def test_the_same_text_moves_nothing() -> None:
    same = both(OLD, OLD)
    assert same.words.furthest("first") is None
    reading = same.reading(OLD, OLD)
    assert reading.same
    assert reading.furthest is None


def test_what_is_read_moves_by_shares_and_a_dropped_word_has_none_left() -> None:
    reading = both(OLD, NEW).reading(OLD, NEW)
    assert [(part.name, part.before, part.after, part.moved) for part in reading.parts] == [
        ("[CLS]", 0.25, 0.5, 0.25),
        ("it", 0.25, 0.25, 0.0),
        ("is", 0.0, 0.0, 0.0),
        ("not", 0.5, None, -0.5),
        ("good", 0.0, 0.25, 0.25),
        ("[SEP]", 0.0, 0.0, 0.0),
    ]
    assert [(part.was, part.now) for part in reading.parts][3:5] == [(True, False), (False, True)]
    assert not reading.same  # "good" is read only now; that "not" is gone is no matter
    assert reading.furthest is reading.parts[3]
    assert both(OLD, ALL).reading(EVERY, ALL).same


def test_shares_are_whole_in_both_versions() -> None:
    reading = both(OLD, NEW).reading(OLD, NEW)
    assert sum(part.before or 0 for part in reading.parts) == pytest.approx(1)
    assert sum(part.after or 0 for part in reading.parts) == pytest.approx(1)


def test_swapped_texts_are_held_against_where_they_went() -> None:
    # [CLS] a b [SEP] c [SEP] and [CLS] c [SEP] a b [SEP]
    old = answered("a b", [1, 0.25, 0.5, 0.0, 0.75, 0.0], [1, 0, 0, 0, 0, 0], "c")
    new = answered("c", [1, 0.5, 0.0, 0.125, 0.25, 0.0], [1, 0, 0, 0, 0, 0], "a b")
    words = both(old, new).words
    assert [(word.surface, word.text, word.kind) for word in words.words] == [
        ("c", 0, "kept"),
        ("a", 1, "kept"),
        ("b", 1, "kept"),
    ]
    assert [one.moved for one in words.rows["first"]] == [-0.25, -0.125, -0.25]
    assert both(old, new).reading(old, new).same


def test_where_nothing_answered_there_is_nothing_to_move() -> None:
    refused = (Compared(OLD.backbone, (Cell(OLD.query, None, "no"),)),)
    found = versions(Comparison((OLD.backbone,), ("native",), refused, "done", refused))
    assert found
    assert moved(found) is None
