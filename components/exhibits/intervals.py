"""The two plots of the evidence, dots with 95 % intervals, their legend, and what they say in sentences.

One shows accuracy under a probe, the other rho of the raw cosine. Both have the same rows, one for each
pooling, and the same scale, so that a spread in one can be held against the other. Own heads that are given
vectors they were not trained on are hatched boxes beside the probes: they are no result of a pooling, and no
ranking counts them.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain, islice
from math import ceil, floor
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from components.exhibits import draw
from components.exhibits.control import State
from components.exhibits.evidence import (
    ACCURACIES,
    BASE,
    COUNTS,
    LEVEL,
    PS,
    RHOS,
    SAVED,
    Evidence,
    Format,
    accuracy_text,
    corrected,
    data_of,
    ends,
    extremes,
    gains,
    named,
    probe_rows,
    saved_rows,
    shared,
    swapped_rows,
    vectors,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.view import number, one_vector, shorten, visible
from components.markup import render
from components.results import GAIN, TEST, Baseline, Row, beside
from components.texts import Texts

# How the accuracy of a baseline is drawn, and its sign in the legend.
LINES: Mapping[Baseline, tuple[str, str]] = MappingProxyType(
    {"majority": ("dashdot", "╌·╌"), "words": ("dash", "╌╌╌"), "overlap": ("dash", "╌╌╌")}
)
WIDEST = 16  # characters of a line of a label
LINE = 18  # pixels of a line of a label
VALUES = 58  # pixels of the column of values at the right
STEPS = (0.05, 0.1, 0.25)  # between grid lines, of accuracy and of rho alike: the smallest that does it
LINES_MOST = 10  # steps of an axis, so that intervals are wider than dots on a phone, too
NATIVE = "native"  # the head's own vector
HATCH = {"shape": "/", "size": 6, "solidity": 0.3}  # of a bar; the style sheet has the same for the legend
GUIDE = "rgba(128, 128, 128, 0.9)"  # of a line through a value that others are held against


# Of small plots.
WHISKER = {"thickness": 1.5, "width": 3}
LEAST = 170  # pixels of a small plot of a backbone
NAME = 24  # characters of its name

# Of every layer.
DEPTH_COLUMNS = ("backbone", "pooling", "layer", *ACCURACIES, *COUNTS, *PS, "measured")
ACROSS, HIGH = 4, 168  # small plots in a row, and the pixels of a row of them
LEFT, TOP, BOTTOM = 52, 26, 44  # pixels around all of them
LEAST_WIDTH = 760  # pixels below which they scroll in their box
POOLING = 26  # characters of the name of one

# Of the steps before the cosine.
PLAIN = "plain"
SIGNS = {  # how plotly and a legend draw what is done first
    PLAIN: ("circle-open", "○"),
    "centred": ("triangle-up-open", "△"),
    "standardised": ("square-open", "□"),
    "whitened": ("circle", "●"),
}
STEP_COLUMNS = ("backbone", "pooling", "step", *RHOS, *GAIN, "fitted", "pairs")
MARKED = 5  # steps between marks of an axis at most, of a tenth or more each
LANE = 0.2  # of a row, between two dots of it

# Of the answers.
SIMILARITY = "similarity"
SIGN = (draw.diverging(-0.5), draw.diverging(0.5))  # colours of a rho below 0 and above
ANSWER_COLUMNS = ("backbone", "task", "answer", *RHOS, *COUNTS, *PS, "measured")


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
    values = [
        [end for kind in kinds for row in evidence.of(kind) for end in (row.low, row.high)]
        for kinds in (("probe", "swap", "head"), ("cosine",))
    ]
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
        swaps=bool(evidence.of("swap")),
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
    swapped = swapped_rows(evidence, evidence.of("swap"), say)
    kinds = (("probe", probe_rows(evidence, say)), ("swapped", swapped))
    rows = [beside(row, classifier=say(f"evidence.{kind}_head")) for kind, rows in kinds for row in rows]
    return _shown(evidence, "accuracy", measure, data_of(("classifier", *SAVED), rows, say), figure, say)


def rho(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    measure = measures(evidence)[1]
    figure = _figure(evidence, measure, say("evidence.rho_axis"), say)
    return _shown(evidence, "rho", measure, data_of(SAVED, probe_rows(evidence, say), say), figure, say)


def _shown(
    evidence: Evidence, name: str, measure: Measure, data: pd.DataFrame, figure: draw.Figure, say: Texts
) -> Shown:
    """A plot; an image of it names the backbones with their shapes.

    In words the lowest and the highest value of each backbone that has any, by the names of vectors.
    """
    signs = zip(evidence.backbones, draw.MARKS, strict=False)
    names = "  ".join(f"{sign} {evidence.title(key)}" for key, (_, _, sign) in signs)
    spans = [
        say("evidence.span", backbone=evidence.title(key), **extremes(vectors(rows), measure.shown))
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


def _figure(evidence: Evidence, measure: Measure, title: str, say: Texts) -> draw.Figure:
    rows, total, shown = evidence.rows, len(evidence.backbones), measure.shown
    whisker = {"thickness": 2.5, "width": 6} if total == 1 else {"thickness": 1.5, "width": 0}
    traces, shapes, values = [], [], ["–"] * len(rows)
    for index, (key, found) in enumerate(measure.found.items()):
        colour, symbol, _ = draw.MARKS[index]
        placed = _in_rows(found, rows, _shift(evidence, index))
        dots = _points(evidence, placed, "evidence.hover", shown, say)
        marker = {"color": colour, "symbol": symbol, "size": 8 if total == 1 else 7}
        traces.append(draw.dots(dots, marker, whisker, name=escape(evidence.title(key))))
        for row in placed if total == 1 else ():
            values[round(row.place)] = shown(row.value)
            shapes += [draw.guide(row.value, "dot", GUIDE)] if BASE in row.poolings else []
    if total == 1:
        traces.append(draw.written([1] * len(rows), list(range(len(rows))), values, "middle right"))
    labels = list(map(_label_lines, rows))
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
        yaxis=draw.row_axis(list(map(_tick, rows)), showgrid=True, gridcolor="rgba(128, 128, 128, 0.12)"),
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
        rows = _points(evidence, placed, "evidence.hover_head", accuracy_text, say, kind=kind)
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


def _label_lines(poolings: Iterable[str]) -> list[str]:
    """The label of a row, not escaped: the names of one vector, on as few lines as fit."""
    return textwrap.wrap(one_vector(map(shorten, map(visible, poolings))), WIDEST, break_on_hyphens=False)


def _tick(poolings: Sequence[str]) -> str:
    """The label of a row as plotly draws it."""
    label = "<br>".join(map(escape, _label_lines(poolings)))
    return f"<b>{label}</b>" if BASE in poolings else label


def _points(
    evidence: Evidence, rows: Iterable[Row], key: str, shown: Format, say: Texts, **more: object
) -> pd.DataFrame:
    """The rows as they are drawn, each at its ``place``; ``key``: of what is said on pointing at one.

    ``shown`` writes a value and its ends; ``more`` is said besides.
    """
    found = []
    for row in rows:
        values = {name: shown(getattr(row, name)) for name in ("value", "low", "high")}
        told = {**vars(row), "pooling": getattr(row, "called", ""), "examples": row.measured, **more}
        said = say.html(key, **{**told, "backbone": evidence.title(row.backbone), **values})
        found.append((row.value, row.low, row.high, row.place, said))
    return pd.DataFrame(found, columns=["value", "low", "high", "place", "said"])


def _rho_scale(ends: Sequence[float], marks: Sequence[float], digits: Sequence[int]) -> dict[str, Any]:
    """The axis of rho in small plots, with a line at 0, and as many ``digits`` at each of its marks."""
    texts = [number(mark, count) for mark, count in zip(marks, digits, strict=True)]
    return draw.value_axis("", range=ends, tickvals=marks, ticktext=texts, tickangle=0, **draw.ZERO_LINE)


def profiles(evidence: Evidence, backbone: str) -> list[list[Row]]:
    """Each vector of a backbone at every layer, from the embeddings to the last; none if only that is known.

    One profile for the ``poolings`` that are one vector at all layers. The layers below the last are held
    against it: their p is ``corrected`` by Holm's method over all of them, and that of the last layer is
    None.
    """
    lower: dict[str, list[Row]] = {}
    for row in evidence.of("depth", backbone):
        lower.setdefault(row.pooling, []).append(row)
    untested = dict.fromkeys((*TEST, "corrected"))
    alike: dict[tuple[str, ...], list[list[Row]]] = {}
    for row in evidence.of("probe", backbone):
        if below := lower.get(row.pooling):
            profile = [*below, beside(row, layer=len(below), **untested)]
            alike.setdefault(tuple(one.vector for one in profile), []).append(profile)
    tested = iter(corrected([row for first, *_ in alike.values() for row in first[:-1]]))
    return [
        [
            named(row, [one[0].pooling for one in same])
            for row in (*islice(tested, len(same[0]) - 1), same[0][-1])
        ]
        for same in alike.values()
    ]


def best(profile: Iterable[Row]) -> Row:
    """The layer that reaches most; of equal ones the last."""
    return max(profile, key=lambda row: (row.value, row.layer))


def depths(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy at every layer, and whether a lower one is better than the last."""
    found = {key: profiles(evidence, key) for key in evidence.backbones}
    every = [row for known in found.values() for profile in known for row in profile]
    names = shared(every, (name for row in every for name in row.poolings))
    task = visible(say.name(evidence.task))
    told = [_layers_finding(evidence.title(key), known) for key, known in found.items()]
    return Shown(
        heading=say("evidence.depths_heading"),
        words=say("evidence.depths_words", plots=len(names)),
        data=data_of(DEPTH_COLUMNS, saved_rows(evidence, every, say), say),
        figure=_layers_figure(evidence, every, names, say),
        above=render("layers", say, findings=told, level=LEVEL, accuracy=accuracy_text),
        legend=hint_html(say("evidence.depths_hint", task=task)),
        about=evidence.about(task, evidence.backbones, say),
        least_width=LEAST_WIDTH,
    )


def _layers_finding(title: str, known: Sequence[Sequence[Row]]) -> dict[str, Any]:
    """Count for which poolings an intermediate layer of a backbone is better than the last."""
    highest = max(known, key=lambda profile: best(profile).value, default=())
    better, worse = gains(row for profile in known for row in profile)
    return {
        "title": title,
        "all": len(known),
        "below": sum(best(profile).layer < profile[-1].layer for profile in known),
        "tested": sum(len(profile) - 1 for profile in known),
        "better": better,
        "worse": worse,
        "top": best(highest) if highest else None,
        "last": highest[-1] if highest else None,
        "gaining": [profile[0].called for profile in known if gains(profile)[0]],
    }


def _layers_figure(
    evidence: Evidence, every: Sequence[Row], names: Sequence[Sequence[str]], say: Texts
) -> draw.Figure:
    """A small plot for each of the ``names``, with a line for each backbone, all on one scale."""
    start = floor(10 * min((row.low for row in every), default=0.0))
    deep = max((row.layer for row in every), default=0)
    lines = -(-len(names) // ACROSS)
    axes: dict[str, Any] = {}
    titles = []
    for place, poolings in enumerate(names):
        number = draw.axis_number(place)
        axes[f"xaxis{number}"] = draw.axis(range=[-0.4, deep + 0.4], dtick=max(1, -(-deep // 6)), tickangle=0)
        axes[f"yaxis{number}"] = draw.axis(
            range=[start / 10 - 0.01, 1.01],
            tickvals=[tenth / 10 for tenth in range(start, 11)],
            ticktext=[f"{10 * tenth} %" if tenth % 2 == 0 else "" for tenth in range(start, 11)],
            showticklabels=place % ACROSS == 0,
            showgrid=True,
            gridcolor=draw.GRID,
        )
        text = escape(shorten(one_vector(poolings), POOLING))
        titles.append(draw.plot_name(place, f"<b>{text}</b>" if BASE in poolings else text))
    where = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0, "yshift": -BOTTOM, "yanchor": "bottom"}
    frame = draw.layout(
        height=lines * HIGH + TOP + BOTTOM,
        margin={"l": LEFT, "r": 10, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        grid={"rows": lines, "columns": ACROSS, "pattern": "independent", "xgap": 0.08, "ygap": 0.42},
        annotations=[*titles, {**where, "text": say("evidence.depths_axis"), "showarrow": False}],
        **axes,
    )
    traces = (_layers(evidence, every, each[0], place, say) for place, each in enumerate(names))
    return draw.Figure(data=list(chain.from_iterable(traces)), layout=frame)


def _layers(
    evidence: Evidence, every: Sequence[Row], pooling: str, place: int, say: Texts
) -> list[draw.Trace]:
    traces = []
    for key, (colour, symbol, _) in zip(evidence.backbones, draw.MARKS, strict=False):
        rows = [
            beside(row, place=row.layer) for row in every if row.backbone == key and pooling in row.poolings
        ]
        layers = _points(evidence, rows, "evidence.depths_hover", accuracy_text, say)
        style = {"mode": "lines+markers", "line": {"color": colour, "width": 2}, **draw.axes_of(place)}
        marker = {"color": colour, "symbol": symbol, "size": 7}
        traces += [draw.dots(layers, marker, WHISKER, "y", **style)] if rows else []
    return traces


def stepped(evidence: Evidence, backbone: str) -> list[Row]:
    """The vectors of a backbone, each as it is and after each step; empty where no step was measured."""
    plain = {row.pooling: beside(row, step=PLAIN) for row in evidence.of("cosine", backbone)}
    after = [row for row in evidence.of("postprocessed", backbone) if row.pooling in plain]
    by_step = {(row.pooling, row.step): row for row in (*plain.values(), *after)}
    return [
        named(by_step[one.vector, step], one.poolings)
        for one in vectors(after)
        for step in SIGNS
        if (one.vector, step) in by_step
    ]


def raised_and_lowered(rows: Iterable[Row], **where: str) -> tuple[int, int]:
    """Count where rho is beyond its interval above, and below, that of plain cosines, of rows with these."""
    of = [row for row in rows if where.items() <= vars(row).items()]
    return sum(row.gain_low > 0 for row in of), sum(row.gain_high < 0 for row in of)


def whitening(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Rho of the chosen backbones' vectors, plain and after each step, and whether whitening helps."""
    found = _of_steps(evidence)
    every = list(chain.from_iterable(found.values()))
    rows = shared(every, (name for row in every for name in row.poolings))
    left = draw.tick_width(chain.from_iterable(map(_label_lines, rows)))
    saved = [
        beside(row, step=say(f"evidence.step_{row.step}"), pairs=row.measured)
        for row in saved_rows(evidence, every, say, "rho")
    ]
    signs = "   ".join(f"{sign} {say(f'evidence.step_{name}')}" for name, (_, sign) in SIGNS.items())
    fitted = max(row.fitted for row in evidence.every["postprocessed"])
    return Shown(
        heading=say("evidence.steps_heading"),
        words=say("evidence.steps_words", plots=len(found)),
        data=data_of(STEP_COLUMNS, saved, say),
        figure=_steps_figure(evidence, every, rows, left, say),
        above=_steps_told(evidence, found, say),
        legend=hint_html(signs) + hint_html(say("evidence.steps_hint", fitted=fitted)),
        about=evidence.about(say("evidence.rho_axis"), found, say),
        least_width=left + LEAST * len(found),
    )


def _of_steps(evidence: Evidence) -> Mapping[str, Sequence[Row]]:
    every = {key: stepped(evidence, key) for key in evidence.backbones}
    return {key: known for key, known in every.items() if known}


def _steps_told(evidence: Evidence, found: Mapping[str, Sequence[Row]], say: Texts) -> Markup:
    """Say what each step does to each backbone's vectors, and whether whitening helps over all of them."""
    findings = []
    for key, known in found.items():
        (_, before), (_, after) = (
            ends(r for r in known if (r.step == PLAIN) == plain) for plain in (True, False)
        )
        moved = [(step, *raised_and_lowered(known, step=step)) for step in SIGNS if step != PLAIN]
        total = sum(row.step == PLAIN for row in known)
        title = evidence.title(key)
        findings.append({"title": title, "total": total, "moved": moved, "before": before, "after": after})
    every = evidence.every["postprocessed"]
    rows = [row for row in every if row.step == "whitened" and row.vector == row.pooling]
    raised, lowered = raised_and_lowered(rows)
    counts = {row.backbone: raised_and_lowered(rows, backbone=row.backbone) for row in rows}
    others = [evidence.title(key) for key, (more, fewer) in counts.items() if more <= fewer]
    told = {"backbones": len(counts), "total": len(rows), "raised": raised, "lowered": lowered}
    return render("whitening", say, findings=findings, others=others, number=number, **told)


def _steps_figure(
    evidence: Evidence, every: Sequence[Row], rows: Sequence[Sequence[str]], left: int, say: Texts
) -> draw.Figure:
    keys = dict.fromkeys(row.backbone for row in every)
    low, high = floor(10 * min(row.low for row in every)), ceil(10 * max(row.high for row in every))
    tenths = [tenth / 10 for tenth in range(low, high + 1, -(-(high - low) // MARKED))]
    scale = _rho_scale([low / 10, high / 10], tenths, [1] * len(tenths))
    title = say("evidence.rho_axis")
    if low:
        title = say("evidence.axis_from", title=title, start=number(low / 10, 1))
    traces = []
    for index, key in enumerate(keys):
        for lane, (step, (symbol, _)) in enumerate(SIGNS.items()):
            shift = (lane - (len(SIGNS) - 1) / 2) * LANE
            of = [
                beside(row, place=round(place + shift, 3))
                for place, (name, *_) in enumerate(rows)
                for row in every
                if (row.backbone, row.step) == (key, step) and name in row.poolings
            ]
            name = say(f"evidence.step_{step}")
            lanes = _points(evidence, of, "evidence.steps_hover", number, say, step=name)
            marker = {"color": draw.MARKS[evidence.backbones.index(key)][0], "symbol": symbol, "size": 8}
            traces.append(draw.dots(lanes, marker, {**WHISKER, "width": 0}, **draw.axes_of(index)))
    names, ticks = _titles(evidence, keys), list(map(_tick, rows))
    return draw.Figure(traces, draw.side_by_side(names, ticks, left, 46, 0.08, scale, title))


def _titles(evidence: Evidence, keys: Iterable[str]) -> list[str]:
    return [escape(shorten(evidence.title(key), NAME)) for key in keys]


def explained(evidence: Evidence) -> list[Row]:
    """Every answer of every checkpoint, in the order of the results; ``own``: similarity at the last layer.

    The other methods, those by layer at their last, have their p against it ``corrected`` by Holm's method
    over those of a checkpoint; ``closer`` are those that rank tokens more like erasure than it by more than
    chance.
    """
    rows = evidence.every["agreement"]
    last = {(row.backbone, row.method): row for row in sorted(rows, key=_depth)}
    ps: dict[tuple[str, str], float] = {}
    for key in dict.fromkeys(row.backbone for row in rows):
        others = [row for (of, method), row in last.items() if of == key and method != SIMILARITY]
        ps |= {(key, row.method): row.corrected for row in corrected(others)}
    found = []
    for row in rows:
        key = row.backbone, row.method
        held = row is last[key]
        p = ps.get(key) if held else None
        closer = p is not None and p < LEVEL and row.better > row.worse
        found.append(beside(row, own=held and row.method == SIMILARITY, corrected=p, closer=closer))
    return found


def _depth(row: Row) -> int:
    return row.layer or 0


def explanations(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Show how alike each answer and erasure rank the tokens of a text, for every checkpoint asked."""
    found = []
    for row in explained(evidence):
        name = say(f"evidence.answer_{row.method}")
        answer = name if row.layer is None else say("evidence.at_layer", name=name, layer=row.layer)
        found.append(beside(row, answer=answer))
    keys, methods = dict.fromkeys(row.backbone for row in found), dict.fromkeys(row.method for row in found)
    ordered = sorted(found, key=lambda row: ([*methods].index(row.method), _depth(row)))
    answers = list(dict.fromkeys(row.answer for row in ordered))  # the rows of the plots
    tasks = say.listed(visible(say.name(task)) for task in dict.fromkeys(row.task for row in found))
    told = [_answers_finding(evidence, found, key) for key in keys]
    saved = [  # similarity, which is held against itself, has no test
        beside(row, **dict.fromkeys(TEST)) if row.own else row
        for row in saved_rows(evidence, found, say, "rho")
    ]
    total = max(row.measured for row in found)
    return Shown(
        heading=say("evidence.explained_heading"),
        words=say("evidence.explained_words", plots=len(keys)),
        data=data_of(ANSWER_COLUMNS, saved, say),
        figure=_answers_figure(evidence, found, answers, say),
        above=render("explanations", say, findings=told, level=LEVEL, number=number),
        legend=hint_html(say("evidence.explained_hint", task=tasks, total=total)),
        about=evidence.about(tasks, keys, say),
        least_width=draw.name_width(answers) + LEAST * len(keys),
    )


def _answers_finding(evidence: Evidence, found: Sequence[Row], key: str) -> dict[str, Any]:
    """Similarity to [CLS] in one checkpoint, at its last layer and at its best, and what comes closer."""
    rows = [row for row in found if row.backbone == key]
    (own,) = (row for row in rows if row.own)
    highest, closer = best(r for r in rows if r.method == SIMILARITY), [row for row in rows if row.closer]
    return {"title": evidence.title(key), "own": own, "best": highest, "closer": closer}


def _answers_figure(evidence: Evidence, found: Sequence[Row], answers: list[str], say: Texts) -> draw.Figure:
    low, high = floor(2 * min(row.low for row in found)), ceil(2 * max(row.high for row in found))
    marks = [half / 2 for half in range(low, high + 1)]
    scale = _rho_scale([low / 2 - 0.03, high / 2 + 0.03], marks, [int(mark % 1 != 0) for mark in marks])
    keys, traces = dict.fromkeys(row.backbone for row in found), []
    for index, key in enumerate(keys):
        rows = [beside(row, place=answers.index(row.answer)) for row in found if row.backbone == key]
        colours = [draw.OTHER if row.low <= 0 <= row.high else SIGN[row.value > 0] for row in rows]
        marker = {"color": colours, "line": {"color": draw.OTHER, "width": 1}, "size": 9}
        told = _points(evidence, rows, "evidence.explained_hover", number, say)
        traces.append(draw.dots(told, marker, {**WHISKER, "color": draw.OTHER}, **draw.axes_of(index)))
    ticks, left = list(map(escape, answers)), draw.name_width(tuple(answers))
    names, title = _titles(evidence, keys), say("evidence.explained_axis")
    return draw.Figure(traces, draw.side_by_side(names, ticks, left, 24, 0.12, scale, title))


LEGEND = Exhibit("evidence-legend", legend, frame="bare")
ACCURACY = Exhibit("accuracy", accuracy, plotted=True, with_summary=True)
RHO = Exhibit("rho", rho, plotted=True, with_summary=True)
DEPTHS, WHITENING, EXPLANATIONS = (
    Exhibit(name, show, element=element, plotted=True, applies=applies)
    for name, show, element, applies in (
        ("depths", depths, "accuracy-depths", lambda known: bool(known.of("depth", *known.backbones))),
        ("whitening", whitening, "whitened-rhos", lambda known: bool(_of_steps(known))),
        ("explanations", explanations, "explanation-rhos", lambda known: bool(known.every["agreement"])),
    )
)
