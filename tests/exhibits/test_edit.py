"""Two versions of a text word by word: which words moved, and what is read of them."""

from dataclasses import replace

import numpy as np
import pytest

from components.analyses.analyze import Cell, Compared
from components.exhibits.comparison import Comparison
from components.exhibits.edit import Edit, edit_of, furthest, match_words, reads_same
from components.types import Analysis, Reads
from tests.exhibits.showing import CASES, analysis


@pytest.mark.parametrize(("before", "after", "matches"), CASES["edits"])
def test_words_are_kept_dropped_and_new_where_they_stand(
    before: list[str], after: list[str], matches: str
) -> None:
    versions = [[text.split() for text in version] for version in (before, after)]
    told = []
    for word, *places in match_words(*versions):
        assert {version[at[0]][at[1]] for version, at in zip(versions, places, strict=True) if at} == {word}
        told.append(("-" if places[1] is None else "" if places[0] else "+") + word)
    assert " ".join(told) == matches


def answered(text: str, similarity: list[float], share: list[float], text_pair: str = "") -> Analysis:
    """An answer whose last layer has these similarities, and whose head reads these shares."""
    one = analysis("first", text, text_pair)
    layers = one.similarity.copy()
    layers[-1] = similarity
    shares = np.array(share, dtype=np.float32)
    return replace(one, similarity=layers, reads=Reads(shares > 0, shares))


def edited(before: Analysis, after: Analysis) -> Edit:
    one = [Compared(answer.backbone, (Cell(answer.query, answer),)) for answer in (before, after)]
    found = edit_of(Comparison((before.backbone,), ("native",), (one[0],), "done", (one[1],)))
    assert found
    return found


# [CLS] it is not good [SEP], without "not" in the second
OLD = answered("it is not good", [1, 0.25, 0.5, 0.75, 0.125, 0.5], [0.25, 0.25, 0, 0.5, 0, 0])
NEW = answered("it is good", [1, 0.5, 0.5, 0.875, 0.5], [0.5, 0.25, 0, 0.25, 0])


def told(found: Edit, *names: str) -> list[tuple[object, ...]]:
    """What stands in these columns of the words, with None for what is not there."""
    words = found.words()
    assert words is not None
    plain = words[list(names)].astype(object)
    return list(plain.where(plain.notna(), None).itertuples(index=False, name=None))


def test_words_move_nearer_or_farther_and_others_come_and_go() -> None:
    found = edited(OLD, NEW)
    assert told(found, "backbone", "word", "text", "kind", "before", "after", "moved") == [
        ("first", "it", 0, "kept", 0.25, 0.5, 0.25),
        ("first", "is", 0, "kept", 0.5, 0.5, 0.0),
        ("first", "not", 0, "dropped", 0.75, None, None),
        ("first", "good", 0, "kept", 0.125, 0.875, 0.75),
    ]
    best = furthest(found.words())
    assert best is not None
    assert best["word"] == "good"


def test_what_is_read_moves_by_shares_and_a_dropped_word_has_none_left() -> None:
    reads = edited(OLD, NEW).reads(OLD, NEW)
    assert [(*one, one.moved) for one in reads] == [
        ("[CLS]", (0.25, True), (0.5, True), 0.25),
        ("it", (0.25, True), (0.25, True), 0.0),
        ("is", (0.0, False), (0.0, False), 0.0),
        ("not", (0.5, True), None, -0.5),
        ("good", (0.0, False), (0.25, True), 0.25),
        ("[SEP]", (0.0, False), (0.0, False), 0.0),
    ]
    assert not reads_same(reads)  # "good" is read only now; that "not" is gone is no matter
    every = answered("it is not good", [1] * 6, [0.5, *[0.125] * 3, *[0.0625] * 2])
    rest = answered("it is good", [1] * 5, [0.5, *[0.125] * 4])
    assert reads_same(edited(every, rest).reads(every, rest))


def test_swapped_texts_are_held_against_where_they_went() -> None:
    # [CLS] a b [SEP] c [SEP] and [CLS] c [SEP] a b [SEP]
    old = answered("a b", [1, 0.25, 0.5, 0.0, 0.75, 0.0], [1, 0, 0, 0, 0, 0], "c")
    new = answered("c", [1, 0.5, 0.0, 0.125, 0.25, 0.0], [1, 0, 0, 0, 0, 0], "a b")
    found = edited(old, new)
    assert told(found, "word", "text", "kind", "moved") == [
        ("c", 0, "kept", -0.25),
        ("a", 1, "kept", -0.125),
        ("b", 1, "kept", -0.25),
    ]
    reads = found.reads(old, new)
    assert [one.name for one in reads].count("[SEP]") == 2  # each by itself
    assert reads_same(reads)
