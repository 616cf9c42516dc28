"""Rows that a fold may not part: found here by comparing every row with every other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analyses.fit.classifier import divide
from components.analyses.fit.rows import equal_rows, groups_of, linked_rows, splits_of, to_rows
from components.fitting import Fit, Plan, Table
from components.inference.engine import Engine
from components.settings import Settings
from components.types import Bools, Ints

CELLS = st.sampled_from(["a", "b", "B ", "c", "d", "e", " f", "F", "g", "h"])
PAIRS = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12)


def table_of(pairs: list[tuple[str, str]]) -> Table:
    texts, others = zip(*pairs, strict=True)
    return Table(texts, others, tuple("xy"[row % 2] for row in range(len(pairs))))


def together(groups: Ints) -> Bools:
    """(N, N) which rows are in one group."""
    same: Bools = groups[:, None] == groups[None]
    return same


def by_closure(pairs: list[tuple[str, str]]) -> Bools:
    """(N, N) which rows reach each other by texts that they share, in any number of steps."""
    texts = [{cell.strip().casefold() for cell in pair} for pair in pairs]
    reach = np.array([[bool(one & other) for other in texts] for one in texts])
    for _ in pairs:
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    found: Bools = reach
    return found


@settings(max_examples=100, deadline=None)
@given(pairs=PAIRS)
def test_rows_that_share_a_text_hang_together(pairs: list[tuple[str, str]]) -> None:
    np.testing.assert_array_equal(together(linked_rows(table_of(pairs))), by_closure(pairs))


def questions(answers: int) -> Table:
    """40 questions, each with so many answers of its own, which fit it in turns."""
    rows = [(f"question {row // answers}", f"answer {row}") for row in range(40 * answers)]
    return table_of(rows)


def test_pairs_that_share_a_text_are_one_group_and_this_is_said() -> None:
    table = questions(3)
    groups, (said,) = groups_of(table, 5)
    np.testing.assert_array_equal(together(groups), together(np.arange(120) // 3))
    assert (said.key, dict(said.values)) == ("lab.together", {"count": 120, "groups": 40})
    for parts in divide(to_rows(table, Plan(("x",)), Settings()).rows, 5, 2):
        for split in splits_of(parts, 5):
            sides = [{table.texts[row] for row in side} for side in (split.train, split.held_out, split.test)]
            assert sum(map(len, sides)) == len(set.union(*sides))


FEW = table_of([(f"question {row // 10}", f"answer {row}") for row in range(60)])  # six groups of ten
LARGE = table_of([(f"question {max(row, 12)}", f"answer {row}") for row in range(60)])  # folds have 12 rows


@pytest.mark.parametrize(("table", "shared"), [(FEW, 60), (LARGE, 13)], ids=["few groups", "a large group"])
def test_where_no_folds_could_be_made_equal_pairs_alone_are_one_group(table: Table, shared: int) -> None:
    groups, (said,) = groups_of(table, 5)
    assert len(set(groups.tolist())) == 60
    assert (said.key, dict(said.values)) == ("lab.shared", {"count": shared})


def test_single_texts_and_pairs_of_their_own_have_nothing_to_say() -> None:
    table = questions(1)
    assert groups_of(table, 5)[1] == ()
    single = Table(("a", "A ", "b"), (), ("x", "y", "x"))
    groups, said = groups_of(single, 5)
    assert (groups.tolist(), said) == ([0, 0, 1], ())
    np.testing.assert_array_equal(groups, equal_rows(single))


def test_a_fit_says_that_pairs_stand_together(engine: Engine) -> None:
    *_stages, fit = engine.fit(questions(2), Plan(("bert-sentiment",), ("cls",), folds=2))
    assert isinstance(fit, Fit)
    assert [note.key for note in fit.warnings] == ["lab.together"]
