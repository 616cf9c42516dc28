"""The learning curve of the best combination: whether more labels would help."""

from __future__ import annotations

from html import escape

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.style import BACKBONES, GRID, axis, axis_title, layout, value_axis
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.lab.found import UNLINKED, Found, score_text
from components.exhibits.tables import data_frame
from components.exhibits.view import number, percent
from components.texts import Texts

GAIN = 0.01  # accuracy between the last two points, from which more labels are said to help


def curve(found: Found, _: State, say: Texts) -> Shown:
    """Accuracy with the number of rows that the classifier was fitted on, with its interval."""
    points = found.fit.curve
    told = [say("lab.of", name=one.rows, score=score_text(one.accuracy, say)) for one in points]
    scores = [one.accuracy for one in points]
    return Shown(
        heading=_heading(found, say),
        words=say("list.semicolon").join(told),
        data=data_frame(
            (
                (say("lab.rows_axis"), [one.rows for one in points]),
                (say("lab.column_accuracy"), [one.value for one in scores]),
                (say("lab.column_low"), [one.low for one in scores]),
                (say("lab.column_high"), [one.high for one in scores]),
            )
        ),
        figure=_figure(found, say),
        above=hint_html(say("lab.curve_hint")),
        about=found.name(found.best, say),
    )


CURVE = Exhibit("lab-curve", curve, plotted=True, where=UNLINKED)


def _heading(found: Found, say: Texts) -> str:
    """What the last rows have brought."""
    if len(found.fit.curve) < 2:
        return say("lab.curve_short")
    before, last = found.fit.curve[-2:]
    gain = last.accuracy.value - before.accuracy.value
    key = "lab.curve_rises" if gain >= GAIN else "lab.curve_flat"
    return say(key, fewer=before.rows, rows=last.rows, points=number(100 * gain, 1))


def _figure(found: Found, say: Texts) -> Figure:
    points = found.fit.curve
    scores = [one.accuracy for one in points]
    line = Trace(
        type="scatter",
        mode="lines+markers",
        x=[one.rows for one in points],
        y=[round(one.value, 4) for one in scores],
        error_y={
            "array": [round(one.high - one.value, 4) for one in scores],
            "arrayminus": [round(one.value - one.low, 4) for one in scores],
            "symmetric": False,
            "thickness": 1.5,
            "width": 4,
        },
        line={"color": BACKBONES[0]},
        marker={"size": 8},
        customdata=[escape(f"{one.rows}: {percent(one.accuracy.value)}") for one in points],
        hovertemplate="%{customdata}<extra></extra>",
    )
    frame = layout(
        height=300,
        margin={"l": 64, "r": 24, "t": 12, "b": 52},
        xaxis=value_axis(say("lab.rows_axis"), rangemode="tozero", nticks=5),
        yaxis=axis(
            title=axis_title(say("lab.accuracy_axis")),
            range=[0, 1.02],
            tickvals=[0, 0.5, 1],
            ticktext=["0", "50 %", "100 %"],
            showgrid=True,
            gridcolor=GRID,
        ),
    )
    return Figure([line], frame)
