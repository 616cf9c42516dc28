"""The answer with every pooling, for the browser to draw the one that is chosen without waiting.

They are drawn by the exhibits themselves, once the menu of poolings is opened. What is chosen is asked as a
question all the same: its answer settles what is shown, and the rest of the page follows it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.events import Dependency

from components.errors import PoolscopeError
from components.exhibits.control import State
from components.exhibits.view import LAYER
from components.menus import absent
from components.texts import Texts
from components.types import Analysis
from components.ui.classify.looks import deflated, key_of, part
from components.ui.places import AT_ONCE, NOTHING, PRIVATE, Given, Place, Updates, state_of

if TYPE_CHECKING:
    from components.ui.classify.tab import Classify


def connect_poolings(tab: Classify, bridge: gr.HTML, asked: Dependency) -> None:
    """Bring what every pooling draws when their menu is opened, and draw the one that is chosen.

    Where a question was ``asked`` that is refused, what its answer would replace is drawn again.
    """
    answer, menu = tab.answer, tab.question.pooling
    drawn = [one for place in answer.unfolded for one in place.parts]
    plots = [
        f"{place.name}-plot" if one is place.plot else "" for place in answer.unfolded for one in place.parts
    ]
    at_once: dict[str, Any] = {"inputs": [answer.answered, menu, *_besides(tab)], **PRIVATE}
    brought = bridge.focus(  # without gradio's queue: of two questions in it, a page may miss one's answer
        partial(draw_each, tab), inputs=tab.inputs, outputs=answer.pooled, concurrency_id="model", **AT_ONCE
    )
    brought.then(None, js="(sent) => window.poolings.came(sent)", inputs=answer.pooled, **PRIVATE)
    menu.focus(None, js="(...given) => window.poolings.opened(...given)", **at_once)
    called = f"(...given) => window.poolings.chosen({json.dumps(plots)}, ...given)"
    menu.select(None, js=called, outputs=drawn, trigger_mode="multiple", **at_once)
    refused = f"() => window.poolings.refused({json.dumps(plots)})"
    asked.failure(None, js=refused, outputs=drawn, **PRIVATE)


def draw_each(tab: Classify, given: Given) -> Updates:
    """Draw the answer to the question as it stands with every pooling that can be had."""
    asked, models = tab.asked(given), tab.question.models(given[tab.question.found])
    spec = models.get(asked.backbone)
    if spec is None or absent(spec):
        return NOTHING
    query = tab.question.choices.fitted(asked, spec)
    offered = tab.question.choices.poolings(query, spec)
    try:
        compared = list(tab.analyst.compare([replace(query, pooling=key) for _, key in offered]))
    except PoolscopeError:  # which is said where it is asked as a question of its own
        return NOTHING
    cells = [cell.analysis for each in compared for cell in each.cells]
    state = {**state_of(tab.answer.looks, given), LAYER.key: tab.answer.layer_in(given)}
    besides = [given[one] for one in _besides(tab)]
    seen = [analysis for analysis in cells if analysis is not None]
    drawn = tab.answer.drawings.get(
        query, (seen, state, besides), lambda: packed(tab.answer.unfolded, seen, state, besides, tab.say)
    )
    return {tab.answer.pooled: drawn}


def packed(
    places: Sequence[Place], seen: Sequence[Analysis], state: State, besides: Sequence[Any], say: Texts
) -> str:
    """What each part of ``places`` holds with the pooling of each answer ``seen``, as looks are packed.

    ``besides``: what else a browser sent, which they depend on.
    """
    shown = [(place, [place.exhibit.shown(one, state, say) for one in seen]) for place in places]
    updates = [(place, [place.show(one, say) for one in each]) for place, each in shown]
    found = {
        "besides": besides,
        "poolings": [analysis.query.pooling for analysis in seen],
        "answered": [key_of(analysis) for analysis in seen],
        "parts": [part([one[held] for one in each]) for place, each in updates for held in place.parts],
    }
    return deflated(found)


def _besides(tab: Classify) -> list[Any]:
    """The rest of the question, and how its answer is looked at."""
    question, answer = tab.question, tab.answer
    asked = [one for one in question.inputs if one is not question.pooling]
    return [*asked, answer.reference, answer.layer, *answer.looks.values()]
