"""A talk that is made in the page: its editor, and what the server answers it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.exhibits.control import Control
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Shown
from components.exhibits.made import from_file, from_page, to_file, to_page
from components.exhibits.report.handout import Sheet, handout
from components.exhibits.script import CHOICES, Script, Step
from components.texts import Texts
from components.ui.gradio_internals import scripted_html
from components.ui.links.share import qr_picture
from components.ui.talk.talk import Pair, Show

SCRIPT = Path(__file__).with_name("editor.js")
SAID = {  # what the script says, by the name under which it looks for it
    "name": "editor.file",
    "caption": "editor.caption",
    "ask": "editor.ask",
    "choices": "editor.choices",
    "notes": "editor.notes",
    "minutes": "editor.minutes",
    "more": "editor.more",
    "up": "editor.up",
    "down": "editor.down",
    "remove": "editor.remove",
    "open": "talk.open",
    "added": "editor.added",
    "nothing": "editor.nothing",
    "making": "editor.making",
    "unkept": "editor.unkept",
    "unreached": "link.unreached",
    "lost": "editor.lost",
}


@dataclass(frozen=True, eq=False)
class Editor:
    """Answers who makes a talk, or has one of the ``scripts`` handed out; ``shows``: what may be shown."""

    scripts: Mapping[str, Script]
    shows: Mapping[str, Show]
    controls: Sequence[Control[Any]]
    say: Texts

    def open(self, talk: str) -> dict[str, Any]:
        """A file as the editor takes it; PoolscopeError says why it is none."""
        return to_page(from_file(talk, self.controls, self._places), self.controls, self.say)

    def check(self, talk: str) -> dict[str, Any]:
        """What the editor holds, and what of it cannot be had any more."""
        return to_page(self._made(talk), self.controls, self.say)

    def save(self, talk: str) -> str:
        """What the editor holds as a file of TOML."""
        return to_file(self._made(talk), self.controls)

    def hand_out(self, talk: str, name: str, text: str, pair: str, page: str) -> tuple[str, ...]:
        """One document of the script of that ``name`` or, without a name, of what the editor holds.

        ``text``, ``pair``: sentences of the visitor's own, for steps that set none. ``page``: where the live
        page is.
        """
        script = self.scripts[name] if name in self.scripts else self._made(talk)
        own = (text, pair) if text else None
        here = page if page.startswith(("https://", "http://")) else ""
        return handout(script, [self._sheet(step, own, here) for step in script.steps], self.say)

    @property
    def _places(self) -> dict[str, Any]:
        return {name: show.place for name, show in self.shows.items()}

    def _made(self, talk: str) -> Script:
        return from_page(talk, self.controls, self._places)

    def _sheet(self, step: Step, own: Pair | None, page: str) -> Sheet:
        """A sheet, or why there is nothing on it: the others are handed out nevertheless."""
        show, link = self.shows[step.show], ""
        state, asked = show.about(step, own, self.say)
        shown, summary, mistake, picture = Shown(), "", "", ""
        try:
            shown, summary = show.shown(state, self.say)
        except PoolscopeError as error:
            mistake = visible(error.said(self.say))
        if page:
            link = f"{page}?{show.link(state, self.controls)}"
            picture = qr_picture(link, self.say)
        return Sheet(step, asked, show.exhibit, shown, summary, mistake, link, picture)


def build_editor(
    scripts: tuple[Script, ...],
    shows: Mapping[str, Show],
    controls: Sequence[Control[Any]],
    place: gr.Column,
    say: Texts,
) -> Editor:
    """The button that opens the editor, and the editor, which the script fills, in a ``place``."""
    places = {name: [show.place, show.title(say), show.element] for name, show in shows.items()}
    later = {name: f"{{{name}}}" for name in ("caption", "count", "reason")}  # which the script fills in
    bounds = {"least": CHOICES[0], "most": CHOICES[-1]}
    said = " ".join(f'data-{name}="{escape(say(key, **later, **bounds))}"' for name, key in SAID.items())
    with place:
        scripted_html(
            f'<div data-shows="{escape(json.dumps(places))}" data-lang="{say.language.tag}" {said}>'
            f'<button type="button" data-editor="show">{escape(say("editor.button"))}</button>'
            f"{_dialog(say)}</div>",
            SCRIPT,
            "editor",
        )
    return Editor({script.name: script for script in scripts}, shows, controls, say)


def _dialog(say: Texts) -> str:
    """The editor: what to add, the steps, and what becomes of them."""
    heading = escape(say("editor.heading"))
    buttons = "".join(
        f'<button type="button" data-editor="{name}">{escape(say(key))}</button>'
        for name, key in (
            ("pick", "editor.open"),
            ("save", "editor.save"),
            ("handout", "editor.handout"),
            ("clear", "editor.clear"),
            ("undo", "editor.undo"),
            ("close", "link.close"),
        )
    )
    return (
        f'<dialog aria-labelledby="editor-heading"><h2 id="editor-heading">{heading}</h2>'
        f"<p>{escape(say('editor.hint'))}</p>"
        f'<label>{escape(say("editor.title"))} <input type="text" data-field="title"></label>'
        f"<form><label>{escape(say('editor.what'))} <select></select></label>"
        f'<label>{escape(say("editor.caption"))} <input type="text" data-field="added"></label>'
        f"<button>{escape(say('editor.add'))}</button></form>"
        f'<ol></ol><p role="status"></p><p class="row">{buttons}</p>'
        f'<input type="file" accept=".toml" hidden aria-label="{escape(say("editor.open"))}"></dialog>'
    )
