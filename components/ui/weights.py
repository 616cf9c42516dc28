"""Where each weight of a head comes from, and what the checkpoint holds beside them, as escaped HTML."""

from __future__ import annotations

from html import escape
from math import prod

from components.figures.flow import ORIGINS
from components.figures.labels import visible
from components.figures.steps import DRAWN, counted, size
from components.figures.view import Say
from components.types import Anatomy, Weight
from components.ui.sheet import sheet

LISTED = 12  # unused tensors that are shown without being asked for


def weights(anatomy: Anatomy, say: Say) -> str:
    """The table of what runs, and under it what does not."""
    columns = {name: say(key) for name, key in COLUMNS.items()}
    rows = [_row(weight, say) for weight in anatomy.weights]
    table = sheet(columns, rows, ("shape", "parameters"), say("weights.caption"))
    for origin in DRAWN:  # a table has no words for emphasis: the sentence itself is marked in it
        words = escape(say(ORIGINS[origin]))
        table = table.replace(f"<td>{words}</td>", f'<td><strong class="random">{words}</strong></td>')
    heading = f'<h2 id="weights-heading">{escape(say("weights.heading"))}</h2>'
    return f"{heading}{table}{_unused(anatomy, say)}"


def _row(weight: Weight, say: Say) -> dict[str, str]:
    return {
        "name": visible(weight.name),
        "shape": size(weight.shape),
        "parameters": counted(prod(weight.shape)),
        "origin": say(ORIGINS[weight.origin]),
    }


def _unused(anatomy: Anatomy, say: Say) -> str:
    """A list of what the checkpoint holds besides, folded if it is long."""
    unused = anatomy.unused
    if not unused:
        probe = anatomy.analysis.query.head == "probe"
        return (
            f'<p class="rest">{escape(say("weights.unused_probe" if probe else "weights.unused_none"))}</p>'
        )
    one = len(unused) == 1
    sentence = escape(say("weights.unused_one") if one else say("weights.unused", count=counted(len(unused))))
    items = "".join(
        f"<li><code>{escape(visible(weight.name))}</code> {escape(size(weight.shape))}</li>"
        for weight in unused
    )
    names = f'<ul class="unused">{items}</ul>'
    if len(unused) > LISTED:
        return f"<details><summary>{sentence}</summary>{names}</details>"
    return f'<p class="rest">{sentence}</p>{names}'


COLUMNS = {
    "name": "weights.name",
    "shape": "weights.shape",
    "parameters": "weights.parameters",
    "origin": "weights.origin",
}
