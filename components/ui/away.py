"""A plot to take away: as an image, which the browser makes, and its numbers as CSV."""

from __future__ import annotations

from html import escape
from pathlib import Path

import gradio as gr

from components.figures.labels import shorten, visible
from components.figures.view import Say
from components.types import Analysis
from components.ui.sheet import download

SCRIPT = Path(__file__).with_name("export.js")
FORMATS = ("PNG", "SVG")
TEXT = 120  # characters of a text that an image names


def build_exporter() -> gr.HTML:
    """An empty component that makes the buttons of every row work."""
    return gr.HTML("", js_on_load=SCRIPT.read_text(encoding="utf-8"), elem_id="exporter")


def away(name: str, csv: str, about: str, say: Say, scale: str = "") -> str:
    """A quiet row of buttons under the heading of the plot ``name``, as escaped HTML.

    ``about`` says in the image what was asked. ``scale`` names the colours of a heat map, which the image
    then explains; "" where there is nothing to explain.
    """
    data = {"plot": name, "about": about, "scale": scale}
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items() if value)
    images = "".join(
        f'<button type="button" data-export="{form.lower()}"{attributes}>{form}</button>' for form in FORMATS
    )
    link = download(csv, f"poolscope-{name}.csv", "CSV")
    label = escape(say("away.save"))
    return f'<p class="away" role="group" aria-label="{label}">{images}{link}</p>'


def about(analysis: Analysis, say: Say) -> str:
    """What was asked, in one line, not escaped."""
    query = analysis.query
    key = "away.about_pair" if query.text_pair else "away.about"
    return say(
        key,
        backbone=visible(analysis.backbone.title),
        pooling=visible(query.pooling),
        head=say(f"away.head_{query.head}", task=visible(query.task)),
        text=shorten(visible(query.text), TEXT),
        text_pair=shorten(visible(query.text_pair), TEXT),
    )
