"""Many queries of one text or pair on one backbone: one forward pass for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.engine.analysis import analyse
from components.engine.backbone import Backbone
from components.engine.examine import Passed, answer, forward
from components.engine.query import Asked
from components.engine.repeatable import repeatable
from components.errors import PoolscopeError
from components.types import Cell, Query


def cells(
    queries: Sequence[Query], ask: Callable[[Query], Asked], load: Callable[[], Backbone]
) -> tuple[Cell, ...]:
    """A cell for each query, in their order. A PoolscopeError of ``ask``, or later, is said in its cell.

    The backbone is loaded and run once, and only if there is anything to answer.
    """
    plan = [_planned(query, ask) for query in queries]
    answers = iter(_answered([each for each in plan if isinstance(each, Asked)], load))
    return tuple(each if isinstance(each, Cell) else next(answers) for each in plan)


def _planned(query: Query, ask: Callable[[Query], Asked]) -> Asked | Cell:
    try:
        return ask(query)
    except PoolscopeError as error:
        return _refused(query, error)


def _answered(asked: Sequence[Asked], load: Callable[[], Backbone]) -> list[Cell]:
    if not asked:
        return []
    text, text_pair = asked[0].query.text, asked[0].query.text_pair
    try:
        backbone = load()
        with repeatable(backbone.model):
            passed = forward(backbone, text, text_pair)
            return [_cell(passed, each) for each in asked]
    except PoolscopeError as error:  # of the backbone, or of this text on it
        return [_refused(each.query, error) for each in asked]


def _cell(passed: Passed, asked: Asked) -> Cell:
    try:
        return Cell(asked.query, analyse(answer(passed, asked.query, asked.task)))
    except PoolscopeError as error:
        return _refused(asked.query, error)


def _refused(query: Query, error: PoolscopeError) -> Cell:
    return Cell(query, None, error.sentence)
