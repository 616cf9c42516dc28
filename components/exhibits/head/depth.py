"""What the head says of its own vector layer by layer, as if each were the last."""

from __future__ import annotations

from html import escape

import numpy as np
import pandas as pd

from components.anatomy import Anatomy
from components.exhibits.answer.outputs import ranked
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import visible
from components.exhibits.draw.style import GRID, OTHER, axis, axis_title, label_colour, layout, value_axis
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.head.aim import Aim, Pointed
from components.exhibits.tables import data_frame
from components.exhibits.view import LABEL, asked_line
from components.lens import Lens
from components.texts import Texts
from components.types import Floats

HEIGHT = 320  # pixels
WRITTEN = 7  # points that all have their values beside them; of more, only the first and the last
ROOM = 0.12  # above and below the values, as a part of their range


def depth(pointed: Pointed, state: State, say: Texts) -> Shown:
    """The probability of one label, where the pooling is applied to each layer."""
    if not isinstance(pointed.lens, Lens):
        why = visible(pointed.lens.said(say))
        return Shown(heading=say("depth.none"), words=why, above=hint_html(why))
    aim = Aim(pointed.analysis, pointed.lens, LABEL.of(state))
    return Shown(
        heading=finding(aim, say),
        words=_words(aim, say),
        data=_data(aim, say),
        figure=depth_figure(aim, say),
        above=hint_html(say("depth.hint", pooling=visible(aim.analysis.query.pooling))),
        about=asked_line(aim.analysis, say),
    )


DEPTH: Exhibit[Anatomy] = Exhibit("depth", depth, plotted=True, controls=(LABEL,), width=2)


def finding(aim: Aim, say: Texts) -> str:
    """From which layer on the head says the label to the end, not escaped."""
    if aim.analysis.random:
        return say("depth.heading_random")
    if aim.raw:
        first, last = (aim.text(aim.pooled[end]) for end in (0, -1))
        return say("depth.heading_raw", first=first, last=last)
    if aim.since is None:
        return _unsaid(aim, say)
    if aim.since == 0:
        return say("depth.heading_every", label=aim.label)
    key = "depth.heading_last" if aim.since == aim.analysis.layers else "depth.heading"
    return say(key, label=aim.label, layer=aim.since)


def _unsaid(aim: Aim, say: Texts) -> str:
    """At how many layers below the last the head says a label that it does not say in the end."""
    if not aim.analysis.predicted and aim.index == ranked(aim.analysis)[0]:
        return say("depth.heading_unsure", label=aim.label)
    count = int(aim.says(aim.lens.pooled_probabilities).sum())
    key = "depth.heading_below" if count else "depth.heading_never"
    return say(key, label=aim.label, count=count, total=len(aim.pooled))


def depth_figure(aim: Aim, say: Texts) -> Figure:
    """A line from the embeddings to the last layer; dotted: what a guess would say."""
    values, last = aim.pooled, len(aim.pooled) - 1
    colour = OTHER if aim.analysis.random else label_colour(aim.index)
    texts = [
        aim.text(value) if last < WRITTEN or layer in (0, last) else "" for layer, value in enumerate(values)
    ]
    said = [
        say("depth.hover", layer=layer, label=escape(aim.label), value=aim.text(value))
        for layer, value in enumerate(values)
    ]
    line = Trace(
        type="scatter",
        mode="lines+markers+text",
        x=list(range(last + 1)),
        y=np.round(values.astype(np.float64), 6).tolist(),
        text=texts,
        textposition=_sides(values),
        cliponaxis=False,
        line={"color": colour, "width": 2.5},
        marker={"color": colour, "size": [8] * last + [13], "opacity": 1},
        hovertext=said,
        hovertemplate="%{hovertext}<extra></extra>",
    )
    title = say("outputs.raw") if aim.raw else say("depth.axis", label=escape(aim.label))
    frame = layout(
        height=HEIGHT,
        margin={"l": 62, "r": 26, "t": 14, "b": 50},
        hovermode="closest",
        xaxis=axis(
            range=[-0.3, last + 0.3],
            tickvals=_ticks(last),
            tickangle=0,
            title=axis_title(say("depth.layers")),
        ),
        yaxis=value_axis(title, range=_range(aim), **({} if aim.raw else PERCENT)),
        shapes=[_guess(aim, last)],
    )
    return Figure(data=[line], layout=frame)


PERCENT = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0 %", "25 %", "50 %", "75 %", "100 %"]}


def _sides(values: Floats) -> list[str]:
    """Where each value is written: beside the line, not on it."""
    rises = np.diff(values) > 0
    sides = ["bottom right" if rising else "top right" for rising in rises]
    return [*sides, "top center" if not len(rises) or rises[-1] else "bottom center"]


def _ticks(last: int) -> list[int]:
    """Layers that have room for their numbers."""
    step = max(1, -(-last // 12))
    return list(range(0, last + 1, step))


def _range(aim: Aim) -> list[float]:
    low, high = (0.0, 1.0) if not aim.raw else (min(0.0, *aim.pooled), max(0.0, *aim.pooled))
    room = ROOM * ((high - low) or 1.0)
    return [float(low - room), float(high + room)]


def _guess(aim: Aim, last: int) -> dict[str, object]:
    ends = {"x0": -0.3, "x1": last + 0.3, "y0": aim.neutral, "y1": aim.neutral}
    return {"type": "line", **ends, "line": {"color": GRID, "width": 2, "dash": "dot"}}


def _words(aim: Aim, say: Texts) -> str:
    values = say.listed(
        say("depth.value", layer=layer, value=aim.text(value)) for layer, value in enumerate(aim.pooled)
    )
    return say("depth.description", label=aim.label, values=values)


def _data(aim: Aim, say: Texts) -> pd.DataFrame:
    """L + 1 rows: the layer, and the probability or raw value of each label."""
    labels = map(visible, aim.analysis.labels)
    columns = zip(labels, aim.lens.pooled_probabilities.T, strict=True)
    return data_frame(((say("heatmap.axis"), range(len(aim.pooled))), *columns))
