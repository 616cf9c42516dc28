"""What a visitor compares: texts, backbones, poolings and head."""

from __future__ import annotations

from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.figures.labels import visible
from components.figures.view import Say
from components.ui.choices import HEADS
from components.ui.examples import load_examples

FIRST_ROWS = 5  # backbones on arrival, those of the first one's task
FIRST_COLUMNS = ("native", "cls", "mean", "max", "lasttoken", "weightedmean")


def build_asking(analyst: Analyst, say: Say) -> dict[str, Any]:
    """Lay the controls out, by their names in Compare; they ask about the first example."""
    first = load_examples()[0]
    backbones = offered(analyst)
    task = next(spec.task for spec in analyst.backbones() if spec.key == backbones[0][1]) if backbones else ""
    alike = [spec.key for spec in analyst.backbones() if spec.available and spec.task == task]
    poolings = [(visible(spec.key), spec.key) for spec in analyst.poolings()]
    with gr.Row(elem_id="compare-texts"):
        text = _box("compare-text", first.text, say("question.text"), say("question.text_hint"))
        pair = _box("compare-pair", first.text_pair, say("question.pair"), say("question.pair_hint"))
        heads = (say("question.head_own"), say("question.head_probe"))
        head = gr.Dropdown(
            list(zip(heads, HEADS, strict=True)),
            value=HEADS[0],
            label=say("question.head"),
            filterable=False,
            scale=2,
            min_width=240,
            elem_id="compare-head",
        )
    with gr.Row(elem_id="compare-choice"):
        rows = _several("compare-backbones", say("compare.backbones"), backbones, alike[:FIRST_ROWS], 5)
        columns = [key for key in FIRST_COLUMNS if key in dict(poolings).values()]
        pooled = _several("compare-poolings", say("compare.poolings"), poolings, columns, 3)
        start = gr.Button(say("compare.button"), variant="primary", elem_id="compare-start")
    return {
        "text": text,
        "pair": pair,
        "backbones": rows,
        "poolings": pooled,
        "head": head,
        "start": start,
    }


def _box(name: str, text: str, label: str, hint: str) -> gr.Textbox:
    return gr.Textbox(
        text, label=label, placeholder=hint, lines=1, max_lines=6, scale=3, min_width=240, elem_id=name
    )


def _several(
    name: str, label: str, choices: list[tuple[str, str]], value: list[str], scale: int
) -> gr.Dropdown:
    return gr.Dropdown(
        choices,
        value=value,
        label=label,
        multiselect=True,
        filterable=False,
        scale=scale,
        min_width=240,
        elem_id=name,
    )


def offered(analyst: Analyst) -> list[tuple[str, str]]:
    """(title, key) of the backbones that can be asked now."""
    return [(visible(spec.title), spec.key) for spec in analyst.backbones() if spec.available]
