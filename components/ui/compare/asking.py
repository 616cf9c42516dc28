"""What a visitor compares: texts, backbones, poolings and head, and how the analyst is asked about it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

import gradio as gr

from components.analyses.compare import Compared
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.comparison import Comparison
from components.exhibits.control import Control, State, Whole
from components.exhibits.view import MOST_LAYERS, visible
from components.fitting import MINE, read_head
from components.menus import HEADS, Choices, load_examples
from components.texts import Sentence, Texts
from components.types import BackboneSpec, Query
from components.ui.classify.question import to_query, to_text
from components.ui.places import Updates, menu, text_box

# Counted from the end in the menu: backbones differ in how many they have. A link may count from 0, too.
LAYERS = (-1, -2, -3, -4)
POOL_LAYER = Control("compare_pool_layer", Whole(-MOST_LAYERS, MOST_LAYERS), -1, "question.pool_layer")
FIRST_ROWS = 5  # backbones on arrival, those of the first one's task
FIRST_COLUMNS = ("native", "cls", "mean", "max", "lasttoken", "weightedmean")


@dataclass(frozen=True, eq=False)
class Asking:
    """The controls that say what is compared, and the button that has it compared."""

    text: gr.Textbox
    pair: gr.Textbox
    head: gr.Dropdown
    backbones: gr.Dropdown
    poolings: gr.Dropdown
    pool_layer: gr.Dropdown
    start: gr.Button

    def refreshed(self, analyst: Analyst, say: Texts) -> Updates:
        """Updates that offer what there is now: a backbone may have come."""
        return {
            self.backbones: gr.update(choices=offered(analyst, say)),
            self.poolings: gr.update(choices=offered_poolings(analyst)),
        }


def build_asking(analyst: Analyst, say: Texts) -> Asking:
    """Lay the controls out; they ask about the first example."""
    first = load_examples()[0]
    backbones, rows = offered(analyst, say), first_rows(analyst)
    fairest = fair_head(analyst, rows, first.text, first.text_pair)
    poolings = offered_poolings(analyst)
    with gr.Row(elem_id="compare-texts"):
        size: dict[str, int] = {"scale": 3, "min_width": 240}
        hints = say("question.text_hint"), say("question.pair_hint")
        text = text_box("compare-text", say("question.text"), hints[0], first.text, **size)
        pair = text_box("compare-pair", say("question.pair"), hints[1], first.text_pair, **size)
        heads = [(say(f"question.head_{head}"), head) for head in HEADS]
        head = menu("compare-head", say("question.head"), heads, fairest, scale=2, min_width=240)
    with gr.Row(elem_id="compare-choice"):
        several: dict[str, Any] = {"multiselect": True, "min_width": 240}
        labels, chosen = (say("compare.backbones"), say("compare.poolings")), [spec.key for spec in rows]
        asked = menu("compare-backbones", labels[0], backbones, chosen, scale=5, **several)
        columns = [key for key in FIRST_COLUMNS if key in dict(poolings).values()]
        pooled = menu("compare-poolings", labels[1], poolings, columns, scale=3, **several)
        layer = gr.Dropdown(
            [(layer_name(layer, say), layer) for layer in LAYERS],
            value=POOL_LAYER.default,
            label=say("question.pool_layer"),
            filterable=False,
            elem_id="compare-pool-layer",
            scale=1,
            min_width=130,
        )
        start = gr.Button(say("compare.button"), variant="primary", elem_id="compare-start")
    return Asking(text, pair, head, asked, pooled, layer, start)


def layer_name(layer: int, say: Texts) -> str:
    """Which layer is pooled, as the menu calls it; one that counts from 0 by its number."""
    if layer >= 0:
        return str(layer)
    return say("question.pool_last") if layer == -1 else say("compare.pool_below", count=-1 - layer)


def facts_of(state: State, say: Texts) -> dict[str, str]:
    """The texts that are compared, and the layer that is pooled if it is not the last, by name."""
    texts = {
        "question.text": state["compare_text"],
        "question.pair": state["compare_pair"],
        "edit.text": state["version_text"],
        "edit.pair": state["version_pair"],
    }
    asked = {say(key): str(text) for key, text in texts.items() if str(text).strip()}
    layer = POOL_LAYER.of(state)
    return asked if layer == POOL_LAYER.default else {**asked, say(POOL_LAYER.label): layer_name(layer, say)}


def first_rows(analyst: Analyst) -> list[BackboneSpec]:
    """The backbones on arrival: the first that can be asked, and others of its task."""
    here = [spec for spec in analyst.backbones() if spec.available]
    return [spec for spec in here if spec.task == here[0].task][:FIRST_ROWS]


def fair_head(analyst: Analyst, rows: Sequence[BackboneSpec], text: str, text_pair: str) -> str:
    """The probe where every backbone has one for its own task and these texts; else the own heads."""
    choices = Choices.of(analyst)
    fitting = (
        spec.task in [task.key for task in choices.tasks(Query(spec.key, text, text_pair))] for spec in rows
    )
    return "probe" if rows and all(fitting) else HEADS[0]


def offered(analyst: Analyst, say: Texts) -> list[tuple[str, str]]:
    """(title, key) of the backbones that can be asked now."""
    return [(visible(spec.said(say)), spec.key) for spec in analyst.backbones() if spec.available]


def offered_poolings(analyst: Analyst) -> list[tuple[str, str]]:
    """(key as it is shown, key) of the poolings that a backbone can be asked now."""
    declared = any(spec.available and spec.declared is not None for spec in analyst.backbones())
    fitting = (spec for spec in analyst.poolings() if declared or not spec.declared)
    return [(visible(spec.key), spec.key) for spec in fitting]


def asked(analyst: Analyst, state: State, say: Texts) -> Comparison:
    """What ``state`` asks, by the keys of the controls, in the order of the lists, before anything has come.

    PoolscopeError if it cannot be compared. The values may come from a browser.
    """
    here = [spec.renamed(say) for spec in analyst.backbones() if spec.available]
    pooled = analyst.poolings()
    backbones = _chosen("backbones", state["backbones"], [spec.key for spec in here])
    poolings = _chosen("poolings", state["poolings"], [spec.key for spec in pooled])
    if not backbones:
        raise PoolscopeError("backbones", Sentence("errors.nothing"), "compare.choose_backbone")
    if not poolings:
        raise PoolscopeError("poolings", Sentence("errors.nothing"), "compare.choose_pooling")
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
    """The ``comparison`` that ``state`` asks, after each backbone: of both versions, if there are two.

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
    analyst: Analyst, comparison: Comparison, texts: tuple[str, str] | None, state: State
) -> Generator[Compared]:
    """What each backbone says of one version; nothing where there is none."""
    if texts is not None:
        asked = [(spec.key, pooling) for spec in comparison.backbones for pooling in comparison.poolings]
        yield from analyst.compare([query_of(state, texts, *one) for one in asked])


def query_of(state: State, texts: tuple[str, str], backbone: str, pooling: str) -> Query:
    """The query for one cell of one version, as ``state`` asks it."""
    sent = {"text": texts[0], "pair": texts[1], "backbone": backbone, "pooling": pooling}
    query = to_query({**sent, "head": state["compare_head"], MINE: state.get(MINE)})
    return replace(query, pool_layer=POOL_LAYER.of(state))


def _second(state: State) -> tuple[str, str] | None:
    """The texts of the second version; None where its boxes are blank."""
    texts = to_text(state["version_text"]), to_text(state["version_pair"])
    return texts if any(text.strip() for text in texts) else None


def _chosen(field: str, given: object, known: list[str]) -> tuple[str, ...]:
    """What was given of the ``known``, in their order; PoolscopeError for anything else."""
    sent = given if isinstance(given, list | tuple) else [] if given is None else [given]
    for key in sent:
        if not isinstance(key, str) or key not in known:
            raise PoolscopeError(field, key, "errors.listed")
    return tuple(key for key in known if key in cast("list[str]", sent))
