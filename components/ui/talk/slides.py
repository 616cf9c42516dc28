"""What a step of a talk shows: the same sentences and plots as the page, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.curves import curves, curves_figure
from components.figures.evidence import Evidence
from components.figures.flow import flow
from components.figures.grid import Comparison
from components.figures.heatmap import heatmap
from components.figures.intervals import accuracy_figure, rho_figure
from components.figures.outputs import outputs
from components.figures.similarity import similarity
from components.figures.strips import strips_figure
from components.figures.view import Say, View
from components.types import Anatomy, Compared
from components.ui.captions import (
    heatmap_heading,
    outputs_heading,
    outputs_rest,
    similarity_heading,
    similarity_legend,
)
from components.ui.compare.alignment import aligned
from components.ui.compare.captions import curves_heading
from components.ui.compare.layout import drawn_grid
from components.ui.evidence import Evidences
from components.ui.evidence_captions import accuracy_heading, rho_heading
from components.ui.findings import legend
from components.ui.lead import flow_heading, strips_heading
from components.ui.links.classify import asked
from components.ui.links.controls import State, Value
from components.ui.printed import printed
from components.ui.question import to_query
from components.ui.verdict import verdict
from components.ui.weights import weights


@dataclass(frozen=True)
class Slide:
    """HTML above a plot, or HTML alone, and HTML below it."""

    above: str
    figure: Any = None
    below: str = ""


@dataclass(frozen=True, eq=False)
class Stage:
    """What slides are made of."""

    analyst: Analyst
    evidences: Evidences | None
    say: Say

    def slide(self, show: str, state: State, name: str) -> Slide:
        """One part of the page in a state, for the plot ``name``; PoolscopeError where it cannot be shown."""
        if show in OF_AN_ANSWER:
            return OF_AN_ANSWER[show](*answered(self.analyst, state), name, self.say)
        if show in OF_A_COMPARISON:
            return OF_A_COMPARISON[show](compared(self.analyst, state), state, name, self)
        return self._evidence(show, state, name)

    @property
    def poolings(self) -> dict[str, str]:
        """Pooling -> its title."""
        return {spec.key: spec.title for spec in self.analyst.poolings()}

    def _evidence(self, show: str, state: State, name: str) -> Slide:
        if self.evidences is None:
            raise PoolscopeError("show", show, "evidence.missing")
        backbones = state["evidence_backbones"]
        chosen = backbones if isinstance(backbones, tuple) else ()
        evidence = self.evidences.evidence(str(state["evidence_task"]), chosen)
        heading, figure = OF_EVIDENCE[show]
        return Slide(
            heading(evidence, self.say, name) + legend(evidence, self.say), figure(evidence, self.say)
        )


def answered(analyst: Analyst, state: State) -> tuple[View, Anatomy]:
    """What the Classify tab shows in a state."""
    anatomy = analyst.anatomy(asked(state))
    last, layer = anatomy.analysis.layers, state["layer"]
    chosen = layer if isinstance(layer, int) and 0 <= layer <= last else last
    return View(anatomy.analysis, chosen, bool(state["centred"])), anatomy


def compared(analyst: Analyst, state: State) -> Comparison:
    """What the Compare tab shows in a state."""
    backbones, poolings = state["backbones"], state["poolings"]
    if not isinstance(backbones, tuple) or not isinstance(poolings, tuple):
        raise TypeError("several backbones and several poolings are compared")

    def answers(text: Value, pair: Value) -> tuple[Compared, ...]:
        queries = [
            to_query(text, pair, backbone, pooling, state["compare_head"], "", "cls")
            for backbone in backbones
            for pooling in poolings
        ]
        with closing(analyst.compare(queries)) as rows:
            return tuple(rows)

    rows = answers(state["compare_text"], state["compare_pair"])
    version = state["version_text"], state["version_pair"]
    after = answers(*version) if any(str(text).strip() for text in version) else None
    return Comparison(tuple(row.backbone for row in rows), poolings, rows, "done", after)


def _reads(view: View, _: Anatomy, __: str, say: Say) -> Slide:
    return Slide(verdict(view, say))


def _similarity(view: View, _: Anatomy, name: str, say: Say) -> Slide:
    heading = similarity_heading(view, say, name)
    return Slide(heading, similarity(view, say), similarity_legend(view, say))


def _outputs(view: View, _: Anatomy, name: str, say: Say) -> Slide:
    heading = outputs_heading(view.analysis, say, name)
    return Slide(heading, outputs(view.analysis, say), outputs_rest(view.analysis, say))


def _heatmap(view: View, _: Anatomy, name: str, say: Say) -> Slide:
    return Slide(heatmap_heading(view, say, name), heatmap(view, say))


def _flow(_: View, anatomy: Anatomy, name: str, say: Say) -> Slide:
    return Slide(flow_heading(anatomy, say, name), flow(anatomy, say))


def _strips(_: View, anatomy: Anatomy, name: str, say: Say) -> Slide:
    return Slide(strips_heading(anatomy, say, name), strips_figure(anatomy, say))


def _orders(_: View, anatomy: Anatomy, __: str, say: Say) -> Slide:
    return Slide(f'<div class="orders">{printed(anatomy, say)}</div>')


def _weights(_: View, anatomy: Anatomy, __: str, say: Say) -> Slide:
    return Slide(f'<div class="numbers">{weights(anatomy, say)}</div>')


def _grid(comparison: Comparison, _: State, __: str, stage: Stage) -> Slide:
    said, cells = drawn_grid(comparison, stage.poolings, stage.say)
    return Slide(f'{said}<div class="compare-grid">{cells}</div>')


def _curves(comparison: Comparison, state: State, name: str, stage: Stage) -> Slide:
    lines = curves(comparison, bool(state["compare_centred"]))
    return Slide(curves_heading(lines, comparison, stage.say, name), curves_figure(lines, stage.say))


def _words(comparison: Comparison, state: State, _: str, stage: Stage) -> Slide:
    drawn = aligned(comparison, state["words_depth"], bool(state["words_centred"]), stage.say)
    return Slide(f'<div class="aligned">{"".join(drawn)}</div>')


OF_AN_ANSWER: Mapping[str, Callable[[View, Anatomy, str, Say], Slide]] = {
    "reads": _reads,
    "similarity": _similarity,
    "outputs": _outputs,
    "heatmap": _heatmap,
    "flow": _flow,
    "strips": _strips,
    "orders": _orders,
    "weights": _weights,
}
OF_A_COMPARISON: Mapping[str, Callable[[Comparison, State, str, Stage], Slide]] = {
    "grid": _grid,
    "curves": _curves,
    "words": _words,
}
OF_EVIDENCE: Mapping[str, tuple[Callable[[Evidence, Say, str], str], Callable[[Evidence, Say], Any]]] = {
    "accuracy": (accuracy_heading, accuracy_figure),
    "rho": (rho_heading, rho_figure),
}
SHOWS = (*OF_AN_ANSWER, *OF_A_COMPARISON, *OF_EVIDENCE)
PLOTTED = ("similarity", "outputs", "heatmap", "flow", "strips", "curves", *OF_EVIDENCE)
