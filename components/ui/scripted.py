"""A piece of the page with a script of its own."""

from __future__ import annotations

from pathlib import Path

import gradio as gr


def scripted_html(html: str, script: Path, elem_id: str) -> gr.HTML:
    """Make a piece of HTML whose ``script`` runs once, when it is on the page.

    To the script, ``element`` is that piece; ``trigger(event, data)`` fires the component's event of that
    name on the server, whose function gets ``data`` as attributes of a `gr.EventData`.
    """
    return gr.HTML(html, js_on_load=script.read_text(encoding="utf-8"), elem_id=elem_id)
