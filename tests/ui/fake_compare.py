"""A made-up comparison: every combination asked alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from itertools import groupby

from components.errors import PoolscopeError
from components.types import Analysis, BackboneSpec, Cell, Compared, Query

MOST = 40  # combinations


def fake_compare(
    specs: Sequence[BackboneSpec], ask: Callable[[Query], Analysis], queries: Sequence[Query], pace: float
) -> Generator[Compared]:
    """What an engine compares; each backbone takes ``pace`` seconds."""
    if len(queries) > MOST:
        raise PoolscopeError("combinations", len(queries), "errors.combinations", most=MOST)
    if not queries[0].text.strip():
        raise PoolscopeError("text", queries[0].text, "errors.word")

    def cell(query: Query) -> Cell:
        try:
            return Cell(query, ask(query))
        except PoolscopeError as error:
            return Cell(query, None, error.sentence)

    for key, asked in groupby(queries, lambda query: query.backbone):
        time.sleep(pace)
        spec = next(spec for spec in specs if spec.key == key)
        yield Compared(spec, tuple(map(cell, asked)))
