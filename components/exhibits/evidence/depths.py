"""Accuracy over depth: the same classifier on every layer, a small plot for each pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor
from typing import Any

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import one_vector, shorten, visible
from components.exhibits.draw.small_plots import axis_number, plot_name
from components.exhibits.draw.style import GRID, axis, layout
from components.exhibits.evidence.evidence import BASE, LEVEL, Evidence, accuracy_text
from components.exhibits.evidence.intervals import MARKS
from components.exhibits.evidence.profiles import Profile, profiles
from components.exhibits.evidence.table import ACCURACIES, COUNTS, PS, Row, data_of
from components.exhibits.exhibit import Exhibit, Shown, hint_html, strong_html
from components.texts import Texts

COLUMNS = ("backbone", "pooling", "layer", *ACCURACIES, *COUNTS, *PS, "measured")
ACROSS, HIGH = 4, 168  # small plots in a row, and the pixels of a row of them
LEFT, TOP, BOTTOM = 52, 26, 44  # pixels around all of them
LEAST_WIDTH = 760  # pixels below which they scroll in their box
NAME = 26  # characters of the name of a small plot

Found = Mapping[str, Sequence[Profile]]  # of each backbone


def depths(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy at every layer, and whether a lower one is better than the last."""
    found = {key: profiles(evidence, key) for key in evidence.backbones}
    lines = [_finding(evidence, key, known, say) for key, known in found.items()]
    items = "".join(f"<li>{line}</li>" for line in lines)
    return Shown(
        heading=say("evidence.depths_heading"),
        words=say("evidence.depths_words", plots=len(_names(found))),
        data=data_of(COLUMNS, _rows(evidence, found), say),
        figure=_figure(evidence, found, say),
        above=f'<ul class="findings">{items}</ul>{hint_html(say("evidence.depths_published"))}',
        legend=hint_html(say("evidence.depths_hint", task=visible(say.name(evidence.task)))),
        about=say(
            "away.about_evidence",
            task=visible(say.name(evidence.task)),
            backbones=say.listed(visible(evidence.titles[key]) for key in evidence.backbones),
        ),
        least_width=LEAST_WIDTH,
    )


DEPTHS = Exhibit(
    "depths", depths, element="accuracy-depths", plotted=True, applies=lambda evidence: bool(evidence.depths)
)


def _finding(evidence: Evidence, key: str, known: Sequence[Profile], say: Texts) -> str:
    """Whether an intermediate layer of a backbone is better than the last, by more than chance."""
    name = strong_html(visible(evidence.titles[key]))
    if not known:
        return say("evidence.nothing", backbone=name)
    best = max(known, key=lambda one: one.estimates[one.best].value)
    better, worse = (sum(one.counts[side] for one in known) for side in (0, 1))
    below = sum(one.best < len(one.lower) for one in known)
    sentence = say(
        "evidence.depths_finding",
        backbone=name,
        below=strong_html(say("evidence.of", some=below, all=len(known))),
        better=strong_html(say("evidence.of", some=better, all=sum(len(one.lower) for one in known))),
        worse=worse,
        level=LEVEL,
    )
    highest = say(
        "evidence.depths_highest",
        high=strong_html(accuracy_text(best.estimates[best.best].value)),
        pooling=escape(best.name),
        layer=best.best,
        last=len(best.lower),
        reached=accuracy_text(best.last.value),
    )
    gaining = [escape(one.name) for one in known if one.counts[0]]
    verdict = say("evidence.depths_better", poolings=say.listed(gaining)) if gaining else None
    return say.together([sentence, highest, verdict or say("evidence.depths_chance")])


def _names(found: Found) -> list[str]:
    """The first pooling of each small plot: those that are one vector in every backbone share one."""
    alike: dict[tuple[str | None, ...], str] = {}
    poolings = dict.fromkeys(name for known in found.values() for one in known for name in one.poolings)
    for pooling in poolings:
        alike.setdefault(tuple(_name_of(known, pooling) for known in found.values()), pooling)
    return list(alike.values())


def _name_of(known: Sequence[Profile], pooling: str) -> str | None:
    return next((one.name for one in known if pooling in one.poolings), None)


def _rows(evidence: Evidence, found: Found) -> list[Row]:
    """A row for each layer of each profile; the last has nothing that it is compared with."""
    rows: list[Row] = []
    for key, known in found.items():
        for one in known:
            tests = [*zip(one.lower, one.corrected, strict=True), None]
            for layer, (estimate, test) in enumerate(zip(one.estimates, tests, strict=True)):
                rows.append(
                    {
                        "backbone": visible(evidence.titles[key]),
                        "pooling": one.name,
                        "layer": layer,
                        "accuracy": estimate.value,
                        "accuracy_low": estimate.low,
                        "accuracy_high": estimate.high,
                        "better": test[0].better if test else None,
                        "worse": test[0].worse if test else None,
                        "p": test[0].p if test else None,
                        "corrected": test[1] if test else None,
                        "measured": estimate.examples,
                    }
                )
    return rows


def _figure(evidence: Evidence, found: Found, say: Texts) -> Figure:
    """A small plot for each pooling, with a line for each backbone, all on one scale."""
    names = _names(found)
    every = [estimate for known in found.values() for one in known for estimate in one.estimates]
    start = floor(10 * min((estimate.low for estimate in every), default=0.0))
    marks = [tenth / 10 for tenth in range(start, 11)]
    deep = max((len(one.lower) for known in found.values() for one in known), default=0)
    lines = -(-len(names) // ACROSS)
    axes: dict[str, Any] = {}
    for place in range(len(names)):
        number = axis_number(place)
        axes[f"xaxis{number}"] = axis(range=[-0.4, deep + 0.4], dtick=max(1, -(-deep // 6)), tickangle=0)
        axes[f"yaxis{number}"] = axis(
            range=[start / 10 - 0.01, 1.01],
            tickvals=marks,
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
        annotations=[_title(place, name, found) for place, name in enumerate(names)] + [_axis_name(say)],
        **axes,
    )
    traces = [line for place, name in enumerate(names) for line in _lines(evidence, found, name, place, say)]
    return Figure(data=traces, layout=frame)


def _title(place: int, pooling: str, found: Found) -> dict[str, Any]:
    """The name of a small plot above it: all poolings that are one vector in every backbone."""
    every = [one.poolings for known in found.values() for one in known if pooling in one.poolings]
    shared = [name for name in every[0] if all(name in names for names in every)]
    text = escape(shorten(one_vector(shared), NAME))
    return plot_name(place, f"<b>{text}</b>" if BASE in shared else text)


def _axis_name(say: Texts) -> dict[str, Any]:
    where = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0, "yshift": -BOTTOM, "yanchor": "bottom"}
    return {**where, "text": say("evidence.depths_axis"), "showarrow": False}


def _lines(evidence: Evidence, found: Found, pooling: str, place: int, say: Texts) -> list[Trace]:
    """A line with intervals for each backbone that has this pooling."""
    traces = []
    for (key, known), (colour, symbol, _) in zip(found.items(), MARKS, strict=False):
        one = next((profile for profile in known if pooling in profile.poolings), None)
        if one is None:
            continue
        said = [
            say(
                "evidence.depths_hover",
                pooling=escape(one.name),
                backbone=escape(visible(evidence.titles[key])),
                layer=layer,
                value=accuracy_text(estimate.value),
                low=accuracy_text(estimate.low),
                high=accuracy_text(estimate.high),
            )
            for layer, estimate in enumerate(one.estimates)
        ]
        traces.append(_line(one, colour, symbol, axis_number(place), said))
    return traces


def _line(one: Profile, colour: str, symbol: str, number: str, said: list[str]) -> Trace:
    estimates = one.estimates
    return Trace(
        type="scatter",
        mode="lines+markers",
        x=list(range(len(estimates))),
        y=[round(estimate.value, 4) for estimate in estimates],
        error_y={
            "array": [round(estimate.high - estimate.value, 4) for estimate in estimates],
            "arrayminus": [round(estimate.value - estimate.low, 4) for estimate in estimates],
            "symmetric": False,
            "thickness": 1.5,
            "width": 3,
        },
        line={"color": colour, "width": 2},
        marker={"color": colour, "symbol": symbol, "size": 7},
        cliponaxis=False,
        xaxis=f"x{number}",
        yaxis=f"y{number}",
        hovertext=said,
        hovertemplate="%{hovertext}<extra></extra>",
    )
