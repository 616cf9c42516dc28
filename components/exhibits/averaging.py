"""Is the average of all tokens better than [CLS]? The answer of every backbone and task with a probe."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import sqrt
from statistics import NormalDist, median

from markupsafe import Markup

from components.exhibits import draw
from components.exhibits import evidence as tables
from components.exhibits.control import State
from components.exhibits.evidence import (
    LEVEL,
    Evidence,
    accuracy_text,
    against_base,
    corrected,
    gains,
    vectors,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html, legend_html
from components.exhibits.view import number, shorten, visible
from components.results import Row, beside
from components.texts import Texts

AVERAGE, LEARNED = "mean", "attention"  # poolings: the plain average, and one whose weights are learned
WIDE = NormalDist().inv_cdf(0.975)  # standard errors to an end of a 95 % interval
DIFFERENCE = ("difference", "difference_low", "difference_high")
COLUMNS = ("backbone", "task", "tuned", "accuracy", *DIFFERENCE, *tables.COUNTS, *tables.PS, "measured")
NAME = 30  # characters of a backbone's title
HIGH, LEAST = 21, 112  # pixels of a row, and of a small plot
SCALE = draw.value_axis("", matches="x", tickangle=0, **draw.ZERO_LINE)  # one for all small plots
SIGNS = {  # colour and sign in the figure and in its legend
    "better": (draw.diverging(0.7), "●"),
    "worse": (draw.diverging(-0.7), "●"),
    "alike": (draw.OTHER, "○"),
    "tuned": (draw.GRID, "■"),  # behind the backbones that were fine-tuned for the task
}


@dataclass(frozen=True, eq=False)
class Averages:
    """The average of all tokens of every backbone and task of the ``evidence``, held against [CLS].

    A row is the probe of the average: the ``difference`` of both accuracies on the same examples, with its
    95 % interval; whether the backbone was ``tuned`` for that task; its ``sign``, a key of `SIGNS`; and the
    ``rivals``: all vectors of that backbone and task but [CLS]. Over these, p is ``corrected`` by Holm's
    method.
    """

    evidence: Evidence

    @cached_property
    def rows(self) -> list[Row]:
        """All but those whose average is [CLS] itself, in the order of the results."""
        heads = {(row.backbone, row.task) for row in self.evidence.every["head"]}
        probes: dict[tuple[str, str], list[Row]] = {}
        for row in self.evidence.every["probe"]:
            probes.setdefault((row.backbone, row.task), []).append(row)
        tested = {cell: against_base(vectors(found)) for cell, found in probes.items()}
        return [
            beside(row, **_difference(row), tuned=cell in heads, rivals=rivals)
            for cell, rivals in tested.items()
            for row in rivals
            if AVERAGE in row.poolings
        ]

    def of(self, tuned: bool) -> list[Row]:
        """Those of backbones that were fine-tuned for the very task, or all others."""
        return [row for row in self.rows if row.tuned is tuned]

    def facts(self) -> dict[str, str]:
        """What sentences say of both, and their case, ``averaging``.

        That is "tuning" where the average is better for some, worse for none, and no different where the
        backbone was fine-tuned for the task. ``left``: those better, corrected over all ``cells``.
        """
        left = gains(row for row in corrected(self.rows) if not row.tuned)[0]
        told: dict[str, object] = {"cells": len(self.rows), "left": left}
        for name, rows in (("tuned", self.of(True)), ("others", self.of(False))):
            values = [100 * row.difference for row in rows] or [0.0]
            better, worse, _ = gains(rows)
            counts = {"cells": len(rows), "better": better, "worse": worse}
            counts["higher"] = sum(value > 0 for value in values)
            ends = {"low": min(values), "high": max(values), "median": median(values)}
            told |= {f"{name}_{key}": count for key, count in counts.items()}
            told |= {f"{name}_{key}": _points(value) for key, value in ends.items()}
        learned = told["others_better"] and told["tuned_cells"]
        apart = told["others_worse"] or told["tuned_better"] or told["tuned_worse"]
        told["averaging"] = "tuning" if learned and not apart else "open"
        return {key: str(value) for key, value in told.items()}

    def example(self) -> tuple[Row, Row] | None:
        """The average and the learned one of the largest encoder, for the task where the first gains most.

        None where either is not better than [CLS] there by more than chance.
        """
        sizes = {row.backbone: row.parameters for row in self.evidence.every["size"]}
        largest = max(sizes, key=sizes.__getitem__, default="")
        rows = [row for row in self.rows if row.backbone == largest]
        average = max(rows, key=lambda row: row.difference, default=None)
        learned = [one for one in average.rivals if LEARNED in one.poolings] if average else []
        return (average, *learned) if learned and gains([average, *learned])[0] == 2 else None


def _difference(row: Row) -> dict[str, object]:
    """The difference of two accuracies on the same examples, with the interval of a paired mean."""
    value = (row.better - row.worse) / row.measured
    wide = WIDE * sqrt(((row.better + row.worse) / row.measured - value**2) / row.measured)
    sign = "alike" if row.corrected >= LEVEL else "better" if value > 0 else "worse"
    return {**dict(zip(DIFFERENCE, (value, value - wide, value + wide), strict=True)), "sign": sign}


def _points(value: float) -> str:
    shown = number(value, 1)
    return shown if shown.startswith("−") else f"+{shown}"


def averaging(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each backbone: the average less [CLS], task by task, and what all of them say."""
    averages = Averages(evidence)
    facts, rows, found = averages.facts(), averages.rows, averages.example()
    tuning = facts["averaging"] == "tuning"
    told = [say("evidence.averaging_so")] if tuning else []
    if found:
        average, learned = (accuracy_text(row.value) for row in found)
        base = accuracy_text(found[0].value - found[0].difference)
        names = {"backbone": evidence.title(found[0].backbone), "task": visible(say.name(found[0].task))}
        told.append(
            say(
                "evidence.averaging_example",
                **names,
                base=base,
                average=average,
                learned=learned,
                pooling=LEARNED,
            )
        )
    item = Markup('<li><span style="color: {}" aria-hidden="true">{}</span> {}</li>')
    shown = {row.sign for row in rows} | {"tuned" for row in rows if row.tuned}
    signs = [
        item.format(*sign, say(f"evidence.averaging_{key}")) for key, sign in SIGNS.items() if key in shown
    ]
    saved = tables.saved_rows(evidence, rows, say)
    keys, said = list(dict.fromkeys(row.backbone for row in rows)), say("evidence.averaging_said", **facts)
    names = [shorten(evidence.title(key), NAME) for key in keys]
    left = draw.name_width(names)
    return Shown(
        heading=say("evidence.averaging_heading" if tuning else "evidence.averaging_open", **facts),
        words=say("evidence.averaging_words", rows=len(keys)),
        data=tables.data_of(COLUMNS, saved, say),
        figure=_figure(rows, keys, list(map(escape, names)), left, say),
        above=Markup("<p>{}</p>").format(say.together(told)) + hint_html(said) if told else hint_html(said),
        legend=legend_html(*signs)
        + hint_html(say("evidence.averaging_hint", level=LEVEL, **facts))
        + hint_html(say("evidence.published")),
        about=say("evidence.averaging_axis"),
        least_width=left + LEAST * len({row.task for row in rows}),
    )


def _figure(rows: list[Row], keys: list[str], names: list[str], left: int, say: Texts) -> draw.Figure:
    """A small plot for each task, with the rows of ``keys``; the ``names`` of these are escaped."""
    traces, bands = [], []
    tasks = {task: escape(visible(say.name(task))) for task in dict.fromkeys(row.task for row in rows)}
    for place, (task, title) in enumerate(tasks.items()):
        points, places, said = [], [], []
        for row in rows:
            if row.task == task:
                places.append(keys.index(row.backbone))
                ends = [100 * getattr(row, name) for name in DIFFERENCE]
                points.append(beside(row, **dict(zip(("value", "low", "high"), ends, strict=True))))
                told = dict(zip(("value", "low", "high"), map(_points, ends), strict=True))
                said.append(f"{names[places[-1]]} · {title}<br>{say('evidence.averaging_hover', **told)}")
                bands += [_band(place, places[-1])] if row.tuned else []
        colours = [SIGNS[row.sign][0] for row in points]
        symbols = ["circle-open" if row.sign == "alike" else "circle" for row in points]
        marker = {"color": colours, "symbol": symbols, "size": 8}
        whisker = {"color": draw.OTHER, "thickness": 1.5, "width": 0}
        traces.append(draw.dots(draw.drawn(points, places, said), marker, whisker, **draw.axes_of(place)))
    axis = say("evidence.averaging_axis")
    frame = draw.side_by_side(list(tasks.values()), names, left, HIGH, 0.04, SCALE, axis)
    return draw.Figure(traces, {**frame, "shapes": bands})


def _band(plot: int, row: int) -> draw.Part:
    """What lies behind a row of a small plot."""
    number = draw.axis_number(plot)
    across = {"xref": f"x{number} domain", "x0": 0, "x1": 1}
    along = {"yref": f"y{number}", "y0": row - 0.5, "y1": row + 0.5}
    filled = {"line": {"width": 0}, "fillcolor": SIGNS["tuned"][0]}
    return {"type": "rect", "layer": "below", **across, **along, **filled}


AVERAGING = Exhibit("averaging", averaging, plotted=True, applies=lambda known: bool(Averages(known).rows))
