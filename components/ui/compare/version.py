"""The second version of a text: its boxes, and what fills them with one click."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import gradio as gr

from components.figures.view import Say
from components.ui.compare.negations import Negations, load_negations
from components.ui.question import to_text

Given = Mapping[Any, Any]  # component -> its value
Updates = dict[Any, Any]  # component -> its new value


def build_version(say: Say) -> Version:
    """Lay the buttons out, and the boxes under them, which the style sheet shows once they hold anything."""
    with gr.Column(elem_id="compare-version"):
        with gr.Row(elem_id="compare-edits"):
            bring = _button("bring", say("compare.bring"))
            gr.HTML("<p>" + escape(say("edit.lead")) + "</p>")
            copy, drop = _button("copy", say("edit.copy")), _button("drop", say("edit.drop"))
            swap, clear = _button("swap", say("edit.swap")), _button("clear", say("edit.clear"))
            note = gr.HTML("", elem_id="compare-edit-note")
        with gr.Row(elem_id="compare-versions"):
            text = _box("text", say("edit.text"), say("edit.text_hint"))
            pair = _box("pair", say("edit.pair"), say("edit.pair_hint"))
    return Version(say, load_negations(), text, pair, note, bring, copy, drop, swap, clear)


@dataclass(frozen=True, eq=False)
class Version:
    """The components, and what they do. ``bring`` is for the texts of another tab."""

    say: Say
    negations: Negations
    text: gr.Textbox
    pair: gr.Textbox
    note: gr.HTML
    bring: gr.Button
    copy: gr.Button
    drop: gr.Button
    swap: gr.Button
    clear: gr.Button

    @property
    def empty(self) -> Updates:
        """Updates that leave no second version."""
        return {self.text: "", self.pair: "", self.note: ""}

    def connect(self, text: gr.Textbox, pair: gr.Textbox, calls: gr.State) -> None:
        """Fill the boxes from the first version's; a change of ``calls`` asks for the comparison."""
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        edits = ((self.copy, self.copied), (self.drop, self.dropped), (self.swap, self.swapped))
        for button, edit in edits:
            button.click(
                partial(edit, text, pair, calls),
                inputs={text, pair, calls},
                outputs=[self.text, self.pair, self.note, calls],
                concurrency_limit=None,
                **quiet,
            )

    def given(self, values: Given) -> tuple[str, str] | None:
        """The texts of the second version; None where its boxes are blank."""
        texts = to_text(values[self.text]), to_text(values[self.pair])
        return texts if any(text.strip() for text in texts) else None

    def copied(self, text: gr.Textbox, pair: gr.Textbox, calls: gr.State, values: Given) -> Updates:
        """A copy to edit, which asks for nothing yet."""
        del calls
        return self._filled(to_text(values[text]), to_text(values[pair]))

    def dropped(self, text: gr.Textbox, pair: gr.Textbox, calls: gr.State, values: Given) -> Updates:
        """The texts without their first negation."""
        first, second = to_text(values[text]), to_text(values[pair])
        if (left := self.negations.drop(first)) is not None:
            return {**self._filled(left, second), calls: values[calls] + 1}
        if (left := self.negations.drop(second)) is not None:
            return {**self._filled(first, left), calls: values[calls] + 1}
        return {self.note: self._told("edit.no_negation")}

    def swapped(self, text: gr.Textbox, pair: gr.Textbox, calls: gr.State, values: Given) -> Updates:
        """The second text first."""
        first, second = to_text(values[text]), to_text(values[pair])
        if not second.strip():
            return {self.note: self._told("edit.no_pair")}
        return {**self._filled(second, first), calls: values[calls] + 1}

    def _filled(self, text: str, pair: str) -> Updates:
        return {self.text: text, self.pair: pair, self.note: ""}

    def _told(self, key: str) -> str:
        return f'<p role="status">{escape(self.say(key))}</p>'


def _button(name: str, label: str) -> gr.Button:
    return gr.Button(label, size="sm", elem_id=f"compare-edit-{name}")


def _box(name: str, label: str, hint: str) -> gr.Textbox:
    return gr.Textbox(
        "",
        label=label,
        placeholder=hint,
        lines=1,
        max_lines=6,
        min_width=240,
        elem_id=f"compare-version-{name}",
    )
