"""The two plots of the evidence, dots with 95 % intervals, their legend, and what they say in sentences.

One shows accuracy under a probe, the other rho of the raw cosine. Both have the same rows, one for each
pooling, and the same scale, so that a spread in one can be held against the other. Own heads that are given
vectors they were not trained on are hatched boxes beside the probes: they are no result of a pooling, and no
ranking counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from math import ceil, floor
from types import MappingProxyType
from typing import Any

import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw import (
    CLEAR,
    MARKS,
    Figure,
    Trace,
    dots,
    drawn,
    guide,
    layout,
    row_axis,
    tick_width,
    value_axis,
    written,
)
from components.exhibits.evidence.evidence import (
    BASE,
    LEVEL,
    Evidence,
    Format,
    accuracy_text,
    against_base,
    corrected,
    ends,
    gains,
    hover,
    in_rows,
    label_lines,
    spread,
    tick,
    vectors,
)
from components.exhibits.evidence.tables import drawn_data, probe_data
from components.exhibits.exhibit import Exhibit, Shown, key_html, legend_html, strong_html
from components.exhibits.view import number, visible
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


@dataclass(frozen=True)
class Axis:
    """An axis of values, with a grid line at ``first`` times ``step`` and at ``count`` steps more."""

    first: int
    count: int
    step: float

    @property
    def places(self) -> list[float]:
        """Where the grid lines are."""
        return [round(self.step * (self.first + line), 2) for line in range(self.count + 1)]

    def marks(self, shown: Format) -> list[str]:
        """What stands at the grid lines: a number at both ends and in the middle, since phones are narrow."""
        named = {0, self.count / 2, self.count}
        texts = [shown(place).replace(".0 %", " %") for place in self.places]
        return [text if line in named else "" for line, text in enumerate(texts)]


def axes(evidence: Evidence) -> tuple[Axis, Axis]:
    """Of accuracy and of rho: both hold all that is drawn, and are as long in steps of the same size."""
    kinds = (("probe", "swap", "head"), ("cosine",))
    rows = [[row for kind in every for row in evidence.of(kind, *evidence.backbones)] for every in kinds]
    values = [[end for row in every for end in (row.low, row.high)] for every in rows]
    values[0] += [row.value for row in evidence.baselines]
    held = [(min(every, default=0.0), max(every, default=1.0)) for every in values]
    for step in STEPS:
        firsts = [floor(low / step) for low, _ in held]
        count = max(ceil(high / step) - first for first, (_, high) in zip(firsts, held, strict=True))
        if count <= LINES_MOST:
            break
    one = round(1 / step)  # no axis goes past 1
    first, other = (Axis(min(first, one - count), count, step) for first in firsts)
    return first, other


def legend(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Colour and shape of each backbone, and what lines and gaps mean."""
    items = [
        f'<li><span style="color: {colour}" aria-hidden="true">{sign}</span>'
        f"{escape(_sized(evidence, key, say))}</li>"
        for key, (colour, _, sign) in zip(evidence.backbones, MARKS, strict=False)
    ]
    items += [
        f'<li><span aria-hidden="true">{LINES[row.method][1]}</span> '
        f"{escape(_baseline(row.method, accuracy_text(row.value), say))}</li>"
        for row in evidence.baselines
    ]
    if evidence.of("swap", *evidence.backbones):
        items += [key_html(f"{kind}-head", say(f"evidence.{kind}_head")) for kind in ("own", "swapped")]
    notes = [say("evidence.intervals")]
    if len(evidence.backbones) == 1:
        notes.append(say("evidence.guide", base=BASE))
    poolings = set(chain.from_iterable(evidence.rows))
    if any({row.pooling for row in evidence.rhos(key)} < poolings for key in evidence.backbones):
        notes.append(say("evidence.unmeasured"))
    return Shown(html=legend_html(*items, f"<li>{escape(say.together(notes))}</li>"))


def _sized(evidence: Evidence, key: str, say: Texts) -> str:
    """A backbone and how large it is, so that a miniature is told from one that is full-grown."""
    title = evidence.title(key)
    for size in evidence.of("size", key):
        millions = number(size.parameters / 1e6, 1)
        return say("evidence.sized", backbone=title, layers=size.layers, width=size.width, millions=millions)
    return title


def _baseline(method: str, reached: str, say: Texts) -> str:
    """A baseline and what it reaches."""
    return say("evidence.baseline", name=say(f"evidence.baseline_{method}"), accuracy=reached)


def accuracy(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy of the same classifier on every pooling."""
    found = {key: evidence.of("probe", key) for key in evidence.backbones}
    title = say("evidence.accuracy_axis", task=escape(visible(say.name(evidence.task))))
    probes = _figure(evidence, found, axes(evidence)[0], title, accuracy_text, say)
    lines = [guide(row.value, LINES[row.method][0], GUIDE) for row in evidence.baselines]
    boxes = chain.from_iterable(_own_head(evidence, place, say) for place in range(len(found)))
    figure = Figure([*boxes, *probes.data], {**probes.layout, "shapes": [*probes.layout["shapes"], *lines]})
    heading, data = say("evidence.accuracy_heading"), drawn_data(evidence, say)
    return _shown(evidence, heading, _words(evidence, found, accuracy_text, say), data, figure, say)


def rho(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    found = {key: evidence.rhos(key) for key in evidence.backbones}
    figure = _figure(evidence, found, axes(evidence)[1], say("evidence.rho_axis"), number, say)
    heading, data = say("evidence.rho_heading"), probe_data(evidence, say)
    return _shown(evidence, heading, _words(evidence, found, number, say), data, figure, say)


LEGEND = Exhibit("evidence-legend", legend, frame="bare")
ACCURACY = Exhibit("accuracy", accuracy, plotted=True, with_summary=True)
RHO = Exhibit("rho", rho, plotted=True, with_summary=True)


def _shown(
    evidence: Evidence, heading: str, words: str, data: pd.DataFrame, figure: Figure, say: Texts
) -> Shown:
    """A plot; an image of it names the backbones with their shapes."""
    signs = zip(evidence.backbones, MARKS, strict=False)
    names = "  ".join(f"{sign} {evidence.title(key)}" for key, (_, _, sign) in signs)
    about = say("away.about_evidence", task=visible(say.name(evidence.task)), backbones=names)
    return Shown(heading=heading, words=words, data=data, figure=figure, about=about)


def _words(evidence: Evidence, found: Mapping[str, Sequence[Row]], shown: Format, say: Texts) -> str:
    """The lowest and the highest value of each backbone that has any, by the names of vectors."""
    spans = [
        say("evidence.span", backbone=evidence.title(key), **_extremes(vectors(rows), shown))
        for key, rows in found.items()
        if rows
    ]
    if not spans:
        return say("evidence.unmeasured_all")
    return say("evidence.description", count=len(evidence.rows), spans=say("list.semicolon").join(spans))


def _extremes(found: Iterable[Row], shown: Format) -> dict[str, str]:
    """What a sentence says of the lowest and of the highest value, and whose they are, not escaped."""
    low, high = ends(found)
    return {
        "low": shown(low.value),
        "lowest": low.called,
        "high": shown(high.value),
        "highest": high.called,
    }


def _figure(
    evidence: Evidence, found: Mapping[str, Sequence[Row]], axis: Axis, title: str, shown: Format, say: Texts
) -> Figure:
    """What was ``found`` of each backbone, along ``axis`` with its ``title``; ``shown`` writes a value."""
    rows, total = evidence.rows, len(evidence.backbones)
    placed = {key: in_rows(of_key, rows) for key, of_key in found.items()}
    traces = [_dots(evidence, each, place, shown, say) for place, each in enumerate(placed.values())]
    shapes = []
    if total == 1:
        (alone,), values = placed.values(), ["–"] * len(rows)
        for row in alone:
            values[row.place] = shown(row.value)
            shapes += [guide(row.value, "dot", GUIDE)] if BASE in row.poolings else []
        traces.append(
            written([1] * len(rows), list(range(len(rows))), values, "middle right")
        )  # at the right
    labels = list(map(label_lines, rows))
    left, room = tick_width(tuple(chain(*labels))), LINE * max(map(len, labels), default=1)
    (start, *_, end), marks = axis.places, axis.marks(shown)
    if (start, end) != (0, 1):
        title = say("evidence.axis_ends", title=title, start=marks[0], end=marks[-1])
    frame = layout(
        height=len(rows) * max(22 + 6 * total, room) + 68,
        margin={"l": left, "r": VALUES if total == 1 else 30, "t": 6, "b": 62},
        xaxis=value_axis(title, range=[start, end], tickvals=axis.places, ticktext=marks, tickangle=0),
        yaxis=row_axis(list(map(tick, rows)), showgrid=True, gridcolor="rgba(128, 128, 128, 0.12)"),
        shapes=shapes,
    )
    return Figure(data=traces, layout=frame)


def _dots(evidence: Evidence, placed: Sequence[Row], index: int, shown: Format, say: Texts) -> Trace:
    """One backbone's estimates; several backbones share a row, one below the other."""
    alone, (colour, symbol, _) = len(evidence.backbones) == 1, MARKS[index]
    return dots(
        _said(evidence, placed, _shift(evidence, index), shown, "evidence.hover", say),
        {"color": colour, "symbol": symbol, "size": 8 if alone else 7},
        {"thickness": 2.5, "width": 6} if alone else {"thickness": 1.5, "width": 0},
        name=escape(evidence.title(evidence.backbones[index])),
    )


def _said(
    evidence: Evidence, placed: Sequence[Row], shift: float, shown: Format, key: str, say: Texts, **more: str
) -> pd.DataFrame:
    """The rows as they are drawn, ``shift`` below the middle of their place; ``key``: of what is said."""
    said = []
    for row in placed:
        named = {"pooling": escape(row.called), "examples": row.measured, **more}
        said.append(hover(evidence, row, key, shown, say, **named))
    return drawn(placed, (round(row.place + shift, 3) for row in placed), said)


def _shift(evidence: Evidence, index: int) -> float:
    """How far below the middle of a row one of several backbones is drawn."""
    total = len(evidence.backbones)
    return (index - (total - 1) / 2) * 0.75 / total


def _own_head(evidence: Evidence, index: int, say: Texts) -> list[Trace]:
    """A backbone's own head: a frame on its own vector, hatched boxes on those it was not trained on.

    They lie a little below the dots of the probes.
    """
    key, colour, height = evidence.backbones[index], MARKS[index][0], 0.75 / len(evidence.backbones)
    own = [beside(row, pooling=NATIVE) for row in evidence.of("head", key)]
    hatched: dict[str, Any] = {"pattern": {**HATCH, "fgcolor": colour}}
    shift, traces = _shift(evidence, index) + 0.34 * height, []
    for name, found, marker in (("own", own, {}), ("swapped", evidence.of("swap", key), hatched)):
        kind = escape(say(f"evidence.{name}_head"))
        placed = in_rows(found, evidence.rows)
        rows = _said(evidence, placed, shift, accuracy_text, "evidence.hover_head", say, kind=kind)
        if found:
            style = {"color": CLEAR, "line": {"color": colour, "width": 1}, **marker}
            traces.append(_boxes(rows, f"{escape(evidence.title(key))} · {kind}", 0.32 * height, style))
    return traces


def _boxes(rows: pd.DataFrame, name: str, height: float, marker: Mapping[str, Any]) -> Trace:
    """A box for each row: its interval, from end to end."""
    return Trace(
        type="bar",
        orientation="h",
        name=name,
        base=[round(low, 4) for low in rows["low"]],
        x=[round(high - low, 4) for low, high in zip(rows["low"], rows["high"], strict=True)],
        y=rows["place"].tolist(),
        width=height,
        marker=marker,
        hovertext=rows["said"].tolist(),
        hovertemplate="%{hovertext}<extra></extra>",
    )


def findings(evidence: Evidence, _: State, say: Texts) -> Shown:
    """What baselines reach, then for each backbone how far accuracy and rho spread over the poolings."""
    lines = [_beside(evidence, say)] if evidence.baselines else []
    lines += [_finding(evidence, key, say) for key in evidence.backbones]
    items = "".join(f"<li>{line}</li>" for line in lines)
    return Shown(html=f'<ul class="findings">{items}</ul>')


def published(_: Evidence, __: State, say: Texts) -> Shown:
    """The same comparison in a paper."""
    return Shown(html=f'<p class="published">{escape(say("evidence.published"))}</p>')


FINDINGS = Exhibit("findings", findings, frame="bare", title="evidence.findings")
PUBLISHED = Exhibit("published", published, frame="bare", title="evidence.others")


def _beside(evidence: Evidence, say: Texts) -> str:
    """What is reached without a network, and whether own heads reach more."""
    reached = say.listed(
        _baseline(row.method, strong_html(accuracy_text(row.value)), say) for row in evidence.baselines
    )
    sentence = say("evidence.finding_baselines", reached=reached)
    heads = corrected(evidence.own)
    if not heads:
        return sentence
    better, worse = gains(heads)
    numbers = {
        "name": say(f"evidence.baseline_{evidence.baselines[-1].method}"),
        "worse": worse,
        "level": LEVEL,
    }
    if better:
        of_all = strong_html(say("evidence.of", some=better, all=len(heads)))
        against = say("evidence.finding_own", better=of_all, **numbers)
    else:
        best = strong_html(accuracy_text(max(row.value for row in heads)))
        against = say("evidence.finding_unbeaten", total=len(heads), best=best, **numbers)
    return say.together((sentence, against))


def _finding(evidence: Evidence, key: str, say: Texts) -> str:
    accuracies, rhos = vectors(evidence.of("probe", key)), vectors(evidence.rhos(key))
    name = strong_html(evidence.title(key))
    if not accuracies:
        return say("evidence.nothing", backbone=name)
    others = against_base(accuracies)
    differ = sum(row.corrected < LEVEL for row in others)
    said = [
        say(
            "evidence.finding",
            backbone=name,
            spread=strong_html(say("evidence.points", points=spread(accuracies, 100, 1))),
            count=len(accuracies),
            differ=strong_html(say("evidence.of", some=differ, all=len(others))),
            base=BASE,
            level=LEVEL,
            **_escaped(accuracies, accuracy_text),
        )
    ]
    if rhos:
        width, (low, high) = strong_html(spread(rhos, 1, 2)), ends(rhos)
        said.append(say("evidence.finding_rho", spread=width, count=len(rhos), **_escaped(rhos, number)))
        said.append(say("evidence.rho_apart" if low.high < high.low else "evidence.rho_overlap"))
    swapped = vectors(evidence.of("swap", key))
    for own in evidence.of("head", key) if swapped else ():
        reached, count = strong_html(accuracy_text(own.value)), len(swapped)
        said.append(
            say("evidence.finding_swaps", own=reached, count=count, **_escaped(swapped, accuracy_text))
        )
    return say.together(said)


def _escaped(found: Iterable[Row], shown: Format) -> dict[str, str]:
    return {name: escape(text) for name, text in _extremes(found, shown).items()}
