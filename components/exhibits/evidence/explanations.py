"""Is similarity to [CLS] an explanation? Answers to "which token matters" against erasure, on a test set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor
from typing import Any

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.small_plots import axis_number, plot_name
from components.exhibits.draw.style import (
    OTHER,
    ZERO_LINE,
    axis_title,
    diverging,
    layout,
    name_width,
    row_axis,
    value_axis,
)
from components.exhibits.evidence.evidence import LEVEL, Evidence
from components.exhibits.evidence.explained import Explained, answer_name, explained
from components.exhibits.evidence.table import COUNTS, PS, RHOS, Row, data_of
from components.exhibits.exhibit import Exhibit, Shown, hint_html, strong_html
from components.exhibits.view import number
from components.results import AgreementResult
from components.texts import Texts

COLUMNS = ("backbone", "task", "answer", *RHOS, *COUNTS, *PS, "measured")
ROW, TOP, BOTTOM = 24, 30, 52  # pixels
COLUMN = 170  # the least pixels of a small plot
NAME = 24  # characters of its name

Place = tuple[str, int | None]  # an answer, and the layer that it looks at


def explanations(evidence: Evidence, _: State, say: Texts) -> Shown:
    """How alike each answer and erasure rank the tokens of a text, for every checkpoint that was asked."""
    found = explained(evidence.agreements)
    tasks = say.listed(visible(say.name(task)) for task in dict.fromkeys(r.task for r in evidence.agreements))
    total = max(row.measured for row in evidence.agreements)
    items = "".join(f"<li>{_finding(evidence, one, say)}</li>" for one in found)
    return Shown(
        heading=say("evidence.explained_heading"),
        words=say("evidence.explained_words", plots=len(found)),
        data=data_of(COLUMNS, _rows(evidence, found, say), say),
        figure=_figure(evidence, found, say),
        above=f'<ul class="findings">{items}</ul><p>{_verdict(found, say)}</p>',
        legend=hint_html(say("evidence.explained_hint", task=tasks, total=total)),
        about=say(
            "away.about_evidence",
            task=tasks,
            backbones=say.listed(visible(evidence.titles[one.backbone]) for one in found),
        ),
        least_width=name_width(tuple(_names(found, say))) + COLUMN * len(found),
    )


EXPLANATIONS = Exhibit(
    "explanations",
    explanations,
    element="explanation-rhos",
    plotted=True,
    applies=lambda evidence: bool(evidence.agreements),
)


def _finding(evidence: Evidence, one: Explained, say: Texts) -> str:
    """How close similarity to [CLS] comes to erasure in one checkpoint, and what comes closer."""
    last, best, closer = one.similarity, one.best, one.closer
    sentence = say(
        "evidence.explained_finding",
        backbone=strong_html(visible(evidence.titles[one.backbone])),
        rho=strong_html(number(last.rho)),
        low=number(last.low),
        high=number(last.high),
        best=number(best.rho),
        layer=best.layer,
        last=last.layer,
    )
    if not closer:
        return say.together([sentence, say("evidence.explained_none", level=LEVEL)])
    said = (
        say("evidence.explained_answer", answer=escape(answer_name(row, say)), rho=number(row.rho))
        for row in closer
    )
    return say.together([sentence, say("evidence.explained_closer", answers=say.listed(said), level=LEVEL)])


def _verdict(found: Sequence[Explained], say: Texts) -> str:
    """For how many checkpoints something else ranks the tokens more like erasure."""
    beaten = sum(bool(one.closer) for one in found)
    if not beaten:
        return say("evidence.explained_yes")
    count = strong_html(say("evidence.explained_of", some=beaten, all=len(found)))
    return say("evidence.explained_no", count=count)


def _places(found: Sequence[Explained]) -> list[Place]:
    """The rows of the plots: each answer at each layer that any checkpoint has, in the results' order."""
    known = dict.fromkeys((row.method, row.layer) for one in found for row in one.rows)
    methods = list(dict.fromkeys(method for method, _ in known))
    return sorted(known, key=lambda place: (methods.index(place[0]), place[1] or 0))


def _names(found: Sequence[Explained], say: Texts) -> list[str]:
    """What the rows are called, not escaped."""
    rows = {(row.method, row.layer): row for one in found for row in one.rows}
    return [answer_name(rows[place], say) for place in _places(found)]


def _rows(evidence: Evidence, found: Sequence[Explained], say: Texts) -> list[Row]:
    """A row for each answer of each checkpoint; p by Holm's method where it takes part in the finding."""
    rows: list[Row] = []
    for one in found:
        corrected = {(row.method, row.layer): p for row, p in zip(one.others, one.corrected, strict=True)}
        rows += [
            {
                "backbone": visible(evidence.titles[row.backbone]),
                "task": visible(say.name(row.task)),
                "answer": answer_name(row, say),
                "rho": row.rho,
                "rho_low": row.low,
                "rho_high": row.high,
                "better": None if row is one.similarity else row.better,
                "worse": None if row is one.similarity else row.worse,
                "p": None if row is one.similarity else row.p,
                "corrected": corrected.get((row.method, row.layer)),
                "measured": row.measured,
            }
            for row in one.rows
        ]
    return rows


def _figure(evidence: Evidence, found: Sequence[Explained], say: Texts) -> Figure:
    """A small plot for each checkpoint side by side, all with the same rows and the same scale."""
    places, names = _places(found), _names(found, say)
    low = floor(2 * min(row.low for row in evidence.agreements)) / 2
    high = ceil(2 * max(row.high for row in evidence.agreements)) / 2
    marks = [half / 2 for half in range(round(2 * low), round(2 * high) + 1)]
    axes: dict[str, Any] = {}
    for index in range(len(found)):
        axes[f"xaxis{axis_number(index)}"] = value_axis(
            "", range=[low - 0.03, high + 0.03], tickvals=marks, tickangle=0, **ZERO_LINE
        ) | {"ticktext": [number(mark, 0 if mark.is_integer() else 1) for mark in marks]}
        axes[f"yaxis{axis_number(index)}"] = row_axis(
            [escape(name) for name in names], showticklabels=index == 0, showgrid=False
        )
    axes[f"xaxis{axis_number((len(found) - 1) // 2)}"]["title"] = axis_title(say("evidence.explained_axis"))
    frame = layout(
        height=len(places) * ROW + TOP + BOTTOM,
        margin={"l": name_width(tuple(names)), "r": 12, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        grid={"rows": 1, "columns": len(found), "pattern": "independent", "xgap": 0.12},
        annotations=[
            plot_name(index, f"<b>{escape(shorten(visible(evidence.titles[one.backbone]), NAME))}</b>")
            for index, one in enumerate(found)
        ],
        **axes,
    )
    return Figure([_dots(evidence, one, index, places, say) for index, one in enumerate(found)], frame)


def _dots(evidence: Evidence, one: Explained, index: int, places: Sequence[Place], say: Texts) -> Trace:
    """A dot with its interval for each answer of a checkpoint."""
    rows = one.rows
    return Trace(
        type="scatter",
        mode="markers",
        x=[round(row.rho, 4) for row in rows],
        y=[places.index((row.method, row.layer)) for row in rows],
        error_x={
            "array": [round(row.high - row.rho, 4) for row in rows],
            "arrayminus": [round(row.rho - row.low, 4) for row in rows],
            "symmetric": False,
            "thickness": 1.5,
            "width": 3,
            "color": OTHER,
        },
        marker={
            "color": [_colour(row) for row in rows],
            "line": {"color": OTHER, "width": 1},
            "size": 9,
        },
        cliponaxis=False,
        xaxis=f"x{axis_number(index)}",
        yaxis=f"y{axis_number(index)}",
        hovertext=[_hover(evidence, row, say) for row in rows],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _colour(row: AgreementResult) -> str:
    """By the sign of rho, grey where its interval holds 0."""
    return OTHER if row.low <= 0 <= row.high else diverging(0.5 if row.rho > 0 else -0.5)


def _hover(evidence: Evidence, row: AgreementResult, say: Texts) -> str:
    """What pointing at a dot says."""
    return say(
        "evidence.explained_hover",
        answer=escape(answer_name(row, say)),
        backbone=escape(visible(evidence.titles[row.backbone])),
        rho=number(row.rho),
        low=number(row.low),
        high=number(row.high),
        measured=row.measured,
    )
