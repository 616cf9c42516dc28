"""Accuracy over depth: the same classifier on every layer, a small plot for each pooling."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice
from math import floor
from typing import Any

from components.exhibits.control import State
from components.exhibits.draw import (
    GRID,
    MARKS,
    Figure,
    Trace,
    axes_of,
    axis,
    axis_number,
    dots,
    drawn,
    layout,
    plot_name,
)
from components.exhibits.evidence.evidence import (
    ACCURACIES,
    BASE,
    COUNTS,
    LEVEL,
    PS,
    Evidence,
    accuracy_text,
    columns_of,
    corrected,
    data_of,
    gains,
    hover,
    named,
    shared,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html, strong_html
from components.exhibits.view import one_vector, shorten, visible
from components.results import TEST, Row, beside
from components.texts import Texts

COLUMNS = ("backbone", "pooling", "layer", *ACCURACIES, *COUNTS, *PS, "measured")
ACROSS, HIGH = 4, 168  # small plots in a row, and the pixels of a row of them
LEFT, TOP, BOTTOM = 52, 26, 44  # pixels around all of them
LEAST_WIDTH = 760  # pixels below which they scroll in their box
NAME = 26  # characters of the name of a small plot


def profiles(evidence: Evidence, backbone: str) -> list[list[Row]]:
    """Each vector of a backbone at every layer, from the embeddings to the last; none if only that is known.

    One profile for the ``poolings`` that are one vector at all layers. The layers below the last are held
    against it: their p is ``corrected`` by Holm's method over all of them, and that of the last layer is
    None.
    """
    lower: dict[str, list[Row]] = {}
    for row in evidence.of("depth", backbone):
        lower.setdefault(row.pooling, []).append(row)
    last = {row.pooling: row for row in evidence.of("probe", backbone) if row.pooling in lower}
    alike: dict[tuple[str, ...], list[str]] = {}
    for pooling, rows in lower.items():
        if pooling in last:
            alike.setdefault(tuple(row.vector for row in (*rows, last[pooling])), []).append(pooling)
    tested = iter(corrected([row for poolings in alike.values() for row in lower[poolings[0]]]))
    found = []
    for first, *others in alike.values():
        below, untested = lower[first], dict.fromkeys((*TEST, "corrected"))
        top = beside(last[first], layer=len(below), **untested)
        found.append([named(row, (first, *others)) for row in (*islice(tested, len(below)), top)])
    return found


def best(profile: Sequence[Row]) -> Row:
    """The layer that reaches most; of equal ones the last."""
    return max(profile, key=lambda row: (row.value, row.layer))


def depths(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy at every layer, and whether a lower one is better than the last."""
    found = {key: profiles(evidence, key) for key in evidence.backbones}
    every = [row for known in found.values() for profile in known for row in profile]
    names = shared(every, evidence.backbones, (name for row in every for name in row.poolings))
    task = visible(say.name(evidence.task))
    items = "".join(f"<li>{_finding(evidence.title(key), known, say)}</li>" for key, known in found.items())
    rows = [beside(row, pooling=row.called, backbone=evidence.title(row.backbone)) for row in every]
    return Shown(
        heading=say("evidence.depths_heading"),
        words=say("evidence.depths_words", plots=len(names)),
        data=data_of(COLUMNS, columns_of(rows), say),
        figure=_figure(evidence, every, names, say),
        above=f'<ul class="findings">{items}</ul>{hint_html(say("evidence.depths_published"))}',
        legend=hint_html(say("evidence.depths_hint", task=task)),
        about=evidence.about(task, evidence.backbones, say),
        least_width=LEAST_WIDTH,
    )


DEPTHS = Exhibit(
    "depths",
    depths,
    element="accuracy-depths",
    plotted=True,
    applies=lambda evidence: bool(evidence.of("depth", *evidence.backbones)),
)


def _finding(title: str, known: Sequence[Sequence[Row]], say: Texts) -> str:
    """Whether an intermediate layer of a backbone is better than the last, by more than chance."""
    if not known:
        return say("evidence.nothing", backbone=strong_html(title))
    highest = max(known, key=lambda profile: best(profile).value)
    top, last = best(highest), highest[-1]
    better, worse = gains(row for profile in known for row in profile)
    below = sum(best(profile).layer < profile[-1].layer for profile in known)
    tested = sum(len(profile) - 1 for profile in known)
    sentence = say(
        "evidence.depths_finding",
        backbone=strong_html(title),
        below=strong_html(say("evidence.of", some=below, all=len(known))),
        better=strong_html(say("evidence.of", some=better, all=tested)),
        worse=worse,
        level=LEVEL,
    )
    reached = say(
        "evidence.depths_highest",
        high=strong_html(accuracy_text(top.value)),
        pooling=escape(top.called),
        layer=top.layer,
        last=last.layer,
        reached=accuracy_text(last.value),
    )
    gaining = [escape(profile[0].called) for profile in known if gains(profile)[0]]
    verdict = say("evidence.depths_better", poolings=say.listed(gaining)) if gaining else None
    return say.together([sentence, reached, verdict or say("evidence.depths_chance")])


def _figure(evidence: Evidence, every: Sequence[Row], names: Sequence[Sequence[str]], say: Texts) -> Figure:
    """A small plot for each of the ``names``, with a line for each backbone, all on one scale."""
    start = floor(10 * min((row.low for row in every), default=0.0))
    deep = max((row.layer for row in every), default=0)
    lines = -(-len(names) // ACROSS)
    axes: dict[str, Any] = {}
    for place in range(len(names)):
        number = axis_number(place)
        axes[f"xaxis{number}"] = axis(range=[-0.4, deep + 0.4], dtick=max(1, -(-deep // 6)), tickangle=0)
        axes[f"yaxis{number}"] = axis(
            range=[start / 10 - 0.01, 1.01],
            tickvals=[tenth / 10 for tenth in range(start, 11)],
            ticktext=[f"{10 * tenth} %" if tenth % 2 == 0 else "" for tenth in range(start, 11)],
            showticklabels=place % ACROSS == 0,
            showgrid=True,
            gridcolor=GRID,
        )
    frame = layout(
        height=lines * HIGH + TOP + BOTTOM,
        margin={"l": LEFT, "r": 10, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        grid={"rows": lines, "columns": ACROSS, "pattern": "independent", "xgap": 0.08, "ygap": 0.42},
        annotations=[*(_title(place, each) for place, each in enumerate(names)), _axis_name(say)],
        **axes,
    )
    traces = [
        line for place, each in enumerate(names) for line in _lines(evidence, every, each[0], place, say)
    ]
    return Figure(data=traces, layout=frame)


def _title(place: int, poolings: Sequence[str]) -> dict[str, Any]:
    """The name of a small plot above it: all poolings that are one vector in every backbone."""
    text = escape(shorten(one_vector(poolings), NAME))
    return plot_name(place, f"<b>{text}</b>" if BASE in poolings else text)


def _axis_name(say: Texts) -> dict[str, Any]:
    where = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0, "yshift": -BOTTOM, "yanchor": "bottom"}
    return {**where, "text": say("evidence.depths_axis"), "showarrow": False}


def _lines(evidence: Evidence, every: Sequence[Row], pooling: str, place: int, say: Texts) -> list[Trace]:
    """A line with intervals for each backbone that has this pooling."""
    traces = []
    for key, (colour, symbol, _) in zip(evidence.backbones, MARKS, strict=False):
        rows = [row for row in every if row.backbone == key and pooling in row.poolings]
        said = []
        for row in rows:
            more = {"pooling": escape(row.called), "layer": row.layer}
            said.append(hover(evidence, row, "evidence.depths_hover", accuracy_text, say, **more))
        style = {"mode": "lines+markers", "line": {"color": colour, "width": 2}, **axes_of(place)}
        marker = {"color": colour, "symbol": symbol, "size": 7}
        if rows:
            layers = drawn(rows, (row.layer for row in rows), said)
            traces.append(dots(layers, marker, {"thickness": 1.5, "width": 3}, "y", **style))
    return traces
