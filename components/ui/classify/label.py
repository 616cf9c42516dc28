"""The label to explain: one choice, with a menu at the lens and one beside what matters.

It is one control, so that both speak of the same label, as do links and reports. A menu stands where its
effect is seen: the lens is drawn anew of what came, what matters is asked for once somebody looks at it.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from components.analyses.anatomy import Anatomy
from components.analyses.lens import Lens
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.view import LABEL
from components.texts import Texts
from components.types import Analysis


def offered(analysis: Analysis, state: State, say: Texts, possible: bool = True) -> Any:
    """A menu of the labels of an answer, as ``state`` chooses; it is hidden where there is no choice."""
    first, *_ = analysis.predicted or analysis.labels
    said = say("view.label_said", label=visible(first))
    chosen = LABEL.of(state)
    return gr.update(
        choices=[(said, ""), *((visible(one), one) for one in analysis.labels)],
        value=chosen if chosen in analysis.labels else "",
        visible=possible and len(analysis.labels) > 1,
    )


def awaited(state: State) -> Any:
    """The menu while there is no answer: the next one is looked at as ``state`` says."""
    chosen = LABEL.of(state)
    return gr.update(choices=[("", ""), (visible(chosen), chosen)], value=chosen)


def at_lens(anatomy: Anatomy, state: State, say: Texts) -> Any:
    """The menu at the lens of an answer; hidden where its head cannot be pointed at anything else."""
    return offered(anatomy.analysis, state, say, isinstance(anatomy.lens, Lens))
