"""Where each weight of a head comes from, and what the checkpoint holds beside them, as escaped HTML."""

from __future__ import annotations

from html import escape
from math import prod

from components.anatomy import Anatomy
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown
from components.exhibits.head.steps import ORIGINS, UNTRAINED, counted, size
from components.exhibits.tables import data_frame, table_html
from components.texts import Texts

NUMERIC = (1, 2)  # columns: shape, parameters
LISTED = 12  # unused tensors that are shown without being asked for


def weights(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The table of what runs, and under it what does not."""
    columns = {
        "name": [visible(weight.name) for weight in anatomy.weights],
        "shape": [size(weight.shape) for weight in anatomy.weights],
        "parameters": [counted(prod(weight.shape)) for weight in anatomy.weights],
        "origin": [say(ORIGINS[weight.origin]) for weight in anatomy.weights],
    }
    data = data_frame((say(f"weights.{name}"), cells) for name, cells in columns.items())
    table = table_html(data, NUMERIC, say("weights.caption"))
    for origin in UNTRAINED:  # a table has no words for emphasis: the sentence itself is marked in it
        words = escape(say(ORIGINS[origin]))
        table = table.replace(f"<td>{words}</td>", f'<td><strong class="random">{words}</strong></td>')
    heading = f'<h2 id="weights-heading">{escape(say("weights.heading"))}</h2>'
    return Shown(data=data, html=f"{heading}{table}{_unused(anatomy, say)}")


WEIGHTS = Exhibit("weights", weights, style="numbers")


def _unused(anatomy: Anatomy, say: Texts) -> str:
    """A list of what the checkpoint holds besides, folded if it is long; nothing where there is none."""
    if anatomy.analysis.backbone.live:
        return ""
    unused = anatomy.unused
    if not unused:
        probe = anatomy.analysis.query.head != "own"
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
