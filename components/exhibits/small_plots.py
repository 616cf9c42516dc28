"""The evidence in small plots: every layer, steps before the cosine, and answers to which token matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain, islice
from math import ceil, floor
from typing import Any

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
    Evidence,
    accuracy_text,
    corrected,
    data_of,
    ends,
    gains,
    label_lines,
    named,
    points,
    saved_rows,
    shared,
    tick,
    vectors,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.view import number, one_vector, shorten, visible
from components.markup import render
from components.results import GAIN, TEST, Row, beside
from components.texts import Texts

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
STEPS = tuple(SIGNS)[1:]
STEP_COLUMNS = ("backbone", "pooling", "step", *RHOS, *GAIN, "fitted", "pairs")
MARKED = 5  # steps between marks of an axis at most, of a tenth or more each
LANE = 0.2  # of a row, between two dots of it

# Of the answers.
SIMILARITY = "similarity"
SIGN = (draw.diverging(-0.5), draw.diverging(0.5))  # colours of a rho below 0 and above
ANSWER_COLUMNS = ("backbone", "task", "answer", *RHOS, *COUNTS, *PS, "measured")


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


def best(profile: Iterable[Row]) -> Row:
    """The layer that reaches most; of equal ones the last."""
    return max(profile, key=lambda row: (row.value, row.layer))


def depths(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy at every layer, and whether a lower one is better than the last."""
    found = {key: profiles(evidence, key) for key in evidence.backbones}
    every = [row for known in found.values() for profile in known for row in profile]
    names = shared(every, evidence.backbones, (name for row in every for name in row.poolings))
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
        layers = points(evidence, rows, "evidence.depths_hover", accuracy_text, say)
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
    rows = shared(every, tuple(found), (name for row in every for name in row.poolings))
    left = draw.tick_width(chain.from_iterable(map(label_lines, rows)))
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
    """What each step does to the vectors of each backbone, and whether whitening helps over all of them."""
    findings = []
    for key, known in found.items():
        (_, before), (_, after) = (
            ends(r for r in known if (r.step == PLAIN) == plain) for plain in (True, False)
        )
        moved = [(step, *raised_and_lowered(known, step=step)) for step in STEPS]
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
    scale = {
        **draw.value_axis("", range=[low / 10, high / 10], tickangle=0, **draw.ZERO_LINE),
        "tickvals": tenths,
        "ticktext": [number(tenth, 1) for tenth in tenths],
    }
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
            lanes = points(evidence, of, "evidence.steps_hover", number, say, step=name)
            marker = {"color": draw.MARKS[evidence.backbones.index(key)][0], "symbol": symbol, "size": 8}
            traces.append(draw.dots(lanes, marker, {**WHISKER, "width": 0}, **draw.axes_of(index)))
    names, ticks = _titles(evidence, keys), list(map(tick, rows))
    return draw.Figure(traces, draw.side_by_side(names, ticks, left, 46, 0.08, scale, title))


def _titles(evidence: Evidence, keys: Iterable[str]) -> list[str]:
    return [escape(shorten(evidence.title(key), NAME)) for key in keys]


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
    ends = [low / 2 - 0.03, high / 2 + 0.03]
    scale = {
        **draw.value_axis("", range=ends, tickvals=marks, tickangle=0, **draw.ZERO_LINE),
        "ticktext": [number(mark, 0 if mark.is_integer() else 1) for mark in marks],
    }
    keys, traces = dict.fromkeys(row.backbone for row in found), []
    for index, key in enumerate(keys):
        rows = [beside(row, place=answers.index(row.answer)) for row in found if row.backbone == key]
        colours = [draw.OTHER if row.low <= 0 <= row.high else SIGN[row.value > 0] for row in rows]
        marker = {"color": colours, "line": {"color": draw.OTHER, "width": 1}, "size": 9}
        told = points(evidence, rows, "evidence.explained_hover", number, say)
        traces.append(draw.dots(told, marker, {**WHISKER, "color": draw.OTHER}, **draw.axes_of(index)))
    ticks, left = list(map(escape, answers)), draw.name_width(tuple(answers))
    names, title = _titles(evidence, keys), say("evidence.explained_axis")
    return draw.Figure(traces, draw.side_by_side(names, ticks, left, 24, 0.12, scale, title))


DEPTHS, WHITENING, EXPLANATIONS = (
    Exhibit(name, show, element=element, plotted=True, applies=applies)
    for name, show, element, applies in (
        ("depths", depths, "accuracy-depths", lambda known: bool(known.of("depth", *known.backbones))),
        ("whitening", whitening, "whitened-rhos", lambda known: bool(_of_steps(known))),
        ("explanations", explanations, "explanation-rhos", lambda known: bool(known.every["agreement"])),
    )
)
