"""Findings on a visitor's own table: the ranking, what labels are worth, confusion, map and misses."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from components.exhibits import draw
from components.exhibits.control import State
from components.exhibits.exhibit import (
    Column,
    Exhibit,
    Shown,
    Where,
    csv_link,
    hint_html,
    legend_html,
    saved_table,
    titled_frame,
)
from components.exhibits.view import classify_link, number, one_vector, percent, shorten, visible
from components.fitting import Fit, Miss, Ranked, Reached, Score
from components.markup import render
from components.texts import Texts
from components.types import Ints, Query

RANKED = {  # columns of the table, and where they stand in a row of the ranking
    **{"backbone": "backbone", "pooling": "pooling", "layer": "layer", "accuracy": "accuracy.value"},
    **{"low": "accuracy.low", "high": "accuracy.high", "macro_f1": "macro_f1", "rho": "rho.value"},
    **{"p": "p", "corrected": "p_corrected", "same_as": "same_as"},
}
UNLINKED: frozenset[Where] = frozenset({"page", "report"})  # no link, nor a step of a talk, holds a table
LEVEL = 0.05  # a corrected p below it counts
NAME = 40  # characters of a backbone's title at most
FIRST = 5  # combinations that are named while others are fitted
GAIN = 0.01  # accuracy between the last two points, from which more labels are said to help
DRAWN = 24  # vectors in the figure, the best ones; all stand in the table
WIDEST, LINE = 15, 18  # characters of a line beside the axis, and the pixels that it takes
BESIDE = 58  # pixels of the column of values at the right
BELOW = 52  # pixels of the axis
LINES = {"majority": ("dashdot", "╌·╌"), "shuffled": ("dot", "····")}
SCALE = {"tickvals": [0, 0.5, 1], "ticktext": ["0", "50 %", "100 %"]}  # of accuracy
# Of the confusion.
SHADES = ((0.0, "#f1f4f6"), (0.5, "#7fb4d2"), (1.0, "#0a4d75"))  # of the share of a row
LABEL = 14  # characters of a label beside an axis
CELL, LEAST = 30, 34  # pixels
NARROWEST = 262  # pixels of the columns and of the names beside them, on a phone
# Of the plane.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
SIGNS = "●■◆▲✚✖★▼"  # the same in a legend
POINTS = 2000  # drawn, spread evenly over the rows
POINT = 60  # characters of a text beside its point
# Of the misses.
SHOWN = 100  # rows of the table on the page; the file has all
LONGEST = 200  # characters of a text on the page


@dataclass(frozen=True, eq=False)
class Found:
    """A fit, and the titles of backbones by their keys."""

    fit: Fit
    titles: Mapping[str, str]

    @property
    def best(self) -> Ranked:
        """The combination that is most often right."""
        return self.vectors[0]

    @cached_property
    def vectors(self) -> tuple[Ranked, ...]:
        """The combinations, best first, of which none has the same vectors as another."""
        return tuple(one for one in self.fit.ranking if not one.same_as)

    @property
    def learned(self) -> bool:
        """Tell whether the best one beats the most frequent label and shuffled labels, interval and all."""
        return self.best.accuracy.low > max(self.fit.majority, self.fit.shuffled.value)

    def name(self, one: Ranked, say: Texts) -> str:
        """Backbone, every pooling of the same vectors, and layer of a combination, not escaped."""
        where, every = (one.backbone, one.pooling, one.layer), self.fit.ranking
        alike = (like.pooling for like in every if (like.backbone, like.same_as, like.layer) == where)
        return combination(one, self.titles, self.fit.plan.all_layers, say, *alike)


def combination(
    one: Ranked | Reached, titles: Mapping[str, str], all_layers: bool, say: Texts, *alike: str
) -> str:
    """Backbone, poolings of the very same vector and, where there are several, layer; not escaped."""
    title = shorten(visible(titles.get(one.backbone, one.backbone)), NAME)
    key = "lab.combination_layer" if all_layers else "lab.combination"
    return say(key, backbone=title, pooling=one_vector((one.pooling, *alike)), layer=one.layer)


def so_far_html(reached: Sequence[Reached], titles: Mapping[str, str], all_layers: bool, say: Texts) -> str:
    """The best combinations of those that are fitted by now, as HTML; nothing where there is none."""
    if not reached:
        return ""
    first = sorted(reached, key=lambda one: -one.accuracy)[:FIRST]
    best = [(combination(one, titles, all_layers, say), percent(one.accuracy)) for one in first]
    return render("so_far", say, total=len(reached), best=best)


def score_text(score: Score, say: Texts) -> str:
    """A share and its interval: "91 % (87 % to 94 %)"."""
    return say("lab.score", **{name: percent(getattr(score, name)) for name in ("value", "low", "high")})


def ranking(found: Found, _: State, say: Texts) -> Shown:
    """A point with its interval for each vector, the best one above; the lines of knowing nothing."""
    fit, others = found.fit, len(found.vectors) - 1
    values = {"majority": percent(fit.majority), "shuffled": score_text(fit.shuffled, say)}
    line = Markup('<li><span aria-hidden="true">{}</span> {}</li>')
    items = [line.format(LINES[key][1], say(f"lab.{key}", value=value)) for key, value in values.items()]
    worse = sum(one.p_corrected < LEVEL for one in found.vectors[1:])
    notes = [say("lab.differences" if others else "lab.alone", count=worse, total=others, level=LEVEL)]
    notes += [say("lab.drawn", count=DRAWN, total=others + 1)] if others >= DRAWN else []
    notes += [one.said(say) for one in fit.warnings]
    best = {"best": found.name(found.best, say), "accuracy": percent(found.best.accuracy.value)}
    return Shown(
        heading=say("lab.best" if found.learned else "lab.nothing_learned", **best),
        words=say("list.semicolon").join(
            say("lab.of", name=found.name(one, say), score=score_text(one.accuracy, say))
            for one in found.vectors[:DRAWN]
        ),
        data=_ranked(found, say),
        figure=_ranking_figure(found, say),
        above="".join(map(hint_html, notes)),
        legend=legend_html(*items, f"<li>{escape(say('lab.interval', folds=fit.plan.folds))}</li>"),
        about=say("lab.about", rows=len(fit.table.texts), classes=len(fit.classes)),
    )


def numbers(found: Found, _: State, say: Texts) -> Shown:
    """Show the same of every combination as a table, with a link that saves it as CSV."""
    data = _ranked(found, say)
    caption = say("lab.about", rows=len(found.fit.table.texts), classes=len(found.fit.classes))
    texts = data.map(lambda cell: number(cell, 3) if isinstance(cell, float) else str(cell))
    numeric = range(2, data.shape[1] - 1)
    return Shown(data=data, html=saved_table(data, texts, numeric, caption, "poolscope-lab.csv", say))


def _ranked(found: Found, say: Texts) -> pd.DataFrame:
    """A row for each combination; rho where labels are numbers."""
    rows = pd.json_normalize([asdict(one) for one in found.fit.ranking])
    rows["backbone"] = [found.titles.get(key, key) for key in rows["backbone"]]
    return titled_frame({f"lab.column_{name}": rows[of] for name, of in RANKED.items() if of in rows}, say)


def _ranking_figure(found: Found, say: Texts) -> draw.Figure:
    shown = found.vectors[:DRAWN]
    labels = [textwrap.wrap(found.name(one, say), WIDEST) for one in shown]
    scores, places = [one.accuracy for one in shown], list(range(len(shown)))
    room = LINE * max(map(len, labels)) + 6
    left = max(draw.name_width(lines) for lines in labels)
    backbones = list(found.fit.plan.backbones)
    colours = [draw.BACKBONES[backbones.index(one.backbone) % len(draw.BACKBONES)] for one in shown]
    symbols = ["circle-open" if one.p_corrected < LEVEL else "circle" for one in shown]  # open: it is worse
    said = [escape(f"{found.name(one, say)}: {score_text(one.accuracy, say)}") for one in shown]
    points = draw.dots(
        draw.drawn(scores, places, said),
        {"color": colours, "size": 10, "symbol": symbols},
        {"color": draw.OTHER, "thickness": 2, "width": 4},
    )
    values = [percent(one.value) for one in scores]
    lines = {"majority": found.fit.majority, "shuffled": found.fit.shuffled.value}
    frame = draw.layout(
        height=len(shown) * max(26, room) + BELOW,
        margin={"l": left, "r": BESIDE, "t": 6, "b": BELOW - 6},
        xaxis=draw.value_axis(say("lab.accuracy_axis"), range=[0, 1], **SCALE),
        yaxis=draw.row_axis(["<br>".join(map(escape, lines)) for lines in labels]),
        shapes=[draw.guide(value, LINES[key][0], draw.OTHER) for key, value in lines.items()],
    )
    return draw.Figure([points, draw.written([1] * len(shown), places, values, "middle right")], frame)


def curve(found: Found, _: State, say: Texts) -> Shown:
    """Accuracy with the number of rows that the classifier was fitted on, with its interval."""
    scores, rows = [one.accuracy for one in found.fit.curve], [one.rows for one in found.fit.curve]
    said = [f"{row}: {percent(one.value)}" for row, one in zip(rows, scores, strict=True)]
    points = draw.drawn(scores, rows, map(escape, said))
    heading = say("lab.curve_short")
    if len(scores) > 1:
        gain = scores[-1].value - scores[-2].value
        key = "lab.curve_rises" if gain >= GAIN else "lab.curve_flat"
        heading = say(key, fewer=rows[-2], rows=rows[-1], points=number(100 * gain, 1))
    line = draw.dots(
        points,
        {"size": 8},
        {"thickness": 1.5, "width": 4},
        "y",
        **{"mode": "lines+markers", "line": {"color": draw.BACKBONES[0]}, "cliponaxis": True},
    )
    frame = draw.layout(
        height=300,
        margin={"l": 64, "r": 24, "t": 12, "b": 52},
        xaxis=draw.value_axis(say("lab.rows_axis"), rangemode="tozero", nticks=5),
        yaxis=draw.value_axis(say("lab.accuracy_axis"), range=[0, 1.02], **SCALE),
    )
    columns = {"rows_axis": "place", "column_accuracy": "value", "column_low": "low", "column_high": "high"}
    return Shown(
        heading=heading,
        words=say("list.semicolon").join(
            say("lab.of", name=row, score=score_text(one, say)) for row, one in zip(rows, scores, strict=True)
        ),
        data=titled_frame({f"lab.{key}": points[of] for key, of in columns.items()}, say),
        figure=draw.Figure([line], frame),
        above=hint_html(say("lab.curve_hint")),
        about=found.name(found.best, say),
    )


def confusion(found: Found, _: State, say: Texts) -> Shown:
    """Say how often each given label (a row) was answered with which one (a column)."""
    cells, names = found.fit.confusion, list(map(visible, found.fit.classes))
    wrong = np.where(np.eye(len(names), dtype=bool), 0, cells)
    heading = say("lab.no_confusion")
    if wrong.max(initial=0) > 0:
        row, column = np.unravel_index(wrong.argmax(), wrong.shape)
        values = {"given": names[row], "predicted": names[column], "count": int(wrong[row, column])}
        heading = say("lab.confused", **values, total=int(cells[row].sum()))
    told = [
        say("lab.recall", label=name, count=int(cells[place, place]), total=int(cells[place].sum()))
        for place, name in enumerate(names)
    ]
    given, predicted = zip(*product(names, repeat=2), strict=True)  # (K * K,) each
    columns = {"lab.given": given, "lab.predicted": predicted, "lab.count": cells.ravel().tolist()}
    return Shown(
        heading=heading,
        words=say("list.semicolon").join(told),
        data=titled_frame(columns, say),
        figure=_confusion_figure(found, say),
        about=found.name(found.best, say),
        least_width=len(names) * LEAST + 180 if len(names) > 6 else 0,
    )


def _confusion_figure(found: Found, say: Texts) -> draw.Figure:
    cells = found.fit.confusion
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)  # (K, K) of each row
    names = [shorten(visible(name), LABEL) for name in found.fit.classes]
    ticks, room = list(map(escape, names)), draw.name_width(names)
    hover = [
        [
            say.html("lab.cell", given=given, predicted=other, count=int(count), share=percent(share))
            for other, count, share in zip(names, row, of, strict=True)
        ]
        for given, row, of in zip(names, cells, shares, strict=True)
    ]
    heat = draw.Trace(
        type="heatmap",
        z=shares.round(4).tolist(),
        colorscale=list(map(list, SHADES)),
        **{"zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1, "showscale": False},
        text=cells.tolist(),
        texttemplate="%{text}",  # in black or white, whichever is read better
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
    )
    turned = len(names) * room > NARROWEST - room
    frame = draw.layout(
        height=len(names) * CELL + 70 + (room if turned else 24),
        margin={"l": room + 26, "r": 12, "t": 8, "b": 50 + (room if turned else 12)},
        xaxis=draw.axis(
            title=draw.axis_title(say("lab.predicted")),
            **{"tickvals": list(range(len(names))), "ticktext": ticks, "tickangle": -90 if turned else 0},
        ),
        yaxis=draw.row_axis(ticks, title=draw.axis_title(say("lab.given"))),
    )
    return draw.Figure([heat], frame)


def plane(found: Found, _: State, say: Texts) -> Shown:
    """A point for each row: where its vector stands on the first two principal components."""
    fit = found.fit
    labels = np.array([fit.classes.index(label) for label in fit.table.labels])  # (N,)
    drawn = np.linspace(0, len(labels) - 1, min(len(labels), POINTS)).astype(np.int64)
    of = labels[drawn]
    apart = ((fit.map[drawn, None] - fit.map[None, drawn]) ** 2).sum(axis=2)  # (n, n)
    np.fill_diagonal(apart, np.inf)
    alike = float((of == of[apart.argmin(axis=1)]).mean())  # of each point and the one that is nearest
    names = [shorten(visible(name), 24) for name in fit.classes]
    entry = Markup('<li><span style="color: {}" aria-hidden="true">{}</span> {}</li>')
    items = (
        entry.format(draw.label_colour(place), SIGNS[place % len(SIGNS)], name)
        for place, name in enumerate(names)
    )
    above = hint_html(say("lab.plane_hint"))
    if len(drawn) < len(labels):
        above += hint_html(say("lab.plane_drawn", count=len(drawn), total=len(labels)))
    columns: dict[str, Column] = {"lab.column_row": range(1, len(labels) + 1), "lab.given": fit.table.labels}
    columns["lab.first_direction"], columns["lab.second_direction"] = fit.map.T
    return Shown(
        heading=say("lab.plane", share=percent(alike), majority=percent(fit.majority)),
        words=say("lab.plane_words", rows=len(drawn), classes=say.listed(names)),
        data=titled_frame(columns, say),
        figure=_plane_figure(fit, drawn, of, say),
        above=above,
        legend=legend_html(*items),
        about=found.name(found.best, say),
    )


def _plane_figure(fit: Fit, drawn: Ints, labels: Ints, say: Texts) -> draw.Figure:
    """A trace for each label, in its colour and shape. The rows ``drawn`` (n,) have ``labels`` (n,)."""
    traces = []
    for place, name in enumerate(map(visible, fit.classes)):
        rows = drawn[labels == place]
        texts = (shorten(visible(fit.table.texts[row]), POINT) for row in rows)
        symbol, colour = SYMBOLS[place % len(SYMBOLS)], draw.label_colour(place)
        traces.append(
            draw.Trace(
                type="scatter",
                mode="markers",
                name=escape(name),
                x=fit.map[rows, 0].round(3).tolist(),
                y=fit.map[rows, 1].round(3).tolist(),
                marker={"color": colour, "symbol": symbol, "size": 7, "opacity": 0.75},
                customdata=[escape(f"{name}: {text}") for text in texts],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    directions = (draw.axis_title(say(f"lab.{name}_direction")) for name in ("first", "second"))
    xaxis, yaxis = (draw.axis(title=title, showticklabels=False) for title in directions)
    margin = {"l": 44, "r": 12, "t": 8, "b": 44}
    return draw.Figure(traces, draw.layout(380, margin, hovermode="closest", xaxis=xaxis, yaxis=yaxis))


def misses(found: Found, _: State, say: Texts) -> Shown:
    """The rows that the best combination gets wrong, or whose labels look wrong, the surest first.

    The text leads to Classify.
    """
    fit, every = found.fit, found.fit.misses
    wrong, doubted = (miss.given != miss.predicted for miss in every), (miss.suspicious for miss in every)
    heading = say("lab.misses", count=sum(wrong), total=len(fit.table.texts), doubted=sum(doubted))
    texts, doubts = [_text(found, miss) for miss in every], {True: say("lab.doubt"), False: ""}
    columns: dict[str, list[Any]] = {"lab.column_row": [miss.row + 1 for miss in every]}
    columns["lab.column_text"] = texts
    for name in ("given", "given_probability", "predicted", "predicted_probability"):
        columns[f"lab.{name}"] = [getattr(miss, name) for miss in every]
    data = titled_frame({**columns, "lab.doubted": [doubts[miss.suspicious] for miss in every]}, say)
    hints = [say("lab.misses_hint")]
    hints += [say("lab.misses_first", count=SHOWN, total=len(every))] if len(every) > SHOWN else []
    rows = [
        (miss, shorten(visible(text), LONGEST), classify_link(_query(found, miss), say))
        for miss, text in zip(every[:SHOWN], texts, strict=False)
    ]
    table = render(
        "misses", say, caption=heading, titles=list(data), rows=rows, percent=percent, visible=visible
    )
    link = csv_link(data, "poolscope-misses.csv", say("table.download"))
    return Shown(
        heading=heading,
        data=data,
        html=link + table if every else "",
        above="".join(map(hint_html, hints)),
        action=hint_html(say("lab.misses_open")) if every else "",
    )


def _query(found: Found, miss: Miss) -> Query:
    table, best = found.fit.table, found.best
    pair = table.pairs[miss.row] if table.pairs else ""
    layer = best.layer if found.fit.plan.all_layers else -1
    return Query(best.backbone, table.texts[miss.row], pair, best.pooling, pool_layer=layer)


def _text(found: Found, miss: Miss) -> str:
    table = found.fit.table
    return " | ".join((table.texts[miss.row], *(table.pairs[miss.row : miss.row + 1])))


RANKING = Exhibit("lab-ranking", ranking, plotted=True, where=UNLINKED)
CURVE = Exhibit("lab-curve", curve, plotted=True, where=UNLINKED)
CONFUSION = Exhibit("lab-confusion", confusion, plotted=True, where=UNLINKED)
PLANE = Exhibit("lab-plane", plane, plotted=True, where=UNLINKED)
NUMBERS = Exhibit(
    "lab-numbers", numbers, style="numbers", frame="folded", title="table.heading", where=UNLINKED
)
MISSES = Exhibit("lab-misses", misses, style="numbers", where=UNLINKED)
