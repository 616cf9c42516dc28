"""Where a visitor types the id of any model on the hub, if the owner allows it."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from components.figures.view import Say


@dataclass(frozen=True, eq=False)
class Lookup:
    """The box, its button, and the place of a refusal."""

    box: gr.Textbox
    button: gr.Button
    refusal: gr.HTML


def build_lookup(say: Say) -> Lookup:
    """Lay it out, closed."""
    with gr.Accordion(say("lookup.heading"), open=False, elem_id="lookup"):
        with gr.Row(elem_id="lookup-row"):
            box = gr.Textbox(
                label=say("lookup.id"),
                placeholder=say("lookup.hint"),
                info=say("lookup.note"),
                max_lines=1,
                elem_id="lookup-id",
            )
            button = gr.Button(say("lookup.button"), elem_id="lookup-button")
        refusal = gr.HTML("", elem_id="lookup-refusal")
    return Lookup(box, button, refusal)
