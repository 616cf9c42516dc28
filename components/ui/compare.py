"""The Compare tab: one text or pair, backbones x poolings side by side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, cast

import gradio as gr
from gradio.components import Component
from markupsafe import Markup

from components.analyses.compare import Compared
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison, failure, progress, result
from components.exhibits.control import Asked, Control, OneOf, SomeOf, State, to_link
from components.exhibits.panels import COMPARISON, TRACING
from components.exhibits.trace import TRACED
from components.exhibits.view import visible
from components.fitting import MINE, read_head
from components.menus import HEADS, Choices, load_examples
from components.texts import Sentence, Texts
from components.types import BackboneSpec, Query
from components.ui.places import (
    AT_ONCE,
    PRIVATE,
    QUEUED,
    Given,
    ProgressBar,
    Updates,
    browser,
    build_places,
    menu,
    on,
    scripted_html,
    state_of,
    text_box,
)
from components.ui.question import to_text
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind
from components.ui.versions import POOL_LAYER, Pair, TraceCard, Version, query_of, with_trace

WAITING = 2  # comparisons at once; each takes the engine for one backbone after the other
# Counted from the end in the menu: backbones differ in how many they have. A link may count from 0, too.
LAYERS = (-1, -2, -3, -4)
FIRST_ROWS = 5  # backbones on arrival, those of the first one's task
FIRST_COLUMNS = ("native", "cls", "mean", "max", "lasttoken", "weightedmean")


class Compare(Tab):
    """The components of the tab and what they do.

    ``shown`` holds the last Comparison, or None; ``mine`` the head that was fitted on the visitor's table.
    ``calls`` counts how often the page itself asked for a comparison: what changes it has what is chosen
    compared, if it is queued: the page hears of no other changes. ``inputs``: what a comparison depends on;
    ``looks``: what one that has come is looked at with; ``changed``: all that it may change.
    """

    panels = (COMPARISON, TRACING)

    def __init__(self, around: Surroundings) -> None:
        """Lay the tab out; the first comparison is made on the first arrival at it."""
        self.analyst, self.mine, self.say = around.analyst, around.mine, around.say
        say, rows = self.say, first_rows(self.analyst)
        gr.HTML(Markup('<p class="lead">{}</p>').format(say("compare.lead")))
        self._build_asking(rows)
        self.version = Version(say)
        with gr.Row(elem_id="compare-progress"):
            self.bar = ProgressBar("compare", say)
            note = Markup('<p role="status" hidden>{}</p>').format(say("compare.stale"))
            scripted_html("compare-stale", browser("stale.js"), note)  # which the browser alone shows
        self.shown, self.calls = gr.State(None), gr.State(0)
        titles = {spec.key: spec.said(say) for spec in self.analyst.poolings()}
        renamed = tuple(spec.renamed(say) for spec in rows)
        empty = Comparison(renamed, tuple(self.poolings.value), titles=titles)
        with gr.Column(elem_id="compared"):  # nothing is hidden: gradio does not always show that again
            self.places = build_places(COMPARISON, say, self._build_trace, (empty, {}))
        self.looks: dict[Control[Any], Any] = {**self.places.controls, TRACED: self.trace.backbone}
        self.linked = self._linked()
        self.outputs = [one.part for one in self.linked]  # the first visit then asks for the comparison
        self.inputs: set[Any] = {self.mine, *self.outputs} - set(self.looks.values())
        summary = COMPARISON.summary  # first comes who says what, in words and cell by cell
        self.first = [one for one in self.places.places if one.exhibit is summary or one.exhibit.with_summary]
        self.drawn: list[Any] = [*self.places.parts, *self.trace.parts]
        self.changed: list[Any] = [self.shown, *self.bar.parts, *self.version.empty, *self.drawn]
        self._connect(around)

    def _build_asking(self, rows: Sequence[BackboneSpec]) -> None:
        say, first = self.say, load_examples()[0]
        poolings = offered_poolings(self.analyst)
        with gr.Row(elem_id="compare-texts"):
            size: dict[str, int] = {"scale": 3, "min_width": 240}
            hints = say("question.text_hint"), say("question.pair_hint")
            self.text = text_box("compare-text", say("question.text"), hints[0], first.text, **size)
            self.pair = text_box("compare-pair", say("question.pair"), hints[1], first.text_pair, **size)
            heads = [(say(f"question.head_{head}"), head) for head in HEADS]
            fairest = fair_head(self.analyst, rows, first.text, first.text_pair)
            self.head = menu("compare-head", say("question.head"), heads, fairest, scale=2, min_width=240)
        with gr.Row(elem_id="compare-choice"):
            several: dict[str, Any] = {"multiselect": True, "min_width": 240}
            backbones, chosen = offered(self.analyst, say), [spec.key for spec in rows]
            label, name = say("compare.backbones"), "compare-backbones"
            self.backbones = menu(name, label, backbones, chosen, scale=5, **several)
            columns = [key for key in FIRST_COLUMNS if key in dict(poolings).values()]
            label, name = say("compare.poolings"), "compare-poolings"
            self.poolings = menu(name, label, poolings, columns, scale=3, **several)
            layers = [(layer_name(layer, say), layer) for layer in LAYERS]
            label, size = say("question.pool_layer"), {"scale": 1, "min_width": 130}
            self.pool_layer = menu("compare-pool-layer", label, layers, POOL_LAYER.default, **size)
            self.start = gr.Button(say("compare.button"), variant="primary", elem_id="compare-start")

    def _build_trace(self) -> None:
        self.trace = TraceCard(self.analyst, self.shown, offered(self.analyst, self.say), self.say)

    def _linked(self) -> list[Linked]:
        """List what is compared, and how it is looked at; which backbones there are is asked each time."""
        poolings = [spec.key for spec in self.analyst.poolings()]

        def here() -> list[str]:
            return [spec.key for spec in self.analyst.backbones() if spec.available]

        asked: dict[Control[Any], Any] = {
            Control("compare_text", Asked(0), self.text.value): self.text,
            Control("compare_pair", Asked(1), self.pair.value): self.pair,
            Control("version_text", Asked(0, 1), ""): self.version.text,
            Control("version_pair", Asked(1, 1), ""): self.version.pair,
            Control("backbones", SomeOf(here), tuple(self.backbones.value)): self.backbones,
            Control("poolings", SomeOf(lambda: poolings), tuple(self.poolings.value)): self.poolings,
            Control("compare_head", OneOf(lambda: HEADS), self.head.value): self.head,
            **{POOL_LAYER: self.pool_layer, **self.places.controls},
            replace(TRACED, kind=OneOf(lambda: ["", *here()])): self.trace.backbone,
        }
        return [Linked(control, part) for control, part in asked.items()]

    def _connect(self, around: Surroundings) -> None:
        version = self.version
        view: set[Any] = {self.shown, *self.looks.values()}
        offered = [self.backbones, self.poolings, self.calls]
        around.select.select(self.visit, inputs={self.calls}, outputs=offered, **QUEUED)
        asking = [self.calls.change, self.start.click, self.text.submit, self.pair.submit]
        how = {**PRIVATE, "concurrency_id": "compare", "concurrency_limit": WAITING}
        asking += [version.text.submit, version.pair.submit]
        last = {**how, "trigger_mode": "always_last"}
        coming = on(asking, self.stream, self.inputs, self.changed, last)
        self.bar.connect(coming, self.stop, self.changed, view)
        coming.success(self.settle, inputs=view, outputs=self.drawn, **AT_ONCE)
        version.connect(self.text, self.pair, self.calls)
        version.clear.click(self.single, inputs=view, outputs=self.changed, **AT_ONCE)
        self.places.connect(self.shown)
        parts = {one.control.key: one.part for one in around.linked()}
        text, pair = cast("Component", parts["text"]), cast("Component", parts["pair"])
        version.bring.click(
            partial(self.bring, text, pair),
            inputs={text, pair, self.calls},
            outputs=[self.text, self.pair, *version.empty, self.calls],
            **QUEUED,
        )

    def answer_to(self, state: State) -> Comparison:
        """Give the whole comparison that ``state`` asks; PoolscopeError if it cannot be made."""
        *_, whole = compared(self.analyst, asked(self.analyst, state, self.say), state)
        return with_trace(self.analyst, whole, state)

    def facts(self, answer: Comparison, state: State) -> dict[str, str]:
        """Name the texts, and the layer that is pooled if it is not the last: all else stands in the grid."""
        del answer
        texts = {
            **{"question.text": "compare_text", "question.pair": "compare_pair"},
            **{"edit.text": "version_text", "edit.pair": "version_pair"},
        }
        found = {self.say(key): str(state[name]) for key, name in texts.items() if str(state[name]).strip()}
        layer = POOL_LAYER.of(state)
        named = (
            {} if layer == POOL_LAYER.default else {self.say(POOL_LAYER.label): layer_name(layer, self.say)}
        )
        return {**found, **named}

    def open(self, state: State, chosen: Sequence[Linked], given: Given) -> Followed:
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
        return {
            self.backbones: gr.update(choices=offered(self.analyst, self.say)),
            self.poolings: gr.update(choices=offered_poolings(self.analyst)),
            self.calls: max(given[self.calls], 1),
        }

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
                drawn = self.places.show(comparison, {}, self.first)
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
        state = state_of(self.looks, given)
        return {**self.places.show(shown, state), **self.trace.offer(shown, state)}

    def stop(self, given: Given) -> Updates:
        """Say that the comparison was stopped, and keep what has come; gradio ends ``stream``."""
        shown: Comparison | None = given[self.shown]
        if shown is None or shown.state != "running":
            said = self.say("compare.stopped_before" if shown is None else "compare.kept")
            return self.bar.idle(Markup('<p class="progress">{}</p>').format(said))
        return self._show(replace(shown, state="stopped"), given)

    def single(self, given: Given) -> Updates:
        """Forget the second version; what came of the first stays."""
        shown: Comparison | None = given[self.shown]
        if shown is None or shown.after is None or shown.state == "running":
            return self.version.empty
        question = {**shown.question, "version_text": "", "version_pair": ""}
        return {**self.version.empty, **self._show(replace(shown, after=None, question=question), given)}

    def bring(self, text: Component, pair: Component, given: Given) -> Updates:
        """Take the texts of other boxes, as the only version."""
        texts = {self.text: to_text(given[text]), self.pair: to_text(given[pair])}
        return {**texts, **self.version.empty, self.calls: given[self.calls] + 1}

    def _show(self, comparison: Comparison, given: Given) -> Updates:
        drawn = self.settle({**given, self.shown: comparison})
        return {self.shown: comparison, **self._status(comparison), **drawn}

    def _status(self, comparison: Comparison) -> Updates:
        """Say how far it is. All of it each time: of two updates that come close, the page may lose one.

        With it stands what was asked of what has come, as a link would hold it.
        """
        running, mark = comparison.state == "running", Markup()
        if comparison.compared:
            controls = [one.control for one in self.linked if one.part in self.inputs]
            keys, asked = " ".join(one.key for one in controls), to_link(comparison.question, controls)
            mark = Markup('<span hidden data-keys="{}" data-asked="{}"></span>').format(keys, asked)
        said = (progress if running else result)(comparison, self.say)
        return {**self.bar.idle(f"{said}{mark}"), self.bar.cancel: gr.update(interactive=running)}


COMPARE = TabKind("compare", "page.compare", Compare)


def layer_name(layer: int, say: Texts) -> str:
    """Name the layer that is pooled, as the menu does; one that counts from 0 by its number."""
    if layer >= 0:
        return str(layer)
    return say("question.pool_last") if layer == -1 else say("compare.pool_below", count=-1 - layer)


def first_rows(analyst: Analyst) -> list[BackboneSpec]:
    """List the backbones on arrival: the first that can be asked, and others of its task."""
    here = [spec for spec in analyst.backbones() if spec.available]
    return [spec for spec in here if spec.task == here[0].task][:FIRST_ROWS]


def fair_head(analyst: Analyst, rows: Sequence[BackboneSpec], text: str, text_pair: str) -> str:
    """Choose the probe where every backbone has one for its own task and these texts; else the own heads."""
    choices = Choices.of(analyst)
    fitting = (
        spec.task in [task.key for task in choices.tasks(Query(spec.key, text, text_pair))] for spec in rows
    )
    return "probe" if rows and all(fitting) else HEADS[0]


def offered(analyst: Analyst, say: Texts) -> list[tuple[str, str]]:
    """List (title, key) of the backbones that can be asked now."""
    return [(visible(spec.said(say)), spec.key) for spec in analyst.backbones() if spec.available]


def offered_poolings(analyst: Analyst) -> list[tuple[str, str]]:
    """List (key as it is shown, key) of the poolings that a backbone can be asked now."""
    declared = any(spec.available and spec.declared is not None for spec in analyst.backbones())
    fitting = (spec for spec in analyst.poolings() if declared or not spec.declared)
    return [(visible(spec.key), spec.key) for spec in fitting]


def asked(analyst: Analyst, state: State, say: Texts) -> Comparison:
    """Read what ``state`` asks, by the keys of the controls, in the order of the lists, before anything came.

    PoolscopeError if it cannot be compared. The values may come from a browser.
    """
    here = [spec.renamed(say) for spec in analyst.backbones() if spec.available]
    pooled = analyst.poolings()
    backbones = _chosen("backbones", state["backbones"], [spec.key for spec in here])
    poolings = _chosen("poolings", state["poolings"], [spec.key for spec in pooled])
    for field, keys, wanted in (
        ("backbones", backbones, "compare.choose_backbone"),
        ("poolings", poolings, "compare.choose_pooling"),
    ):
        if not keys:
            raise PoolscopeError(field, Sentence("errors.nothing"), wanted)
    if state["compare_head"] not in HEADS:
        raise PoolscopeError("head", state["compare_head"], "compare.choose_head")
    if state["compare_head"] == MINE:  # what no cell could answer is said once
        head = read_head(state.get(MINE))
        if head.backbone not in backbones or head.pooling not in poolings:
            titles = [visible(spec.title) for spec in here if spec.key == head.backbone]
            fitted = {"backbone": (*titles, head.backbone)[0], "pooling": head.pooling}
            raise PoolscopeError("head", MINE, "compare.choose_fitted", **fitted)
    return Comparison(
        tuple(spec for spec in here if spec.key in backbones),
        poolings,
        titles={spec.key: spec.said(say) for spec in pooled},
        after=None if _second(state) is None else (),
        question=dict(state),
    )


def compared(analyst: Analyst, comparison: Comparison, state: State) -> Iterator[Comparison]:
    """Answer the ``comparison`` that ``state`` asks, after each backbone: of both versions, if there are two.

    Closing the iterator cancels the rest.
    """
    first = to_text(state["compare_text"]), to_text(state["compare_pair"])
    with (
        closing(_answers(analyst, comparison, first, state)) as answers,
        closing(_answers(analyst, comparison, _second(state), state)) as others,
    ):
        for answer in answers:
            after = None if comparison.after is None else (*comparison.after, next(others))
            comparison = replace(comparison, compared=(*comparison.compared, answer), after=after)
            if len(comparison.compared) == len(comparison.backbones):
                comparison = replace(comparison, state="done")
            yield comparison


def _answers(
    analyst: Analyst, comparison: Comparison, texts: Pair | None, state: State
) -> Generator[Compared]:
    if texts is not None:
        asked = [(spec.key, pooling) for spec in comparison.backbones for pooling in comparison.poolings]
        yield from analyst.compare([query_of(state, texts, *one) for one in asked])


def _second(state: State) -> Pair | None:
    """Read the texts of the second version; None where its boxes are blank."""
    texts = to_text(state["version_text"]), to_text(state["version_pair"])
    return texts if any(text.strip() for text in texts) else None


def _chosen(field: str, given: object, known: list[str]) -> tuple[str, ...]:
    """Read what was given of the ``known``, in their order; PoolscopeError for anything else."""
    sent = given if isinstance(given, list | tuple) else [] if given is None else [given]
    for key in sent:
        if not isinstance(key, str) or key not in known:
            raise PoolscopeError(field, key, "errors.listed")
    return tuple(key for key in known if key in cast("list[str]", sent))
