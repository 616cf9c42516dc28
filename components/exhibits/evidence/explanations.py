"""Is similarity to [CLS] an explanation? Answers to "which token matters" against erasure, on a test set."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor

from components.exhibits.control import State
from components.exhibits.draw import (
    OTHER,
    ZERO_LINE,
    Figure,
    SideBySide,
    Trace,
    axes_of,
    diverging,
    dots,
    drawn,
    name_width,
    value_axis,
)
from components.exhibits.evidence.evidence import (
    COUNTS,
    LEVEL,
    PS,
    RHOS,
    Evidence,
    columns_of,
    corrected,
    data_of,
    hover,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html, strong_html
from components.exhibits.view import number, shorten, visible
from components.results import TEST, Row, beside
from components.texts import Texts

SIMILARITY = "similarity"
COLUMNS = ("backbone", "task", "answer", *RHOS, *COUNTS, *PS, "measured")
ROW = 24  # pixels
COLUMN = 170  # the least pixels of a small plot
NAME = 24  # characters of its name


def explained(evidence: Evidence) -> list[Row]:
    """Every answer of every checkpoint, in the order of the results; ``own``: similarity at the last layer.

    The other methods, those by layer at their last, have their p against it ``corrected`` by Holm's method
    over those of a checkpoint; ``closer`` are those that rank tokens more like erasure than it by more than
    chance.
    """
    rows, found = evidence.every["agreement"], []
    for key in dict.fromkeys(row.backbone for row in rows):
        mine = [row for row in rows if row.backbone == key]
        last = {row.method: row for row in sorted(mine, key=_depth)}
        tested = corrected([row for row in mine if row is last[row.method] and row.method != SIMILARITY])
        ps = {(row.method, row.layer): row.corrected for row in tested}
        for row in mine:
            p, own = ps.get((row.method, row.layer)), row is last.get(SIMILARITY)
            closer = p is not None and p < LEVEL and row.better > row.worse
            found.append(beside(row, own=own, corrected=p, closer=closer))
    return found


def _depth(row: Row) -> int:
    return row.layer or 0


def explanations(evidence: Evidence, _: State, say: Texts) -> Shown:
    """How alike each answer and erasure rank the tokens of a text, for every checkpoint that was asked."""
    found = [beside(row, answer=_name(row, say)) for row in explained(evidence)]
    keys, answers = dict.fromkeys(row.backbone for row in found), _answers(found)
    tasks = say.listed(visible(say.name(task)) for task in dict.fromkeys(row.task for row in found))
    items = "".join(f"<li>{_finding(evidence, found, key, say)}</li>" for key in keys)
    saved = [_saved(evidence, row, say) for row in found]
    return Shown(
        heading=say("evidence.explained_heading"),
        words=say("evidence.explained_words", plots=len(keys)),
        data=data_of(COLUMNS, columns_of(saved, "rho"), say),
        figure=_figure(evidence, found, answers, say),
        above=f'<ul class="findings">{items}</ul><p>{_verdict(found, say)}</p>',
        legend=hint_html(
            say("evidence.explained_hint", task=tasks, total=max(row.measured for row in found))
        ),
        about=evidence.about(tasks, keys, say),
        least_width=name_width(tuple(answers)) + COLUMN * len(keys),
    )


EXPLANATIONS = Exhibit(
    "explanations",
    explanations,
    element="explanation-rhos",
    plotted=True,
    applies=lambda evidence: bool(evidence.every["agreement"]),
)


def _name(row: Row, say: Texts) -> str:
    """What an answer is called, with its layer where it looks at one: not escaped."""
    name = say(f"evidence.answer_{row.method}")
    return name if row.layer is None else say("evidence.at_layer", name=name, layer=row.layer)


def _saved(evidence: Evidence, row: Row, say: Texts) -> Row:
    """A row as it is saved; one that is held against itself has no test."""
    names = {"backbone": evidence.title(row.backbone), "task": visible(say.name(row.task))}
    return beside(row, **names, **(dict.fromkeys(TEST) if row.own else {}))


def _answers(found: Sequence[Row]) -> list[str]:
    """The rows of the plots: each answer at each layer that any checkpoint has, in the results' order."""
    methods = list(dict.fromkeys(row.method for row in found))
    ordered = sorted(found, key=lambda row: (methods.index(row.method), _depth(row)))
    return list(dict.fromkeys(row.answer for row in ordered))


def _finding(evidence: Evidence, found: Sequence[Row], key: str, say: Texts) -> str:
    """How close similarity to [CLS] comes to erasure in one checkpoint, and what comes closer."""
    rows = [row for row in found if row.backbone == key]
    (last,) = (row for row in rows if row.own)
    best = max((r for r in rows if r.method == SIMILARITY), key=lambda r: (r.value, r.layer))
    sentence = say(
        "evidence.explained_finding",
        backbone=strong_html(evidence.title(key)),
        rho=strong_html(number(last.value)),
        low=number(last.low),
        high=number(last.high),
        best=number(best.value),
        layer=best.layer,
        last=last.layer,
    )
    said = [
        say("evidence.explained_answer", answer=escape(row.answer), rho=number(row.value))
        for row in rows
        if row.closer
    ]
    if not said:
        return say.together([sentence, say("evidence.explained_none", level=LEVEL)])
    return say.together([sentence, say("evidence.explained_closer", answers=say.listed(said), level=LEVEL)])


def _verdict(found: Sequence[Row], say: Texts) -> str:
    """For how many checkpoints something else ranks the tokens more like erasure."""
    beaten = len({row.backbone for row in found if row.closer})
    if not beaten:
        return say("evidence.explained_yes")
    count = strong_html(say("evidence.explained_of", some=beaten, all=len({row.backbone for row in found})))
    return say("evidence.explained_no", count=count)


def _figure(evidence: Evidence, found: Sequence[Row], answers: list[str], say: Texts) -> Figure:
    """A small plot for each checkpoint side by side, all with the same rows and the same scale."""
    low = floor(2 * min(row.low for row in found)) / 2
    high = ceil(2 * max(row.high for row in found)) / 2
    marks = [half / 2 for half in range(round(2 * low), round(2 * high) + 1)]
    scale = {
        **value_axis("", range=[low - 0.03, high + 0.03], tickvals=marks, tickangle=0, **ZERO_LINE),
        "ticktext": [number(mark, 0 if mark.is_integer() else 1) for mark in marks],
    }
    keys = dict.fromkeys(row.backbone for row in found)
    names = [escape(shorten(evidence.title(key), NAME)) for key in keys]
    plots = SideBySide(names, list(map(escape, answers)), name_width(tuple(answers)), ROW, 0.12)
    traces = [
        _dots(evidence, [row for row in found if row.backbone == key], index, answers, say)
        for index, key in enumerate(keys)
    ]
    return Figure(traces, plots.layout(scale, say("evidence.explained_axis")))


def _dots(evidence: Evidence, rows: Sequence[Row], index: int, answers: Sequence[str], say: Texts) -> Trace:
    """A dot with its interval for each answer of a checkpoint."""
    said = []
    for row in rows:
        more = {"answer": escape(row.answer), "measured": row.measured}
        said.append(hover(evidence, row, "evidence.explained_hover", number, say, **more))
    colours = [_colour(row) for row in rows]
    marker = {"color": colours, "line": {"color": OTHER, "width": 1}, "size": 9}
    whisker = {"thickness": 1.5, "width": 3, "color": OTHER}
    return dots(
        drawn(rows, (answers.index(row.answer) for row in rows), said), marker, whisker, **axes_of(index)
    )


def _colour(row: Row) -> str:
    """By the sign of rho, grey where its interval holds 0."""
    return OTHER if row.low <= 0 <= row.high else diverging(0.5 if row.value > 0 else -0.5)
