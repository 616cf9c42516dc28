"""What an edit moves word by word, by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd

from components.analyses.compare import Cell, Compared
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.edit.versions import AlignedVersions, align_versions, furthest, reads_same, versions
from components.types import Analysis, Query, Reads
from tests.ui.fake import FakeAnalyst

BEFORE, AFTER = "it is not good", "it is good"  # [CLS] it is not good [SEP], without "not" in the second


def answered(text: str, similarity: list[float], share: list[float], text_pair: str = "") -> Analysis:
    """An answer whose last layer has these similarities, and whose head reads these shares."""
    one = FakeAnalyst().ask("analyze", Query("first", text, text_pair))
    layers = one.similarity.copy()
    layers[-1] = similarity
    shares = np.array(share, dtype=np.float32)
    return replace(one, similarity=layers, reads=Reads(shares > 0, shares))


def both(before: Analysis, after: Analysis) -> AlignedVersions:
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
    words = words_of(both(OLD, NEW))
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
    reads = both(OLD, NEW).reads(OLD, NEW)
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
    assert reads_same(both(OLD, ALL).reads(EVERY, ALL))


def test_swapped_texts_are_held_against_where_they_went() -> None:
    # [CLS] a b [SEP] c [SEP] and [CLS] c [SEP] a b [SEP]
    old = answered("a b", [1, 0.25, 0.5, 0.0, 0.75, 0.0], [1, 0, 0, 0, 0, 0], "c")
    new = answered("c", [1, 0.5, 0.0, 0.125, 0.25, 0.0], [1, 0, 0, 0, 0, 0], "a b")
    words = words_of(both(old, new))
    assert rows(words, "word", "text", "kind") == [
        ("c", 0, "kept"),
        ("a", 1, "kept"),
        ("b", 1, "kept"),
    ]
    assert list(words["moved"]) == [-0.25, -0.125, -0.25]
    assert reads_same(both(old, new).reads(old, new))
