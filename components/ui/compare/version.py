"""The second version of a text: its boxes, and what fills them with one click."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape

import gradio as gr

from components.texts import ASSETS, Texts
from components.ui.classify.question import to_text
from components.ui.places import PRIVATE, Given, Updates, text_box

WORD = re.compile(r"\w+(?:['’]\w+)*")


def build_version(say: Texts) -> Version:
    """Lay the buttons out, and the boxes under them, which the style sheet shows once they hold anything."""
    with gr.Column(elem_id="compare-version"):
        with gr.Row(elem_id="compare-edits"):
            bring = _button("bring", say("compare.bring"))
            gr.HTML("<p>" + escape(say("edit.lead")) + "</p>")
            copy, drop = _button("copy", say("edit.copy")), _button("drop", say("edit.drop"))
            swap, clear = _button("swap", say("edit.swap")), _button("clear", say("edit.clear"))
            note = gr.HTML("", elem_id="compare-edit-note")
        with gr.Row(elem_id="compare-versions"):
            labels, hints = (
                (say("edit.text"), say("edit.pair")),
                (say("edit.text_hint"), say("edit.pair_hint")),
            )
            text = text_box("compare-version-text", labels[0], hints[0], min_width=240)
            pair = text_box("compare-version-pair", labels[1], hints[1], min_width=240)
    return Version(say, load_negations(), text, pair, note, bring, copy, drop, swap, clear)


@dataclass(frozen=True, eq=False)
class Version:
    """The components, and what they do. ``bring`` is for the texts of another tab."""

    say: Texts
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
        edits = ((self.copy, self.copied), (self.drop, self.dropped), (self.swap, self.swapped))
        for button, edit in edits:
            button.click(
                partial(edit, text, pair, calls),
                inputs={text, pair, calls},
                outputs=[self.text, self.pair, self.note, calls],
                concurrency_limit=None,
                **PRIVATE,
            )

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


@dataclass(frozen=True)
class Negations:
    """``words`` are dropped, ``endings`` cut off; ``short`` gives what stays of other short forms."""

    words: tuple[str, ...]
    endings: tuple[str, ...]
    short: Mapping[str, str]

    def drop(self, text: str) -> str | None:
        """``text`` without its first negation, or None if it has none."""
        for match in WORD.finditer(text):
            stays = self._without(match[0])
            if stays is not None:
                before, after = text[: match.start()], text[match.end() :]
                return before + stays + after if stays else _joined(before, after, match[0])
        return None

    def _without(self, word: str) -> str | None:
        """What stays of a word without its negation, "" if nothing does; None if it is no negation."""
        low = word.lower()
        if low in self.words:
            return ""
        if low in self.short:
            return _cased(self.short[low], word)
        ending = next((ending for ending in self.endings if low.endswith(ending) and low != ending), "")
        return word[: -len(ending)] if ending else None


def load_negations() -> Negations:
    """Read the list."""
    entries = tomllib.loads((ASSETS / "negations.toml").read_text(encoding="utf-8"))
    return Negations(tuple(entries["words"]), tuple(entries["endings"]), entries["short"])


def _joined(before: str, after: str, dropped: str) -> str:
    """Both sides of a dropped word with one space less; what follows begins as the word began."""
    if before.endswith(" ") or not before:
        after = after.removeprefix(" ")
    return before + (_cased(after, dropped) if not before.strip() else after)


def _cased(text: str, like: str) -> str:
    """``text`` with a capital where ``like`` has one."""
    return text[:1].upper() + text[1:] if like[:1].isupper() else text
