"""A plot on the page."""

from __future__ import annotations

from typing import Any

import gradio as gr


def plot_box(name: str, figure: Any = None) -> gr.Plot:
    """A plot in a box of its own, which scrolls where the plot is larger."""
    with gr.Column(elem_id=name, elem_classes="plot"):
        return gr.Plot(figure, show_label=False, container=False)
