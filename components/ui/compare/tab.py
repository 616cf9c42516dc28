"""The Compare tab: one text or pair, backbones x poolings side by side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any, cast

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.curves import curves, curves_figure
from components.figures.grid import Comparison
from components.figures.versions import versions
from components.figures.view import Say
from components.texts import Sentence
from components.types import Compared
from components.ui.choices import HEADS
from components.ui.compare.alignment import Words
from components.ui.compare.asking import build_asking, offered
from components.ui.compare.captions import curves_heading, failure, progress, result
from components.ui.compare.edit_moves import edit_moves
from components.ui.compare.edit_table import edit_table
from components.ui.compare.layout import build_compared, build_status, drawn_grid, empty_grid, titles_of
from components.ui.compare.table import compare_table
from components.ui.compare.version import Version, build_version
from components.ui.question import to_query, to_text

Inputs = Mapping[Any, Any]  # component -> its value
Updates = dict[Any, Any]  # component -> its new value or gr.update(...) of its properties
NOTHING: Updates = gr.skip()  # leaves every component as it is
AT_ONCE = 2  # comparisons; each takes the engine for one backbone after the other


def build_compare(analyst: Analyst, arrival: gr.Tab, say: Say) -> Compare:
    """Lay the tab out; the first comparison is made on the first ``arrival`` at it."""
    gr.HTML(f'<p class="lead">{escape(say("compare.lead"))}</p>')
    asking, version, status = build_asking(analyst, say), build_version(say), build_status(say)
    empty = empty_grid(analyst, asking["backbones"].value, asking["poolings"].value, say)
    tab = Compare(analyst, say, version=version, **asking, **status, **build_compared(empty, say))
    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    at_once: dict[str, Any] = {"queue": False, **quiet}
    arrival.select(
        tab.visit,
        inputs={tab.calls},
        outputs=[tab.backbones, tab.calls],
        concurrency_limit=None,
        **quiet,
    )
    coming = gr.on(
        [
            *(tab.calls.change, tab.start.click, tab.text.submit, tab.pair.submit),
            *(version.text.submit, version.pair.submit),
        ],
        tab.stream,
        inputs=tab.inputs,
        outputs=tab.outputs,
        concurrency_id="compare",
        concurrency_limit=AT_ONCE,
        trigger_mode="always_last",
        **quiet,
    )
    tab.cancel.click(None, cancels=[coming], api_visibility="private")  # first, so that nothing comes after
    tab.cancel.click(tab.stop, inputs=tab.view, outputs=tab.outputs, **at_once)
    coming.success(tab.settle, inputs=tab.view, outputs=tab.drawn, **at_once)
    version.connect(tab.text, tab.pair, tab.calls)
    version.clear.click(tab.single, inputs=tab.view, outputs=tab.outputs, **at_once)
    tab.centred.input(
        tab.look,
        inputs=tab.view,
        outputs=[tab.curves_heading, tab.curves],
        trigger_mode="always_last",
        **at_once,
    )
    tab.words.connect(tab.shown)
    return tab


@dataclass(frozen=True, eq=False)
class Compare:
    """The components of the tab and what they do.

    ``shown`` holds the last Comparison, or None. ``calls`` counts how often the page itself asked for one:
    what changes it has what is chosen compared, if it is queued: the page hears of no other changes.
    """

    analyst: Analyst
    say: Say
    text: gr.Textbox
    pair: gr.Textbox
    version: Version
    backbones: gr.Dropdown
    poolings: gr.Dropdown
    head: gr.Dropdown
    start: gr.Button
    shown: gr.State
    calls: gr.State
    status: gr.HTML
    cancel: gr.Button
    agreement: gr.HTML
    grid: gr.HTML
    moves: gr.HTML
    table: gr.HTML
    words: Words
    centred: gr.Checkbox
    curves_heading: gr.HTML
    curves: gr.Plot

    @property
    def inputs(self) -> set[Any]:
        """Everything that a comparison depends on."""
        asked = {self.text, self.pair, self.version.text, self.version.pair}
        return asked | {self.backbones, self.poolings, self.head}

    @property
    def view(self) -> set[Any]:
        """The last comparison, and how it is looked at."""
        return {self.shown, self.centred, *self.words.inputs}

    @property
    def drawn(self) -> list[Any]:
        """Everything that shows a comparison."""
        plot = [self.curves_heading, self.curves]
        return [self.agreement, self.grid, self.moves, self.table, *self.words.outputs, *plot]

    @property
    def outputs(self) -> list[Any]:
        """Everything that a comparison may change."""
        boxes = [self.version.text, self.version.pair, self.version.note]
        return [self.shown, self.status, self.cancel, *boxes, *self.drawn]

    def visit(self, given: Inputs) -> Updates:
        """Offer backbones that have come since; the first visit to the tab asks for a comparison."""
        return {
            self.backbones: gr.update(choices=offered(self.analyst)),
            self.calls: max(given[self.calls], 1),
        }

    def stream(self, given: Inputs) -> Iterator[Updates]:
        """Compare what is chosen, backbone by backbone, and draw the grid; ``settle`` draws the rest.

        What cannot be asked leaves the comparison before as it is. Who stops iterating cancels the rest.
        """
        idle = {self.cancel: gr.update(interactive=False)}
        try:
            yield from self._compare(self._asked(given), given)
        except PoolscopeError as error:
            yield {self.status: failure(error, self.say), **idle}
        except Exception as error:
            yield {self.status: "", **idle}
            raise gr.Error(self.say("verdict.bug")) from error

    def settle(self, given: Inputs) -> Updates:
        """Draw all of the last comparison. The page may draw two updates that come close in any order."""
        shown: Comparison | None = given[self.shown]
        return NOTHING if shown is None else self._draw(shown, given)

    def stop(self, given: Inputs) -> Updates:
        """Say that the comparison was stopped, and keep what has come; gradio ends ``stream``."""
        shown: Comparison | None = given[self.shown]
        if shown is None or shown.state != "running":
            key = "compare.stopped_before" if shown is None else "compare.kept"
            said = f'<p class="progress">{escape(self.say(key))}</p>'
            return {self.status: said, self.cancel: gr.update(interactive=False)}
        stopped = replace(shown, state="stopped")
        return {self.shown: stopped, **self._state(stopped), **self._draw(stopped, given)}

    def single(self, given: Inputs) -> Updates:
        """Forget the second version; what came of the first stays."""
        shown: Comparison | None = given[self.shown]
        if shown is None or shown.after is None or shown.state == "running":
            return self.version.empty
        alone = replace(shown, after=None)
        return {**self.version.empty, self.shown: alone, **self._state(alone), **self._draw(alone, given)}

    def take_from(self, text: gr.Textbox, pair: gr.Textbox) -> None:
        """Let a click bring the texts of these boxes here and compare them."""
        self.version.bring.click(
            partial(self.brought, text, pair),
            inputs={text, pair, self.calls},
            outputs=[self.text, self.pair, *self.version.empty, self.calls],
            concurrency_limit=None,
            api_visibility="private",
            show_progress="hidden",
        )

    def brought(self, text: gr.Textbox, pair: gr.Textbox, given: Inputs) -> Updates:
        """The texts of other boxes, as the only version."""
        texts = {self.text: to_text(given[text]), self.pair: to_text(given[pair])}
        return {**texts, **self.version.empty, self.calls: given[self.calls] + 1}

    def look(self, given: Inputs) -> Updates:
        """Draw the curves of the last comparison, plain or centred."""
        shown: Comparison | None = given[self.shown]
        return NOTHING if shown is None else self._draw_curves(shown, bool(given[self.centred]))

    def _compare(self, asked: Comparison, given: Inputs) -> Iterator[Updates]:
        """Updates before the first backbone, and after each: of both versions, if there are two."""
        yield self._state(asked)
        first = to_text(given[self.text]), to_text(given[self.pair])
        with (
            closing(self._answers(asked, first, given)) as answers,
            closing(self._answers(asked, self.version.given(given), given)) as others,
        ):
            for compared in answers:
                after = None if asked.after is None else (*asked.after, next(others))
                asked = replace(asked, compared=(*asked.compared, compared), after=after)
                if len(asked.compared) == len(asked.backbones):
                    asked = replace(asked, state="done")
                yield {self.shown: asked, **self._state(asked), **self._draw_grid(asked)}

    def _state(self, comparison: Comparison) -> Updates:
        """How far it is. All of it each time: of two updates that come close, the page may lose the first."""
        running = comparison.state == "running"
        said = (progress if running else result)(comparison, self.say)
        return {self.status: said, self.cancel: gr.update(interactive=running)}

    def _answers(
        self, asked: Comparison, texts: tuple[str, str] | None, given: Inputs
    ) -> Generator[Compared]:
        """What each backbone says of one version; nothing where there is none."""
        if texts is not None:
            yield from self.analyst.compare(
                [
                    to_query(texts[0], texts[1], spec.key, pooling, given[self.head], "", "cls")
                    for spec in asked.backbones
                    for pooling in asked.poolings
                ]
            )

    def _asked(self, given: Inputs) -> Comparison:
        """What is chosen, in the order of the lists; PoolscopeError if it cannot be compared."""
        here = [spec for spec in self.analyst.backbones() if spec.available]
        backbones = _chosen("backbones", given[self.backbones], [spec.key for spec in here])
        poolings = _chosen("poolings", given[self.poolings], [spec.key for spec in self.analyst.poolings()])
        if not backbones:
            raise PoolscopeError("backbones", Sentence("errors.nothing"), "compare.choose_backbone")
        if not poolings:
            raise PoolscopeError("poolings", Sentence("errors.nothing"), "compare.choose_pooling")
        if given[self.head] not in HEADS:
            raise PoolscopeError("head", given[self.head], "compare.choose_head")
        rows = tuple(spec for spec in here if spec.key in backbones)
        return Comparison(rows, poolings, after=None if self.version.given(given) is None else ())

    def _draw_grid(self, comparison: Comparison) -> Updates:
        """Who says what, in words and cell by cell."""
        said, cells = drawn_grid(comparison, titles_of(self.analyst), self.say)
        return {self.agreement: said, self.grid: cells}

    def _draw(self, comparison: Comparison, given: Inputs) -> Updates:
        both = versions(comparison)
        return {
            **self._draw_grid(comparison),
            self.moves: "" if both is None else edit_moves(both, self.say),
            self.table: compare_table(comparison, self.say) if both is None else edit_table(both, self.say),
            **self.words.draw(comparison, given),
            **self._draw_curves(comparison, bool(given[self.centred])),
        }

    def _draw_curves(self, comparison: Comparison, centred: bool) -> Updates:
        lines = curves(comparison, centred)
        first = "" if comparison.after is None else f'<p class="hint">{escape(self.say("edit.curves"))}</p>'
        return {
            self.curves_heading: curves_heading(lines, comparison, self.say) + first,
            self.curves: curves_figure(lines, self.say),
        }


def _chosen(field: str, given: object, known: list[str]) -> tuple[str, ...]:
    """What a browser sent of the ``known``, in their order; PoolscopeError for anything else."""
    sent = given if isinstance(given, list) else [] if given is None else [given]
    for key in sent:
        if not isinstance(key, str) or key not in known:
            raise PoolscopeError(field, key, "errors.listed")
    return tuple(key for key in known if key in cast("list[str]", sent))
