"""Plots on the page, drawn by plots.js: gradio makes its own anew at every change, also where it is hidden.

The Plotly that it draws with is gradio's, which the browser loads for the first gr.Plot.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from components.exhibits.draw.figure import Figure
from components.ui.gradio_internals import PLOTLY

PRELOAD = f'<link rel="modulepreload" href="./assets/{PLOTLY}">'  # both of the head
SCRIPT = f"<script>{Path(__file__).with_name('plots.js').read_text(encoding='utf-8')}</script>"


def load_plotly() -> gr.Plot:
    """An empty plot that nobody sees, for which Plotly comes before the first answer does."""
    return gr.Plot(Figure([], {}), visible="hidden", show_label=False, elem_id="plotly")


def plot_box(name: str, figure: Figure | None = None) -> gr.HTML:
    """A plot in a box of its own, which scrolls where the plot is larger; its value is `plot_value`."""
    with gr.Column(elem_id=name, elem_classes="plot"):
        return gr.HTML(
            plot_value(figure),
            html_template="<div></div>",
            js_on_load="drawPlot(element, props, watch)",
            apply_default_css=False,
        )


def plot_value(figure: Figure | None) -> str:
    """What a plot is given to draw: a figure as JSON, or "" for none."""
    return "" if figure is None else figure.to_json()
