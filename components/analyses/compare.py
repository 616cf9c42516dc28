"""Many queries of one text or pair on one backbone: a cell for each, all from one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from components.analyses.registry import step
from components.model.query import Asked
from components.texts import Sentence
from components.types import Analysis, BackboneSpec, Query, rounded

if TYPE_CHECKING:
    from components.model.backbone import Backbone


@dataclass(frozen=True, eq=False)
class Cell:
    """One combination of a comparison: its answer, or why there is none: a PoolscopeError's sentence."""

    query: Query
    analysis: Analysis | None
    refusal: Sentence | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types, with nulls and empty lists where it is refused.

        ``probability`` is that of the label predicted, the highest if there are several, None if there is
        none.
        """
        analysis = self.analysis
        query = analysis.query if analysis else self.query  # an answer knows which probe it came from
        return {
            "backbone": query.backbone,
            "pooling": query.pooling,
            "head": query.head,
            "task": query.task if query.head == "probe" else "",
            "pool_layer": analysis.pool_layer if analysis else query.pool_layer,
            "predicted": analysis.chosen if analysis else None,
            "probability": max(rounded(analysis.probabilities)) if analysis and analysis.predicted else None,
            "labels": list(analysis.labels) if analysis else [],
            "logits": rounded(analysis.logits) if analysis else [],
            "probabilities": rounded(analysis.probabilities) if analysis else [],
            "reads": analysis.reads.indices if analysis else [],
            "head_trained": analysis.head_trained if analysis else None,
            "body_trained": analysis.body_trained if analysis else None,
            "warnings": list(map(str, analysis.warnings)) if analysis else [],
            "refusal": None if self.refusal is None else str(self.refusal),
        }


@dataclass(frozen=True, eq=False)
class Compared:
    """What one backbone says under every pooling that was asked for; all cells share one forward pass."""

    backbone: BackboneSpec
    cells: tuple[Cell, ...]


@step
def compare(backbone: Backbone, asked: Sequence[Asked]) -> tuple[Cell, ...]:
    """Answer each query, in their order; a PoolscopeError of one head is said in its cell."""
    from components.analyses.measuring.compare import cells

    return cells(backbone, asked)


def rows_json(asked: Sequence[Query], answers: Sequence[Compared], fitting: bool) -> list[dict[str, Any]]:
    """Give a row for each query ``asked``, in their order, in plain JSON types.

    With ``fitting``, a backbone that answers anything has no row for what it refuses.
    """
    coming = {one.backbone.key: iter(one.cells) for one in answers}
    answering = {one.backbone.key for one in answers if any(cell.analysis for cell in one.cells)}
    rows = []
    for query in asked:
        cell = next(coming[query.backbone])
        if cell.analysis or not (fitting and query.backbone in answering):
            rows.append(cell.to_json())
    return rows
