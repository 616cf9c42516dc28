"""Where the Compare tab says how far it is, and what has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.figures.grid import Comparison
from components.figures.versions import versions
from components.figures.view import Say
from components.ui.compare.agreement import agreement
from components.ui.compare.alignment import build_words
from components.ui.compare.captions import curves_heading
from components.ui.compare.edit_agreement import edit_agreement
from components.ui.compare.edit_grid import edit_grid
from components.ui.compare.grid import grid
from components.ui.plot import plot_box


def titles_of(analyst: Analyst) -> dict[str, str]:
    """The title of each pooling."""
    return {spec.key: spec.title for spec in analyst.poolings()}


def empty_grid(analyst: Analyst, backbones: Sequence[str], poolings: Sequence[str], say: Say) -> str:
    """The grid before anything has come."""
    rows = tuple(spec for spec in analyst.backbones() if spec.key in backbones)
    return grid(Comparison(rows, tuple(poolings)), titles_of(analyst), say)


def drawn_grid(comparison: Comparison, titles: Mapping[str, str], say: Say) -> tuple[str, str]:
    """Who says what, in words and cell by cell: of one version, or of both."""
    both = versions(comparison)
    if both is None:
        return agreement(comparison, say), grid(comparison, titles, say)
    return edit_agreement(both, say), edit_grid(both, titles, say)


def build_status(say: Say) -> dict[str, Any]:
    """How far it is, and the way to stop it."""
    with gr.Row(elem_id="compare-progress"):
        status = gr.HTML("", elem_id="compare-status")
        cancel = gr.Button(say("download.cancel"), interactive=False, elem_id="compare-cancel")
    return {"shown": gr.State(None), "calls": gr.State(0), "status": status, "cancel": cancel}


def build_compared(empty: str, say: Say) -> dict[str, Any]:
    """The grid under its sentence, what an edit moved, the curves, and the numbers.

    None of it is hidden before anything has come: gradio does not always show what it hid before the tab
    was opened.
    """
    with gr.Column(elem_id="compared"):
        with gr.Column(elem_classes="card"):
            said, cells = gr.HTML("", elem_id="compare-agreement"), gr.HTML(empty, elem_id="compare-grid")
        with gr.Column(elem_classes="card", elem_id="compare-moves"):
            moves = gr.HTML("")
        words = build_words(say)
        with gr.Column(elem_classes="card"):
            heading = gr.HTML(curves_heading((), Comparison((), ()), say))
            centred = gr.Checkbox(
                False, label=say("view.centred"), info=say("view.centred_info"), elem_id="compare-centred"
            )
            figure = plot_box("curves-plot")
        with gr.Accordion(
            say("compare.numbers"), open=False, elem_id="compare-numbers", elem_classes="numbers"
        ):
            table = gr.HTML("")
    return {
        "agreement": said,
        "grid": cells,
        "moves": moves,
        "table": table,
        "words": words,
        "centred": centred,
        "curves_heading": heading,
        "curves": figure,
    }
