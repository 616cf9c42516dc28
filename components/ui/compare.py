"""The Compare tab: texts, backbones x poolings side by side; a second version, and the trace between both."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from components.analyses.analyze import Compared
from components.analyses.sees import Sees
from components.analyst import Analyst
from components.endpoints import here
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import AskedText, Control, OneOf, SomeOf, State, to_link
from components.exhibits.exhibit import Shown, hint_html, or_why, status_html
from components.exhibits.hidden_states import TRACE, TRACED, traced_backbone
from components.exhibits.panels import COMPARISON, TRACING, own_of
from components.exhibits.verdict import mistake
from components.exhibits.view import light, render, visible
from components.menus import EXAMPLES, Choices
from components.own_head import HEADS, MINE, read_head
from components.texts import ASSETS, Sentence, Texts, read_toml
from components.types import BackboneSpec, Pair, Progress, Query
from components.ui import places as on_page
from components.ui.places import AT_ONCE, LAST_OF_MODEL, NOTHING, PRIVATE, Given, Kept, Updates, menu, on
from components.ui.question import to_query, to_text
from components.ui.tab import Followed, Linked, Surroundings, Tab, TabKind

FIRST_ROWS = 5  # backbones on arrival, those of the first one's task
FIRST_COLUMNS = ("native", "cls", "mean", "max", "lasttoken", "weightedmean")
TEXTS = ("compare_text", "compare_pair", "version_text", "version_pair")  # the keys of their controls
TRIED = 3  # negations that are dropped in turn
NEGATIONS = read_toml(ASSETS / "negations.toml")  # endings to cut off, and what stays of other words
ENDINGS = tuple(NEGATIONS["endings"])  # all as long
WORD = re.compile(r"\w+(?:['’]\w+)*")


class Compare(Tab):
    """The components of the tab and what they do.

    ``shown`` holds the last Comparison, or None; ``mine`` the head that was fitted on the visitor's table.
    ``calls`` counts how often the page itself asked for a comparison: what changes it has what is chosen
    compared, if it is queued: the page hears of no other changes. ``inputs``: what a comparison depends on;
    ``changed``: all that it may change; ``unedited`` empties the boxes of the second version.
    """

    panels = (COMPARISON, TRACING)

    def __init__(self, around: Surroundings) -> None:
        self.analyst, self.mine, self.say = around.analyst, around.mine, around.say
        say, rows = self.say, first_rows(self.analyst)
        lead = Markup('<p class="lead">{}</p>').format(say("compare.lead"))
        on_page.plain_html(lead, elem_id="compare-lead")
        self._build_asking(rows)
        self._build_version()
        with gr.Row(elem_id="compare-progress"):
            self.bar = on_page.ProgressBar("compare", say)
            note = Markup('<p role="status" hidden>{}</p>').format(say("compare.stale"))
            on_page.scripted_html("stale", note, "compare-stale")  # which the browser alone shows
        self.shown, self.calls = Kept(self.mine.state), gr.State(0)
        with gr.Column(elem_id="compared"):  # nothing is hidden: gradio does not always show that again
            self.places = on_page.build_places(COMPARISON, say, self._build_trace)
        self.linked = self._linked()
        self.outputs = [one.part for one in self.linked]  # the first visit then asks for the comparison
        self.inputs: set[Any] = {self.mine, *self.outputs} - {self.trace.backbone}
        summary = COMPARISON.summary  # first comes who says what, in words and cell by cell
        self.first = [one for one in self.places.places if one.exhibit is summary or one.exhibit.with_summary]
        self.drawn: list[Any] = [*self.places.parts, *self.trace.parts]
        self.changed: list[Any] = [self.shown, *self.bar.parts, *self.unedited, *self.drawn]
        self._connect(around)

    def _build_asking(self, rows: Sequence[BackboneSpec]) -> None:
        say, first = self.say, EXAMPLES["compared"]
        poolings = offered_poolings(self.analyst)
        with gr.Row(elem_id="compare-texts"):
            box = partial(on_page.text_box, scale=3, min_width=240)
            self.text = box("compare-text", say("question.text"), say("question.text_hint"), first)
            self.pair = box("compare-pair", say("question.pair"), say("question.pair_hint"))
            heads = [(say(f"question.head_{head}"), head) for head in HEADS]
            fairest = fair_head(self.analyst, rows, first)
            self.head = menu("compare-head", say("question.head"), heads, fairest, scale=2, min_width=240)
        with gr.Row(elem_id="compare-choice"):
            several = partial(menu, multiselect=True, min_width=240)
            backbones, chosen = offered(self.analyst, say), [spec.key for spec in rows]
            label = say("compare.backbones")
            self.backbones = several("compare-backbones", label, backbones, chosen, scale=5)
            columns = [key for key in FIRST_COLUMNS if key in dict(poolings).values()]
            self.poolings = several("compare-poolings", say("compare.poolings"), poolings, columns, scale=3)
            self.start = gr.Button(say("compare.button"), variant="primary", elem_id="compare-start")

    def _build_version(self) -> None:
        say = self.say
        with gr.Column(elem_id="compare-version"):
            with gr.Row(elem_id="compare-edits"):
                on_page.plain_html(Markup("<p>{}</p>").format(say("edit.lead")))
                ids = {key: f"compare-edit-{key}" for key in ("copy", "drop", "swap", "clear")}
                self.edits = {key: gr.Button(say(f"edit.{key}"), size="sm", elem_id=ids[key]) for key in ids}
                self.clear = self.edits.pop("clear")
                self.note = on_page.plain_html(elem_id="compare-edit-note")
            with gr.Row(elem_id="compare-versions"):
                box = partial(on_page.text_box, min_width=240)
                self.other = box("compare-version-text", say("edit.text"), say("edit.text_hint"))
                self.other_pair = box("compare-version-pair", say("edit.pair"), say("edit.pair_hint"))
        self.unedited: Updates = {self.other: "", self.other_pair: "", self.note: ""}

    def _build_trace(self) -> None:
        self.trace = TraceCard(self.analyst, self.shown, self.say)

    def _linked(self) -> list[Linked]:
        """List what is compared, and how it is looked at; which backbones there are is asked each time."""
        poolings, there = [spec.key for spec in self.analyst.poolings()], partial(here, self.analyst)
        asked: dict[Control[Any], Any] = {
            Control("compare_text", AskedText(), self.text.value): self.text,
            Control("compare_pair", AskedText(), self.pair.value): self.pair,
            Control("version_text", AskedText(version=1), ""): self.other,
            Control("version_pair", AskedText(version=1), ""): self.other_pair,
            Control("backbones", SomeOf(there), tuple(self.backbones.value)): self.backbones,
            Control("poolings", SomeOf(lambda: poolings), tuple(self.poolings.value)): self.poolings,
            Control("compare_head", OneOf(lambda: HEADS), self.head.value): self.head,
            replace(TRACED, kind=OneOf(lambda: ["", *there()])): self.trace.backbone,
        }
        return [Linked(control, part) for control, part in asked.items()]

    def _connect(self, around: Surroundings) -> None:
        view: set[Any] = {self.shown, self.trace.backbone}
        offers = [self.backbones, self.poolings, self.calls]
        on([around.select.select], self.visit, {self.calls}, offers, PRIVATE)
        boxes = self.text, self.pair, self.other, self.other_pair
        asking = [self.calls.change, self.start.click, *(box.submit for box in boxes)]
        how = {**PRIVATE, "concurrency_id": "compare"}
        coming = on(asking, self.stream, self.inputs, self.changed, {**how, "trigger_mode": "always_last"})
        self.bar.connect(coming, self.stop, self.changed, view)
        on(coming.success, self.settle, view, self.drawn, AT_ONCE)
        sent, changed = {self.text, self.pair, self.calls}, [*self.unedited, self.calls]
        busy = status_html(self.say("edit.trying"))
        on([self.edits["drop"].click], None, [], [self.note], PRIVATE, js=f"() => `{busy}`")  # comes first
        for name, button in self.edits.items():  # one measures what each negation moves: a comparison or more
            needs, way = (sent | self.inputs, how) if name == "drop" else (sent, PRIVATE)
            on([button.click], partial(self.edit, name), needs, changed, way)
        on([self.clear.click], self.single, view, self.changed, AT_ONCE)

    def answer_to(self, state: State) -> Comparison:
        """Give the whole comparison that ``state`` asks; PoolscopeError if it cannot be made."""
        *_, whole = compared(self.analyst, asked(self.analyst, state, self.say), state)

        def trace() -> Any:
            query, others = _traced(whole, state)
            return self.analyst.ask("trace", query, **others)

        return whole if whole.after is None else replace(whole, trace=trace)

    def facts(self, _answer: Comparison, state: State) -> dict[str, str]:
        """Name the texts: all else stands in the grid."""
        titles = ("question.text", "question.pair", "edit.text", "edit.pair")
        texts = {self.say(title): str(state[key]) for title, key in zip(titles, TEXTS, strict=True)}
        return {title: text for title, text in texts.items() if text.strip()}

    def open(self, state: State, chosen: Sequence[Linked], _given: Given) -> Followed:
        """Set what a link sets."""
        sent = {one.part: state[one.control.key] for one in chosen}
        return {part: list(one) if isinstance(one, tuple) else one for part, one in sent.items()}, []

    def visit(self, given: Given) -> Updates:
        """Offer backbones that have come since; the first visit to the tab asks for a comparison."""
        backbones, poolings = offered(self.analyst, self.say), offered_poolings(self.analyst)
        offers = {self.backbones: gr.update(choices=backbones), self.poolings: gr.update(choices=poolings)}
        return {**offers, self.calls: max(given[self.calls], 1)}

    def stream(self, given: Given) -> Iterator[Updates]:
        """Compare what is chosen, backbone by backbone, and draw the grid; ``settle`` draws the rest.

        What cannot be asked leaves the comparison before as it is. Closing the iterator cancels the rest.
        """
        state = self._asking(given)
        try:
            begun = asked(self.analyst, state, self.say)
            yield self._status(begun)
            for comparison in compared(self.analyst, begun, state):
                drawn = self.places.show(comparison, {}, self.first)
                yield {self.shown: comparison, **self._status(comparison), **drawn, **self.trace.empty}
        except PoolscopeError as error:
            yield self.bar.idle(mistake(error, self.say, "compare.refused"))
        except Exception:
            yield self.bar.idle()
            raise

    def settle(self, given: Given) -> Updates:
        """Draw all of the last comparison. The page may draw two updates that come close in any order.

        Where the first one was refused there is none: no row waits for an answer.
        """
        shown: Comparison = given[self.shown] or Comparison((), ())
        state = {TRACED.key: given[self.trace.backbone]}
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
            return self.unedited
        question = {**shown.question, "version_text": "", "version_pair": ""}
        return {**self.unedited, **self._show(replace(shown, after=None, question=question), given)}

    def edit(self, name: str, given: Given) -> Updates:
        """Fill the second version with what a button makes of the first, or say why it makes nothing of it.

        A copy is there to be edited, and asks for nothing yet.
        """

        def noted(told: str) -> Updates:
            return {self.note: str(status_html(told)) if told else ""}

        made = edited(name, to_text(given[self.text]), to_text(given[self.pair]))
        if not made:
            return noted(self.say("edit.no_pair" if name == "swap" else "edit.no_negation"))
        place, told = 0, ""
        if len(made) > 1:
            try:
                place, told = furthest(self.analyst, made, self._asking(given), self.say)
            except PoolscopeError as error:
                return noted(visible(error.plainly(self.say)))
        text, pair = made[place][1]
        again = {} if name == "copy" else {self.calls: given[self.calls] + 1}
        return {self.other: text, self.other_pair: pair, **noted(told), **again}

    def _asking(self, given: Given) -> dict[str, Any]:
        state = {one.control.key: given[one.part] for one in self.linked if one.part in self.inputs}
        return {**state, MINE: given[self.mine]}

    def _show(self, comparison: Comparison, given: Given) -> Updates:
        drawn = self.settle({**given, self.shown: comparison})
        return {self.shown: comparison, **self._status(comparison), **drawn}

    def _status(self, comparison: Comparison) -> Updates:
        """Say how far it is. All of it each time: of two updates that come close, the page may lose one.

        With it stands what was asked of what has come, as a link would hold it.
        """
        controls = [one.control for one in self.linked if one.part in self.inputs]
        told = {"keys": [one.key for one in controls], "link": to_link(comparison.question, controls)}
        said = render("compare_status", self.say, comparison=comparison, **told)
        return {**self.bar.idle(said), self.bar.cancel: gr.update(interactive=comparison.state == "running")}


COMPARE = TabKind("compare", "page.compare", Compare)


class TraceCard:
    """The trace between two versions: asked for with a click, once both have been compared.

    ``shown`` holds the comparison. ``texts``: all texts of both versions, hidden: the browser sends them
    along, for what is sent is paid. ``news``: what a trace changes.
    """

    def __init__(self, analyst: Analyst, shown: Kept, say: Texts) -> None:
        """Lay the card out, which the style sheet hides while it is empty."""
        self.analyst, self.shown, self.say = analyst, shown, say

        def asking() -> None:
            with gr.Row(elem_id="trace-ask"):
                self.backbone = menu(
                    "trace-backbone", say(TRACED.label), [("", "")], "", scale=3, min_width=200
                )
                self.button = gr.Button(say("trace.button"), elem_id="trace-start", scale=0, min_width=220)
            self.texts, self.bar = on_page.hidden_html("trace-texts"), on_page.ProgressBar("trace", say)

        with gr.Column(elem_id="trace", elem_classes="card"):
            self.place = on_page.build_place(TRACE, "trace", say, controls=asking)
        self.news: list[Any] = [*self.bar.parts, *self.place.parts]
        self.parts: list[Any] = [self.backbone, self.texts, *self.news]
        self.empty = self._shown(Shown())
        events, sent = [self.button.click, self.backbone.input], {shown, self.backbone, self.texts}
        waits = {**LAST_OF_MODEL, "show_progress_on": [self.place.above]}
        coming = on(events, self.trace_versions, sent, self.news, waits)
        self.bar.connect(coming, partial(self.bar.stopped, say("trace.stopped")), self.news)

    def offer(self, comparison: Comparison, state: State) -> Updates:
        """Prepare for a comparison of which no trace has been asked; none is offered for one version."""
        if comparison.after is None or comparison.state == "running":
            return self.empty
        first, *more = (spec.key for spec in comparison.backbones)
        choices = [(comparison.names[first], ""), *((comparison.names[key], key) for key in more)]
        chosen, lead = traced_backbone(comparison, state), self.say("trace.lead")
        backbones = gr.update(choices=choices, value="" if chosen == first else chosen)
        shown = Shown(heading=self.say("trace.heading"), words=lead, above=hint_html(lead))
        return {self.backbone: backbones, self.texts: _all_texts(comparison), **self._shown(shown)}

    def trace_versions(self, given: Given) -> Iterator[Updates]:
        """Trace between both versions of the comparison that is shown, or say why there is no trace.

        Nothing where fewer characters were sent, and paid, than are traced. Closing it cancels the rest.
        """
        shown = given[self.shown]
        if shown is None or shown.after is None or len(given[self.texts] or "") < len(_all_texts(shown)):
            yield NOTHING
            return
        state = {**shown.question, TRACED.key: given[self.backbone]}
        yield self.bar.busy(self.say("trace.starting"))
        try:
            query, others = _traced(shown, state)
            with closing(self.analyst.ask_in_parts("trace", query, **others)) as steps:
                for step in steps:
                    if isinstance(step, Progress):
                        line = self.say("trace.progress", done=step.done, total=step.total)
                        yield self.bar.busy(line, step)
                    else:
                        yield self._shown(TRACE.shown(step, state, self.say))
        except PoolscopeError as error:
            yield self._shown(TRACE.shown(error.sentence, state, self.say))
        except Exception:
            yield self.bar.idle()
            raise

    def _shown(self, shown: Shown) -> Updates:
        return {**self.place.show(shown, self.say), **self.bar.idle()}


def _traced(comparison: Comparison, state: State) -> tuple[Query, dict[str, str]]:
    """Say what is traced: the first version, and the texts of the second; by the head that is compared."""
    text, pair, other, other_pair = (to_text(state[key]) for key in TEXTS)
    query = query_of(state, (text, pair), traced_backbone(comparison, state), "native")
    if query.head == MINE:  # it was fitted for one pooling
        head = read_head(query.mine)
        query = replace(query, pooling=head.pooling, pool_layer=head.layer)
    else:
        query = replace(query, mine="")
    return query, {"other": other, "other_pair": other_pair}


def _all_texts(comparison: Comparison) -> str:
    return "".join(to_text(comparison.question[key]) for key in TEXTS)


def query_of(state: State, texts: Pair, backbone: str, pooling: str) -> Query:
    """Make the query for one cell of one version, as ``state`` asks it."""
    sent = {"text": texts[0], "pair": texts[1], "backbone": backbone, "pooling": pooling}
    return to_query({**sent, "head": state["compare_head"], MINE: state.get(MINE)})


def edited(name: str, first: str, second: str) -> list[tuple[str, Pair]]:
    """Make second versions of a pair as the button ``name`` does, each after its name; none if it cannot.

    Without each of the first negations, named by where they stand; then, if they are several, without any.
    """
    if name == "copy":
        return [("", (first, second))]
    if name == "swap":
        return [("", (second, first))] if second.strip() else []
    one_side = ((name, (left, second)) for name, left in without_negation(first))
    other = ((name, (first, left)) for name, left in without_negation(second))
    found = list(islice(chain(one_side, other), TRIED + 1))
    if len(found) > 1:
        found = [*found[:TRIED], ("", (without_any(first), without_any(second)))]
    return found


def furthest(
    analyst: Analyst, versions: Sequence[tuple[str, Pair]], state: State, say: Texts
) -> tuple[int, str]:
    """Find the version that moves the outputs of what ``state`` compares most, and say what each does.

    PoolscopeError if it cannot be compared.
    """
    moved, told, total = [], [], 0
    for name, (text, pair) in versions:
        asking = {**state, "version_text": text, "version_pair": pair}
        *_, whole = compared(analyst, asked(analyst, asking, say), asking)
        moved.append(sum(abs(one.moved or 0.0) for one in whole.distinct))
        counted = [one for one in whole.distinct if one.predicted and not one.swapped]
        total, flips = len(counted), sum(one.flips for one in counted)
        told.append(say("edit.tried_one" if name else "edit.tried_all", where=visible(name), count=flips))
    return int(np.argmax(moved)), say("edit.tried", total=total, each=say.listed(told)) if total else ""


def without_any(text: str) -> str:
    """Give ``text`` without all its negations."""
    return _without(text, _negations(text))


def without_negation(text: str) -> Iterator[tuple[str, str]]:
    """Give ``text`` without each of its negations, after that one with the word behind it."""
    for word, stays in _negations(text):
        behind = WORD.search(text, word.end()) or word
        yield text[word.start() : behind.end()], _without(text, [(word, stays)])


def _negations(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each word that negates, and what stays of it."""
    return ((word, stays) for word in WORD.finditer(text) if (stays := _stays(word[0])) is not None)


def _without(text: str, negations: Iterable[tuple[re.Match[str], str]]) -> str:
    """Give ``text`` without these: a space goes with each, and the text begins as it began."""
    parts, end, first, like = list[str](), 0, len(text) - len(text.lstrip()), ""
    for word, stays in negations:
        start = word.start()
        parts += [text[end:start], stays]
        end = word.end()
        if not stays and text[max(start - 1, 0) : start] in ("", " "):
            end += text.startswith(" ", end)
        like = word[0] if start <= first and not stays else like
    left = "".join(parts) + text[end:]
    return left[:first] + _cased(left[first:], like)


def _stays(word: str) -> str | None:
    """Give what stays of a word that negates, "" where nothing does; None of any other."""
    low = word.lower()
    if low in NEGATIONS["stays"]:
        return _cased(NEGATIONS["stays"][low], word)
    return word[: -len(ENDINGS[0])] if low.endswith(ENDINGS) and low not in ENDINGS else None


def _cased(text: str, like: str) -> str:
    return text[:1].upper() + text[1:] if like[:1].isupper() else text


def first_rows(analyst: Analyst) -> list[BackboneSpec]:
    """List the backbones on arrival: the first that can be asked, and others of its task."""
    here = [spec for spec in analyst.backbones() if spec.available]
    return [spec for spec in here if spec.task == here[0].task][:FIRST_ROWS]


def fair_head(analyst: Analyst, rows: Sequence[BackboneSpec], text: str) -> str:
    """Choose the probe where every backbone has one for its own task and a text; else the own heads."""
    choices = Choices.of(analyst)
    tasks = [[task.key for task in choices.tasks(Query(spec.key, text))] for spec in rows]
    fair = all(spec.task in fitting for spec, fitting in zip(rows, tasks, strict=True))
    return "probe" if rows and fair else HEADS[0]


def offered(analyst: Analyst, say: Texts) -> list[tuple[str, str]]:
    """List (title, key) of the backbones that can be asked now."""
    return [(visible(spec.said(say)), spec.key) for spec in analyst.backbones() if spec.available]


def offered_poolings(analyst: Analyst) -> list[tuple[str, str]]:
    """List (key as it is shown, key) of the poolings that a backbone can be asked now."""
    declared = any(spec.available and spec.declares for spec in analyst.backbones())
    fitting = (spec for spec in analyst.poolings() if declared or not spec.declared)
    return [(visible(spec.key), spec.key) for spec in fitting]


def asked(analyst: Analyst, state: State, say: Texts) -> Comparison:
    """Read what ``state`` asks, by the keys of the controls, in the order of the lists, before anything came.

    PoolscopeError if it cannot be compared. The values may come from a browser.
    """
    here = {spec.key: replace(spec, title=spec.said(say)) for spec in analyst.backbones() if spec.available}
    titles = {spec.key: spec.said(say) for spec in analyst.poolings()}
    backbones = _chosen("backbones", state, here, "compare.choose_backbone")
    poolings = _chosen("poolings", state, titles, "compare.choose_pooling")
    if state["compare_head"] not in HEADS:
        raise PoolscopeError("head", state["compare_head"], "compare.choose_head")
    if state["compare_head"] == MINE:  # what no cell could answer is said once
        head = read_head(state.get(MINE))
        if head.backbone not in backbones or head.pooling not in poolings:
            known = here.get(head.backbone)
            fitted = {"backbone": visible(known.title) if known else head.backbone, "pooling": head.pooling}
            raise PoolscopeError("head", MINE, "compare.choose_fitted", **fitted)
    after = () if len(_versions(state)) > 1 else None
    specs = tuple(here[key] for key in backbones)
    return Comparison(specs, poolings, titles=titles, after=after, question=dict(state))


def _chosen(field: str, state: State, known: Mapping[str, object], wanted: str) -> tuple[str, ...]:
    """Read what was given of the ``known``, in their order; PoolscopeError for anything else, and nothing."""
    given: Any = state[field]
    sent = given if isinstance(given, list | tuple) else [] if given is None else [given]
    for key in sent:
        if not isinstance(key, str) or key not in known:
            raise PoolscopeError(field, key, "errors.listed")
    if not sent:
        raise PoolscopeError(field, Sentence("errors.nothing"), wanted)
    return tuple(key for key in known if key in sent)


def _versions(state: State) -> list[Pair]:
    """Read the texts of each version; of the second none where its boxes are blank."""
    text, pair, other, other_pair = (to_text(state[key]) for key in TEXTS)
    second = [(other, other_pair)] if other.strip() or other_pair.strip() else []
    return [(text, pair), *second]


def _sees(analyst: Analyst, row: Compared) -> dict[str, Sees]:
    """Measure who sees whom in one backbone, where it has an answer and that is quick."""
    first = next((cell.analysis for cell in row.cells if cell.analysis), None)
    if first is None or not light(first):
        return {}
    found = or_why(lambda: analyst.ask("sees", own_of(first.query)))
    return {row.backbone.key: found} if isinstance(found, Sees) else {}


def compared(analyst: Analyst, comparison: Comparison, state: State) -> Iterator[Comparison]:
    """Answer the ``comparison`` that ``state`` asks, after each backbone: of both versions, if there are two.

    Closing the iterator cancels the rest.
    """
    cells = [(spec.key, pooling) for spec in comparison.backbones for pooling in comparison.poolings]
    with ExitStack() as stack:
        streams = [
            stack.enter_context(closing(analyst.compare([query_of(state, texts, *cell) for cell in cells])))
            for texts in _versions(state)
        ]
        for answer, *others in zip(*streams, strict=False):
            after = None if comparison.after is None else (*comparison.after, *others)
            found = {**comparison.sees, **_sees(analyst, answer)}
            comparison = replace(comparison, compared=(*comparison.compared, answer), after=after, sees=found)
            if len(comparison.compared) == len(comparison.backbones):
                comparison = replace(comparison, state="done")
            yield comparison
