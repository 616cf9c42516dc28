"""The Compare tab: one text or pair, backbones x poolings side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison, failure, progress, result
from components.exhibits.control import Asked, Control, OneOf, SomeOf, State, to_link
from components.exhibits.exhibit import Panel
from components.exhibits.panels import COMPARISON, TRACING
from components.exhibits.trace import TRACED
from components.fitting import MINE
from components.menus import HEADS
from components.texts import Texts
from components.ui.classify.question import to_text
from components.ui.compare.asking import POOL_LAYER, Asking, asked, build_asking, compared, facts_of, offered
from components.ui.compare.trace import TraceCard, build_trace, with_trace
from components.ui.compare.version import Version, build_version
from components.ui.places import AT_ONCE, PRIVATE, Given, Place, Places, Updates, build_places, state_of
from components.ui.progress import ProgressBar, build_progress
from components.ui.scripted import scripted_html
from components.ui.tab import Linked, Surroundings, Tab, TabKind

STALE = Path(__file__).with_name("stale.js")  # notes where something else is set than what is shown was asked
WAITING = 2  # comparisons at once; each takes the engine for one backbone after the other


def build_compare(around: Surroundings) -> Compare:
    """Lay the tab out; the first comparison is made on the first arrival at it."""
    analyst, say = around.analyst, around.say
    gr.HTML(f'<p class="lead">{escape(say("compare.lead"))}</p>')
    asking, version = build_asking(analyst, say), build_version(say)
    with gr.Row(elem_id="compare-progress"):
        bar = build_progress("compare", say)
        note = f'<p role="status" hidden>{escape(say("compare.stale"))}</p>'  # which the browser alone shows
        scripted_html(note, STALE, "compare-stale")
    shown, calls = gr.State(None), gr.State(0)
    places, trace = _places(analyst, shown, asking, say)
    tab = Compare(analyst, say, asking, version, bar, places, trace, shown, calls, around.mine)
    around.select.select(
        tab.visit,
        inputs={tab.calls},
        outputs=[asking.backbones, asking.poolings, tab.calls],
        concurrency_limit=None,
        **PRIVATE,
    )
    coming = gr.on(
        [
            *(tab.calls.change, asking.start.click, asking.text.submit, asking.pair.submit),
            *(version.text.submit, version.pair.submit),
        ],
        tab.stream,
        inputs=tab.inputs,
        outputs=tab.changed,
        concurrency_id="compare",
        concurrency_limit=WAITING,
        trigger_mode="always_last",
        **PRIVATE,
    )
    bar.connect(coming, tab.stop, tab.changed, tab.view)
    coming.success(tab.settle, inputs=tab.view, outputs=[*tab.places.parts, *tab.trace.parts], **AT_ONCE)
    version.connect(asking.text, asking.pair, tab.calls)
    version.clear.click(tab.single, inputs=tab.view, outputs=tab.changed, **AT_ONCE)
    tab.places.connect(tab.shown)
    tab.trace.connect()
    tab.take_from(around)
    return tab


COMPARE = TabKind("compare", "page.compare", build_compare)


def _places(analyst: Analyst, shown: gr.State, asking: Asking, say: Texts) -> tuple[Places, TraceCard]:
    """The exhibits of a comparison of which nothing has come, and the trace, which stands under the first.

    None of them is hidden: gradio does not always show what it hid before the tab was opened.
    """
    rows = tuple(spec.renamed(say) for spec in analyst.backbones() if spec.key in asking.backbones.value)
    titles = {spec.key: spec.said(say) for spec in analyst.poolings()}
    empty = Comparison(rows, tuple(asking.poolings.value), titles=titles)
    with gr.Column(elem_id="compared"):
        made: list[TraceCard] = []
        places = build_places(
            COMPARISON,
            say,
            lambda: made.append(build_trace(analyst, shown, offered(analyst, say), say)),
            (empty, {}),
        )
        return places, made[0]


@dataclass(frozen=True, eq=False)
class Compare(Tab):
    """The components of the tab and what they do.

    ``shown`` holds the last Comparison, or None; ``mine`` the head that was fitted on the visitor's table.
    ``calls`` counts how often the page itself asked for a comparison: what changes it has what is chosen
    compared, if it is queued: the page hears of no other changes.
    """

    analyst: Analyst
    say: Texts
    asking: Asking
    version: Version
    bar: ProgressBar
    places: Places
    trace: TraceCard
    shown: gr.State
    calls: gr.State
    mine: gr.State

    @cached_property
    def linked(self) -> Sequence[Linked]:
        """What is compared, and how it is looked at; which backbones there are is asked each time."""
        asking, version = self.asking, self.version
        poolings = [spec.key for spec in self.analyst.poolings()]

        def here() -> list[str]:
            return [spec.key for spec in self.analyst.backbones() if spec.available]

        asked: dict[Component, Control[Any]] = {
            asking.text: Control("compare_text", Asked(0), asking.text.value),
            asking.pair: Control("compare_pair", Asked(1), asking.pair.value),
            version.text: Control("version_text", Asked(0, 1), ""),
            version.pair: Control("version_pair", Asked(1, 1), ""),
            asking.backbones: Control("backbones", SomeOf(here), tuple(asking.backbones.value)),
            asking.poolings: Control("poolings", SomeOf(lambda: poolings), tuple(asking.poolings.value)),
            asking.head: Control("compare_head", OneOf(lambda: HEADS), asking.head.value),
            asking.pool_layer: POOL_LAYER,
        }
        looks = [Linked(control, part) for control, part in self.places.controls.items()]
        traced = Linked(replace(TRACED, kind=OneOf(lambda: ["", *here()])), self.trace.backbone)
        return [*(Linked(control, part) for part, control in asked.items()), *looks, traced]

    @property
    def panels(self) -> Sequence[Panel[Any, Any]]:
        """The comparison, and the trace between its versions."""
        return [COMPARISON, TRACING]

    @property
    def inputs(self) -> set[Any]:
        """Everything that a comparison depends on."""
        return {self.mine, *(one.part for one in self.linked)} - set(self.looks.values())

    @property
    def view(self) -> set[Any]:
        """The last comparison, and how it is looked at."""
        return {self.shown, *self.looks.values()}

    @property
    def looks(self) -> Mapping[Control[Any], Any]:
        """What a comparison that has come is looked at with."""
        return {**self.places.controls, TRACED: self.trace.backbone}

    @property
    def changed(self) -> list[Any]:
        """Everything that a comparison may change."""
        drawn = [*self.places.parts, *self.trace.parts]
        return [self.shown, *self.bar.parts, *self.version.empty, *drawn]

    @property
    def outputs(self) -> list[Any]:
        """Everything that a link may change: the first visit to the tab then asks for the comparison."""
        return [one.part for one in self.linked]

    def answer_to(self, state: State) -> Comparison:
        """The whole comparison that ``state`` asks; PoolscopeError if it cannot be made."""
        *_, whole = compared(self.analyst, asked(self.analyst, state, self.say), state)
        return with_trace(self.analyst, whole, state)

    def facts(self, answer: Comparison, state: State) -> dict[str, str]:
        """The texts, and the layer that is pooled if it is not the last: all else stands in the grid."""
        del answer
        return facts_of(state, self.say)

    def open(
        self, state: State, chosen: Sequence[Linked], given: Given
    ) -> tuple[Updates, list[PoolscopeError]]:
        """Set what a link sets."""
        del given
        sent = {one.part: state[one.control.key] for one in chosen}
        return {part: list(one) if isinstance(one, tuple) else one for part, one in sent.items()}, []

    def fill(self, answer: Comparison, state: State) -> Updates:
        """Set what was compared; the visit to the tab compares it again."""
        del answer
        return self.open(state, self.linked, {})[0]

    def visit(self, given: Given) -> Updates:
        """Offer backbones that have come since; the first visit to the tab asks for a comparison."""
        return {**self.asking.refreshed(self.analyst, self.say), self.calls: max(given[self.calls], 1)}

    def stream(self, given: Given) -> Iterator[Updates]:
        """Compare what is chosen, backbone by backbone, and draw the grid; ``settle`` draws the rest.

        What cannot be asked leaves the comparison before as it is. Closing the iterator cancels the rest.
        """
        state = {one.control.key: given[one.part] for one in self.linked if one.part in self.inputs}
        state[MINE] = given[self.mine]
        try:
            begun = asked(self.analyst, state, self.say)
            yield self._status(begun)
            for comparison in compared(self.analyst, begun, state):
                drawn = self.places.show(comparison, {}, self._first_drawn())
                yield {self.shown: comparison, **self._status(comparison), **drawn, **self.trace.empty}
        except PoolscopeError as error:
            yield self.bar.idle(failure(error, self.say))
        except Exception as error:
            yield self.bar.idle()
            raise gr.Error(self.say("verdict.bug")) from error

    def settle(self, given: Given) -> Updates:
        """Draw all of the last comparison. The page may draw two updates that come close in any order.

        Where the first one was refused there is none: no row waits for an answer.
        """
        shown: Comparison = given[self.shown] or Comparison((), ())
        return self._drawn(shown, self._looks(given))

    def stop(self, given: Given) -> Updates:
        """Say that the comparison was stopped, and keep what has come; gradio ends ``stream``."""
        shown: Comparison | None = given[self.shown]
        if shown is None or shown.state != "running":
            key = "compare.stopped_before" if shown is None else "compare.kept"
            return self.bar.idle(f'<p class="progress">{escape(self.say(key))}</p>')
        return self._show(replace(shown, state="stopped"), given)

    def single(self, given: Given) -> Updates:
        """Forget the second version; what came of the first stays."""
        shown: Comparison | None = given[self.shown]
        if shown is None or shown.after is None or shown.state == "running":
            return self.version.empty
        question = {**shown.question, "version_text": "", "version_pair": ""}
        return {**self.version.empty, **self._show(replace(shown, after=None, question=question), given)}

    def take_from(self, around: Surroundings) -> None:
        """Let a click bring the texts of an earlier tab here and compare them."""
        every = (one for tab in around.tabs.values() for one in tab.linked)
        parts = {one.control.key: one.part for one in every if one.part is not None}
        text, pair = parts["text"], parts["pair"]
        self.version.bring.click(
            partial(self.bring, text, pair),
            inputs={text, pair, self.calls},
            outputs=[self.asking.text, self.asking.pair, *self.version.empty, self.calls],
            concurrency_limit=None,
            **PRIVATE,
        )

    def bring(self, text: Component, pair: Component, given: Given) -> Updates:
        """The texts of other boxes, as the only version."""
        texts = {self.asking.text: to_text(given[text]), self.asking.pair: to_text(given[pair])}
        return {**texts, **self.version.empty, self.calls: given[self.calls] + 1}

    def _show(self, comparison: Comparison, given: Given) -> Updates:
        drawn = self._drawn(comparison, self._looks(given))
        return {self.shown: comparison, **self._status(comparison), **drawn}

    def _drawn(self, comparison: Comparison, state: State) -> Updates:
        return {**self.places.show(comparison, state), **self.trace.offer(comparison, state)}

    def _status(self, comparison: Comparison) -> Updates:
        """How far it is. All of it each time: of two updates that come close, the page may lose the first."""
        running = comparison.state == "running"
        said = f"{(progress if running else result)(comparison, self.say)}{self._asked(comparison)}"
        return {**self.bar.idle(said), self.bar.cancel: gr.update(interactive=running)}

    def _asked(self, comparison: Comparison) -> str:
        """What was asked of what has come, as a link would hold it, as HTML; "" before anything has."""
        if not comparison.compared:
            return ""
        controls = [one.control for one in self.linked if one.part in self.inputs]
        keys, asked = " ".join(one.key for one in controls), to_link(comparison.question, controls)
        return f'<span hidden data-keys="{keys}" data-asked="{escape(asked)}"></span>'

    def _looks(self, given: Given) -> State:
        return state_of(self.looks, given)

    def _first_drawn(self) -> list[Place]:
        """Who says what, in words and cell by cell."""
        summary = self.places.panel.summary
        return [
            place for place in self.places.places if place.exhibit is summary or place.exhibit.with_summary
        ]
