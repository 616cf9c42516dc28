"""Does whitening help raw cosines? Rho of each vector as it is, and after steps fitted without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain
from math import ceil, floor
from typing import Any

from components.exhibits.control import State
from components.exhibits.draw import (
    MARKS,
    ZERO_LINE,
    Figure,
    SideBySide,
    Trace,
    axes_of,
    dots,
    drawn,
    tick_width,
    value_axis,
)
from components.exhibits.evidence.evidence import (
    RHOS,
    Evidence,
    columns_of,
    data_of,
    ends,
    hover,
    label_lines,
    named,
    shared,
    tick,
    vectors,
)
from components.exhibits.exhibit import Exhibit, Shown, hint_html, strong_html
from components.exhibits.view import number, shorten
from components.results import GAIN, Row, beside
from components.texts import Texts

PLAIN = "plain"
SIGNS = {  # how plotly and a legend draw what is done first
    PLAIN: ("circle-open", "○"),
    "centred": ("triangle-up-open", "△"),
    "standardised": ("square-open", "□"),
    "whitened": ("circle", "●"),
}
STEPS = tuple(SIGNS)[1:]
COLUMNS = ("backbone", "pooling", "step", *RHOS, *GAIN, "fitted", "pairs")
ROW = 46  # pixels
MARKED = 5  # steps between marks of an axis at most, of a tenth or more each
LANE = 0.2  # of a row, between two dots of it
COLUMN = 170  # the least pixels of a small plot
NAME = 24  # characters of its name

Found = Mapping[str, Sequence[Row]]  # of each backbone that was measured


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


def raised_and_lowered(rows: Sequence[Row]) -> tuple[int, int]:
    """For how many rho is higher than that of plain cosines, and for how many lower, beyond the interval."""
    return sum(row.gain_low > 0 for row in rows), sum(row.gain_high < 0 for row in rows)


def whitening(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Rho of the chosen backbones' vectors, plain and after each step, and whether whitening helps."""
    found = _found(evidence)
    items = "".join(f"<li>{_finding(evidence.title(key), known, say)}</li>" for key, known in found.items())
    every = [row for known in found.values() for row in known]
    rows = shared(every, tuple(found), (name for row in every for name in row.poolings))
    left = tick_width(tuple(chain.from_iterable(map(label_lines, rows))))
    saved = [_saved(evidence, row, say) for row in every]
    fitted = max(row.fitted for row in evidence.every["postprocessed"])
    return Shown(
        heading=say("evidence.steps_heading"),
        words=say("evidence.steps_words", plots=len(found)),
        data=data_of(COLUMNS, columns_of(saved, "rho"), say),
        figure=_figure(evidence, every, rows, left, say),
        above=f'<ul class="findings">{items}</ul><p>{_verdict(evidence, say)}</p>'
        f"{hint_html(say('evidence.steps_published'))}",
        legend=hint_html(_legend(say)) + hint_html(say("evidence.steps_hint", fitted=fitted)),
        about=evidence.about(say("evidence.rho_axis"), found, say),
        least_width=left + COLUMN * len(found),
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


def _saved(evidence: Evidence, row: Row, say: Texts) -> Row:
    """A row as it is saved, with everything by its name."""
    names = {"backbone": evidence.title(row.backbone), "step": say(f"evidence.step_{row.step}")}
    return beside(row, pooling=row.called, pairs=row.measured, **names)


def _finding(title: str, known: Sequence[Row], say: Texts) -> str:
    """For how many vectors of a backbone each step raises rho, and what is reached at most."""
    moved = []
    for step in STEPS:
        raised, lowered = raised_and_lowered([row for row in known if row.step == step])
        name = say(f"evidence.step_{step}")
        moved.append(say("evidence.steps_moved", step=name, raised=raised, lowered=lowered))
    plain = [row for row in known if row.step == PLAIN]
    (_, best), (_, before) = ends(row for row in known if row.step != PLAIN), ends(plain)
    sentence = say(
        "evidence.steps_finding",
        backbone=strong_html(title),
        total=len(plain),
        moved=say("list.semicolon").join(moved),
    )
    reached = say(
        "evidence.steps_highest",
        plain=strong_html(number(before.value)),
        plain_pooling=escape(before.called),
        high=strong_html(number(best.value)),
        pooling=escape(best.called),
        step=say(f"evidence.step_{best.step}"),
    )
    return say.together([sentence, reached])


def _verdict(evidence: Evidence, say: Texts) -> str:
    """Whether whitening helps, over all backbones that were measured."""
    every = evidence.every["postprocessed"]
    rows = [row for row in every if row.step == "whitened" and row.vector == row.pooling]
    raised, lowered = raised_and_lowered(rows)
    keys = dict.fromkeys(row.backbone for row in rows)
    counts = {key: raised_and_lowered([row for row in rows if row.backbone == key]) for key in keys}
    others = [key for key, (more, fewer) in counts.items() if more <= fewer]
    sentence = say(
        "evidence.steps_verdict",
        backbones=len(counts),
        total=len(rows),
        raised=strong_html(str(raised)),
        lowered=strong_html(str(lowered)),
    )
    if len(others) == len(counts):
        return say.together([sentence, say("evidence.steps_nowhere")])
    if not others:
        return say.together([sentence, say("evidence.steps_everywhere")])
    listed = say.listed(escape(evidence.title(key)) for key in others)
    return say.together([sentence, say("evidence.steps_but", count=len(counts) - len(others), others=listed)])


def _legend(say: Texts) -> str:
    return "   ".join(f"{sign} {say(f'evidence.step_{name}')}" for name, (_, sign) in SIGNS.items())


def _figure(
    evidence: Evidence, every: Sequence[Row], rows: Sequence[Sequence[str]], left: int, say: Texts
) -> Figure:
    """A small plot for each backbone side by side, all with the same rows and the same scale."""
    keys = dict.fromkeys(row.backbone for row in every)
    low, high = floor(10 * min(row.low for row in every)), ceil(10 * max(row.high for row in every))
    tenths = range(low, high + 1, -(-(high - low) // MARKED))
    scale = {
        **value_axis("", range=[low / 10, high / 10], tickangle=0, **ZERO_LINE),
        "tickvals": [tenth / 10 for tenth in tenths],
        "ticktext": [number(tenth / 10, 1) for tenth in tenths],
    }
    title = say("evidence.rho_axis")
    if low:
        title = say("evidence.axis_from", title=title, start=number(low / 10, 1))
    names = [escape(shorten(evidence.title(key), NAME)) for key in keys]
    frame = SideBySide(names, list(map(tick, rows)), left, ROW, 0.08).layout(scale, title)
    placed = [
        beside(row, place=place)
        for place, (name, *_) in enumerate(rows)
        for row in every
        if name in row.poolings
    ]
    dots_of = [
        _dots(evidence, placed, key, index, step, say) for index, key in enumerate(keys) for step in SIGNS
    ]
    return Figure(dots_of, frame)


def _dots(evidence: Evidence, placed: Sequence[Row], key: str, index: int, step: str, say: Texts) -> Trace:
    """The dots of one backbone as it is or after one step, each in its lane of a row."""
    rows = [row for row in placed if (row.backbone, row.step) == (key, step)]
    lane = (list(SIGNS).index(step) - (len(SIGNS) - 1) / 2) * LANE
    name, said = say(f"evidence.step_{step}"), []
    for row in rows:
        more = {"pooling": escape(row.called), "step": name}
        said.append(hover(evidence, row, "evidence.steps_hover", number, say, **more))
    marker: dict[str, Any] = {
        "color": MARKS[evidence.backbones.index(key)][0],
        "symbol": SIGNS[step][0],
        "size": 8,
    }
    lanes = drawn(rows, (round(row.place + lane, 3) for row in rows), said)
    return dots(lanes, marker, {"thickness": 1.5, "width": 0}, **axes_of(index))
