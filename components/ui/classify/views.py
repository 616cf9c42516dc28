"""The views of an answer that are asked for once somebody looks at them: the head, serving, what matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from components.analyses.anatomy import Anatomy
from components.analyses.importance import Importance
from components.analyses.lens import Lens, Looked
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Control, State
from components.exhibits.exhibit import Panel, hint_html, titled_html
from components.exhibits.importance import HEAD as ATTENTION_HEAD
from components.exhibits.importance import INTEGRATED, head_of
from components.exhibits.panels import (
    DETECTIVE,
    HEAD,
    IMPORTANCE,
    PADDING,
    Answered,
    asked_of,
    importance_of,
    padding_of,
)
from components.exhibits.verdict import mistake
from components.exhibits.view import LABEL, visible
from components.texts import Texts
from components.types import Analysis, Progress, Query
from components.ui.places import (
    AT_ONCE,
    LAST_OF_MODEL,
    NOTHING,
    Given,
    Place,
    Places,
    Updates,
    build_control,
    build_places,
    build_watch,
    menu,
    state_of,
    text_box,
)
from components.ui.progress import ProgressBar, build_progress

Controls = Mapping[Control[Any], Any]


@dataclass(frozen=True, eq=False)
class AskedView:
    """A view that is asked for when it is opened, and after each answer while it is open.

    ``shown`` holds the last answer; ``stored`` what stands in the view, or why there is none, None for
    nothing; ``watch`` fires after an answer if the view is in sight.
    """

    analyst: Analyst
    shown: gr.State
    select: gr.Tab
    stored: gr.State
    watch: gr.HTML
    places: Places

    @property
    def parts(self) -> list[Any]:
        """Everything that an answer to it changes."""
        return [self.stored, *self.places.parts]

    def show(self, subject: Any, stored: object, state: State) -> Updates:
        """Updates that show what came."""
        return {self.stored: stored, **self.places.show(subject, state)}

    def refuse(self, error: PoolscopeError) -> Updates:
        """Updates that say why there is nothing to show."""
        return self.show(error.sentence, error.sentence, {})

    def empty(self, before: Given) -> Updates:
        """Updates for a new answer, of which nothing has been asked here; ``before``: what is known of it."""
        if before.get(self.stored, "unknown") is None:
            return {}
        return {self.stored: None, **dict.fromkeys(self.places.parts, "")}

    def connect(
        self,
        ask: Callable[[Given], Any],
        outputs: list[Any],
        inputs: Iterable[Any] = (),
        events: Iterable[Any] = (),
    ) -> Any:
        """Have ``ask`` called when the view is to be filled, and at ``events``; gives the event."""
        return gr.on(
            [self.select.select, self.watch.select, *events],
            ask,
            inputs={self.shown, self.stored, *inputs},
            outputs=outputs,
            show_progress_on=[self.places.places[0].above],
            **LAST_OF_MODEL,
        )


def build_view(
    panel: Panel[Any, Any],
    analyst: Analyst,
    shown: gr.State,
    say: Texts,
    beside: Callable[[], object] | None = None,
    below: Callable[[], object] = lambda: None,
) -> AskedView:
    """Lay a view out, within its tab: gradio counts what stands between tabs as tabs.

    What ``beside`` builds stands in the last column of the first row, what ``below`` builds under all.
    """
    with gr.Tab(say(panel.title), id=panel.key, elem_id=f"{panel.key}-view") as select:
        places = build_places(panel, say, beside)
        below()
        return AskedView(analyst, shown, select, gr.State(None), build_watch(), places)


# The label to explain is one control with two menus: one at the lens, which is drawn anew of what came, and
# one beside what matters, which is then asked for. So both speak of the same label, as do links and reports.


def offered_labels(analysis: Analysis, state: State, say: Texts, possible: bool = True) -> Any:
    """A menu of the labels of an answer, as ``state`` chooses; it is hidden where there is no choice."""
    first, *_ = analysis.predicted or analysis.labels
    said = say("view.label_said", label=visible(first))
    chosen = LABEL.of(state)
    return gr.update(
        choices=[(said, ""), *((visible(one), one) for one in analysis.labels)],
        value=chosen if chosen in analysis.labels else "",
        visible=possible and len(analysis.labels) > 1,
    )


def awaited_label(state: State) -> Any:
    """The menu while there is no answer: the next one is looked at as ``state`` says."""
    chosen = LABEL.of(state)
    return gr.update(choices=[("", ""), (visible(chosen), chosen)], value=chosen)


@dataclass(frozen=True, eq=False)
class HeadView:
    """The head taken apart.

    ``view`` stores the query whose head is shown. ``opened``: whether the view is. ``pointed``: what is seen
    through its lens, None where nothing is.
    """

    view: AskedView
    opened: gr.State
    pointed: gr.State
    say: Texts

    @property
    def parts(self) -> list[Any]:
        """Everything that an answer, or opening the view, may change."""
        return [self.opened, self.pointed, self.label, *self.view.parts]

    @property
    def label(self) -> Any:  # a menu
        """The label to explain; another menu stands beside what matters."""
        return self.view.places.controls[LABEL]

    @property
    def at_label(self) -> list[Place]:
        """What is drawn anew of the same answer where another label is chosen."""
        return self.view.places.following(LABEL)

    def show(self, anatomy: Anatomy, state: State) -> Updates:
        """Updates that show a head, pointed at the label of ``state``."""
        seen = Looked(anatomy.analysis, anatomy.lens) if isinstance(anatomy.lens, Lens) else None
        return {
            self.opened: True,
            self.pointed: seen,
            self.label: offered_labels(anatomy.analysis, state, self.say, seen is not None),
            **self.view.show(anatomy, anatomy.analysis.query, state),
        }

    def renew(self, answered: Answered, state: State, before: Given) -> Updates:
        """Updates for a new answer: its head where somebody looks at it; else none of the answer before."""
        if before.get(self.opened):
            return self.show(answered.anatomy, state)
        labels = offered_labels(answered.analysis, state, self.say)
        emptied = self.view.empty(before)
        return {
            self.opened: False,
            self.label: labels,
            **emptied,
            **({self.pointed: None} if emptied else {}),
        }

    def connect(self, others: Sequence[gr.Tab], twin: Any) -> None:
        """Take the head apart when the view is opened; ``others``: the views that close it.

        Keep its menu and the ``twin`` the same, and draw the lens of the label that is chosen.
        """
        self.view.connect(self.dissect, self.parts, {self.label})
        gr.on([other.select for other in others], lambda: False, outputs=self.opened, **AT_ONCE)
        drawn = [part for place in self.at_label for part in place.parts]
        for one, other in ((self.label, twin), (twin, self.label)):
            one.blur(  # with each choice a menu loses the focus once, and says "input" twice
                partial(self.choose, one, other),
                inputs={self.pointed, one, other},
                outputs=[other, *drawn],
                trigger_mode="always_last",
                **AT_ONCE,
            )

    def choose(self, one: Any, other: Any, given: Given) -> Updates:
        """Look at the label that is chosen in ``one`` menu; nothing where it is the one that is looked at."""
        pointed: Looked | None = given[self.pointed]
        if pointed is None or given[one] == given[other]:
            return NOTHING
        state = {LABEL.key: given[one]}
        return {other: LABEL.of(state), **self.view.places.show(pointed, state, self.at_label)}

    def dissect(self, given: Given) -> Updates:
        """Take the head of the last answer apart, unless that is shown by now."""
        shown = given[self.view.shown]
        if shown is None or given[self.view.stored] == shown.analysis.query:  # None: there was no answer
            return {self.opened: True}
        try:
            anatomy = self.view.analyst.ask("anatomy", shown.analysis.query)
        except PoolscopeError as error:
            first = self.view.places.places[0].above
            refused = {first: mistake(error, self.say), self.opened: True, self.pointed: None}
            return {**self.view.empty({}), **refused}
        return self.show(anatomy, {LABEL.key: given[self.label]})


def build_head(analyst: Analyst, shown: gr.State, say: Texts) -> HeadView:
    """Lay the view out; ``shown`` holds the last answer."""
    view = build_view(HEAD, analyst, shown, say)
    with view.select:  # gradio counts what stands between tabs as tabs
        return HeadView(view, gr.State(False), gr.State(None), say)


@dataclass(frozen=True, eq=False)
class PaddingView:
    """Serving: whether the model is safe in a batch, and, asked with a click, what made a pasted vector.

    ``view`` stores the query whose padding is shown. ``vector`` and what may stand before the text
    (``prefix``) are asked of the text and the backbone shown; ``found`` shows what made it.
    """

    view: AskedView
    vector: gr.Textbox
    prefix: gr.Textbox
    button: gr.Button
    found: Places

    @property
    def parts(self) -> list[Any]:
        """Everything that a new answer or what is asked of it may change."""
        return [*self.view.parts, *self.found.parts]

    def empty(self, before: Given) -> Updates:
        """Updates for a new answer: what was found is of another text. The vector stays."""
        return {**self.view.empty(before), **dict.fromkeys(self.found.parts, "")}

    def connect(self) -> None:
        """Ask when the view is opened, and after an answer while it is open; a vector, when that is asked."""
        self.view.connect(self.audit, self.view.parts)
        gr.on(
            [self.button.click, self.vector.submit, self.prefix.submit],
            self.detect_vector,
            inputs={self.view.shown, self.vector, self.prefix},
            outputs=self.found.parts,
            show_progress_on=[self.found.places[0].above],
            **LAST_OF_MODEL,
        )

    def audit(self, given: Given) -> Updates:
        """Ask what padding changes of the last answer, unless that is shown by now."""
        shown = given[self.view.shown]
        if shown is None or given[self.view.stored] == shown.analysis.query:  # None: there was no answer
            return NOTHING
        query: Query = shown.analysis.query
        try:
            return self.view.show(padding_of(self.view.analyst, query), query, {})
        except PoolscopeError as error:
            return self.view.refuse(error)

    def detect_vector(self, given: Given) -> Updates:
        """Find what made the vector of the last answer's text."""
        shown = given[self.view.shown]
        if shown is None:  # the last question had no answer
            return NOTHING
        asked: Query = shown.analysis.query
        query = Query(asked.backbone, asked.text, asked.text_pair)
        try:
            vector, prefix = given[self.vector], given[self.prefix]
            found = self.view.analyst.ask("detect", query, vector=vector, prefix=prefix)
        except PoolscopeError as error:
            return self.found.show(error.sentence, {})
        return self.found.show(found, {})


def build_padding(analyst: Analyst, shown: gr.State, say: Texts) -> PaddingView:
    """Lay the view out; ``shown`` holds the last answer."""
    made: list[tuple[gr.Textbox, gr.Textbox, gr.Button, Places]] = []

    def below() -> None:
        with gr.Column(elem_id="detective-card", elem_classes=["card", "numbers"]):
            title, hint = say("detective.heading"), say("detective.hint")
            gr.HTML(titled_html("detective-card", title, hint) + hint_html(hint))
            vector = text_box("vector", say("detective.vector"), say("detective.vector_hint"))
            with gr.Row(elem_id="detective-ask"):
                prefix = text_box("prefix", say("detective.before"), say("detective.before_hint"))
                button = gr.Button(say("detective.ask"), elem_id="detect", variant="primary")
            made.append((vector, prefix, button, build_places(DETECTIVE, say)))

    return PaddingView(build_view(PADDING, analyst, shown, say, below=below), *made[0])


@dataclass(frozen=True, eq=False)
class Seen:
    """What is shown, and the ``state`` in which it was asked for."""

    state: State
    importance: Importance

    def answers(self, query: Query, state: State, integrated: bool) -> bool:
        """Whether it is of this question, and all that ``state`` asks; with gradients if ``integrated``."""
        same = self.importance.analysis.query == asked_of(query) and LABEL.of(self.state) == LABEL.of(state)
        return same and (self.importance.integrated is not None) == integrated


@dataclass(frozen=True, eq=False)
class ImportanceView:
    """What is called importance; ``view`` stores what is Seen."""

    view: AskedView
    controls: Controls
    bar: ProgressBar
    say: Texts

    @property
    def parts(self) -> list[Any]:
        """Everything that a new answer or its importance may change."""
        return [*self.bar.parts, *self.controls.values(), *self.view.parts]

    def empty(self, analysis: Analysis, state: State, before: Given) -> Updates:
        """Updates for a new answer, of which nothing has been asked here; ``before``: what is known of it."""
        labels = offered_labels(analysis, state, self.say)
        waiting = {**self.await_next(state), self.controls[LABEL]: labels}
        return {**self.view.empty(before), **self.bar.idle(), **waiting}

    def await_next(self, state: State) -> Updates:
        """Updates where there is no answer: the next one is asked as ``state`` says."""
        head = ATTENTION_HEAD.of(state)
        return {
            self.controls[LABEL]: awaited_label(state),
            self.controls[ATTENTION_HEAD]: gr.update(value=head, maximum=max(head, 1)),
            self.controls[INTEGRATED]: INTEGRATED.of(state),
        }

    def show(self, found: Importance, state: State) -> Updates:
        """Updates that show what came."""
        heads = 0 if found.attention is None else found.attention.shape[1]
        info = self.say("matters.head_info", count=heads)
        head = gr.update(maximum=max(heads, 1), value=head_of(found, state), info=info, visible=heads > 1)
        drawn = self.view.show(found, Seen(state, found), state)
        return {self.controls[ATTENTION_HEAD]: head, **drawn, **self.bar.idle()}

    def stopped(self) -> Updates:
        """Updates once it was given up: the rest stays."""
        return {**self.bar.stopped(self.say("matters.stopped")), self.controls[INTEGRATED]: False}

    def connect(self) -> None:
        """Ask when the view is opened or something else is asked there; the rest is drawn of what came."""
        events = self.controls[LABEL].blur, self.controls[INTEGRATED].input
        coming = self.view.connect(self.ask_importance, self.parts, self.controls.values(), events)
        self.bar.connect(coming, self.stopped, self.parts)
        head, followers = self.controls[ATTENTION_HEAD], self.view.places.following(ATTENTION_HEAD)
        drawn = [part for place in followers for part in place.parts]
        head.input(self.look, inputs={self.view.stored, head}, outputs=drawn, **AT_ONCE)

    def ask_importance(self, given: Given) -> Iterator[Updates]:
        """Ask about the last answer what is not shown by now: what is quick, then integrated gradients."""
        shown, seen, state = given[self.view.shown], given[self.view.stored], state_of(self.controls, given)
        query, integrated = None if shown is None else shown.analysis.query, INTEGRATED.of(state)
        known = isinstance(seen, Seen) and query is not None
        if query is None or (known and seen.answers(query, state, integrated)):
            yield NOTHING  # the last question had no answer, or this is its answer
            return
        try:
            if not integrated:
                yield self.show(importance_of(self.view.analyst, query, state), state)
                return
            options = {"label": LABEL.of(state)}
            with closing(self.view.analyst.ask_in_parts("importance", asked_of(query), **options)) as steps:
                for step in steps:
                    if isinstance(step, Progress):
                        line = self.say("matters.integrating", done=step.done, total=step.total)
                        yield self.bar.busy(line, step)
                    elif step.integrated is not None or not (known and seen.answers(query, state, False)):
                        yield self.show(step, state)
        except PoolscopeError as error:
            yield {**self.view.refuse(error), **self.bar.idle()}

    def look(self, given: Given) -> Updates:
        """Draw attention of another head."""
        seen = given[self.view.stored]
        if not isinstance(seen, Seen):
            return NOTHING
        head = {ATTENTION_HEAD.key: given[self.controls[ATTENTION_HEAD]]}
        return self.view.places.show(seen.importance, head, self.view.places.following(ATTENTION_HEAD))


def build_importance(analyst: Analyst, shown: gr.State, say: Texts) -> ImportanceView:
    """Lay the view out; ``shown`` holds the last answer. Labels and heads of attention come with answers."""
    made: list[tuple[Controls, ProgressBar]] = []

    def beside() -> None:
        with gr.Column(elem_id="importance-look", elem_classes="card"):
            label = menu("importance-label", say(LABEL.label), [("", "")], "")
            name = say(ATTENTION_HEAD.label)
            head = gr.Slider(0, 1, 0, step=1, label=name, buttons=[], elem_id="attention-head")
            controls: Controls = {
                LABEL: label,
                INTEGRATED: build_control(INTEGRATED, say),
                ATTENTION_HEAD: head,
            }
            made.append((controls, build_progress("importance", say)))

    return ImportanceView(build_view(IMPORTANCE, analyst, shown, say, beside), *made[0], say)
