"""The trace between two versions: asked for with a click, once both have been compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gradio as gr

from components.analyses.trace import Patched
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import State
from components.exhibits.exhibit import Shown, hint_html
from components.exhibits.trace import TRACE, TRACED, Traced, traced_backbone
from components.fitting import MINE, read_head
from components.texts import Texts
from components.types import Progress, Query
from components.ui.classify.question import to_text
from components.ui.compare.asking import query_of
from components.ui.places import LAST_OF_MODEL, NOTHING, Given, Place, Updates, build_place, menu
from components.ui.progress import ProgressBar, build_progress

TEXTS = ("compare_text", "compare_pair", "version_text", "version_pair")  # the keys of their controls


@dataclass(frozen=True, eq=False)
class TraceCard:
    """Its components: which backbone is asked, the button, and where the trace stands.

    ``shown`` holds the comparison.

    ``texts``: all texts of both versions, hidden: the browser sends them along, for what is sent is paid.
    """

    analyst: Analyst
    shown: gr.State
    say: Texts
    backbone: gr.Dropdown
    button: gr.Button
    texts: gr.Textbox
    bar: ProgressBar
    place: Place

    @property
    def parts(self) -> list[Any]:
        """Everything that a comparison or a trace may change."""
        return [self.backbone, self.texts, *self.news]

    @property
    def news(self) -> list[Any]:
        """What a trace changes."""
        return [*self.bar.parts, *self.place.parts]

    @property
    def empty(self) -> Updates:
        """Updates that leave nothing, so that the card is hidden."""
        return {**self.place.show(Shown(), self.say), **self.bar.idle()}

    def offer(self, comparison: Comparison, state: State) -> Updates:
        """Updates for a comparison of which no trace has been asked; none is offered for one version."""
        if comparison.after is None or comparison.state == "running":
            return self.empty
        first, *more = [spec.key for spec in comparison.backbones]
        choices = [(comparison.names[key], key) for key in more]
        chosen = traced_backbone(comparison, state)
        backbones = gr.update(
            choices=[(comparison.names[first], ""), *choices], value="" if chosen == first else chosen
        )
        lead = self.say("trace.lead")
        offer = Shown(heading=self.say("trace.heading"), words=lead, above=hint_html(lead))
        drawn = {**self.place.show(offer, self.say), **self.bar.idle()}
        return {self.backbone: backbones, self.texts: _texts(comparison), **drawn}

    def show(self, found: Traced, state: State) -> Updates:
        """Updates that show the trace, or why there is none."""
        return {**self.place.show(TRACE.shown(found, state, self.say), self.say), **self.bar.idle()}

    def stopped(self) -> Updates:
        """Updates once it was given up: what was there before stays."""
        return self.bar.stopped(self.say("trace.stopped"))

    def connect(self) -> None:
        """Ask when the button is pressed, or another backbone chosen."""
        coming = gr.on(
            [self.button.click, self.backbone.input],
            self.trace_versions,
            inputs={self.shown, self.backbone, self.texts},
            outputs=self.news,
            show_progress_on=[self.place.above],
            **LAST_OF_MODEL,
        )
        self.bar.connect(coming, self.stopped, self.news)

    def trace_versions(self, given: Given) -> Iterator[Updates]:
        """Trace between both versions of the comparison that is shown, or say why there is no trace.

        Nothing where fewer characters were sent, and paid, than are traced. Closing it cancels the rest.
        """
        shown = given[self.shown]
        if shown is None or shown.after is None or len(given[self.texts] or "") < len(_texts(shown)):
            yield NOTHING
            return
        state = {**shown.question, TRACED.key: given[self.backbone]}
        yield self.bar.busy(self.say("trace.starting"))
        try:
            query, others = _asked(shown, state)
            with closing(self.analyst.ask_in_parts("trace", query, **others)) as steps:
                for step in steps:
                    if isinstance(step, Progress):
                        line = self.say("trace.progress", done=step.done, total=step.total)
                        yield self.bar.busy(line, step)
                    else:
                        yield self.show(step, state)
        except PoolscopeError as error:
            yield self.show(error.sentence, state)
        except Exception as error:
            yield self.bar.idle()
            raise gr.Error(self.say("verdict.bug")) from error


def build_trace(analyst: Analyst, shown: gr.State, backbones: list[tuple[str, str]], say: Texts) -> TraceCard:
    """Lay the card out, which the style sheet hides while it is empty. ``backbones``: may be compared."""
    made: list[tuple[gr.Dropdown, gr.Button, gr.Textbox, ProgressBar]] = []

    def asking() -> None:
        with gr.Row(elem_id="trace-ask"):
            backbone = menu(
                "trace-backbone", say(TRACED.label), [("", ""), *backbones], "", scale=3, min_width=200
            )
            button = gr.Button(say("trace.button"), elem_id="trace-start", scale=0, min_width=220)
        texts = gr.Textbox("", visible="hidden", show_label=False, elem_id="trace-texts")
        made.append((backbone, button, texts, build_progress("trace", say)))

    with gr.Column(elem_id="trace", elem_classes="card"):
        place = build_place(TRACE, "trace", say, Shown(), asking)
    return TraceCard(analyst, shown, say, *made[0], place)


def with_trace(analyst: Analyst, comparison: Comparison, state: State) -> Comparison:
    """The same; where there are two versions, the trace between them can be asked for."""
    if comparison.after is None:
        return comparison
    return replace(comparison, trace=partial(trace_of, analyst, comparison, state))


def trace_of(analyst: Analyst, comparison: Comparison, state: State) -> Patched:
    """The trace between the versions that ``state`` asks, by the head that is compared."""
    query, others = _asked(comparison, state)
    found: Patched = analyst.ask("trace", query, **others)
    return found


def _asked(comparison: Comparison, state: State) -> tuple[Query, dict[str, str]]:
    """What is traced: the first version, and the texts of the second."""
    text, pair, other, other_pair = (to_text(state[key]) for key in TEXTS)
    query = query_of(state, (text, pair), traced_backbone(comparison, state), "native")
    if query.head == MINE:  # it was fitted for one pooling
        head = read_head(query.mine)
        query = replace(query, pooling=head.pooling, pool_layer=head.layer)
    else:
        query = replace(query, mine="")
    return query, {"other": other, "other_pair": other_pair}


def _texts(comparison: Comparison) -> str:
    """All that is traced of a comparison, in one."""
    return "".join(to_text(comparison.question[key]) for key in TEXTS)
