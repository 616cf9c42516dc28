"""Made-up comparisons, of made-up answers, and tables as they are read."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from components.analyses.analyze import Cell, Compared
from components.exhibits.comparison import Comparison
from components.texts import Sentence
from components.types import SWAP, Analysis, BackboneSpec, ProblemType, Query
from tests.exhibits.showing import analysis, plain


def answer(
    probabilities: Sequence[float],
    labels: tuple[str, ...] = ("negative", "positive"),
    problem_type: ProblemType = "single_label",
    trained: bool = True,
    text: str = "a good film",
) -> Analysis:
    """An answer with these outputs."""
    outputs = np.array(probabilities, dtype=np.float32)  # for logits, too: their size does not matter here
    kind = {"labels": labels, "problem_type": problem_type, "head_trained": trained}
    return replace(analysis(text=text), probabilities=outputs, logits=outputs, **kind)


NO, YES, LESS = answer([0.9, 0.1]), answer([0.2, 0.8]), answer([0.6, 0.4])
LOW, HIGH = (answer([one], ("score",), "regression") for one in (-0.5, 2.25))


def swap(given: Analysis) -> Analysis:
    """The same answer of an own head that was given another vector than its own."""
    return replace(given, warnings=(Sentence(SWAP, own="[CLS]", pooling="p1"),))


def comparison(
    rows: Sequence[Sequence[Analysis | str]],
    titles: Sequence[str] = (),
    after: Sequence[Sequence[Analysis | str]] = (),
) -> Comparison:
    """A row for each backbone, and after another version of the text; a text stands for a refusal."""
    named = titles or [f"B{place} · made up" for place in range(len(rows))]
    specs = tuple(BackboneSpec(f"b{place}", title, "", "", "local", "") for place, title in enumerate(named))
    compared = (
        Compared(spec, tuple(_cell(spec.key, place, one) for place, one in enumerate(row)))
        for spec, row in zip(specs, rows, strict=True)
    )
    poolings = tuple(f"p{place}" for place in range(len(rows[0])))
    second = comparison(after, titles).compared if after else None
    return Comparison(specs, poolings, tuple(compared), "done", second)


def _cell(backbone: str, place: int, given: Analysis | str) -> Cell:
    """A cell of its own vector."""
    query = Query(backbone, "a good film", pooling=f"p{place}")
    if isinstance(given, str):
        return Cell(query, None, Sentence("errors.refused", reason=given))
    pooled = given.pooled if given.pooled.any() else np.full(8, place + 1, np.float32)
    return Cell(query, replace(given, query=query, pooled=pooled))


class Table:
    """The texts of a table's cells, and their classes."""

    def __init__(self, html: str) -> None:
        cell = re.compile(r"<t[dh]\b([^>]*)>(.*?)</t[dh]>", re.DOTALL)
        found = [cell.findall(row) for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)]
        self.rows = [[plain(text) for _, text in row] for row in found]
        named = re.compile(r'class="([^"]*)"')
        self.classes = [["".join(named.findall(kind)) for kind, _ in row] for row in found]
