"""The plots of the evidence, dots with 95 % intervals, their legend, and what they say in sentences.

The first two show accuracy under a probe and rho of the raw cosine. Both have the same rows, one for each
pooling.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

import pandas as pd
from markupsafe import Markup

from components.exhibits import draw
from components.exhibits import evidence as tables
from components.exhibits.control import State
from components.exhibits.evidence import BASE, LEVEL, PS, Evidence, corrected, ends, gains, named, vectors
from components.exhibits.exhibit import Exhibit, Shown, data_frame, hint_html, saved_table
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
BESIDE = {"xref": "paper", "x": 1, "xanchor": "left", "showarrow": False}  # of a value there
PERCENT = {"tickformat": "~%"}  # of an axis
GUIDE = "rgba(128, 128, 128, 0.9)"  # of a line through a value that others are held against


# Of small plots.
WHISKER = {"thickness": 1.5, "width": 3}
LEAST = 170  # pixels of a small plot of a backbone
NAME = 24  # characters of its name

# Of every layer.
DEPTH_COLUMNS = ("backbone", "pooling", "layer", *tables.ACCURACIES, *tables.COUNTS, *PS, "measured")
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
STEP_COLUMNS = ("backbone", "pooling", "step", *tables.RHOS, *GAIN, *PS, "fitted", "pairs")
SCALE = draw.value_axis("", matches="x", tickangle=0, **draw.ZERO_LINE)  # of rho, one for all small plots
LANE = 0.2  # of a row, between two dots of it

# Of the answers.
SIMILARITY = "similarity"
ANSWER_COLUMNS = ("backbone", "task", "answer", *tables.RHOS, *tables.COUNTS, *PS, "measured")


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
        baselines=[(LINES[row.method][1], row) for row in evidence.baselines],
        unmeasured=any({row.pooling for row in evidence.rhos(key)} < poolings for key in keys),
        base=BASE,
        **{"accuracy": tables.accuracy_text, "number": number},
    )
    return Shown(html=html)


def accuracy(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy of the same classifier on every pooling, and lines at what needs no network."""
    found = {key: evidence.of("probe", key) for key in evidence.backbones}
    title = say("evidence.accuracy_axis", task=escape(visible(say.name(evidence.task))))
    plot = _figure(evidence, found, tables.accuracy_text, draw.value_axis(title, tickangle=0, **PERCENT), say)
    lines = [draw.guide(row.value, LINES[row.method][0], GUIDE) for row in evidence.baselines]
    figure = draw.Figure(plot.data, {**plot.layout, "shapes": [*plot.layout["shapes"], *lines]})
    return _shown(evidence, "accuracy", figure, say)


def rho(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    found = {key: evidence.rhos(key) for key in evidence.backbones}
    axis = draw.value_axis(say("evidence.rho_axis"), tickangle=0)
    return _shown(evidence, "rho", _figure(evidence, found, number, axis, say), say)


def _shown(evidence: Evidence, name: str, figure: draw.Figure, say: Texts) -> Shown:
    signs = zip(evidence.backbones, draw.MARKS, strict=False)
    names = "  ".join(f"{sign} {evidence.title(key)}" for key, (_, _, sign) in signs)
    return Shown(
        heading=say(f"evidence.{name}_heading"),
        words=say("evidence.description", count=len(evidence.rows)),
        data=tables.data_of(tables.SAVED, tables.probe_rows(evidence, say), say),
        figure=figure,
        about=say("away.about_evidence", task=visible(say.name(evidence.task)), backbones=names),
    )


def _figure(
    evidence: Evidence, found: Mapping[str, Sequence[Row]], shown: tables.Format, axis: draw.Part, say: Texts
) -> draw.Figure:
    rows, total = evidence.rows, len(evidence.backbones)
    whisker = {"thickness": 2.5, "width": 6} if total == 1 else {"thickness": 1.5, "width": 0}
    traces, shapes, values = [], [], []
    for index, (key, measured) in enumerate(found.items()):
        colour, symbol, _ = draw.MARKS[index]
        shift = (index - (total - 1) / 2) * 0.75 / total
        first = {row.pooling: row for row in reversed(measured)}
        placed = [
            beside(named(first[known[0]], names), place=round(place + shift, 3))
            for place, names in enumerate(rows)
            if (known := [name for name in names if name in first])
        ]
        dots = _points(evidence, placed, "evidence.hover", shown, say)
        marker = {"color": colour, "symbol": symbol, "size": 8 if total == 1 else 7}
        traces.append(draw.dots(dots, marker, whisker, name=escape(evidence.title(key))))
        for row in placed if total == 1 else ():
            values.append({**BESIDE, "y": row.place, "text": shown(row.value)})
            shapes += [draw.guide(row.value, "dot", GUIDE)] if BASE in row.poolings else []
    labels = list(map(_label_lines, rows))
    left, room = draw.tick_width(chain(*labels)), LINE * max(map(len, labels), default=1)
    frame = draw.layout(
        height=len(rows) * max(22 + 6 * total, room) + 68,
        margin={"l": left, "r": VALUES if total == 1 else 30, "t": 6, "b": 62},
        xaxis=axis,
        yaxis=draw.row_axis(list(map(_tick, rows)), showgrid=True, gridcolor="rgba(128, 128, 128, 0.12)"),
        shapes=shapes,
        annotations=values,
    )
    return draw.Figure(data=traces, layout=frame)


def _label_lines(poolings: Iterable[str]) -> list[str]:
    """The label of a row, not escaped: the names of one vector, on as few lines as fit."""
    return textwrap.wrap(one_vector(map(shorten, map(visible, poolings))), WIDEST, break_on_hyphens=False)


def _tick(poolings: Sequence[str]) -> str:
    label = "<br>".join(map(escape, _label_lines(poolings)))
    return f"<b>{label}</b>" if BASE in poolings else label


def _points(
    evidence: Evidence, rows: Iterable[Row], key: str, shown: tables.Format, say: Texts, **more: object
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
    """Accuracy at every layer, and whether a lower one is better than the last by more than chance."""
    found = {key: profiles(evidence, key) for key in evidence.backbones}
    every = [row for known in found.values() for profile in known for row in profile]
    names = tables.shared(every, (name for row in every for name in row.poolings))
    task = visible(say.name(evidence.task))
    told = [_layers_finding(evidence.title(key), known) for key, known in found.items()]
    return Shown(
        heading=say("evidence.depths_heading"),
        words=say("evidence.depths_words", plots=len(names)),
        data=tables.data_of(DEPTH_COLUMNS, tables.saved_rows(evidence, every, say), say),
        figure=_layers_figure(evidence, every, names, say),
        above=render("layers", say, findings=told, level=LEVEL, accuracy=tables.accuracy_text),
        legend=hint_html(say("evidence.depths_hint", task=task)),
        about=evidence.about(task, evidence.backbones, say),
        least_width=LEAST_WIDTH,
    )


def _layers_finding(title: str, known: Sequence[Sequence[Row]]) -> dict[str, Any]:
    """Count which layers of a backbone differ from the last, then say which row has the highest value."""
    rows = [row for profile in known for row in profile]
    highest = max(known, key=lambda profile: best(profile).value, default=())
    return {
        "title": title,
        "measured": len(rows),
        "tested": len(rows) - len(known),
        "held": gains(rows),
        "top": best(highest) if highest else None,
        "last": highest[-1] if highest else None,
        "gaining": [profile[0].called for profile in known if gains(profile)[0]],
    }


def _layers_figure(
    evidence: Evidence, every: Sequence[Row], names: Sequence[Sequence[str]], say: Texts
) -> draw.Figure:
    """A small plot for each of the ``names``, with a line for each backbone, all on one scale."""
    deep = max((row.layer for row in every), default=0)
    lines = -(-len(names) // ACROSS)
    axes: dict[str, Any] = {}
    titles = []
    for place, poolings in enumerate(names):
        number = draw.axis_number(place)
        axes[f"xaxis{number}"] = draw.axis(range=[-0.4, deep + 0.4], dtick=max(1, -(-deep // 6)), tickangle=0)
        axes[f"yaxis{number}"] = draw.axis(
            matches="y", showticklabels=place % ACROSS == 0, showgrid=True, gridcolor=draw.GRID, **PERCENT
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
        layers = _points(evidence, rows, "evidence.depths_hover", tables.accuracy_text, say)
        style = {"mode": "lines+markers", "line": {"color": colour, "width": 2}, **draw.axes_of(place)}
        marker = {"color": colour, "symbol": symbol, "size": 7}
        traces += [draw.dots(layers, marker, WHISKER, "y", **style)] if rows else []
    return traces


def stepped(evidence: Evidence) -> list[Row]:
    """All that every step does to every vector that was measured, of all backbones.

    The p of each gain is ``corrected`` by Holm's method over all of them.
    """
    return corrected([row for row in evidence.every["postprocessed"] if row.vector == row.pooling])


def _of_steps(evidence: Evidence) -> Mapping[str, Sequence[Row]]:
    """The vectors of the chosen backbones that steps were measured of, as they are and after each step."""
    by_step = {(row.backbone, row.vector, row.step): row for row in stepped(evidence)}
    untested = dict.fromkeys((*GAIN, *PS))
    for row in evidence.of("cosine"):
        by_step[row.backbone, row.pooling, PLAIN] = beside(row, step=PLAIN, **untested)
    found = {key: vectors(evidence.of("postprocessed", key)) for key in evidence.backbones}
    return {
        key: [named(by_step[key, one.vector, step], one.poolings) for one in known for step in SIGNS]
        for key, known in found.items()
        if known
    }


def whitening(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Rho of the chosen backbones' vectors, plain and after each step, and whether whitening helps."""
    found = _of_steps(evidence)
    every = list(chain.from_iterable(found.values()))
    rows = tables.shared(every, (name for row in every for name in row.poolings))
    left = draw.tick_width(chain.from_iterable(map(_label_lines, rows)))
    saved = [
        beside(row, step=say(f"evidence.step_{row.step}"), pairs=row.measured)
        for row in tables.saved_rows(evidence, every, say, "rho")
    ]
    signs = "   ".join(f"{sign} {say(f'evidence.step_{name}')}" for name, (_, sign) in SIGNS.items())
    fitted = max(row.fitted for row in evidence.every["postprocessed"])
    return Shown(
        heading=say("evidence.steps_heading"),
        words=say("evidence.steps_words", plots=len(found)),
        data=tables.data_of(STEP_COLUMNS, saved, say),
        figure=_steps_figure(evidence, every, rows, left, say),
        above=_steps_told(evidence, found, say),
        legend=hint_html(signs) + hint_html(say("evidence.steps_hint", fitted=fitted)),
        about=evidence.about(say("evidence.rho_axis"), found, say),
        least_width=left + LEAST * len(found),
    )


def _steps_told(evidence: Evidence, found: Mapping[str, Sequence[Row]], say: Texts) -> Markup:
    """Say what each step does to each backbone's vectors, and whether whitening helps over all of them."""
    findings = []
    for key, known in found.items():
        steps = {step: [row for row in known if row.step == step] for step in SIGNS}
        plain, moved = steps.pop(PLAIN), {step: gains(rows) for step, rows in steps.items()}
        _, before = ends(plain)
        _, after = ends(chain.from_iterable(steps.values()))
        title = evidence.title(key)
        findings.append(
            {"title": title, "total": len(plain), "moved": moved, "before": before, "after": after}
        )
    every = stepped(evidence)
    whitened = [row for row in every if row.step == "whitened"]
    raised, lowered, _ = gains(whitened)
    counts = {row.backbone: gains(r for r in whitened if r.backbone == row.backbone) for row in whitened}
    others = [evidence.title(key) for key, (more, fewer, _) in counts.items() if more <= fewer]
    told = {"backbones": len(counts), "total": len(whitened), "raised": raised, "lowered": lowered}
    told |= {"tests": len(every)}
    return render("whitening", say, findings=findings, others=others, number=number, level=LEVEL, **told)


def _steps_figure(
    evidence: Evidence, every: Sequence[Row], rows: Sequence[Sequence[str]], left: int, say: Texts
) -> draw.Figure:
    keys = dict.fromkeys(row.backbone for row in every)
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
    return draw.Figure(
        traces, draw.side_by_side(names, ticks, left, 46, 0.08, SCALE, say("evidence.rho_axis"))
    )


def _titles(evidence: Evidence, keys: Iterable[str]) -> list[str]:
    return [escape(shorten(evidence.title(key), NAME)) for key in keys]


def explained(evidence: Evidence) -> list[Row]:
    """Every answer of every checkpoint, in the order of the results; whether it is of the ``last`` layer.

    Of these, all but similarity have their p against it ``corrected`` by Holm's method over those of all
    checkpoints; ``closer`` are those that rank tokens more like erasure than it by more than chance.
    """
    rows = evidence.every["agreement"]
    last = {(row.backbone, row.method): row for row in sorted(rows, key=lambda row: row.layer or 0)}
    others = corrected([row for (_, method), row in last.items() if method != SIMILARITY])
    ps = {(row.backbone, row.method): row.corrected for row in others}
    found = []
    for row in rows:
        key = row.backbone, row.method
        p = ps.get(key) if row is last[key] else None
        closer = p is not None and p < LEVEL and row.better > row.worse
        found.append(beside(row, last=row is last[key], corrected=p, closer=closer))
    return found


def explanations(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each checkpoint: how alike each answer of its last layer and erasure rank tokens."""
    found, saved = explained(evidence), []
    for row in tables.saved_rows(evidence, found, say, "rho"):
        name = say(f"evidence.answer_{row.method}")
        answer = name if row.layer is None else say("evidence.at_layer", name=name, layer=row.layer)
        own = dict.fromkeys(TEST) if row.last and row.method == SIMILARITY else {}  # held against itself
        saved.append(beside(row, answer=answer, **own))
    last = {(row.backbone, row.method): row for row in found if row.last}
    keys, methods = (list(dict.fromkeys(one)) for one in zip(*last, strict=True))
    cells = [
        [
            f"{number(row.value)}{' *' if row.closer else ''}" if (row := last.get((key, one))) else "–"
            for key in keys
        ]
        for one in methods
    ]
    names = (say(f"evidence.answer_{method}") for method in methods)
    titles = (say("evidence.column_backbone"), list(map(evidence.title, keys)))
    shown = data_frame((titles, *zip(names, cells, strict=True)))
    beaten = len({row.backbone for row in found if row.closer})
    values = {"level": LEVEL, "tests": sum(row.corrected is not None for row in found)}
    values |= {"count": say("evidence.explained_of", some=beaten, all=len(keys))}
    tasks = say.listed(visible(say.name(task)) for task in dict.fromkeys(row.task for row in found))
    hint = say("evidence.explained_hint", task=tasks, total=max(row.measured for row in found))
    data, caption = tables.data_of(ANSWER_COLUMNS, saved, say), say("evidence.explained_words")
    numeric = range(1, shown.shape[1])
    return Shown(
        data=data,
        above=hint_html(say(f"evidence.explained_{'no' if beaten else 'yes'}", **values)),
        html=saved_table(data, shown, numeric, caption, "poolscope-explanations.csv", say) + hint_html(hint),
    )


LEGEND = Exhibit("evidence-legend", legend, frame="bare")
ACCURACY = Exhibit("accuracy", accuracy, plotted=True, with_summary=True)
RHO = Exhibit("rho", rho, plotted=True, with_summary=True)
DEPTHS = Exhibit(
    "depths",
    depths,
    element="accuracy-depths",
    plotted=True,
    applies=lambda known: bool(known.of("depth", *known.backbones)),
)
WHITENING = Exhibit(
    "whitening",
    whitening,
    element="whitened-rhos",
    plotted=True,
    applies=lambda known: bool(_of_steps(known)),
)
EXPLANATIONS = Exhibit(
    "explanations",
    explanations,
    style="numbers",
    frame="folded",
    title="evidence.explained_heading",
    applies=lambda known: bool(known.every["agreement"]),
)
