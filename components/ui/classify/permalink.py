"""What a permalink says of the Classify tab, and how the tab follows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.components import Component

from components.errors import PoolscopeError
from components.exhibits.answered import Answered
from components.exhibits.control import Asked, Control, Kind, OneOf, State, Text
from components.exhibits.view import LABEL, LAYER, POOL_LAYER
from components.menus import HEADS, BackboneMenu, absent
from components.types import BackboneSpec, Query
from components.ui.classify.question import to_query
from components.ui.places import Given, Updates
from components.ui.tab import Linked

if TYPE_CHECKING:
    from components.ui.classify.tab import Classify

PANEL = "panel"  # the control that says which view of the answer is open
REFERENCE = Control("reference", Text(), "cls")
# What a question goes without where the rest of a link does not fit it.
MENDED: Mapping[str, Any] = {
    "pooling": "native",
    "head": "own",
    "task": "",
    "reference": "cls",
    "pool_layer": POOL_LAYER.default,
}


def controls_of(tab: Classify) -> Sequence[Linked]:
    """What can be set in the tab. A backbone may be an id of the hub where the owner takes these."""
    question, answer, analyst = tab.question, tab.answer, tab.analyst
    tasks = [task.key for task in analyst.tasks()]
    poolings = [spec.key for spec in analyst.poolings()]
    backbones = [spec.key for spec in analyst.backbones()]
    kinds: dict[Component, Kind[str]] = {
        question.text: Asked(0),
        question.pair: Asked(1),
        question.backbone: Text() if analyst.takes_ids else OneOf(lambda: backbones),
        question.pooling: OneOf(lambda: poolings),
        question.head: OneOf(lambda: HEADS),
        question.task: OneOf(lambda: tasks),
    }
    asked = [Linked(Control(str(one.elem_id), kind, one.value or ""), one) for one, kind in kinds.items()]
    looked_at: dict[Control[Any], Component] = {
        POOL_LAYER: question.pool_layer,
        REFERENCE: answer.reference,
        LAYER: answer.layer,
    }
    looked_at |= answer.set
    views = [str(view.id) for view in answer.views.children if isinstance(view, gr.Tab)]
    view = Linked(Control(PANEL, OneOf(lambda: views), views[0]), None, answer.views)
    return [*asked, *(Linked(control, part) for control, part in looked_at.items()), view]


def query_of(state: State) -> Query:
    """The query that a link asks."""
    keys = ("text", "pair", "backbone", "pooling", "head", "task", "reference")
    text, pair, backbone, pooling, head, task, reference = (state[key] for key in keys)
    return to_query(text, pair, backbone, pooling, head, task, reference, POOL_LAYER.of(state))


def follow(tab: Classify, state: State, given: Given) -> tuple[Updates, list[PoolscopeError]]:
    """Updates that make the tab ask and show what ``state`` says, and what of it could not be had.

    What does not go together there is given up, and said; texts never are.
    """
    query = replace(query_of(state), mine=given[tab.question.mine])
    models, found, faults = _looked_up(tab, query.backbone)
    if faults:
        query = replace(query, backbone=str(tab.question.backbone.value))
    spec = models.get(query.backbone)
    answered: Answered | None = None
    before = {**given, **tab.opened(state)}
    if spec is None or not absent(spec):
        query, answered, more = _mended(tab, query, state, before)
        faults += more
    last = None if answered is None else answered.analysis.layers
    filled = {tab.question.found: found, **tab.question.fill(query, models, last)}
    if answered is None:  # the tab says why, or offers the download
        answer, _ = tab.respond(query, given, models)
        return {**filled, **tab.answer.await_next(query.reference, state), **answer}, faults
    if LAYER.of(state) > answered.analysis.layers:
        faults.append(PoolscopeError("layer", LAYER.of(state), "link.whole", low=-1, high=last))
    if label := LABEL.of(state):
        faults += _unknown(label, answered.analysis.labels)
    looks = {part: control.of(state) for control, part in tab.answer.looks.items()}
    return {
        **filled,
        **tab.download.withdraw(),
        **tab.answer.show(answered, state, before),
        **looks,
    }, faults


def _unknown(label: str, labels: Sequence[str]) -> list[PoolscopeError]:
    """That the head has no such label."""
    try:
        OneOf(lambda: labels).read(LABEL.key, [label])
    except PoolscopeError as fault:
        return [fault]
    return []


def _mended(
    tab: Classify, query: Query, state: State, before: Given
) -> tuple[Query, Answered | None, list[PoolscopeError]]:
    """The query that can be answered, its answer if there is one, and what was given up for it."""
    faults: list[PoolscopeError] = []
    while True:
        try:
            answered = tab.answered(query, state, before)
        except PoolscopeError as error:
            without = MENDED.get(error.field)
            if without is None or getattr(query, error.field) == without:
                return query, None, faults
            query = replace(query, **{error.field: without})
            faults.append(error)
        else:
            return replace(query, task=answered.analysis.query.task), answered, faults


def _looked_up(
    tab: Classify, key: str
) -> tuple[BackboneMenu, tuple[BackboneSpec, ...], list[PoolscopeError]]:
    """The backbones, with the model of the hub that a link asks; that model, or why it cannot be had."""
    listed = tab.question.models(())
    if listed.get(key) is not None:
        return listed, (), []
    try:
        found = (tab.analyst.find(key),)
    except PoolscopeError as fault:
        return listed, (), [fault]
    return tab.question.models(found), found, []
