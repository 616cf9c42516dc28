"""What a visitor asks: texts, backbone, pooling and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from components.figures.labels import visible
from components.figures.view import Say
from components.types import Analyst, BackboneSpec, Query, Reference
from components.ui.examples import Example, suited


@dataclass(frozen=True, eq=False)
class Question:
    """The components that make a Query, in the order of ``inputs``."""

    text: gr.Textbox
    pair: gr.Textbox
    backbone: gr.Dropdown
    pooling: gr.Dropdown
    examples: gr.Dataset
    notes: Mapping[str, str]
    summaries: Mapping[str, str]

    @property
    def inputs(self) -> list[gr.components.Component]:
        """Text, second text, backbone, pooling."""
        return [self.text, self.pair, self.backbone, self.pooling]

    def explain(self, query: Query) -> dict[Any, Any]:
        """Updates that put one line about the backbone and the pooling of ``query`` under their menus."""
        return {
            self.backbone: gr.update(info=self.notes.get(query.backbone, "")),
            self.pooling: gr.update(info=self.summaries.get(query.pooling, "")),
        }

    def fill(self, query: Query) -> dict[Any, Any]:
        """Updates that make the question ask ``query``."""
        return {
            self.text: query.text,
            self.pair: query.text_pair,
            self.backbone: gr.update(value=query.backbone, info=self.notes.get(query.backbone, "")),
            self.pooling: gr.update(value=query.pooling, info=self.summaries.get(query.pooling, "")),
        }


def build_question(analyst: Analyst, examples: Sequence[Example], say: Say) -> Question:
    """Lay the question out; it asks the first example of the first backbone that suits it."""
    backbones, poolings = analyst.backbones(), analyst.poolings()
    notes = {spec.key: escape(visible(spec.note)) for spec in backbones}
    summaries = {spec.key: escape(visible(spec.summary)) for spec in poolings}
    first = examples[0]
    backbone_key = suited(first, backbones[0].key, backbones)
    with gr.Row(elem_id="question"):
        with gr.Column(scale=3, min_width=300):
            text = _box("text", first.text, say("question.text"), say("question.text_hint"))
            pair = _box("pair", first.text_pair, say("question.pair"), say("question.pair_hint"))
        with gr.Column(scale=2, min_width=350):
            backbone = gr.Dropdown(
                [(_title(spec, say), spec.key) for spec in backbones],
                value=backbone_key,
                label=say("question.backbone"),
                info=notes[backbone_key],
                filterable=len(backbones) > 15,
                elem_id="backbone",
            )
            pooling = gr.Dropdown(
                [(spec.title, spec.key) for spec in poolings],
                value=first.pooling,
                label=say("question.pooling"),
                info=summaries[first.pooling],
                filterable=False,
                elem_id="pooling",
            )
    return Question(text, pair, backbone, pooling, _chips(examples, say), notes, summaries)


def _box(name: str, text: str, label: str, hint: str) -> gr.Textbox:
    """A box that grows with its text; of one line, so that Enter analyses."""
    return gr.Textbox(text, label=label, placeholder=hint, lines=1, max_lines=6, elem_id=name)


def _chips(examples: Sequence[Example], say: Say) -> gr.Dataset:
    """A button for each example."""
    labels = [example.label for example in examples]
    return gr.Dataset(
        components=[gr.Textbox(visible=False)],
        samples=[[label] for label in labels],
        sample_labels=labels,
        type="index",
        label=say("question.examples"),
        samples_per_page=len(examples),
        elem_id="examples",
    )


def to_query(text: object, pair: object, backbone: object, pooling: object, reference: object) -> Query:
    """A Query of what a browser sent; whatever is not a string is taken as its text."""
    return Query(
        backbone=_string(backbone),
        text=_string(text),
        text_pair=_string(pair),
        pooling=_string(pooling),
        reference=to_reference(reference),
    )


def to_reference(given: object) -> Reference:
    """A token index if ``given`` is one, also in digits; else what was given, as text."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    text = _string(given).strip()
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10 else text


def _title(spec: BackboneSpec, say: Say) -> str:
    title = visible(spec.title)
    return title if spec.available else say("question.absent", title=title)


def _string(given: object) -> str:
    return "" if given is None else str(given)
