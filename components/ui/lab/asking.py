"""What a visitor brings to the lab: a table, its columns, and what is to be fitted on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import hint_html
from components.fitting import Plan, Table
from components.tables import Columns, Sheet, guess, read_sheet, to_table
from components.texts import ASSETS, Sentence, Texts
from components.ui.compare.asking import offered, offered_poolings
from components.ui.gradio_internals import scripted_html
from components.ui.places import AT_ONCE, Given, Updates, menu

SCRIPT = Path(__file__).with_name("lab.js")
SAMPLES = ("tickets", "reviews", "answers")  # files of assets/lab, and keys of their names
BACKBONES = 5  # at most
LAYERS = ("last", "all")
FIRST_POOLINGS = ("native", "cls", "mean", "max")
LARGEST = 2_000_000  # bytes of a file


@dataclass(frozen=True, eq=False)
class LabAsking:
    """Its components; ``notes``: what the table is, or why it is none."""

    table: gr.Textbox
    notes: gr.HTML
    text: gr.Dropdown
    pair: gr.Dropdown
    label: gr.Dropdown
    backbones: gr.Dropdown
    poolings: gr.Dropdown
    layers: gr.Radio
    analyst: Analyst
    say: Texts

    @property
    def columns(self) -> list[gr.Dropdown]:
        """The menus of the columns."""
        return [self.text, self.pair, self.label]

    @property
    def inputs(self) -> set[Any]:
        """Everything that says what is fitted."""
        return {self.table, *self.columns, self.backbones, self.poolings, self.layers}

    def read_table(self, given: Given) -> Updates:
        """Read the table: guess its columns where those chosen are not its own, and say what it is."""
        if not str(given[self.table] or "").strip():
            return {self.notes: ""}
        try:
            sheet = read_sheet(given[self.table])
        except PoolscopeError as error:
            return {self.notes: _refused(error, self.say)}
        chosen = [str(given[menu] or "") for menu in self.columns]
        if not _is_of(sheet, chosen):
            try:
                found = guess(sheet)
            except PoolscopeError as error:
                return {**self._offer(sheet, ["", "", ""]), self.notes: _refused(error, self.say)}
            chosen = [found.text, found.text_pair, found.label]
        return {**self._offer(sheet, chosen), self.notes: self._noted(sheet, chosen)}

    def asked(self, given: Given) -> tuple[Table, Plan, Sequence[Sentence]]:
        """What is fitted, and what is odd about the table; PoolscopeError says why it cannot be."""
        chosen = [str(given[menu] or "") for menu in self.columns]
        table, notes = to_table(read_sheet(given[self.table]), _columns(chosen))
        backbones, poolings = (_texts(given[menu]) for menu in (self.backbones, self.poolings))
        return table, Plan(backbones, poolings, given[self.layers] == "all"), notes

    def _offer(self, sheet: Sheet, chosen: list[str]) -> Updates:
        """The menus with the columns of ``sheet``, of which these are chosen."""
        names = [(visible(name), name) for name in sheet.columns]
        offers = (names, [(self.say("lab.no_pair"), ""), *names], names)
        return {
            menu: gr.update(choices=offer, value=value)
            for menu, offer, value in zip(self.columns, offers, chosen, strict=True)
        }

    def _noted(self, sheet: Sheet, chosen: list[str]) -> str:
        """How many rows and labels there are, what is odd about them, or why they cannot be fitted."""
        try:
            table, notes = to_table(sheet, _columns(chosen))
        except PoolscopeError as error:
            return _refused(error, self.say)
        labels = sorted(set(table.labels))
        named = self.say.listed(map(visible, labels[:8])) + (" …" if len(labels) > 8 else "")
        told = self.say("lab.table_is", rows=len(table.texts), classes=len(labels), labels=named)
        return _line(told) + "".join(hint_html(note.said(self.say)) for note in notes)


def build_lab_asking(analyst: Analyst, rows: int, say: Texts) -> LabAsking:
    """Lay the controls out. ``rows``: of a table at most."""
    with gr.Column(elem_classes="card", elem_id="lab-bring"):
        gr.HTML(f"<h2>{escape(say('lab.bring'))}</h2>{hint_html(say('lab.private', rows=rows))}")
        with gr.Row(elem_id="lab-from"):
            samples = [gr.Button(say(f"lab.sample_{name}"), size="sm") for name in SAMPLES]
            scripted_html(_file_html(say), SCRIPT, "lab-file")
        table = gr.Textbox(
            "",
            label=say("fields.table"),
            placeholder=say("lab.table_hint"),
            lines=6,
            max_lines=6,
            elem_id="lab-table",
        )
        notes = gr.HTML("", elem_id="lab-notes")
        with gr.Row(elem_id="lab-columns"):
            columns = [
                menu(f"lab-{name}", say(f"lab.column_of_{name}"), [], None, min_width=150)
                for name in ("text", "pair", "label")
            ]
    with gr.Column(elem_classes="card", elem_id="lab-choose"):
        gr.HTML(f"<h2>{escape(say('lab.choose'))}</h2>")
        text, pair, label = columns
        asking = LabAsking(table, notes, text, pair, label, *_choices(analyst, say), analyst, say)
    for button, name in zip(samples, SAMPLES, strict=True):
        button.click(partial(sample, name), outputs=[table], **AT_ONCE)
    gr.on(
        [table.change, *(one.input for one in columns)],  # a box does not call it input what is pasted
        asking.read_table,
        inputs={table, *columns},
        outputs=[notes, *columns],
        trigger_mode="always_last",
        **AT_ONCE,
    )
    return asking


def sample(name: str) -> str:
    """A table to try, as CSV."""
    return (ASSETS / "lab" / f"{name}.csv").read_text(encoding="utf-8")


def _choices(analyst: Analyst, say: Texts) -> tuple[gr.Dropdown, gr.Dropdown, gr.Radio]:
    """The menus of backbones and of poolings, and which layers are tried."""
    learned = {spec.key for spec in analyst.poolings() if spec.learned}
    poolings = [one for one in offered_poolings(analyst) if one[1] not in learned]
    backbones, known = offered(analyst), {key for _, key in poolings}
    here = [spec for spec in analyst.backbones() if spec.available]
    first = {spec.task: spec.key for spec in reversed(here)}  # the first of each task
    several: dict[str, Any] = {"multiselect": True, "min_width": 240}
    with gr.Row(elem_id="lab-choice"):
        return (
            menu(
                "lab-backbones",
                say("lab.backbones", most=BACKBONES),
                backbones,
                [spec.key for spec in here if spec.key in first.values()][:BACKBONES],
                max_choices=BACKBONES,
                scale=4,
                **several,
            ),
            menu(
                "lab-poolings",
                say("lab.poolings"),
                poolings,
                [key for key in FIRST_POOLINGS if key in known],
                scale=4,
                **several,
            ),
            gr.Radio(
                [(say(f"lab.layers_{key}"), key) for key in LAYERS],
                value=LAYERS[0],
                label=say("fields.layers"),
                elem_id="lab-layers",
                scale=2,
                min_width=160,
            ),
        )


def _file_html(say: Texts) -> str:
    """The button that chooses a file, and where its name is said."""
    large, read = escape(say("lab.file_large", most=LARGEST // 1_000_000)), escape(say("lab.file_read"))
    return (
        f'<label class="file"><span>{escape(say("lab.file"))}</span>'
        f'<input type="file" accept=".csv,.tsv,.txt,.jsonl,.ndjson" data-most="{LARGEST}"></label>'
        f'<span role="status" data-large="{large}" data-read="{read}"></span>'
    )


def _is_of(sheet: Sheet, chosen: Sequence[str]) -> bool:
    """Whether ``sheet`` has the columns of a text, a second one if any, and a label that are chosen."""
    text, pair, label = chosen
    return text in sheet.columns and label in sheet.columns and pair in ("", *sheet.columns)


def _columns(chosen: Sequence[str]) -> Columns:
    text, pair, label = chosen
    return Columns(text, label, pair)


def _texts(given: object) -> tuple[str, ...]:
    """The texts of a list that a browser sent."""
    return tuple(map(str, given)) if isinstance(given, list) else ()


def _line(text: str) -> str:
    return f'<p role="status">{escape(text)}</p>'


def _refused(error: PoolscopeError, say: Texts) -> str:
    return f'<p class="missing" role="alert">{escape(visible(error.said(say)))}</p>'
