"""Does whitening help raw cosines? Rho of each vector as it is, and after steps fitted without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain
from math import ceil, floor
from typing import Any

from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import shorten, visible
from components.exhibits.draw.small_plots import axis_number, plot_name
from components.exhibits.draw.style import (
    ZERO_LINE,
    axis_title,
    layout,
    row_axis,
    tick_width,
    value_axis,
)
from components.exhibits.evidence.evidence import Estimate, Evidence
from components.exhibits.evidence.intervals import MARKS, label_lines, tick
from components.exhibits.evidence.postprocessed import STEPS, Stepped, after, raised_and_lowered, stepped
from components.exhibits.evidence.table import RHOS, Row, data_of
from components.exhibits.exhibit import Exhibit, Shown, hint_html, strong_html
from components.exhibits.view import number
from components.texts import Texts

PLAIN = "plain"
SIGNS = {  # how plotly and a legend draw what is done first
    PLAIN: ("circle-open", "○"),
    "centred": ("triangle-up-open", "△"),
    "standardised": ("square-open", "□"),
    "whitened": ("circle", "●"),
}
GAINS = ("gain", "gain_low", "gain_high")
COLUMNS = ("backbone", "pooling", "step", *RHOS, *GAINS, "fitted", "pairs")
ROW, TOP, BOTTOM = 46, 30, 52  # pixels
MARKED = 5  # steps between marks of an axis at most, of a tenth or more each
LANE = 0.2  # of a row, between two dots of it
COLUMN = 170  # the least pixels of a small plot
NAME = 24  # characters of its name

Found = Mapping[str, Sequence[Stepped]]  # of each backbone that was measured
Place = tuple[str | None, ...]  # what the vector of a row is called in each backbone


def whitening(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Rho of the chosen backbones' vectors, plain and after each step, and whether whitening helps."""
    found = _found(evidence)
    lines = [_finding(evidence, key, known, say) for key, known in found.items()]
    items = "".join(f"<li>{line}</li>" for line in lines)
    fitted = max(row.fitted for row in evidence.postprocessed)
    return Shown(
        heading=say("evidence.steps_heading"),
        words=say("evidence.steps_words", plots=len(found)),
        data=data_of(COLUMNS, _rows(evidence, found, say), say),
        figure=_figure(evidence, found, say),
        above=f'<ul class="findings">{items}</ul><p>{_verdict(evidence, say)}</p>'
        + hint_html(say("evidence.steps_published")),
        legend=hint_html(_legend(say)) + hint_html(say("evidence.steps_hint", fitted=fitted)),
        about=say(
            "away.about_evidence",
            task=say("evidence.rho_axis"),
            backbones=say.listed(visible(evidence.titles[key]) for key in found),
        ),
        least_width=_left(_places(found)) + COLUMN * len(found),
    )


WHITENING = Exhibit(
    "whitening",
    whitening,
    element="whitened-rhos",
    plotted=True,
    applies=lambda evidence: bool(_found(evidence)),
)


def _found(evidence: Evidence) -> Found:
    """The vectors of each chosen backbone of which steps were measured."""
    every = {key: stepped(evidence, key) for key in evidence.backbones}
    return {key: known for key, known in every.items() if known}


def _finding(evidence: Evidence, key: str, known: Sequence[Stepped], say: Texts) -> str:
    """For how many vectors of a backbone each step raises rho, and what is reached at most."""
    moved = []
    for step in STEPS:
        raised, lowered = raised_and_lowered([one.after[step] for one in known])
        name = say(f"evidence.step_{step}")
        moved.append(say("evidence.steps_moved", step=name, raised=raised, lowered=lowered))
    best = max(known, key=lambda one: one.highest.rho)
    highest, plain = best.highest, max(known, key=lambda one: one.plain.value)
    sentence = say(
        "evidence.steps_finding",
        backbone=strong_html(visible(evidence.titles[key])),
        total=len(known),
        moved=say("list.semicolon").join(moved),
    )
    reached = say(
        "evidence.steps_highest",
        plain=strong_html(number(plain.plain.value)),
        plain_pooling=escape(plain.name),
        high=strong_html(number(highest.rho)),
        pooling=escape(best.name),
        step=say(f"evidence.step_{highest.step}"),
    )
    return say.together([sentence, reached])


def _verdict(evidence: Evidence, say: Texts) -> str:
    """Whether whitening helps, over all backbones that were measured."""
    rows = after(evidence.postprocessed, "whitened")
    raised, lowered = raised_and_lowered(rows)
    keys = dict.fromkeys(row.backbone for row in rows)
    counts = {key: raised_and_lowered([row for row in rows if row.backbone == key]) for key in keys}
    others = [key for key, (more, fewer) in counts.items() if more <= fewer]
    sentence = say(
        "evidence.steps_verdict",
        backbones=len(keys),
        total=len(rows),
        raised=strong_html(str(raised)),
        lowered=strong_html(str(lowered)),
    )
    if len(others) == len(keys):
        return say.together([sentence, say("evidence.steps_nowhere")])
    if not others:
        return say.together([sentence, say("evidence.steps_everywhere")])
    named = say.listed(escape(visible(evidence.titles[key])) for key in others)
    return say.together([sentence, say("evidence.steps_but", count=len(keys) - len(others), others=named)])


def _places(found: Found) -> dict[Place, list[str]]:
    """The rows of the plots with their poolings: those that are one vector in every backbone share one."""
    poolings = dict.fromkeys(name for known in found.values() for one in known for name in one.poolings)
    places: dict[Place, list[str]] = {}
    for pooling in poolings:
        places.setdefault(_place(found, pooling), []).append(pooling)
    return places


def _left(places: Mapping[Place, Sequence[str]]) -> int:
    """Pixels of the labels of the rows."""
    return tick_width(tuple(chain.from_iterable(map(label_lines, places.values()))))


def _place(found: Found, pooling: str) -> Place:
    """What a pooling's vector is called in each backbone; None where it has none."""
    return tuple(
        next((one.name for one in known if pooling in one.poolings), None) for known in found.values()
    )


def _estimates(one: Stepped) -> dict[str, Estimate]:
    """Rho as it is and after each step."""
    found = {PLAIN: one.plain}
    for step in STEPS:
        row = one.after[step]
        found[step] = Estimate(row.rho, row.low, row.high, row.pairs)
    return found


def _rows(evidence: Evidence, found: Found, say: Texts) -> list[Row]:
    """A row for each vector as it is, and one after each step."""
    rows: list[Row] = []
    for key, known in found.items():
        for one in known:
            for name, estimate in _estimates(one).items():
                step = next((row for row in one.after.values() if row.step == name), None)
                rows.append(
                    {
                        "backbone": visible(evidence.titles[key]),
                        "pooling": one.name,
                        "step": say(f"evidence.step_{name}"),
                        "rho": estimate.value,
                        "rho_low": estimate.low,
                        "rho_high": estimate.high,
                        "gain": step.gain if step else None,
                        "gain_low": step.gain_low if step else None,
                        "gain_high": step.gain_high if step else None,
                        "fitted": step.fitted if step else None,
                        "pairs": estimate.examples,
                    }
                )
    return rows


def _legend(say: Texts) -> str:
    return "   ".join(f"{sign} {say(f'evidence.step_{name}')}" for name, (_, sign) in SIGNS.items())


def _figure(evidence: Evidence, found: Found, say: Texts) -> Figure:
    """A small plot for each backbone side by side, all with the same rows and the same scale."""
    every = [e for known in found.values() for one in known for e in _estimates(one).values()]
    low, high = floor(10 * min(one.low for one in every)), ceil(10 * max(one.high for one in every))
    tenths = range(low, high + 1, -(-(high - low) // MARKED))
    axes: dict[str, Any] = {}
    places = _places(found)
    for index in range(len(found)):
        axes[f"xaxis{axis_number(index)}"] = value_axis(
            "",
            range=[low / 10, high / 10],
            tickvals=[tenth / 10 for tenth in tenths],
            tickangle=0,
            **ZERO_LINE,
        ) | {"ticktext": [number(tenth / 10, 1) for tenth in tenths]}
        axes[f"yaxis{axis_number(index)}"] = row_axis(
            list(map(tick, places.values())), showticklabels=index == 0, showgrid=False
        )
    title = say("evidence.rho_axis")
    if low:
        title = say("evidence.axis_from", title=title, start=number(low / 10, 1))
    axes[f"xaxis{axis_number((len(found) - 1) // 2)}"]["title"] = axis_title(title)
    titles = [escape(shorten(visible(evidence.titles[key]), NAME)) for key in found]
    frame = layout(
        height=len(places) * ROW + TOP + BOTTOM,
        margin={"l": _left(places), "r": 12, "t": TOP, "b": BOTTOM},
        hovermode="closest",
        grid={"rows": 1, "columns": len(found), "pattern": "independent", "xgap": 0.08},
        annotations=[plot_name(index, f"<b>{title}</b>") for index, title in enumerate(titles)],
        **axes,
    )
    drawn = [_dots(evidence, found, key, name, tuple(places), say) for key in found for name in SIGNS]
    return Figure(drawn, frame)


def _dots(
    evidence: Evidence, found: Found, key: str, name: str, places: Sequence[Place], say: Texts
) -> Trace:
    """The dots of one backbone as it is or after one step, each in its lane of a row."""
    index = list(found).index(key)
    lane = (list(SIGNS).index(name) - (len(SIGNS) - 1) / 2) * LANE
    known = [(row, one) for row, place in enumerate(places) for one in found[key] if one.name == place[index]]
    estimates = [_estimates(one)[name] for _, one in known]
    colour = MARKS[evidence.backbones.index(key)][0]
    return Trace(
        type="scatter",
        mode="markers",
        x=[round(one.value, 4) for one in estimates],
        y=[round(row + lane, 3) for row, _ in known],
        error_x={
            "array": [round(one.high - one.value, 4) for one in estimates],
            "arrayminus": [round(one.value - one.low, 4) for one in estimates],
            "symmetric": False,
            "thickness": 1.5,
            "width": 0,
        },
        marker={"color": colour, "symbol": SIGNS[name][0], "size": 8},
        cliponaxis=False,
        xaxis=f"x{axis_number(index)}",
        yaxis=f"y{axis_number(index)}",
        hovertext=[
            say(
                "evidence.steps_hover",
                pooling=escape(one.name),
                step=say(f"evidence.step_{name}"),
                backbone=escape(visible(evidence.titles[key])),
                rho=number(estimate.value),
                low=number(estimate.low),
                high=number(estimate.high),
            )
            for (_, one), estimate in zip(known, estimates, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
