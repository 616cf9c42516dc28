"""The card of the Compare tab that shows the same words across tokenizers, at a depth of one's choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import gradio as gr

from components.figures.alignment import Alignment, align
from components.figures.grid import Comparison
from components.figures.view import Say
from components.ui.compare.alignment_captions import heading, legend, notes
from components.ui.compare.alignment_columns import Row, columns
from components.ui.compare.alignment_table import csv_text
from components.ui.sheet import download

STEP = 5  # percent of the layers
NOTHING: dict[Any, Any] = gr.skip()  # leaves the card as it is


def build_words(say: Say) -> Words:
    """Lay the card out."""
    with gr.Column(elem_classes="card", elem_id="words"):
        title = gr.HTML("")
        with gr.Row(elem_id="words-look"):
            depth = gr.Slider(
                0,
                100,
                100,
                step=STEP,
                label=say("words.depth"),
                info=say("words.depth_info"),
                buttons=[],
                elem_id="words-depth",
            )
            centred = gr.Checkbox(
                False, label=say("view.centred"), info=say("view.centred_info"), elem_id="words-centred"
            )
        shown = gr.HTML("")
    return Words(say, depth, centred, title, shown)


@dataclass(frozen=True, eq=False)
class Words:
    """The components of the card."""

    say: Say
    depth: gr.Slider
    centred: gr.Checkbox
    title: gr.HTML
    shown: gr.HTML

    @property
    def inputs(self) -> set[Any]:
        """How the words are looked at."""
        return {self.depth, self.centred}

    @property
    def outputs(self) -> list[Any]:
        """What a look changes."""
        return [self.title, self.shown]

    def draw(self, comparison: Comparison, given: Mapping[Any, Any]) -> dict[Any, Any]:
        """The words of what has come so far; nothing is computed anew."""
        drawn = aligned(comparison, given[self.depth], bool(given[self.centred]), self.say)
        return dict(zip(self.outputs, drawn, strict=True))

    def connect(self, stored: gr.State) -> None:
        """Draw the ``stored`` comparison anew when it is looked at in another way."""
        gr.on(
            [self.depth.input, self.centred.input],
            partial(self.look, stored),
            inputs={stored, *self.inputs},
            outputs=self.outputs,
            queue=False,
            api_visibility="private",
            show_progress="hidden",
            trigger_mode="always_last",
        )

    def look(self, stored: gr.State, given: Mapping[Any, Any]) -> dict[Any, Any]:
        """The words of the stored comparison, if there is one."""
        comparison: Comparison | None = given[stored]
        return NOTHING if comparison is None else self.draw(comparison, given)


def aligned(comparison: Comparison, depth: object, centred: bool, say: Say) -> tuple[str, str]:
    """Heading and words of a comparison at a depth in percent, as escaped HTML; or nothing."""
    found = align(comparison, _percent(depth), centred)
    if found is None:
        return "", ""
    rows = [Row(comparison.names[spec.key], found.lines.get(spec.key)) for spec in comparison.backbones]
    return heading(found, rows, say), _aligned(found, rows, centred, say) + notes(rows, say)


def _aligned(found: Alignment, rows: Sequence[Row], centred: bool, say: Say) -> str:
    """The words with their key and a link that saves their numbers; "" where no backbone tells of any."""
    if not any(row.placed for row in rows):
        return ""
    choose = escape(say("words.choose"))
    return (
        f'<fieldset class="words" style="--rows: {len(rows)}"><legend class="unseen">{choose}</legend>'
        f'<div class="scroll">{columns(found, rows, say)}</div></fieldset>'
        f"{legend(rows, centred, say)}"
        f"{download(csv_text(found, say), 'poolscope-words.csv', say('table.download'))}"
    )


def _percent(given: object) -> float:
    """What a browser sent as the depth, or all of it."""
    return float(min(max(given, 0), 100)) if isinstance(given, int | float) else 100.0
