"""Many queries of one text or pair on one backbone: one forward pass for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from components.analyses.compare import Cell
from components.analyses.measuring.analyze import analyse
from components.errors import PoolscopeError
from components.model.backbone import Backbone
from components.model.examine import Passed, answer, forward
from components.model.query import Asked


def cells(backbone: Backbone, asked: Sequence[Asked]) -> tuple[Cell, ...]:
    """A cell for each query, in their order; a PoolscopeError of one head is said in its cell."""
    passed = forward(backbone, asked[0].query.text, asked[0].query.text_pair)
    return tuple(_cell(passed, each) for each in asked)


def _cell(passed: Passed, asked: Asked) -> Cell:
    try:
        return Cell(asked.query, analyse(answer(passed, asked.query, asked.task)))
    except PoolscopeError as error:
        return Cell(asked.query, None, error.sentence)
