"""Is the average of all tokens better than [CLS]? The answer of every backbone and task with a probe."""

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, median

from components.exhibits import draw, evidence as tables
from components.exhibits.control import State
from components.exhibits.evidence import LEVEL, Evidence, against_base, corrected, sign, vectors
from components.exhibits.exhibit import Exhibit, Shown, grouped
from components.exhibits.view import number, render, visible
from components.results import Row, beside
from components.texts import Texts

AVERAGE, LEARNED = "mean", "attention"  # poolings: the plain average, and one whose weights are learned
WIDE = NormalDist().inv_cdf(0.975)  # standard errors to an end of a 95 % interval
HIGH, LEAST = 21, 112  # pixels of a row, and of a small plot
TOP, BOTTOM = 30, 52  # pixels around small plots
SCALE = draw.value_axis("", matches="x", tickangle=0, nticks=4, **draw.ZERO_LINE)  # one for all small plots
SIGNS = {  # colour, symbol and sign of a difference
    "better": (draw.diverging(0.7), "circle", "●"),
    "worse": (draw.diverging(-0.7), "circle", "●"),
    "alike": (draw.OTHER, "circle-open", "○"),
    "tuned": (draw.GRID, "", "■"),  # behind the backbones that were fine-tuned for the task
}


def averages(evidence: Evidence) -> list[Row]:
    """The average of all tokens of every backbone and task, held against [CLS], in the order of the results.

    Those that are [CLS] itself are left out. Of the chosen backbones, where several are: one alone is
    compared with nothing. A row has the ``accuracy`` of the average's probe; by how many points it is above
    that of [CLS] on the same examples, as its ``value`` with its 95 % interval; whether the backbone was
    ``tuned`` for that task; its ``sign``, a key of `SIGNS`; and the ``rivals``: all vectors of that backbone
    and task but [CLS]. Over these, p is ``corrected`` by Holm's method.
    """
    chosen = evidence.backbones if len(evidence.backbones) > 1 else ()
    heads = {(row.backbone, row.task) for row in evidence.every["head"]}
    rows = (row for row in evidence.every["probe"] if not chosen or row.backbone in chosen)
    probes = grouped(((row.backbone, row.task), row) for row in rows)
    tested = {cell: against_base(vectors(found)) for cell, found in probes.items()}
    return [
        beside(row, **_difference(row), tuned=cell in heads, rivals=rivals)
        for cell, rivals in tested.items()
        for row in rivals
        if AVERAGE in row.poolings
    ]


def averages_facts(averages: Sequence[Row]) -> dict[str, str]:
    """Facts for sentences on all of them, and their case, ``averaging``.

    That is "tuning" where the average is better for some, worse for none, and no different where the backbone
    was fine-tuned for the task. ``left``: those better, corrected over all ``cells``.
    """
    left = [sign(row) for row in corrected(averages) if not row.tuned].count("better")
    told: dict[str, object] = {"cells": len(averages), "left": left}
    for name, tuned in (("tuned", True), ("others", False)):
        rows = [row for row in averages if row.tuned is tuned]
        values = [row.value for row in rows] or [0.0]
        signs = [sign(row) for row in rows]
        told |= {f"{name}_cells": len(rows), f"{name}_higher": sum(value > 0 for value in values)}
        told |= {f"{name}_{one}": signs.count(one) for one in ("better", "worse")}
        for key, of in (("low", min), ("high", max), ("median", median)):
            told[f"{name}_{key}"] = _points(of(values))
    learned = told["others_better"] and told["tuned_cells"]
    apart = told["others_worse"] or told["tuned_better"] or told["tuned_worse"]
    told["averaging"] = "tuning" if learned and not apart else "open"
    return {key: str(value) for key, value in told.items()}


def _example(evidence: Evidence, averages: Sequence[Row]) -> tuple[Row, Row] | None:
    """The average and the learned one of the largest encoder, for the task where the first gains most.

    None where either is not better than [CLS] there by more than chance.
    """
    sizes = {row.backbone: row.parameters for row in evidence.every["size"]}
    largest = max(sizes, key=lambda key: sizes[key], default="")
    rows = [row for row in averages if row.backbone == largest]
    average = max(rows, key=lambda row: row.value, default=None)
    learned = [one for one in average.rivals if LEARNED in one.poolings] if average else []
    pair = (average, *learned)
    return pair if learned and all(sign(row) == "better" for row in pair) else None


def _difference(row: Row) -> dict[str, object]:
    """The difference of two accuracies on the same examples, with the interval of a paired mean."""
    mean = (row.better - row.worse) / row.measured
    wide = WIDE * sqrt(((row.better + row.worse) / row.measured - mean**2) / row.measured)
    ends = {"value": 100 * mean, "low": 100 * (mean - wide), "high": 100 * (mean + wide)}
    return {**ends, "accuracy": row.value, "sign": sign(row)}


def _points(value: float) -> str:
    return f"+{number(value, 1)}".replace("+−", "−")


def averaging(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each backbone: the average less [CLS], task by task, and what all of them say."""
    rows = averages(evidence)
    facts, keys = averages_facts(rows), dict.fromkeys(row.backbone for row in rows)
    tuning = facts["averaging"] == "tuning"
    shown = {row.sign for row in rows} | {"tuned" for row in rows if row.tuned}
    names = {key: evidence.title(key) for key in keys}
    known = {"pooling": LEARNED, "backbone": evidence.title, "accuracy": tables.accuracy_text}
    tasks = {task: visible(say.name(task)) for task in dict.fromkeys(row.task for row in rows)}
    marks: dict[str, object] = {"names": names, "tasks": tasks, "points": _points, "signs": SIGNS}
    marks |= {"cells": {(row.backbone, row.task): row for row in rows}, "shown": shown}
    return Shown(
        heading=say("evidence.averaging_heading" if tuning else "evidence.averaging_open", **facts),
        words=say("evidence.averaging_words", rows=len(keys)),
        data=tables.data_of("averaging", tables.saved_rows(evidence, rows, say, "difference"), say),
        figure=_figure(rows, names, say),
        above=render("averaging", say, facts=facts, example=_example(evidence, rows), **known),
        legend=render("averaging_legend", say, **marks, level=LEVEL, facts=facts),
        about=say("evidence.averaging_axis"),
    )


def _figure(rows: list[Row], names: dict[str, str], say: Texts) -> draw.Figure:
    """A small plot for each task, with a row for each of the ``names``, by their keys."""
    tasks, ticks = list(dict.fromkeys(row.task for row in rows)), list(map(draw.escape, names.values()))
    traces, bands, titles, axes = list[draw.Trace](), list[draw.Part](), list[draw.Part](), {}
    whisker = {"color": draw.OTHER, "thickness": 1.5, "width": 0}
    for index, task in enumerate(tasks):
        x, y = (f"{axis}{draw.axis_number(index)}" for axis in "xy")
        of_task = [row for row in rows if row.task == task]
        places = [[*names].index(row.backbone) for row in of_task]
        said = []
        for row, place in zip(of_task, places, strict=True):
            told = {name: _points(getattr(row, name)) for name in ("value", "low", "high")}
            said.append(say.html("evidence.averaging_hover", backbone=names[row.backbone], **told))
            if row.tuned:
                across = {"xref": f"{x} domain", "x0": 0, "x1": 1, "layer": "below"}
                along = {"yref": y, "y0": place - 0.5, "y1": place + 0.5, "line": {"width": 0}}
                bands.append({"type": "rect", "fillcolor": SIGNS["tuned"][0], **across, **along})
        colours, symbols, _ = zip(*(SIGNS[row.sign] for row in of_task), strict=True)
        marker = {"color": colours, "symbol": symbols, "size": 8}
        traces.append(draw.dots(of_task, places, said, marker, whisker, xaxis=x, yaxis=y))
        corner = {"xref": f"{x} domain", "yref": f"{y} domain", "x": 0, "y": 1, "showarrow": False}
        name = f"<b>{draw.escape(visible(say.name(task)))}</b>"
        titles.append({**corner, "xanchor": "left", "yanchor": "bottom", "text": name})
        middle = index == (len(tasks) - 1) // 2
        title = {"title": draw.axis_title(say("evidence.averaging_axis"))} if middle else {}
        axes[f"xaxis{draw.axis_number(index)}"] = {**SCALE, **title}
        axes[f"yaxis{draw.axis_number(index)}"] = draw.row_axis(ticks, showticklabels=index == 0)
    left = draw.name_width(names.values())
    frame = draw.layout(
        height=len(ticks) * HIGH + TOP + BOTTOM,
        margin={"l": left, "r": 12, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        grid={"rows": 1, "columns": len(tasks), "pattern": "independent", "xgap": 0.04},
        annotations=titles,
        shapes=bands,
        **axes,
    )
    return draw.Figure(traces, frame, left + LEAST * len(tasks))


AVERAGING = Exhibit(
    "averaging", averaging, plotted=True, applies=lambda known: bool(averages(known)), with_summary=True
)
