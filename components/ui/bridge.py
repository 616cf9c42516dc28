"""The few lines of JavaScript that hand browser events to gradio which its components do not have."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

SCRIPT = Path(__file__).with_name("bridge.js")


def build_bridge() -> gr.HTML:
    """An empty component: its ``input`` says that typing paused, its ``select`` that a layer was clicked."""
    return gr.HTML("", js_on_load=SCRIPT.read_text(encoding="utf-8"), elem_id="bridge")
