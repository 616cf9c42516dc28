"""A made-up comparison: every combination asked alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from components.analyses.compare import Cell, Compared
from components.errors import PoolscopeError
from components.types import Analysis, BackboneSpec, Query

MOST = 40  # combinations


def fake_compare(
    specs: Sequence[BackboneSpec],
    ask: Callable[[Query], Analysis],
    queries: Sequence[Query],
    gate: Path | None,
) -> Generator[Compared]:
    """What an engine compares, of as many backbones as the number in ``gate`` lets through so far."""
    if len(queries) > MOST:
        raise PoolscopeError("combinations", len(queries), "errors.combinations", most=MOST)
    if not queries[0].text.strip():
        raise PoolscopeError("text", queries[0].text, "errors.word")

    def cell(query: Query) -> Cell:
        try:
            return Cell(query, ask(query))
        except PoolscopeError as error:
            return Cell(query, None, error.sentence)

    groups: dict[str, list[Query]] = {}
    for query in queries:
        groups.setdefault(query.backbone, []).append(query)
    for number, (key, asked) in enumerate(groups.items(), 1):
        while gate is not None and int(gate.read_text("utf-8")) < number:
            time.sleep(0.02)
        spec = next(spec for spec in specs if spec.key == key)
        yield Compared(spec, tuple(map(cell, asked)))
