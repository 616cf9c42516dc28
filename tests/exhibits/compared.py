"""Made-up comparisons, of made-up answers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from components.analyses.compare import Cell, Compared
from components.exhibits.comparison import Comparison
from components.texts import Sentence
from components.types import Analysis, BackboneSpec, ProblemType, Query
from tests.ui.fake import FakeAnalyst


def answer(
    probabilities: Sequence[float],
    labels: tuple[str, ...] = ("negative", "positive"),
    problem_type: ProblemType = "single_label",
    trained: bool = True,
    text: str = "a good film",
) -> Analysis:
    """An answer with these outputs."""
    return replace(
        FakeAnalyst().ask("analyze", Query("first", text)),
        probabilities=np.array(probabilities, dtype=np.float32),
        logits=np.array(probabilities, dtype=np.float32),  # their size does not matter here
        labels=labels,
        problem_type=problem_type,
        head_trained=trained,
    )


def comparison(rows: Sequence[Sequence[Analysis | str]], titles: Sequence[str] = ()) -> Comparison:
    """A row for each backbone; a text stands for a refusal."""
    poolings = tuple(f"p{place}" for place in range(len(rows[0])))
    specs = tuple(
        BackboneSpec(f"b{place}", titles[place] if titles else f"B{place} · made up", "", "", "local", "")
        for place in range(len(rows))
    )
    return Comparison(
        specs,
        poolings,
        tuple(
            Compared(spec, tuple(_cell(spec.key, place, one) for place, one in enumerate(row)))
            for spec, row in zip(specs, rows, strict=True)
        ),
        "done",
    )


def _cell(backbone: str, place: int, given: Analysis | str) -> Cell:
    """A cell of its own vector."""
    query = Query(backbone, "a good film", pooling=f"p{place}")
    if isinstance(given, str):
        return Cell(query, None, Sentence("errors.refused", reason=given))
    pooled = given.pooled if given.pooled.any() else np.full(8, place + 1, np.float32)
    return Cell(query, replace(given, query=query, pooled=pooled))
