"""A note where something else is set than what is shown was asked: a link holds what is set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.exhibits.comparison.comparison import Comparison
from components.exhibits.control import Control, to_link
from components.texts import Texts
from components.ui.scripted import scripted_html

SCRIPT = Path(__file__).with_name("stale.js")


def build_stale(say: Texts) -> gr.HTML:
    """Lay the note out, hidden; the browser alone shows it."""
    note = f'<p role="status" hidden>{escape(say("compare.stale"))}</p>'
    return scripted_html(note, SCRIPT, "compare-stale")


def asked_html(comparison: Comparison, controls: Sequence[Control[Any]]) -> str:
    """What was asked of what has come, as a link would hold it; "" before anything has."""
    if not comparison.compared:
        return ""
    keys, asked = " ".join(control.key for control in controls), to_link(comparison.question, controls)
    return f'<span hidden data-keys="{keys}" data-asked="{escape(asked)}"></span>'
