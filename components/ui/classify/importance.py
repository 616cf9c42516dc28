"""What is called importance: asked once its view is opened, and after each answer while it is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from components.analyses.importance import Importance
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.answered import asked_of, importance_of
from components.exhibits.control import Control, State
from components.exhibits.importance.attention import head_of
from components.exhibits.importance.methods import HEAD, INTEGRATED
from components.exhibits.panels import IMPORTANCE
from components.exhibits.view import LABEL
from components.texts import Texts
from components.types import Analysis, Progress, Query
from components.ui.classify.label import awaited, offered
from components.ui.places import (
    AT_ONCE,
    LAST_OF_MODEL,
    NOTHING,
    Given,
    Places,
    Updates,
    build_control,
    build_places,
    build_watch,
    menu,
    progress_html,
    state_of,
)

Controls = Mapping[Control[Any], Any]
Widgets = tuple[Controls, gr.HTML, gr.Button]


@dataclass(frozen=True, eq=False)
class Seen:
    """What is shown, and the ``state`` in which it was asked for."""

    state: State
    importance: Importance

    @property
    def integrated(self) -> bool:
        """Whether integrated gradients are there."""
        return self.importance.integrated is not None

    def answers(self, query: Query, state: State) -> bool:
        """Whether it is of this question, and all that ``state`` asks."""
        same = self.importance.analysis.query == asked_of(query) and LABEL.of(self.state) == LABEL.of(state)
        return same and self.integrated == INTEGRATED.of(state)


@dataclass(frozen=True, eq=False)
class ImportanceView:
    """Its components; ``shown`` holds the last answer.

    ``stored`` holds what is Seen, why there is none, or None where nothing was asked.
    """

    analyst: Analyst
    shown: gr.State
    select: gr.Tab
    stored: gr.State
    watch: gr.HTML
    controls: Controls
    status: gr.HTML
    cancel: gr.Button
    places: Places
    say: Texts

    @property
    def parts(self) -> list[Any]:
        """Everything that a new answer or its importance may change."""
        return [self.stored, self.status, self.cancel, *self.controls.values(), *self.places.parts]

    def empty(self, analysis: Analysis, state: State, before: Given) -> Updates:
        """Updates for a new answer, of which nothing has been asked here; ``before``: what is known of it."""
        filled = before.get(self.stored, "unknown") is not None
        emptied = dict.fromkeys(self.places.parts, "") if filled else {}
        return {
            **emptied,
            **self._idle(),
            self.stored: None,
            **self.await_next(state),
            self.controls[LABEL]: offered(analysis, state, self.say),
        }

    def await_next(self, state: State) -> Updates:
        """Updates where there is no answer: the next one is asked as ``state`` says."""
        head = HEAD.of(state)
        return {
            self.controls[LABEL]: awaited(state),
            self.controls[HEAD]: gr.update(value=head, maximum=max(head, 1)),
            self.controls[INTEGRATED]: INTEGRATED.of(state),
        }

    def show(self, seen: Seen) -> Updates:
        """Updates that show what came."""
        given, state = seen.importance, seen.state
        heads = 0 if given.attention is None else given.attention.shape[1]
        info = self.say("matters.head_info", count=heads)
        head = gr.update(maximum=max(heads, 1), value=head_of(given, state), info=info, visible=heads > 1)
        drawn = self.places.show(given, state)
        return {self.stored: seen, self.controls[HEAD]: head, **drawn, **self._idle()}

    def refuse(self, error: PoolscopeError) -> Updates:
        """Updates that say why there is none."""
        return {self.stored: error.sentence, **self.places.show(error.sentence, {}), **self._idle()}

    def busy(self, step: Progress) -> Updates:
        """Updates that say how far integrated gradients are, and let them be given up."""
        line = self.say("matters.integrating", done=step.done, total=step.total)
        return {
            self.status: progress_html(line, step),
            self.cancel: gr.update(interactive=True),
        }

    def stopped(self) -> Updates:
        """Updates once it was given up: the rest stays."""
        said = f'<p class="progress" role="status">{escape(self.say("matters.stopped"))}</p>'
        return {**self._idle(), self.status: said, self.controls[INTEGRATED]: False}

    def _idle(self) -> Updates:
        return {self.status: "", self.cancel: gr.update(interactive=False)}

    def connect(self) -> None:
        """Ask when the view is opened or something else is asked there; the rest is drawn of what came."""
        coming = gr.on(
            [
                *(self.select.select, self.watch.load),
                *(self.controls[LABEL].blur, self.controls[INTEGRATED].input),
            ],
            self.ask_importance,
            inputs={self.shown, self.stored, *self.controls.values()},
            outputs=self.parts,
            show_progress_on=[self.places.places[0].above],
            **LAST_OF_MODEL,
        )
        self.cancel.click(None, cancels=[coming], api_visibility="private")
        self.cancel.click(self.stopped, outputs=self.parts, **AT_ONCE)
        followers = self.places.following(HEAD)
        self.controls[HEAD].input(
            self.look,
            inputs={self.stored, self.controls[HEAD]},
            outputs=[part for place in followers for part in place.parts],
            **AT_ONCE,
        )

    def ask_importance(self, given: Given) -> Iterator[Updates]:
        """Ask about the last answer what is not shown by now: what is quick, then integrated gradients."""
        shown, seen, state = given[self.shown], given[self.stored], state_of(self.controls, given)
        if shown is None or (isinstance(seen, Seen) and seen.answers(shown.analysis.query, state)):
            yield NOTHING  # the last question had no answer, or this is its answer
            return
        query, integrated = shown.analysis.query, INTEGRATED.of(state)
        known = isinstance(seen, Seen) and seen.answers(query, {**state, INTEGRATED.key: seen.integrated})
        try:
            if not integrated:
                yield self.show(Seen(state, importance_of(self.analyst, query, state)))
                return
            with closing(
                self.analyst.ask_in_parts("importance", asked_of(query), label=LABEL.of(state))
            ) as steps:
                for step in steps:
                    if isinstance(step, Progress):
                        yield self.busy(step)
                    elif step.integrated is not None or not known:
                        yield self.show(Seen(state, step))
        except PoolscopeError as error:
            yield self.refuse(error)

    def look(self, given: Given) -> Updates:
        """Draw attention of another head."""
        seen = given[self.stored]
        if not isinstance(seen, Seen):
            return NOTHING
        head = {HEAD.key: given[self.controls[HEAD]]}
        return self.places.show(seen.importance, head, self.places.following(HEAD))


def build_importance(analyst: Analyst, shown: gr.State, say: Texts) -> ImportanceView:
    """Lay the view out, within its tab; ``shown`` holds the last answer."""
    with gr.Tab(say(IMPORTANCE.title), id=IMPORTANCE.key, elem_id=f"{IMPORTANCE.key}-view") as select:
        made: list[Widgets] = []
        places = build_places(IMPORTANCE, say, lambda: made.append(_widgets(say)))
        stored = gr.State(None)  # within: gradio counts what stands between tabs as tabs
        watch = build_watch()
    return ImportanceView(analyst, shown, select, stored, watch, *made[0], places, say)


def _widgets(say: Texts) -> Widgets:
    """What is asked. The labels and the heads of attention come with each answer."""
    with gr.Column(elem_id="importance-look", elem_classes="card"):
        label = menu("importance-label", say(LABEL.label), [("", "")], "")
        head = gr.Slider(0, 1, 0, step=1, label=say(HEAD.label), buttons=[], elem_id="attention-head")
        integrated = build_control(INTEGRATED, say)
        status = gr.HTML("", elem_id="importance-status")
        cancel = gr.Button(say("download.cancel"), interactive=False, elem_id="importance-cancel")
    return {LABEL: label, INTEGRATED: integrated, HEAD: head}, status, cancel
