"""The Compare tab: one text or pair, backbones x poolings side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from html import escape
from typing import Any, cast

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.curves import curves, curves_figure
from components.figures.grid import Comparison
from components.figures.view import Say
from components.ui.choices import HEADS
from components.ui.compare_alignment import Words, build_words
from components.ui.compare_asking import build_asking, offered
from components.ui.compare_captions import curves_heading, failure, progress, result
from components.ui.compare_grid import grid
from components.ui.compare_table import compare_table
from components.ui.compare_words import agreement
from components.ui.plot import plot_box
from components.ui.question import to_query

Inputs = Mapping[Any, Any]  # component -> its value
Updates = dict[Any, Any]  # component -> its new value or gr.update(...) of its properties
NOTHING: Updates = gr.skip()  # leaves every component as it is
AT_ONCE = 2  # comparisons; each takes the engine for one backbone after the other


def build_compare(analyst: Analyst, arrival: gr.Tab, say: Say) -> Compare:
    """Lay the tab out; the first comparison is made on ``arrival`` at it."""
    gr.HTML(f'<p class="lead">{escape(say("compare.lead"))}</p>')
    tab = Compare(analyst, say, **build_asking(analyst, say), **_status(say), **_answer(say))
    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    coming = gr.on(
        [arrival.select, tab.start.click, tab.text.submit, tab.pair.submit],
        tab.stream,
        inputs=tab.inputs,
        outputs=tab.outputs,
        concurrency_id="compare",
        concurrency_limit=AT_ONCE,
        trigger_mode="always_last",
        **quiet,
    )
    tab.cancel.click(tab.stop, inputs={tab.shown}, outputs=tab.outputs, queue=False, **quiet)
    tab.cancel.click(None, cancels=[coming], api_visibility="private")
    look: dict[str, Any] = {
        "inputs": {tab.shown, tab.centred},
        "outputs": [tab.curves_heading, tab.curves],
        "queue": False,
        "trigger_mode": "always_last",
        **quiet,
    }
    tab.centred.input(tab.look, **look)
    coming.then(
        tab.look, **look
    )  # of two plots that come close after each other, the page may draw the former
    tab.words.connect(tab.shown, coming)
    return tab


@dataclass(frozen=True, eq=False)
class Compare:
    """The components of the tab and what they do; ``shown`` holds the last Comparison, or None."""

    analyst: Analyst
    say: Say
    text: gr.Textbox
    pair: gr.Textbox
    backbones: gr.Dropdown
    poolings: gr.Dropdown
    head: gr.Dropdown
    start: gr.Button
    shown: gr.State
    status: gr.HTML
    cancel: gr.Button
    area: gr.Column
    agreement: gr.HTML
    grid: gr.HTML
    table: gr.HTML
    words: Words
    centred: gr.Checkbox
    curves_heading: gr.HTML
    curves: gr.Plot

    @property
    def inputs(self) -> set[Any]:
        """Everything that a comparison and its drawing depend on."""
        asked = {self.text, self.pair, self.backbones, self.poolings, self.head}
        return asked | {self.shown, self.centred, *self.words.inputs}

    @property
    def outputs(self) -> list[Any]:
        """Everything that a comparison may change."""
        drawn = [self.agreement, self.grid, self.table, *self.words.outputs, self.curves_heading, self.curves]
        return [self.backbones, self.shown, self.status, self.cancel, self.area, *drawn]

    def stream(self, given: Inputs, event: gr.EventData) -> Iterator[Updates]:
        """Compare what is chosen, backbone by backbone; coming to the tab again compares nothing anew.

        What cannot be asked leaves the comparison before as it is. Who stops iterating cancels the rest.
        """
        if isinstance(event.target, gr.Tab):
            yield {self.backbones: gr.update(choices=offered(self.analyst))}  # one may have come since
            if given[self.shown] is not None:
                return
        try:
            yield from self._compare(self._asked(given), given)
        except PoolscopeError as error:
            yield {self.status: failure(error, self.say), self.cancel: gr.update(visible=False)}
        except Exception as error:
            yield {self.status: "", self.cancel: gr.update(visible=False)}
            raise gr.Error(self.say("verdict.bug")) from error

    def stop(self, given: Inputs) -> Updates:
        """Say that the comparison was stopped, and keep what has come; gradio ends ``stream``."""
        shown: Comparison | None = given[self.shown]
        idle = {self.cancel: gr.update(visible=False)}
        if shown is None or shown.state != "running":
            key = "compare.stopped_before" if shown is None else "compare.kept"
            return {self.status: f'<p class="progress">{escape(self.say(key))}</p>', **idle}
        stopped = replace(shown, state="stopped")
        return {
            self.shown: stopped,
            self.status: result(stopped, self.say),
            self.grid: grid(stopped, self._titles(), self.say),
            **idle,
        }

    def look(self, given: Inputs) -> Updates:
        """Draw the curves of the last comparison, plain or centred."""
        shown: Comparison | None = given[self.shown]
        return NOTHING if shown is None else self._draw_curves(shown, bool(given[self.centred]))

    def _compare(self, asked: Comparison, given: Inputs) -> Iterator[Updates]:
        """Updates before the first backbone, and after each."""
        queries = [
            to_query(given[self.text], given[self.pair], spec.key, pooling, given[self.head], "", "cls")
            for spec in asked.backbones
            for pooling in asked.poolings
        ]
        yield {self.status: progress(asked, self.say), self.cancel: gr.update(visible=True)}
        with closing(self.analyst.compare(queries)) as answers:
            for compared in answers:
                asked = replace(asked, compared=(*asked.compared, compared))
                yield {**self._draw(asked, bool(given[self.centred])), **self.words.draw(asked, given)}
        done = replace(asked, state="done")
        yield {
            self.shown: done,
            self.status: result(done, self.say),
            self.cancel: gr.update(visible=False),
        }

    def _asked(self, given: Inputs) -> Comparison:
        """What is chosen, in the order of the lists; PoolscopeError if it cannot be compared."""
        here = [spec for spec in self.analyst.backbones() if spec.available]
        backbones = _chosen("backbones", given[self.backbones], [spec.key for spec in here])
        poolings = _chosen("poolings", given[self.poolings], [spec.key for spec in self.analyst.poolings()])
        if not backbones:
            raise PoolscopeError("backbones", "nothing", self.say("compare.choose_backbone"))
        if not poolings:
            raise PoolscopeError("poolings", "nothing", self.say("compare.choose_pooling"))
        if given[self.head] not in HEADS:
            raise PoolscopeError("head", given[self.head], self.say("compare.choose_head"))
        return Comparison(tuple(spec for spec in here if spec.key in backbones), poolings)

    def _draw(self, comparison: Comparison, centred: bool) -> Updates:
        return {
            self.shown: comparison,
            self.status: progress(comparison, self.say),
            self.area: gr.update(visible=True),
            self.agreement: agreement(comparison, self.say),
            self.grid: grid(comparison, self._titles(), self.say),
            self.table: compare_table(comparison, self.say),
            **self._draw_curves(comparison, centred),
        }

    def _draw_curves(self, comparison: Comparison, centred: bool) -> Updates:
        lines = curves(comparison, centred)
        return {
            self.curves_heading: curves_heading(lines, comparison, self.say),
            self.curves: curves_figure(lines, self.say),
        }

    def _titles(self) -> dict[str, str]:
        return {spec.key: spec.title for spec in self.analyst.poolings()}


def _status(say: Say) -> dict[str, Any]:
    """How far it is, and the way to stop it."""
    with gr.Row(elem_id="compare-progress"):
        status = gr.HTML("", elem_id="compare-status")
        cancel = gr.Button(say("download.cancel"), visible=False, elem_id="compare-cancel")
    return {"shown": gr.State(None), "status": status, "cancel": cancel}


def _answer(say: Say) -> dict[str, Any]:
    """The grid under its sentence, the curves, and the numbers."""
    with gr.Column(visible=False, elem_id="compared") as area:
        with gr.Column(elem_classes="card"):
            said, cells = gr.HTML("", elem_id="compare-agreement"), gr.HTML("", elem_id="compare-grid")
        words = build_words(say)
        with gr.Column(elem_classes="card"):
            heading = gr.HTML("")
            centred = gr.Checkbox(
                False, label=say("view.centred"), info=say("view.centred_info"), elem_id="compare-centred"
            )
            figure = plot_box("curves-plot")
        with gr.Accordion(
            say("compare.numbers"), open=False, elem_id="compare-numbers", elem_classes="numbers"
        ):
            table = gr.HTML("")
    return {
        "area": area,
        "agreement": said,
        "grid": cells,
        "table": table,
        "words": words,
        "centred": centred,
        "curves_heading": heading,
        "curves": figure,
    }


def _chosen(field: str, given: object, known: list[str]) -> tuple[str, ...]:
    """What a browser sent of the ``known``, in their order; PoolscopeError for anything else."""
    sent = given if isinstance(given, list) else [] if given is None else [given]
    for key in sent:
        if not isinstance(key, str) or key not in known:
            raise PoolscopeError(field, key, "it is not in the list")
    return tuple(key for key in known if key in cast("list[str]", sent))
