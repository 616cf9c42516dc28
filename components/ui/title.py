"""The head of the page: its title, the question that it answers, and the way to its other languages."""

from __future__ import annotations

from html import escape
from pathlib import Path

import gradio as gr

from components.texts import Texts, languages, load_texts

SCRIPT = Path(__file__).with_name("title.js")


def build_title(say: Texts) -> gr.HTML:
    """Lay it out. Without its script, a link to another language forgets the rest of the address."""
    title, question = escape(say("page.title")), escape(say("page.question"))
    links = " · ".join(_link(load_texts(tag), say) for tag in languages())
    label = escape(say("page.languages"))
    return gr.HTML(
        f'<h1>{title}</h1><p>{question}</p><nav id="languages" aria-label="{label}">{links}</nav>',
        js_on_load=SCRIPT.read_text(encoding="utf-8"),
        elem_id="title",
    )


def _link(other: Texts, say: Texts) -> str:
    tag, name = escape(other.language.tag), escape(other.language.name)
    here = ' aria-current="true"' if other.language == say.language else ""
    return f'<a href="?lang={tag}" lang="{tag}" hreflang="{tag}"{here}>{name}</a>'
