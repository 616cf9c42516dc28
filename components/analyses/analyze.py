"""The answer to a query, and those to many queries of one text, all from one forward pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from components.analyses.registry import Backbone, Cost, Examined, analysis, measuring, step
from components.errors import PoolscopeError
from components.model.query import Asked
from components.texts import Sentence
from components.types import Analysis, BackboneSpec, Query, as_json, rounded


@analysis("backbone text text_pair pooling head layer reference task pool_layer mine", Cost(), rounds=True)
def analyze(examined: Examined) -> Analysis:
    """Classify a text or a pair: the head's outputs, the tokens it reads, similarities to ``reference``."""
    return cast("Analysis", measuring("anatomy").answered(examined))


@dataclass(frozen=True, eq=False)
class Cell:
    """A combination of a comparison: its answer, or why there is none: a PoolscopeError's sentence."""

    query: Query
    analysis: Analysis | None
    refusal: Sentence | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types, with nulls and empty lists where it is refused.

        ``probability`` is that of the label predicted, of several the highest, None if there is none.
        """
        answer = self.analysis
        asked = "backbone pooling head task=probe_task pool_layer predicted probability "
        found = "labels logits probabilities reads head_trained body_trained warnings refusal"
        if answer is None:
            lists = {key: list[Any]() for key in ("labels", "logits", "probabilities", "reads", "warnings")}
            nothing = dict.fromkeys(("predicted", "probability", "head_trained", "body_trained"))
            return as_json(self.query, asked + found, **lists, **nothing, refusal=str(self.refusal))
        best = max(rounded(answer.probabilities)) if answer.predicted else None
        known = {"predicted": answer.chosen, "probability": best, "pool_layer": answer.pool_layer}
        query = as_json(answer.query, asked, **known)  # which knows which probe it came from
        return query | as_json(answer, found, reads=answer.reads.indices, refusal=None)


@dataclass(frozen=True, eq=False)
class Compared:
    """All that a backbone says under the poolings that were asked for; cells share one forward pass."""

    backbone: BackboneSpec
    cells: tuple[Cell, ...]


@partial(step, rounds=True)
def compare(backbone: Backbone, asked: Sequence[Asked]) -> tuple[Cell, ...]:
    """Answer each query, in their order; a PoolscopeError of one head is said in its cell."""
    from components.model.examine import answer, forward

    passed = forward(backbone, asked[0].query.text, asked[0].query.text_pair)
    analyse = measuring("analyze").analyse

    def cell(one: Asked) -> Cell:
        try:
            return Cell(one.query, analyse(answer(passed, one.query, one.task)))
        except PoolscopeError as error:
            return Cell(one.query, None, error.sentence)

    return tuple(map(cell, asked))


def rows_json(asked: Sequence[Query], answers: Sequence[Compared], fitting: bool) -> list[dict[str, Any]]:
    """Give a row for each query ``asked``, in their order, in plain JSON types.

    With ``fitting``, a backbone that answers anything has no row for what it refuses.
    """
    coming = {one.backbone.key: iter(one.cells) for one in answers}
    silent = {one.backbone.key for one in answers if fitting and any(cell.analysis for cell in one.cells)}
    cells = [next(coming[query.backbone]) for query in asked]
    return [cell.to_json() for cell in cells if cell.analysis or cell.query.backbone not in silent]
