"""The square of who sees whom: the rows of those that are read in their colour, and what follows."""

from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from markupsafe import Markup

from components.analyses.sees import Sees
from components.exhibits import draw
from components.exhibits.control import Control, State, Switch
from components.exhibits.exhibit import Exhibit, Shown, unanswered
from components.exhibits.view import INSIDE, View, asked_line, render, shorten, token_name, word, yes_or_no
from components.texts import Sentence, Texts
from components.types import Analysis

BOTH_WAYS = Control("both_ways", Switch(), False, "sees.both_ways")
HIGH, LEAST, TITLE = 420, 3, 120  # pixels: of the square, of one of many rows, and of the axis's title
NAMED = 24  # rows that have their names beside them, and a third as many columns; of more, only some have
POINTED = 64  # tokens of a square of which each cell says on pointing what it is
COLOURS = [[0.0, draw.FAINT], [0.5, draw.SPECIAL], [1.0, draw.READ]]  # unseen, seen, seen by what is read


@dataclass(frozen=True, eq=False)
class Sight:
    """An answer, and who sees whom in it, or why that cannot be had."""

    analysis: Analysis
    found: Sees | Sentence


def turns(found: Sees | Sentence) -> bool:
    """Tell whether there is something to see that is not seen, or was not before it was let."""
    return isinstance(found, Sees) and (found.turned or found.shape != "all")


def sees(given: Sight, _: State, say: Texts) -> Shown:
    """The shape as a heading, what follows for the head, and the square; or why there is none."""
    if isinstance(given.found, Sentence):
        return unanswered("sees.title", given.found, say)
    view, square = View(given.analysis, given.analysis.layers), given.found.sees
    read, wide = view.analysis.reads.positions, given.found.shape in ("all", "causal", "prefix")
    marks = {"read": square[read].any(), "others": square[~read].any()}
    seen = [[yes_or_no(one, say) for one in column] for column in square.T]
    return Shown(
        heading=given.found.says.said(say),
        words=say("sees.description", **given.found.counts),
        data=((say("table.token"), view.labels), *zip(view.labels, seen, strict=True)),
        figure=_figure(view, given.found, say),
        above=render(
            "sees", say, view=view, found=given.found, name=partial(token_name, view.labels, say=say)
        ),
        legend=render("sees_legend", say, **marks, longer=len(square) if wide else 0),
        about=asked_line(view.analysis, say),
    )


SEES = Exhibit("sees", sees, plotted=True, title="sees.title", controls=(BOTH_WAYS,), width=2)


def icon(found: Sees, say: Texts) -> Markup:
    """The square as a small picture, with its shape in words."""
    edges = np.diff(found.sees.astype(int), axis=1, prepend=0, append=0)
    runs = zip(np.argwhere(edges > 0).tolist(), np.argwhere(edges < 0).tolist(), strict=True)
    path = "".join(f"M{start} {row}H{end}v1H{start}z" for (row, start), (_, end) in runs)
    return render("square", total=len(found.sees), path=path, said=found.says.said(say))


def _figure(view: View, found: Sees, say: Texts) -> draw.Figure:
    """T rows by T columns, the first row on top: what each token sees."""
    square, total = found.sees, len(found.sees)
    labels = [draw.escape(shorten(word(label, INSIDE))) for label in view.labels]
    told = [
        [say("sees.sees" if one else "sees.not", token=token, other=labels[at]) for at, one in enumerate(row)]
        for token, row in zip(labels, square, strict=True)
        if total <= POINTED
    ]
    cells = draw.Trace(
        type="heatmap",
        z=(square * np.where(view.analysis.reads.positions, 2, 1)[:, None]).tolist(),
        **{"zmin": 0, "zmax": 2, "colorscale": COLOURS, "showscale": False},
        **{"customdata": told, "hovertemplate": "%{customdata}<extra></extra>"},
        hoverinfo="all" if told else "skip",
        **dict.fromkeys(("xgap", "ygap"), 1 if told else 0),
    )

    def names(texts: list[str], most: int, title: str, **more: Any) -> dict[str, Any]:
        places = list(range(0, total, ceil(total / most)))
        ticks = {"tickvals": places, "ticktext": [texts[place] for place in places], **draw.ROOM}
        return draw.axis(title=draw.axis_title(say(title)), **ticks, **more)

    wide = draw.tick_width(view.labels)
    high = max(LEAST, min(max(draw.TOKEN_ROW, TITLE // total), HIGH // total))
    below = round(wide * draw.SLOPE) + 20
    return draw.Figure(
        [cells],
        draw.layout(
            height=total * high + below + 8,
            margin={"l": wide + 48, "r": 8, "t": 8, "b": below},
            xaxis=names(labels, NAMED // 3, "sees.seen", tickangle=-45),
            yaxis=names(draw.tick_texts(view), NAMED, "sees.state", range=[total - 0.5, -0.5]),
        ),
    )
