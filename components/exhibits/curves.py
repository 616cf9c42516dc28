"""Curves by layer, one for each backbone: how often a token is more like [CLS] than another sentence's."""

from collections.abc import Sequence
from itertools import cycle, product

import numpy as np

from components.exhibits import draw
from components.exhibits.comparison import Comparison, answered
from components.exhibits.control import State
from components.exhibits.exhibit import Column, Data, Exhibit, Shown, hint_html, titled
from components.exhibits.view import TEXT, percent, shorten, visible
from components.texts import Texts
from components.types import Floats

Curve = tuple[str, Floats]  # of a backbone: its name, and its areas (L + 1,) in [0, 1]


def curves(comparison: Comparison, _: State, say: Texts) -> Shown:
    """The curves of the first version; no data where there is none."""
    lines = curves_of(comparison)
    hints = [say("compare.curves_hint" if lines else "compare.curves_none")]
    hints += [] if comparison.after is None else [say("edit.curves")]
    ends = say.listed(
        say("compare.curves_end", backbone=name, first=percent(areas[0]), last=percent(areas[-1]))
        for name, areas in lines
    )
    words, about = "compare.curves_description" if lines else "compare.curves_none", ""
    if comparison.cells:
        query = comparison.cells[0].query
        key = "away.about_curves_pair" if query.text_pair else "away.about_curves"
        text, text_pair = (shorten(visible(one), TEXT) for one in (query.text, query.text_pair))
        about = say(key, text=text, text_pair=text_pair)
    return Shown(
        heading=say("compare.curves_heading"),
        words=say(words, count=len(lines), ends=ends),
        data=_data(lines, say) if lines else None,
        figure=curves_figure(lines, say) if comparison.cells else None,
        above="".join(map(hint_html, hints)),
        about=about,
    )


CURVES = Exhibit("curves", curves, plotted=True)


def curves_of(comparison: Comparison) -> list[Curve]:
    """A curve for each backbone with an answer; none where [CLS] is the only token.

    All poolings of a backbone share their hidden states, so any of its answers will do.
    """
    found = []
    for compared in comparison.compared:
        analysis = next((analysis for _, analysis in answered(compared.cells)), None)
        if analysis is not None and len(analysis.tokens.text) > 1:
            found.append((comparison.names[compared.backbone.key], analysis.area.plain))
    return found


def curves_figure(lines: Sequence[Curve], say: Texts) -> draw.Figure:
    """Lines over the relative depth, with their names below; a dotted one where chance is."""
    still = {"itemclick": False, "itemdoubleclick": False}
    frame = draw.layout(
        height=440,
        margin={"l": 66, "r": 22, "t": 14, "b": 50},
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", **still},
        xaxis=draw.axis(
            range=[-2, 102], dtick=25, ticksuffix=" %", title=draw.axis_title(say("compare.depth_axis"))
        ),
        yaxis=draw.value_axis(say("compare.curves_axis"), ticksuffix=" %", range=[-2, 102]),
        shapes=[draw.guide(50, "dot", draw.OTHER, "y")],  # chance
    )
    styles = cycle(product(("solid", "dot", "dash"), draw.MARKS))  # of more backbones than colours
    traces = [_trace(line, mark, dash, say) for line, (dash, mark) in zip(lines, styles, strict=False)]
    return draw.Figure(traces, frame)


def _data(lines: Sequence[Curve], say: Texts) -> Data:
    columns: dict[str, Column] = {
        "away.backbone": [name for name, areas in lines for _ in areas],
        "away.layer_number": [layer for _, areas in lines for layer in range(len(areas))],
        "away.depth": np.concatenate([np.linspace(0, 100, len(areas)) for _, areas in lines]),
        "away.area": np.concatenate([areas for _, areas in lines]),
    }
    return titled(columns, say)


def _trace(line: Curve, mark: tuple[str, str, str], dash: str, say: Texts) -> draw.Trace:
    (name, areas), (colour, symbol, _) = line, mark
    return draw.Trace(
        type="scatter",
        mode="lines+markers",
        name=draw.escape(shorten(name, 32)),
        x=np.linspace(0, 100, len(areas)).round(2).tolist(),
        y=[round(100 * float(area), 2) for area in areas],
        line={"color": colour, "width": 2.5, "dash": dash},
        marker={"color": colour, "symbol": symbol, "size": 9},
        cliponaxis=False,
        customdata=[
            say.html("compare.curves_hover", backbone=name, last=len(areas) - 1, layer=at, area=percent(area))
            for at, area in enumerate(areas)
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
