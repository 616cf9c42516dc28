"""The two plots of the evidence, dots with 95 % intervals, their legend, and what they say in sentences.

One shows accuracy under a probe, the other rho of the raw cosine. Both have the same rows, one for each
pooling, and the same scale, so that a spread in one can be held against the other. Own heads that are given
vectors they were not trained on are hatched boxes beside the probes: they are no result of a pooling, and no
ranking counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain
from math import ceil, floor
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from components.exhibits import draw
from components.exhibits.control import State
from components.exhibits.evidence import (
    BASE,
    LEVEL,
    SAVED,
    Evidence,
    Format,
    accuracy_text,
    against_base,
    corrected,
    data_of,
    ends,
    gains,
    label_lines,
    named,
    points,
    probe_rows,
    spread,
    swapped_rows,
    tick,
    vectors,
)
from components.exhibits.exhibit import Exhibit, Shown
from components.exhibits.view import number, visible
from components.markup import render
from components.results import Baseline, Row, beside
from components.texts import Texts

# How the accuracy of a baseline is drawn, and its sign in the legend.
LINES: Mapping[Baseline, tuple[str, str]] = MappingProxyType(
    {"majority": ("dashdot", "╌·╌"), "words": ("dash", "╌╌╌"), "overlap": ("dash", "╌╌╌")}
)
LINE = 18  # pixels of a line of a label
VALUES = 58  # pixels of the column of values at the right
STEPS = (0.05, 0.1, 0.25)  # between grid lines, of accuracy and of rho alike: the smallest that does it
LINES_MOST = 10  # steps of an axis, so that intervals are wider than dots on a phone, too
NATIVE = "native"  # the head's own vector
HATCH = {"shape": "/", "size": 6, "solidity": 0.3}  # of a bar; the style sheet has the same for the legend
GUIDE = "rgba(128, 128, 128, 0.9)"  # of a line through a value that others are held against


class Measure(NamedTuple):
    """Accuracy or rho: ``found`` of each backbone, as it is ``shown``, with grid lines at its ``places``."""

    found: Mapping[str, Sequence[Row]]
    shown: Format
    places: Sequence[float]

    @property
    def marks(self) -> list[str]:
        """Texts at the grid lines: a number at both ends and in the middle, since phones are narrow."""
        last = len(self.places) - 1
        texts = [self.shown(place).replace(".0 %", " %") for place in self.places]
        return [text if line in (0, last / 2, last) else "" for line, text in enumerate(texts)]


def measures(evidence: Evidence) -> tuple[Measure, Measure]:
    """Accuracy and rho, whose axes hold all that is drawn, and are as long in steps of the same size."""
    kinds = (("probe", "swap", "head"), ("cosine",))
    rows = [[row for kind in every for row in evidence.of(kind, *evidence.backbones)] for every in kinds]
    values = [[end for row in every for end in (row.low, row.high)] for every in rows]
    values[0] += [row.value for row in evidence.of_task("baseline")]
    held = [(min(every, default=0.0), max(every, default=1.0)) for every in values]
    for step in STEPS:
        firsts = [floor(low / step) for low, _ in held]
        count = max(ceil(high / step) - first for first, (_, high) in zip(firsts, held, strict=True))
        if count <= LINES_MOST:
            break
    starts = (min(first, round(1 / step) - count) for first in firsts)  # no axis goes past 1
    places, others = ([round(step * (start + line), 2) for line in range(count + 1)] for start in starts)
    accuracies = {key: evidence.of("probe", key) for key in evidence.backbones}
    rhos = {key: evidence.rhos(key) for key in evidence.backbones}
    return Measure(accuracies, accuracy_text, places), Measure(rhos, number, others)


def legend(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Colour and shape of each backbone, and what lines and gaps mean."""
    poolings, keys = set(chain.from_iterable(evidence.rows)), evidence.backbones
    html = render(
        "evidence_legend",
        say,
        backbones=[
            (colour, sign, evidence.title(key), next(iter(evidence.of("size", key)), None))
            for key, (colour, _, sign) in zip(keys, draw.MARKS, strict=False)
        ],
        baselines=[(LINES[row.method][1], row) for row in evidence.of_task("baseline")],
        swaps=bool(evidence.of("swap", *keys)),
        unmeasured=any({row.pooling for row in evidence.rhos(key)} < poolings for key in keys),
        base=BASE,
        **{"accuracy": accuracy_text, "number": number},
    )
    return Shown(html=html)


def accuracy(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy of the same classifier on every pooling, and what the own heads say of other vectors."""
    measure, task = measures(evidence)[0], escape(visible(say.name(evidence.task)))
    plot = _figure(evidence, measure, say("evidence.accuracy_axis", task=task), say)
    lines = [draw.guide(row.value, LINES[row.method][0], GUIDE) for row in evidence.of_task("baseline")]
    boxes = chain.from_iterable(_own_head(evidence, place, say) for place in range(len(evidence.backbones)))
    figure = draw.Figure([*boxes, *plot.data], {**plot.layout, "shapes": [*plot.layout["shapes"], *lines]})
    swapped = swapped_rows(evidence, evidence.of("swap", *evidence.backbones), say)
    kinds = (("probe", probe_rows(evidence, say)), ("swapped", swapped))
    rows = [beside(row, classifier=say(f"evidence.{kind}_head")) for kind, rows in kinds for row in rows]
    return _shown(evidence, "accuracy", measure, data_of(("classifier", *SAVED), rows, say), figure, say)


def rho(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    measure = measures(evidence)[1]
    figure = _figure(evidence, measure, say("evidence.rho_axis"), say)
    return _shown(evidence, "rho", measure, data_of(SAVED, probe_rows(evidence, say), say), figure, say)


LEGEND = Exhibit("evidence-legend", legend, frame="bare")
ACCURACY = Exhibit("accuracy", accuracy, plotted=True, with_summary=True)
RHO = Exhibit("rho", rho, plotted=True, with_summary=True)


def _shown(
    evidence: Evidence, name: str, measure: Measure, data: pd.DataFrame, figure: draw.Figure, say: Texts
) -> Shown:
    """A plot; an image of it names the backbones with their shapes.

    In words the lowest and the highest value of each backbone that has any, by the names of vectors.
    """
    signs = zip(evidence.backbones, draw.MARKS, strict=False)
    names = "  ".join(f"{sign} {evidence.title(key)}" for key, (_, _, sign) in signs)
    spans = [
        say("evidence.span", backbone=evidence.title(key), **_extremes(vectors(rows), measure.shown))
        for key, rows in measure.found.items()
        if rows
    ]
    told = {"count": len(evidence.rows), "spans": say("list.semicolon").join(spans)}
    return Shown(
        heading=say(f"evidence.{name}_heading"),
        words=say("evidence.description" if spans else "evidence.unmeasured_all", **told),
        data=data,
        figure=figure,
        about=say("away.about_evidence", task=visible(say.name(evidence.task)), backbones=names),
    )


def _extremes(found: Iterable[Row], shown: Format) -> dict[str, str]:
    """The lowest and the highest value, and whose they are, as a sentence says it, not escaped."""
    low, high = ends(found)
    values = {"low": shown(low.value), "high": shown(high.value)}
    return {**values, "lowest": low.called, "highest": high.called}


def _figure(evidence: Evidence, measure: Measure, title: str, say: Texts) -> draw.Figure:
    rows, total, shown = evidence.rows, len(evidence.backbones), measure.shown
    whisker = {"thickness": 2.5, "width": 6} if total == 1 else {"thickness": 1.5, "width": 0}
    traces, shapes, values = [], [], ["–"] * len(rows)
    for index, (key, found) in enumerate(measure.found.items()):
        colour, symbol, _ = draw.MARKS[index]
        placed = _in_rows(found, rows, _shift(evidence, index))
        dots = points(evidence, placed, "evidence.hover", shown, say)
        marker = {"color": colour, "symbol": symbol, "size": 8 if total == 1 else 7}
        traces.append(draw.dots(dots, marker, whisker, name=escape(evidence.title(key))))
        for row in placed if total == 1 else ():
            values[round(row.place)] = shown(row.value)
            shapes += [draw.guide(row.value, "dot", GUIDE)] if BASE in row.poolings else []
    if total == 1:
        traces.append(draw.written([1] * len(rows), list(range(len(rows))), values, "middle right"))
    labels = list(map(label_lines, rows))
    left, room = draw.tick_width(chain(*labels)), LINE * max(map(len, labels), default=1)
    (start, *_, end), marks = measure.places, measure.marks
    if (start, end) != (0, 1):
        title = say("evidence.axis_ends", title=title, start=marks[0], end=marks[-1])
    frame = draw.layout(
        height=len(rows) * max(22 + 6 * total, room) + 68,
        margin={"l": left, "r": VALUES if total == 1 else 30, "t": 6, "b": 62},
        xaxis=draw.value_axis(
            title, range=[start, end], tickvals=measure.places, ticktext=marks, tickangle=0
        ),
        yaxis=draw.row_axis(list(map(tick, rows)), showgrid=True, gridcolor="rgba(128, 128, 128, 0.12)"),
        shapes=shapes,
    )
    return draw.Figure(data=traces, layout=frame)


def _in_rows(found: Sequence[Row], rows: Sequence[Sequence[str]], shift: float) -> list[Row]:
    """Put what was ``found`` of poolings into ``rows``, at most one into each, ``shift`` below its middle."""
    first = {row.pooling: row for row in reversed(found)}
    held = [[first[name] for name in names if name in first] for names in rows]
    return [
        beside(named(same[0], names), place=round(place + shift, 3))
        for place, (names, same) in enumerate(zip(rows, held, strict=True))
        if same
    ]


def _shift(evidence: Evidence, index: int) -> float:
    total = len(evidence.backbones)
    return (index - (total - 1) / 2) * 0.75 / total


def _own_head(evidence: Evidence, index: int, say: Texts) -> list[draw.Trace]:
    """A backbone's own head: a frame on its own vector, hatched boxes on those it was not trained on.

    They lie a little below the dots of the probes, each from end to end of its interval.
    """
    key, colour, height = evidence.backbones[index], draw.MARKS[index][0], 0.75 / len(evidence.backbones)
    own = [beside(row, pooling=NATIVE) for row in evidence.of("head", key)]
    hatched: dict[str, Any] = {"pattern": {**HATCH, "fgcolor": colour}}
    shift, traces = _shift(evidence, index) + 0.34 * height, []
    for name, found, marker in (("own", own, {}), ("swapped", evidence.of("swap", key), hatched)):
        kind, placed = say(f"evidence.{name}_head"), _in_rows(found, evidence.rows, shift)
        rows = points(evidence, placed, "evidence.hover_head", accuracy_text, say, kind=kind)
        box = draw.Trace(
            type="bar",
            orientation="h",
            name=escape(f"{evidence.title(key)} · {kind}"),
            base=[round(low, 4) for low in rows["low"]],
            x=[round(high - low, 4) for low, high in zip(rows["low"], rows["high"], strict=True)],
            y=rows["place"].tolist(),
            width=0.32 * height,
            marker={"color": draw.CLEAR, "line": {"color": colour, "width": 1}, **marker},
            hovertext=rows["said"].tolist(),
            **draw.SAID,
        )
        traces += [box] if found else []
    return traces


def findings(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Say what baselines reach, then for each backbone how far accuracy and rho spread over the poolings."""
    baselines, heads = evidence.of_task("baseline"), corrected(evidence.of_task("head"))
    better, worse = gains(heads)
    html = render(
        "findings",
        say,
        baselines=baselines,
        heads=heads,
        better=better,
        worse=worse,
        findings=[_finding(evidence, key) for key in evidence.backbones],
        base=BASE,
        level=LEVEL,
        accuracy=accuracy_text,
        **{"number": number, "spread": spread, "ends": ends, "extremes": _extremes},
    )
    return Shown(html=html)


def published(_: Evidence, __: State, say: Texts) -> Shown:
    """Quote the same comparison in a paper."""
    return Shown(html=f'<p class="published">{escape(say("evidence.published"))}</p>')


FINDINGS = Exhibit("findings", findings, frame="bare", title="evidence.findings")
PUBLISHED = Exhibit("published", published, frame="bare", title="evidence.others")


def _finding(evidence: Evidence, key: str) -> dict[str, Any]:
    accuracies, others = vectors(evidence.of("probe", key)), against_base(vectors(evidence.of("probe", key)))
    return {
        "title": evidence.title(key),
        "accuracies": accuracies,
        "others": len(others),
        "differ": sum(row.corrected < LEVEL for row in others),
        "rhos": vectors(evidence.rhos(key)),
        "own": evidence.of("head", key),
        "swapped": vectors(evidence.of("swap", key)),
    }
