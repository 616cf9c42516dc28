"""What a visitor asks: texts, backbone, pooling, head and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.exhibits.view import POOL_LAYER, visible
from components.fitting import MINE, TABLE
from components.menus import HEADS, BackboneMenu, Choices, Example, suited, unlinked
from components.texts import Texts
from components.types import BackboneSpec, Query, Reference
from components.ui.classify.download import Download, build_download
from components.ui.places import Updates, menu, text_box
from components.ui.scripted import scripted_html

Found = Sequence[BackboneSpec]  # what a visitor looked up on the hub
FOLD = Path(__file__).with_name("fold.js")


@dataclass(frozen=True, eq=False)
class Lookup:
    """The box, its button, and the place of a refusal."""

    box: gr.Textbox
    button: gr.Button
    refusal: gr.HTML


@dataclass(frozen=True, eq=False)
class Question:
    """The components that make a Query, in the order of ``inputs``, and those that help to choose a backbone.

    ``place`` chooses which backbones the menu offers; ``found`` holds those that the visitor looked up,
    ``mine`` the head that was fitted on their table.
    """

    text: gr.Textbox
    pair: gr.Textbox
    backbone: gr.Dropdown
    pooling: gr.Dropdown
    head: gr.Dropdown
    task: gr.Dropdown
    pool_layer: gr.Dropdown
    place: gr.Radio
    found: gr.State
    mine: gr.State
    lookup: Lookup | None
    download: Download
    examples: gr.Dataset
    choices: Choices
    analyst: Analyst
    summaries: Mapping[str, str]
    say: Texts

    @property
    def inputs(self) -> list[gr.components.Component]:
        """Text, second text, backbone, pooling, head, task, the layer that is pooled."""
        return [self.text, self.pair, self.backbone, self.pooling, self.head, self.task, self.pool_layer]

    @property
    def asked(self) -> set[Any]:
        """The same, what the visitor looked up, and their own head."""
        return {*self.inputs, self.found, self.mine}

    @property
    def outputs(self) -> list[gr.components.Component]:
        """Everything that asks or helps to ask."""
        return [*self.inputs, self.place]

    def models(self, found: Found) -> BackboneMenu:
        """The backbones as they are now."""
        return BackboneMenu.of(self.analyst, found, self.say)

    def explain(self, asked: Query, query: Query, models: BackboneMenu, last: int | None = None) -> Updates:
        """Updates that make the menus, as they were ``asked``, offer what fits ``query`` and say what it is.

        A menu keeps its value where that fits: the visitor may have chosen anew in the meantime. ``last``: of
        the layers of the answer, None where there is none.
        """
        was = self._menus(asked, models, last)
        return {
            part: gr.update(
                **{name: new for name, new in now.items() if (name, new) != ("value", was[part]["value"])}
            )
            for part, now in self._menus(query, models, last).items()
        }

    def fill(self, query: Query, models: BackboneMenu, last: int | None) -> Updates:
        """Updates that make the question ask ``query``; ``last``: as in `explain`."""
        menus = {
            part: gr.update(**properties) for part, properties in self._menus(query, models, last).items()
        }
        return {
            self.text: query.text,
            self.pair: query.text_pair,
            **menus,
            **self.choose(query.backbone, models),
        }

    def choose(self, key: str, models: BackboneMenu) -> Updates:
        """Updates that choose a backbone, among those of its place."""
        updates = self.refresh(key, models)
        return {**updates, self.backbone: {**updates[self.backbone], "value": key}}

    def refresh(self, key: object, models: BackboneMenu) -> Updates:
        """Updates that offer what there is now in the place of a backbone; which one is chosen stays."""
        name = models.place(key)
        backbone = gr.update(choices=models.within(name), info=models.note(key))
        return {self.place: gr.update(**_places(models, name)), self.backbone: backbone}

    def _menus(self, query: Query, models: BackboneMenu, last: int | None) -> dict[Any, dict[str, Any]]:
        """What each menu offers beside ``query``, with one line that explains its choice."""
        layers = {} if last is None else {"choices": _layers(last, self.say)}
        return {
            self.pool_layer: {"value": query.pool_layer, **layers},
            self.backbone: {"value": query.backbone, "info": models.note(query.backbone)},
            self.pooling: {
                "value": query.pooling,
                "choices": self.choices.poolings(query, models.get(query.backbone), self.say),
                "info": self.summaries.get(query.pooling, ""),
            },
            self.head: _head(query, self.choices, self.say),
            self.task: _task(query, self.choices, self.say),
        }


def build_question(analyst: Analyst, examples: Sequence[Example], mine: gr.State, say: Texts) -> Question:
    """Lay the question out; it asks the first example of the first backbone that suits it."""
    models, choices = BackboneMenu.of(analyst, (), say), Choices.of(analyst)
    summaries = {spec.key: unlinked(visible(spec.summarised(say))) for spec in analyst.poolings()}
    first = examples[0]
    key = suited(first, models.specs[0].key, models.specs)
    query = Query(key, first.text, first.text_pair, first.pooling)
    with gr.Column(elem_id="asking"):
        scripted_html(_fold(say), FOLD, "fold")
        with gr.Row(elem_id="question"):
            with gr.Column(scale=8, min_width=270):
                text = text_box("text", say("question.text"), say("question.text_hint"), first.text)
                pair = text_box("pair", say("question.pair"), say("question.pair_hint"), first.text_pair)
            with gr.Column(scale=18, min_width=300):
                where = say("models.place" if models.online else "models.place_offline")
                place = gr.Radio(**_places(models, models.place(key)), label=where, elem_id="place")
                offered = models.within(models.place(key))
                with gr.Row(elem_id="model"):  # beside each other: an answer of a probe begins as high up
                    note = models.note(key)
                    backbone = menu("backbone", say("question.backbone"), offered, key, info=note)
                    task = menu("task", say("question.task"), **_task(query, choices, say))
                lookup = build_lookup(say) if analyst.takes_ids else None
            download = build_download(analyst, say)  # on a phone here, else below all columns
            with gr.Column(scale=17, min_width=300):
                pooled = choices.poolings(query, models.get(key), say)
                summary = summaries[first.pooling]
                with gr.Row(elem_id="pooled"):
                    size = {"scale": 3, "min_width": 250}
                    pooling = menu(
                        "pooling", say("question.pooling"), pooled, first.pooling, info=summary, **size
                    )
                    pool_layer = gr.Dropdown(  # the last layer, until an answer tells which others there are
                        _layers(0, say),
                        value=POOL_LAYER.default,
                        label=say(POOL_LAYER.label),
                        filterable=False,
                        elem_id=POOL_LAYER.key,
                        scale=1,
                        min_width=90,
                    )
                head = menu("head", say("question.head"), **_head(query, choices, say))
        chips = _chips(examples, say)
    found = gr.State(())
    asking = (text, pair, backbone, pooling, head, task, pool_layer)
    return Question(*asking, place, found, mine, lookup, download, chips, choices, analyst, summaries, say)


def _layers(last: int, say: Texts) -> list[tuple[str, int]]:
    """The last layer, then those below it from the top to the embeddings."""
    below = [(str(layer), layer) for layer in range(last - 1, -1, -1)]
    return [(say("question.pool_last"), POOL_LAYER.default), *below]


def _fold(say: Texts) -> str:
    """The button that a phone shows in the place of the question, below the answer."""
    label = escape(say("question.fold"))
    return f'<button type="button" aria-expanded="false" aria-controls="question examples">{label}</button>'


def build_lookup(say: Texts) -> Lookup:
    """Lay it out, closed."""
    with gr.Accordion(say("lookup.heading"), open=False, elem_id="lookup"):
        with gr.Row(elem_id="lookup-row"):
            box = gr.Textbox(
                label=say("lookup.id"),
                placeholder=say("lookup.hint"),
                info=say("lookup.note"),
                max_lines=1,
                elem_id="lookup-id",
            )
            button = gr.Button(say("lookup.button"), elem_id="lookup-button")
        refusal = gr.HTML("", elem_id="lookup-refusal")
    return Lookup(box, button, refusal)


def _places(models: BackboneMenu, chosen: str) -> dict[str, Any]:
    """The choice of places, which only is one if there are several."""
    places = models.places
    return {"choices": places, "value": chosen, "visible": len(places) > 1}


def _head(query: Query, choices: Choices, say: Texts) -> dict[str, Any]:
    """The menu of heads."""
    offered = [(say(f"question.head_{head}"), head) for head in choices.heads(query)]
    info = say(f"question.head_{query.head}_info") if query.head in HEADS else ""
    return {"choices": offered, "value": query.head, "info": info}


def _task(query: Query, choices: Choices, say: Texts) -> dict[str, Any]:
    """The menu of tasks, which only a probe needs; the line under it names the labels."""
    tasks = choices.tasks(query)
    labels = next((task.labels for task in tasks if task.key == query.task), ())
    return {
        "choices": [(visible(task.said(say)), task.key) for task in tasks],
        "value": query.task if query.task not in ("", TABLE) else None,
        "info": unlinked(visible(" · ".join(labels))),
        "visible": query.head == "probe",
    }


def _chips(examples: Sequence[Example], say: Texts) -> gr.Dataset:
    """A button for each example."""
    labels = [say.name(example.label) for example in examples]
    return gr.Dataset(
        components=[gr.Textbox(visible=False)],
        samples=[[label] for label in labels],
        sample_labels=labels,
        type="index",
        label=say("question.examples"),
        samples_per_page=len(examples),
        elem_id="examples",
    )


def to_query(sent: Mapping[str, Any]) -> Query:
    """A Query of what a browser or a link sent, by the keys of controls; of any value its text."""

    def text(key: str, default: str = "") -> str:
        return to_text(sent.get(key, default))

    return Query(
        backbone=text("backbone"),
        text=text("text"),
        text_pair=text("pair"),
        pooling=text("pooling", "native"),
        head=text("head", "own"),
        reference=to_reference(sent.get("reference", "cls")),
        task=text("task"),
        pool_layer=POOL_LAYER.of(sent),
        mine=text(MINE),
    )


def to_reference(given: object) -> Reference:
    """A token index if ``given`` is one, also in digits; else what was given, as text."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    text = to_text(given).strip()
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10 else text


def to_text(given: object) -> str:
    """What a browser sent, as text."""
    try:
        return "" if given is None else str(given)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists in lists
        return "\ufffd"


def same_tokens(query: Query, other: Query) -> bool:
    """Whether two questions are about the same tokens."""
    return (query.backbone, query.text, query.text_pair) == (other.backbone, other.text, other.text_pair)
