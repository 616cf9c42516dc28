"""The stream through a head: tokens by their share of what is read, its steps, classes by probability."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate, pairwise

import numpy as np
import pandas as pd
from plotly.colors import hex_to_rgb

from components.analyses.anatomy import Anatomy
from components.exhibits import draw
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, key_html, legend_of, titled_frame
from components.exhibits.head import detail, first_untrained, numbered, short, size, vector
from components.exhibits.similarity import share_text
from components.exhibits.verdict import chosen_labels, output_text, ranked
from components.exhibits.view import asked_line, labels_of, percent, shorten, visible, width
from components.texts import Texts
from components.types import Analysis, Floats

Span = tuple[float, float]  # from the left end to the right end, in fractions of the figure's width
TOKENS, CLASSES = 9, 8  # columns; what is more than that stands together in the last one
NAME = 10  # characters of a token or a class


@dataclass(frozen=True)
class Part:
    """A column of a figure: ``label`` names it, ``weight`` is its part of the stream.

    ``live``: it is read, or chosen. ``lines`` say more of it, ``members`` are the indices of its tokens or
    labels. Nothing is escaped.
    """

    label: str
    lines: tuple[str, ...]
    weight: float
    live: bool
    members: tuple[int, ...]


def token_parts(anatomy: Anatomy, say: Texts) -> list[Part]:
    """The tokens in their order; of more than nine those that are read most, and the rest in one."""
    reads, labels = anatomy.analysis.reads, labels_of(anatomy.analysis)
    shares, read = reads.share.tolist(), reads.positions.tolist()
    order = sorted(range(len(labels)), key=lambda index: (-shares[index], not read[index], index))
    alone, rest = _columns(order, TOKENS)
    parts = []
    for index in alone:
        told = say("flow.unread_token")
        if read[index]:
            told = say("flow.share", share=share_text(reads, index, say))
        lines = (labels[index], told)
        parts.append(Part(shorten(labels[index], NAME), lines, shares[index], read[index], (index,)))
    if rest:
        weight, live = sum(shares[index] for index in rest), any(read[index] for index in rest)
        words = "flow.others" if live else "flow.others_unread"
        label = say(words, count=len(rest), share=percent(weight))
        parts.append(Part(label, (label,), weight, live, tuple(sorted(rest))))
    return sorted(parts, key=lambda part: part.members[0])


def class_parts(analysis: Analysis, say: Texts) -> list[Part]:
    """The classes, the likeliest first; of more than eight the others in one.

    Each is as wide as its probability over their sum, those of raw values are equally wide.
    """
    chosen, values = chosen_labels(analysis), analysis.probabilities.tolist()
    if analysis.problem_type == "regression" or not sum(values) > 0:
        values = [1.0] * len(values)
    weights = [value / sum(values) for value in values]
    alone, rest = _columns(ranked(analysis), CLASSES)
    parts = []
    for index in alone:
        name, value = visible(analysis.labels[index]), output_text(analysis, index)
        label = say("flow.output", label=shorten(name, NAME), value=value)
        lines = (name, value, say("flow.logit", logit=short(analysis.logits[index])))
        parts.append(Part(label, lines, weights[index], index in chosen, (index,)))
    if rest:
        words = "flow.classes" if analysis.problem_type == "single_label" else "flow.classes_raw"
        label = say(words, count=len(rest), share=percent(float(analysis.probabilities[rest].sum())))
        parts.append(Part(label, (label,), sum(weights[index] for index in rest), False, tuple(rest)))
    return parts


def _columns(order: list[int], most: int) -> tuple[list[int], list[int]]:
    """Those that have a column to themselves, and those that share the last of ``most``."""
    alone = most if len(order) <= most else most - 1
    return order[:alone], order[alone:]


TRUNK: Span = (0.02, 0.18)
FIELD: Span = (0.02, 0.78)  # where tokens and classes stand side by side
WORDS = 0.205  # where the names of the steps begin
THREAD, BOX, FAN, PITCH, NODE = 24, 52, 112, 62, 16  # pixels
LEVEL = 2  # classes that are named on the level; the names of more are slanted
ALONE = 4  # columns that a single one is placed as if there were, so that it stays near the trunk
THIN = 0.006  # of the width: what carries nothing can still be seen
FAINT = 0.22  # opacity of a box that the names of its step are read on
STREAM = 0.5  # opacity of a stream
SAMPLES = 20  # points of a bent edge
FEW = 6  # values that are shown of a vector
LINE = 23  # characters of a line of a step's name: what a phone has room for
LONGEST = 72  # characters of a line that is shown on pointing


@dataclass(frozen=True, eq=False)
class _Flow:
    """The picture as it is drawn, from the top down."""

    anatomy: Anatomy
    say: Texts
    tokens: list[Part]
    classes: list[Part]
    traces: list[draw.Trace] = field(default_factory=list)
    words: list[tuple[float, float, str]] = field(default_factory=list)  # x, y, escaped text

    @property
    def picking(self) -> int:
        """Index of the step where the streams of the tokens become one."""
        return next((index for index, step in enumerate(self.anatomy.steps) if step.picks), 0)

    def colour(self, index: int) -> str:
        """Colour of the step ``index`` and of what comes out of it; -1 are the tokens."""
        return draw.OTHER if index >= first_untrained(self.anatomy) else draw.READ


def outline(
    start: Span,
    end: Span,
    top: float,
    height: float,
    colour: str,
    lines: Sequence[str],
    opacity: float = STREAM,
    frame: str = "",
) -> draw.Trace:
    """A stream from ``start`` at ``top`` down to ``end``, bent like an S where it moves sideways.

    ``lines`` are shown on pointing at it, and are escaped here. ``frame``: how a line round it is dashed.
    """
    times = np.linspace(0, 1, 2 if start == end else SAMPLES + 1)
    left, right = (
        first + (last - first) * times * times * (3 - 2 * times)
        for first, last in zip(start, end, strict=True)
    )
    down = top + height * times
    red, green, blue = hex_to_rgb(colour)
    return draw.Trace(
        type="scatter",
        mode="lines",
        x=[round(float(x), 4) for x in (*left, *right[::-1], left[0])],
        y=[round(float(y), 1) for y in (*down, *down[::-1], top)],
        fill="toself",
        fillcolor=f"rgba({red}, {green}, {blue}, {opacity})",
        line={"color": colour, "width": 2.5, "dash": frame} if frame else {"width": 0},
        hoveron="fills",
        hoverinfo="text",
        text="<br>".join(escape(shorten(line, LONGEST)) for line in lines),
        hoverlabel={"bgcolor": colour, "font": {"color": "white"}},
    )


def flow(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The way from the final hidden states to the classes, as it ran."""
    drawn = _Flow(anatomy, say, token_parts(anatomy, say), class_parts(anatomy.analysis, say))
    read, steps = anatomy.analysis.reads.positions, anatomy.steps
    legend: dict[str, object] = {
        key_html("read", say("flow.read")): read.any(),
        key_html("special", say("flow.unread")): not read.all(),
        key_html("functional", say("flow.functional")): not all(step.path for step in steps),
        key_html("special", say("flow.random")): first_untrained(anatomy) < len(steps),
    }
    return Shown(
        heading=say("flow.heading"),
        words=_words(drawn),
        data=_data(anatomy, say),
        figure=_figure(drawn),
        above=legend_of(legend),
        about=asked_line(anatomy.analysis, say),
    )


FLOW = Exhibit("flow", flow, plotted=True, width=3)


def _words(drawn: _Flow) -> str:
    anatomy, say = drawn.anatomy, drawn.say
    steps = say.listed(
        say("steps.detailed", step=numbered(anatomy, index, say), detail=detail(step, say))
        for index, step in enumerate(anatomy.steps)
    )
    tokens = say.listed(  # several in one column say their share already
        part.label if len(part.members) > 1 else f"{part.lines[0]} {percent(part.weight)}"
        for part in drawn.tokens
        if part.live
    )
    classes = say.listed(" ".join(part.lines[:2]) for part in drawn.classes)
    return say("flow.description", count=len(anatomy.steps), steps=steps, tokens=tokens, classes=classes)


def _data(anatomy: Anatomy, say: Texts) -> pd.DataFrame:
    """Down the stream: T tokens with their shares, the steps, K classes with their outputs."""
    analysis, none = anatomy.analysis, ("",) * 4
    token, step, end = (say(f"away.{part}") for part in ("token", "step", "class"))
    tokens = zip(labels_of(analysis), analysis.reads.share, strict=True)
    rows: list[tuple[object, ...]] = [(token, label, *none, share, None) for label, share in tokens]
    for index, one in enumerate(anatomy.steps):
        sizes = size(one.taken.shape), size(one.given.shape)
        origin = say(f"steps.{one.origin}") if one.origin else ""
        rows.append((step, numbered(anatomy, index, say), *sizes, str(one.parameters), origin, None, None))
    for index in ranked(analysis):
        rows.append((end, visible(analysis.labels[index]), *none, None, analysis.probabilities[index]))
    titles = ("part", "name", "before", "after", "parameters", "origin", "share", "output")
    columns = zip(*rows, strict=True)
    return titled_frame({f"away.{title}": cells for title, cells in zip(titles, columns, strict=True)}, say)


def _figure(drawn: _Flow) -> draw.Figure:
    bottom = _classes(drawn, _trunk(drawn, _tokens(drawn)))
    level = len(drawn.classes) <= LEVEL  # then each class has its words already
    slanted = [  # pixels that the longest of their names is high
        round(draw.CHARACTER * 0.75 * max(width(part.label) for part in parts))
        for parts in (drawn.tokens, drawn.classes)
    ]
    above, below = slanted[0] + 26, 60 if level else slanted[1] + 20
    frame = draw.layout(
        height=round(bottom) + above + below,
        margin={"l": 2, "r": 2 if level else 14, "t": above, "b": below},  # the last slanted name ends there
        hovermode="closest",
        xaxis=_names(drawn.tokens, -45, "top"),
        xaxis2={**_names(drawn.classes, 45, "bottom"), "overlaying": "x", "showticklabels": not level},
        yaxis=draw.axis(range=[bottom, 0], showticklabels=False),
    )
    sides = ["middle right" if x == WORDS else "bottom center" for x, _, _ in drawn.words]
    xs, ys, words = (list(column) for column in zip(*drawn.words, strict=True))
    texts = draw.written(xs, ys, words, sides, textfont={"size": 16})
    # An axis without a trace is not drawn.
    anchor = draw.Trace(type="scatter", x=[None], y=[None], xaxis="x2")
    return draw.Figure([*drawn.traces, texts, anchor], frame)


def _tokens(drawn: _Flow) -> float:
    """Down to the step that makes one stream of them; what is not read ends on the way. Gives its height."""
    places, y = _places(drawn.tokens), 0.0
    for index in range(drawn.picking):
        for part, place in zip(drawn.tokens, places, strict=True):
            colour = drawn.colour(index - 1) if part.live else draw.OTHER
            drawn.traces.append(outline(place, place, y, THREAD, colour, part.lines))
        y += THREAD
        _step(drawn, index, (FIELD[0], 0.98), y, BOX, FAINT)
        y += BOX
    ends = _bundle([part.weight if part.live else 0.0 for part in drawn.tokens])
    for part, place, end in zip(drawn.tokens, places, ends, strict=True):
        if part.live:
            drawn.traces.append(outline(place, end, y, FAN, drawn.colour(drawn.picking - 1), part.lines))
        else:
            drawn.traces.append(outline(place, place, y, FAN * 0.4, draw.OTHER, part.lines))
    return y + FAN


def _trunk(drawn: _Flow, y: float) -> float:
    """The picking step, those after it, and the logits, each as a bar across the trunk."""
    anatomy, say, last = drawn.anatomy, drawn.say, len(drawn.anatomy.steps) - 1
    for index in range(drawn.picking, last + 1):
        solid = 1.0 if anatomy.steps[index].path else 0.0  # a function is an empty frame
        lines = _step(drawn, index, TRUNK, y, NODE, solid)
        drawn.traces.append(outline(TRUNK, TRUNK, y + NODE, PITCH - NODE, drawn.colour(index), lines))
        y += PITCH
    how = {"single_label": "flow.softmax", "multi_label": "flow.sigmoid", "regression": "flow.raw"}
    logits, activation = _first(anatomy.analysis.logits), say(how[anatomy.analysis.problem_type])
    lines = (say("flow.logits"), logits, activation)
    drawn.traces.append(outline(TRUNK, TRUNK, y, NODE, drawn.colour(last), lines, 1.0, "solid"))
    count = len(anatomy.analysis.logits)
    named = say("flow.few", logits=logits) if count <= 3 else say("head.logits", count=count)
    drawn.words.append((WORDS, y + NODE / 2 - 4, _two_lines(named, activation)))
    return y + NODE


def _classes(drawn: _Flow, y: float) -> float:
    """The trunk splits into the classes; gives the height of the whole picture."""
    read = drawn.colour(len(drawn.anatomy.steps) - 1) == draw.READ
    places, starts = _places(drawn.classes), _bundle([part.weight for part in drawn.classes])
    for part, start, place in zip(drawn.classes, starts, places, strict=True):
        colour = draw.label_colour(part.members[0]) if part.live and read else draw.OTHER
        drawn.traces.append(outline(start, place, y, FAN, colour, part.lines))
        drawn.traces.append(outline(place, place, y + FAN, NODE, colour, part.lines, 1.0, "solid"))
        if len(drawn.classes) <= LEVEL:
            drawn.words.append((sum(place) / 2, y + FAN + NODE + 3, _class_words(part)))
    return y + FAN + NODE + 4


def _step(drawn: _Flow, index: int, span: Span, top: float, height: float, opacity: float) -> tuple[str, ...]:
    """A step as a box across ``span``, its words beside it; gives what is said on pointing at it."""
    anatomy, say, step = drawn.anatomy, drawn.say, drawn.anatomy.steps[index]
    name, told, given = numbered(anatomy, index, say), detail(step, say), vector(anatomy, step.given)
    norm, low, high = map(short, (np.linalg.norm(given), given.min(), given.max()))
    lines = [name, told]
    lines += [say("flow.within", within=visible(step.within))] if step.within else []
    lines += [say(f"steps.{step.origin}")] if step.origin else []
    lines += [say("flow.values", values=_first(given)), say("flow.bounds", norm=norm, low=low, high=high)]
    frame = "solid" if step.path else "5px,3px"
    drawn.traces.append(outline(span, span, top, height, drawn.colour(index), lines, opacity, frame))
    words = _two_lines(name, told, slanted=not step.path)
    drawn.words.append((WORDS, top + height / 2 + (4 if height == NODE else 0), words))
    return tuple(lines)


def _first(values: Floats) -> str:
    return ", ".join(map(short, values[:FEW])) + (" …" if len(values) > FEW else "")


def _class_words(part: Part) -> str:
    """The name of a class on at most two lines, and what is said of it: two stand side by side on a phone."""
    name, value = part.lines[:2]
    lines = [shorten(line, 12) for line in textwrap.wrap(name, 12, max_lines=2, placeholder="…")]
    text = "<br>".join(escape(line) for line in (*lines, value))
    return f'<span style="font-size: 14px">{f"<b>{text}</b>" if part.live else text}</span>'


def _two_lines(first: str, second: str, slanted: bool = False) -> str:
    """A name, which is cut in two where it is long, and what stands small below it."""
    lines = textwrap.wrap(first, LINE, max_lines=2, placeholder="…")
    name = f"<b>{'<br>'.join(map(escape, lines))}</b>"
    small = f'<span style="font-size: 13px">{escape(second)}</span>'
    return f"{f'<i>{name}</i>' if slanted else name}<br>{small}"


def _places(parts: list[Part]) -> list[Span]:
    """Places of tokens or classes beside each other: as wide as they weigh, evenly apart."""
    whole = TRUNK[1] - TRUNK[0]
    gap = (FIELD[1] - FIELD[0] - whole) / (len(parts) if len(parts) > 1 else ALONE)
    slots = [part.weight * whole + gap for part in parts]
    halves = [max(part.weight * whole, THIN) / 2 for part in parts]
    lefts = accumulate(slots[:-1], initial=FIELD[0])
    middles = (left + slot / 2 for left, slot in zip(lefts, slots, strict=True))
    return [(middle - half, middle + half) for middle, half in zip(middles, halves, strict=True)]


def _bundle(weights: Sequence[float]) -> list[Span]:
    """Places of such streams side by side in the trunk."""
    total = sum(weights) or 1.0
    widths = ((TRUNK[1] - TRUNK[0]) * weight / total for weight in weights)
    return list(pairwise(accumulate(widths, initial=TRUNK[0])))


def _names(parts: list[Part], angle: int, side: str) -> dict[str, object]:
    texts = [f"<b>{escape(part.label)}</b>" if part.live else escape(part.label) for part in parts]
    return draw.axis(
        range=[0, 1],
        side=side,
        tickangle=angle,
        tickvals=[round((left + right) / 2, 4) for left, right in _places(parts)],
        ticktext=texts,
        tickfont={"size": 13},
        ticklabeloverflow="allow",
    )
