"""The answer to a query: verdict, plots and table, and how an analysis fills them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr
from gradio.components import Component

from components.errors import PoolscopeError
from components.figures.heatmap import heatmap
from components.figures.labels import shorten
from components.figures.outputs import outputs
from components.figures.similarity import similarity
from components.figures.view import Say, View
from components.types import Analysis, Anatomy
from components.ui.captions import (
    heatmap_heading,
    outputs_heading,
    outputs_rest,
    similarity_heading,
    similarity_legend,
)
from components.ui.head import Head, build_head, show_head
from components.ui.plot import plot_box
from components.ui.table import table
from components.ui.verdict import mistake, verdict

Updates = dict[Any, Any]  # component -> its new value or gr.update(...) of its properties


@dataclass(frozen=True, eq=False)
class Answer:
    """The components of the answer; ``shown`` holds the last View, or None before the first."""

    shown: gr.State
    verdict: gr.HTML
    area: gr.Column
    layer: gr.Slider
    reference: gr.Dropdown
    centred: gr.Checkbox
    similarity_heading: gr.HTML
    similarity: gr.Plot
    legend: gr.HTML
    outputs_heading: gr.HTML
    outputs: gr.Plot
    outputs_rest: gr.HTML
    heatmap_heading: gr.HTML
    heatmap: gr.Plot
    table: gr.HTML
    views: gr.Tabs
    head: Head

    @property
    def drawn(self) -> list[Component]:
        """What depends on the layer and on centring."""
        return [
            self.shown,
            self.similarity_heading,
            self.similarity,
            self.heatmap_heading,
            self.heatmap,
            self.table,
        ]

    @property
    def all(self) -> list[Any]:
        """Everything that a new analysis may change."""
        fixed = [self.verdict, self.area, self.layer, self.reference]
        rest = [self.legend, self.outputs_heading, self.outputs, self.outputs_rest]
        return [*fixed, *self.drawn, *rest, *self.head.all]


def build_answer(say: Say) -> Answer:
    """Lay the answer out; all but the verdict stays hidden until there is an analysis."""
    waiting = f'<div class="verdict"><p>{escape(say("verdict.waiting"))}</p></div>'
    return Answer(
        shown=gr.State(None),
        verdict=gr.HTML(waiting, elem_id="verdict"),
        **_area(say),
    )


def _controls(say: Say) -> dict[str, Any]:
    """How to look at the answer."""
    with gr.Column(elem_id="view", elem_classes="card"):
        layer = gr.Slider(0, 1, 1, step=1, label=say("view.layer"), buttons=[], elem_id="layer")
        reference = gr.Dropdown(
            ["cls"], value="cls", label=say("view.reference"), filterable=False, elem_id="reference"
        )
        centred = gr.Checkbox(
            False, label=say("view.centred"), info=say("view.centred_info"), elem_id="centred"
        )
    return {"layer": layer, "reference": reference, "centred": centred}


def _area(say: Say) -> dict[str, Any]:
    """Two ways to look at the answer: at its tokens, and at what the head does with them."""
    with gr.Column(visible=False, elem_id="answer") as area, gr.Tabs(elem_id="views") as views:
        with gr.Tab(say("view.tokens"), id="tokens", elem_id="tokens-view"):
            tokens = _tokens(say)
        with gr.Tab(say("view.head"), id="head", elem_id="head-view"):
            head = build_head(say)
    return {"area": area, "views": views, "head": head, **tokens}


def _tokens(say: Say) -> dict[str, Any]:
    """Plots side by side, the heat map over the whole width, and the table."""
    with gr.Row(elem_id="plots"):
        with gr.Column(scale=3, min_width=300, elem_classes="card"):
            similarity_heading, similarity_plot = gr.HTML(), plot_box("similarity-plot")
            legend = gr.HTML()
        with gr.Column(scale=2, min_width=300, elem_id="side"):
            with gr.Column(elem_id="outputs", elem_classes="card"):
                outputs_heading, outputs_plot = gr.HTML(), plot_box("outputs-plot")
                outputs_rest = gr.HTML()
            controls = _controls(say)
    with gr.Column(elem_classes="card"):
        heatmap_heading, heatmap_plot = gr.HTML(), plot_box("heatmap-plot")
    with gr.Accordion(say("table.heading"), open=False, elem_id="numbers", elem_classes="numbers"):
        numbers = gr.HTML()
    return {
        **controls,
        "similarity_heading": similarity_heading,
        "similarity": similarity_plot,
        "legend": legend,
        "outputs_heading": outputs_heading,
        "outputs": outputs_plot,
        "outputs_rest": outputs_rest,
        "heatmap_heading": heatmap_heading,
        "heatmap": heatmap_plot,
        "table": numbers,
    }


def show(answer: Answer, view: View, anatomy: Anatomy, say: Say) -> Updates:
    """Updates for a new analysis; ``anatomy`` is that of the analysis that ``view`` looks at."""
    analysis = view.analysis
    return {
        answer.verdict: verdict(view, say),
        answer.area: gr.update(visible=True),
        answer.layer: _layers(analysis, view.layer, say),
        answer.reference: gr.update(choices=_references(view, say), value=str(analysis.query.reference)),
        answer.legend: similarity_legend(view, say),
        answer.outputs_heading: outputs_heading(analysis, say),
        answer.outputs: outputs(analysis, say),
        answer.outputs_rest: outputs_rest(analysis, say),
        **draw(answer, view, say),
        **show_head(answer.head, anatomy, say),
    }


def draw(answer: Answer, view: View, say: Say) -> Updates:
    """Updates for another layer or another centring of the same analysis."""
    return {
        answer.shown: view,
        answer.similarity_heading: similarity_heading(view, say),
        answer.similarity: similarity(view, say),
        answer.heatmap_heading: heatmap_heading(view, say),
        answer.heatmap: heatmap(view, say),
        answer.table: table(view, say),
    }


def refuse(answer: Answer, error: PoolscopeError, say: Say) -> Updates:
    """Updates for a query that cannot be answered: its reason, and no half-drawn screen."""
    return {
        answer.shown: None,
        answer.verdict: mistake(error, say),
        answer.area: gr.update(visible=False),
    }


def _layers(analysis: Analysis, layer: int, say: Say) -> Updates:
    last = analysis.layers
    return gr.update(maximum=last, value=layer, info=say("view.layer_info", last=last))


def _references(view: View, say: Say) -> list[tuple[str, str]]:
    tokens = view.analysis.tokens
    cls = shorten(view.labels[tokens.cls], 24)
    named = "view.reference_cls" if tokens.special[tokens.cls] else "view.reference_stand_in"
    choices = [(say(named, token=cls), "cls"), (say("view.reference_pooled"), "pooled")]
    choices += [
        (say("view.reference_token", index=index, token=shorten(label, 24)), str(index))
        for index, label in enumerate(view.labels)
    ]
    return choices
