"""The second version of a text in the Compare tab, and the trace between both versions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr
from markupsafe import Markup

from components.analyses.trace import Patched
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import Control, State, Whole
from components.exhibits.exhibit import Shown, hint_html
from components.exhibits.trace import TRACE, TRACED, Traced, traced_backbone
from components.exhibits.view import MOST_LAYERS
from components.fitting import MINE, read_head
from components.texts import ASSETS, Texts
from components.types import Progress, Query
from components.ui.places import (
    LAST_OF_MODEL,
    NOTHING,
    QUEUED,
    Given,
    ProgressBar,
    Updates,
    build_place,
    hidden_text,
    menu,
    on,
    text_box,
)
from components.ui.question import to_query, to_text

POOL_LAYER = Control("compare_pool_layer", Whole(-MOST_LAYERS, MOST_LAYERS), -1, "question.pool_layer")
TEXTS = ("compare_text", "compare_pair", "version_text", "version_pair")  # the keys of their controls
WORD = re.compile(r"\w+(?:['’]\w+)*")
Pair = tuple[str, str]  # a text, and the second one of a pair or ""


def query_of(state: State, texts: Pair, backbone: str, pooling: str) -> Query:
    """Make the query for one cell of one version, as ``state`` asks it."""
    sent = {"text": texts[0], "pair": texts[1], "backbone": backbone, "pooling": pooling}
    query = to_query({**sent, "head": state["compare_head"], MINE: state.get(MINE)})
    return replace(query, pool_layer=POOL_LAYER.of(state))


class Version:
    """The boxes of the second version, and what fills them with one click.

    ``bring`` is for the texts of another tab.
    """

    def __init__(self, say: Texts) -> None:
        """Lay the buttons out, and under them the boxes, which are shown once they hold anything."""
        self.say, self.negations = say, load_negations()
        with gr.Column(elem_id="compare-version"):
            with gr.Row(elem_id="compare-edits"):
                self.bring = _button("bring", say("compare.bring"))
                gr.HTML(Markup("<p>{}</p>").format(say("edit.lead")))
                self.copy, self.drop = _button("copy", say("edit.copy")), _button("drop", say("edit.drop"))
                self.swap, self.clear = _button("swap", say("edit.swap")), _button("clear", say("edit.clear"))
                self.note = gr.HTML("", elem_id="compare-edit-note")
            with gr.Row(elem_id="compare-versions"):
                hints, name = (say("edit.text_hint"), say("edit.pair_hint")), "compare-version"
                self.text = text_box(f"{name}-text", say("edit.text"), hints[0], min_width=240)
                self.pair = text_box(f"{name}-pair", say("edit.pair"), hints[1], min_width=240)
        self.empty: Updates = {self.text: "", self.pair: "", self.note: ""}

    def connect(self, text: gr.Textbox, pair: gr.Textbox, calls: gr.State) -> None:
        """Fill the boxes from the first version's; a change of ``calls`` asks for the comparison."""
        for button, edit in ((self.copy, copied), (self.drop, self.dropped), (self.swap, swapped)):
            button.click(
                partial(self.edited, edit, (text, pair, calls)),
                inputs={text, pair, calls},
                outputs=[self.text, self.pair, self.note, calls],
                **QUEUED,
            )

    def edited(
        self,
        edit: Callable[[str, str], tuple[Pair | str, int]],
        parts: tuple[gr.Textbox, gr.Textbox, gr.State],
        given: Given,
    ) -> Updates:
        """Fill the boxes with what ``edit`` makes of the first version, or say why it makes nothing of it."""
        text, pair, calls = parts
        made, more = edit(to_text(given[text]), to_text(given[pair]))
        if isinstance(made, str):
            return {self.note: str(Markup('<p role="status">{}</p>').format(self.say(made)))}
        again = {calls: given[calls] + more} if more else {}
        return {self.text: made[0], self.pair: made[1], self.note: "", **again}

    def dropped(self, first: str, second: str) -> tuple[Pair | str, int]:
        """Leave the first negation of the texts out."""
        if (left := drop_negation(first, self.negations)) is not None:
            return (left, second), 1
        if (left := drop_negation(second, self.negations)) is not None:
            return (first, left), 1
        return "edit.no_negation", 0


def copied(first: str, second: str) -> tuple[Pair | str, int]:
    """Copy the texts, to be edited: that asks for nothing yet."""
    return (first, second), 0


def swapped(first: str, second: str) -> tuple[Pair | str, int]:
    """Put the second text first."""
    return ((second, first), 1) if second.strip() else ("edit.no_pair", 0)


def _button(name: str, label: str) -> gr.Button:
    return gr.Button(label, size="sm", elem_id=f"compare-edit-{name}")


def load_negations() -> dict[str, Any]:
    """Read the list: ``words`` to drop, ``endings`` to cut off, and what stays of other ``short`` forms."""
    return tomllib.loads((ASSETS / "negations.toml").read_text(encoding="utf-8"))


def drop_negation(text: str, listed: Mapping[str, Any]) -> str | None:
    """Give ``text`` without its first negation, or None if it has none."""
    for match in WORD.finditer(text):
        word, before, after = match[0], text[: match.start()], text[match.end() :]
        low = word.lower()
        ending = next((end for end in listed["endings"] if low.endswith(end) and low != end), "")
        if low in listed["short"]:
            return before + _cased(listed["short"][low], word) + after
        if low in listed["words"]:  # a space goes with it, and what follows begins as it began
            after = after.removeprefix(" ") if before.endswith(" ") or not before else after
            return before + (after if before.strip() else _cased(after, word))
        if ending:
            return before + word[: -len(ending)] + after
    return None


def _cased(text: str, like: str) -> str:
    return text[:1].upper() + text[1:] if like[:1].isupper() else text


class TraceCard:
    """The trace between two versions: asked for with a click, once both have been compared.

    ``shown`` holds the comparison. ``texts``: all texts of both versions, hidden: the browser sends them
    along, for what is sent is paid. ``news``: what a trace changes.
    """

    def __init__(self, analyst: Analyst, shown: gr.State, backbones: list[Pair], say: Texts) -> None:
        """Lay the card out, which the style sheet hides while it is empty. ``backbones``: may be compared."""
        self.analyst, self.shown, self.say = analyst, shown, say

        def asking() -> None:
            with gr.Row(elem_id="trace-ask"):
                offered, size = [("", ""), *backbones], {"scale": 3, "min_width": 200}
                self.backbone = menu("trace-backbone", say(TRACED.label), offered, "", **size)
                self.button = gr.Button(say("trace.button"), elem_id="trace-start", scale=0, min_width=220)
            self.texts, self.bar = hidden_text("trace-texts"), ProgressBar("trace", say)

        with gr.Column(elem_id="trace", elem_classes="card"):
            self.place = build_place(TRACE, "trace", say, Shown(), asking)
        self.news: list[Any] = [*self.bar.parts, *self.place.parts]
        self.parts: list[Any] = [self.backbone, self.texts, *self.news]
        self.empty = self._shown(Shown())
        asked, sent = [self.button.click, self.backbone.input], {shown, self.backbone, self.texts}
        waits = {**LAST_OF_MODEL, "show_progress_on": [self.place.above]}
        coming = on(asked, self.trace_versions, sent, self.news, waits)
        self.bar.connect(coming, partial(self.bar.stopped, say("trace.stopped")), self.news)

    def offer(self, comparison: Comparison, state: State) -> Updates:
        """Prepare for a comparison of which no trace has been asked; none is offered for one version."""
        if comparison.after is None or comparison.state == "running":
            return self.empty
        first, *more = [spec.key for spec in comparison.backbones]
        choices = [(comparison.names[key], key) for key in more]
        chosen, lead = traced_backbone(comparison, state), self.say("trace.lead")
        backbones = gr.update(
            choices=[(comparison.names[first], ""), *choices], value="" if chosen == first else chosen
        )
        offer = Shown(heading=self.say("trace.heading"), words=lead, above=hint_html(lead))
        return {self.backbone: backbones, self.texts: _texts(comparison), **self._shown(offer)}

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
                        yield self._found(step, state)
        except PoolscopeError as error:
            yield self._found(error.sentence, state)
        except Exception as error:
            yield self.bar.idle()
            raise gr.Error(self.say("verdict.bug")) from error

    def _found(self, found: Traced, state: State) -> Updates:
        return self._shown(TRACE.shown(found, state, self.say))

    def _shown(self, shown: Shown) -> Updates:
        return {**self.place.show(shown, self.say), **self.bar.idle()}


def with_trace(analyst: Analyst, comparison: Comparison, state: State) -> Comparison:
    """Let the trace between both versions be asked for, where there are two."""
    if comparison.after is None:
        return comparison

    def trace() -> Patched:
        query, others = _asked(comparison, state)
        return analyst.ask("trace", query, **others)  # type: ignore[no-any-return]  # as its file says

    return replace(comparison, trace=trace)


def _asked(comparison: Comparison, state: State) -> tuple[Query, dict[str, str]]:
    """Say what is traced: the first version, and the texts of the second; by the head that is compared."""
    text, pair, other, other_pair = (to_text(state[key]) for key in TEXTS)
    query = query_of(state, (text, pair), traced_backbone(comparison, state), "native")
    if query.head == MINE:  # it was fitted for one pooling
        head = read_head(query.mine)
        query = replace(query, pooling=head.pooling, pool_layer=head.layer)
    else:
        query = replace(query, mine="")
    return query, {"other": other, "other_pair": other_pair}


def _texts(comparison: Comparison) -> str:
    return "".join(to_text(comparison.question[key]) for key in TEXTS)
