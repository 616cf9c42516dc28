"""What a link says of the Classify tab, and how the tab follows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from components.errors import PoolscopeError
from components.figures.view import View
from components.types import Anatomy, BackboneSpec, Query
from components.ui.answer import Updates, show
from components.ui.choices import HEADS
from components.ui.classify import Classify, Inputs
from components.ui.links.controls import Control, Kind, Linked, OneOf, State, Switch, Whole, Words
from components.ui.models import absent
from components.ui.question import to_query

MOST_LAYERS = 1000
MENDED = {"pooling": "native", "head": "own", "task": "", "reference": "cls"}  # what a question goes without


def classify_controls(tab: Classify) -> list[Linked]:
    """What can be set in the tab. A backbone may be an id of the hub where the owner takes these."""
    question, answer, analyst = tab.question, tab.answer, tab.analyst
    tasks = [task.key for task in analyst.tasks()]
    poolings = [spec.key for spec in analyst.poolings()]
    kinds: dict[Any, Kind] = {
        question.text: Words(),
        question.pair: Words(),
        question.backbone: Words() if analyst.takes_ids else OneOf(lambda: _keys(tab)),
        question.pooling: OneOf(lambda: poolings),
        question.head: OneOf(lambda: HEADS),
        question.task: OneOf(lambda: tasks),
    }
    asked = {part: Control(str(part.elem_id), kinds[part], part.value or "") for part in question.inputs}
    return [
        *(Linked(control, part) for part, control in asked.items()),
        Linked(Control("reference", Words(), "cls"), answer.reference),
        Linked(Control("layer", Whole(-1, MOST_LAYERS), -1), answer.layer),
        Linked(Control("centred", Switch(), False), answer.centred),
    ]


@dataclass(frozen=True)
class Followed:
    """What came of a link's question: the query that can be asked, its answer if there is one, the faults."""

    query: Query
    anatomy: Anatomy | None
    found: tuple[BackboneSpec, ...]
    faults: tuple[PoolscopeError, ...]


def follow(tab: Classify, state: State) -> Followed:
    """Ask what ``state`` asks. What does not go together there is given up, and said; texts never are."""
    query = asked(state)
    found, faults = _looked_up(tab, query.backbone)
    if faults:
        query = replace(query, backbone=str(tab.question.backbone.value))
    spec = tab.question.models(found).get(query.backbone)
    if spec is not None and absent(spec):
        return Followed(query, None, found, tuple(faults))
    while True:
        try:
            anatomy = tab.analyst.anatomy(query)
        except PoolscopeError as error:
            without = MENDED.get(error.field)
            if without is None or getattr(query, error.field) == without:
                return Followed(query, None, found, tuple(faults))
            query = replace(query, **{error.field: without})  # type: ignore[arg-type] # all of them are texts
            faults.append(error)
        else:
            return Followed(replace(query, task=anatomy.analysis.query.task), anatomy, found, tuple(faults))


def open_classify(tab: Classify, state: State, given: Inputs) -> tuple[Updates, list[PoolscopeError]]:
    """Updates that make the tab ask and show what ``state`` says, and what of it could not be had."""
    followed = follow(tab, state)
    models, faults = tab.question.models(followed.found), list(followed.faults)
    filled = {tab.question.found: followed.found, **tab.question.fill(followed.query, models)}
    if followed.anatomy is None:  # the tab says why, or offers the download
        answer, _ = tab.respond(followed.query, given, models)
        return {**filled, **answer}, faults
    last, asked_for = followed.anatomy.analysis.layers, state["layer"]
    layer = asked_for if isinstance(asked_for, int) else -1
    if layer > last:
        faults.append(PoolscopeError("layer", layer, "link.whole", low=-1, high=last))
    chosen = layer if 0 <= layer <= last else last
    view = View(followed.anatomy.analysis, chosen, bool(state["centred"]))
    shown = show(tab.answer, view, followed.anatomy, tab.say)
    centred = {tab.answer.centred: view.centred}
    return {**filled, **tab.download.withdraw(), **shown, **centred}, faults


def asked(state: State) -> Query:
    """The query that a link asks."""
    keys = ("text", "pair", "backbone", "pooling", "head", "task", "reference")
    return to_query(*(state[key] for key in keys))


def _looked_up(tab: Classify, key: str) -> tuple[tuple[BackboneSpec, ...], list[PoolscopeError]]:
    """The model of the hub that a link asks, or why it cannot be had."""
    if key in _keys(tab):
        return (), []
    try:
        return (tab.analyst.find(key),), []
    except PoolscopeError as fault:
        return (), [fault]


def _keys(tab: Classify) -> list[str]:
    return [spec.key for spec in tab.analyst.backbones()]
