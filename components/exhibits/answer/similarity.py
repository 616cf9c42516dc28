"""Each token's similarity to the reference, as bars in reading order."""

from __future__ import annotations

from html import escape
from math import ceil, floor

import numpy as np
import pandas as pd

from components.exhibits.answer.ordinary import band_columns, band_shapes, band_words, beyond
from components.exhibits.answer.shares import beside_bars, largest_share, share_text
from components.exhibits.control import State
from components.exhibits.draw.figure import Figure, Trace
from components.exhibits.draw.labels import MARKS, mark, shorten, visible
from components.exhibits.draw.style import (
    BRACKET,
    ZERO_LINE,
    layout,
    row_axis,
    row_brackets,
    segment_key,
    tick_texts,
    tick_width,
    token_colours,
    value_axis,
)
from components.exhibits.exhibit import Exhibit, Shown, key_html, legend_html
from components.exhibits.tables import Column, data_frame
from components.exhibits.view import (
    CENTRED,
    LAYER,
    View,
    asked_line,
    layer_name,
    number,
    reference_name,
    yes_or_no,
)
from components.texts import Texts
from components.types import Analysis, Reads

ROW, LOW_ROW = 25, 18  # pixels; rows are low where there are many, so that a slide shows them larger
MANY = 30  # rows
TOP = 68
ROOM = 0.16  # of the axis, for a number beside a bar
SHARE = 52  # pixels, for a share after it
STEPS = (0.5, 0.25, 0.1, 0.05, 0.02, 0.01)  # between ticks
NARROW = 0.1  # the axis starts at a multiple of it, or of the step between ticks


def similarity(analysis: Analysis, state: State, say: Texts) -> Shown:
    """How similar each token's hidden state is to the reference, at the layer under study."""
    view = View.of(analysis, state)
    return Shown(
        heading=_heading(view, say),
        words=say.together(filter(None, (_words(view, say), band_words(view, say), _share(view, say)))),
        data=_data(view, say),
        figure=similarity_figure(view, say),
        legend=_legend(view, say),
        about=asked_line(analysis, say),
    )


SIMILARITY = Exhibit("similarity", similarity, plotted=True, controls=(LAYER, CENTRED), width=3)


def similarity_figure(view: View, say: Texts) -> Figure:
    """Horizontal bars for T tokens, the first on top; all rows have the same height."""
    total = len(view.labels)
    bars = Trace(
        type="bar",
        orientation="h",
        x=[round(float(value), 4) for value in view.similarity],
        y=list(range(total)),
        marker={"color": token_colours(view)},
        text=_values(view),
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        customdata=[_details(view, index, say) for index in range(total)],
        hovertemplate=_hover(say) + "<extra></extra>",
        width=0.74,
    )
    left = tick_width(view.labels) + (BRACKET if view.is_pair else 0)
    start, ticks = _scale(view)
    room = ROOM * (1 - start)
    title = say(
        f"similarity.axis_{view.centring}",
        reference=escape(shorten(reference_name(view, say), 30)),
        layer=layer_name(view, say),
    )
    title += say("similarity.start", start=number(start)) if start else ""
    frame = layout(
        height=total * (ROW if total <= MANY else LOW_ROW) + TOP + 12,
        margin={"l": left, "r": 14 + (SHARE if beside_bars(view.analysis.reads) else 0), "t": TOP, "b": 12},
        xaxis=value_axis(
            title,
            range=[start - (room if start < 0 else 0), 1 + room],
            tickvals=ticks,
            side="top",
            **ZERO_LINE,
        ),
        yaxis=row_axis(tick_texts(view)),
        **row_brackets(view, say, left),
    )
    frame["shapes"] += band_shapes(view)
    return Figure(data=[bars], layout=frame)


def _heading(view: View, say: Texts) -> str:
    """The finding, where it is known what is ordinary; else the question."""
    name = shorten(reference_name(view, say), 40)
    if view.band is None or not view.others:
        return say("similarity.heading", reference=name)
    _, more = beyond(view)
    return say("ordinary.heading", reference=name, count=len(more), total=len(view.others))


def _scale(view: View) -> tuple[float, list[float]]:
    """Where the axis starts and its ticks: the same at every layer, low enough for all of them."""
    lowest = float(view.by_layer.min())
    if view.bands is not None:
        lowest = min(lowest, float(view.bands.min()))
    lowest = round(lowest, 4)
    step = next((step for step in STEPS if 1 - lowest > 2 * step), STEPS[-1])
    grid = min(step, NARROW)
    start = min(floor(round(lowest / grid, 3)), round(1 / grid) - 2) * grid
    ticks = [step * place for place in range(ceil(start / step - 1e-6), round(1 / step) + 1)]
    return round(start, 2) + 0.0, [round(tick, 2) for tick in ticks]


def _values(view: View) -> list[str]:
    """The numbers beside the bars, in bold where they are more than is ordinary, and shares after them."""
    _, more = beyond(view)
    texts = map(number, view.similarity)
    numbers = [f"<b>{text}</b>" if index in more else text for index, text in enumerate(texts)]
    shares = beside_bars(view.analysis.reads) or [""] * len(numbers)
    return [f"{one} · {share}" if share else one for one, share in zip(numbers, shares, strict=True)]


def _words(view: View, say: Texts) -> str:
    """The token that is most and the one that is least similar, the reference itself left out."""
    others = view.others
    if not others:
        return say("similarity.description_one", most=view.labels[0], most_value=number(view.similarity[0]))
    values = view.similarity[others]
    most, least = others[int(np.argmax(values))], others[int(np.argmin(values))]
    return say(
        "similarity.description",
        total=len(view.labels),
        most=view.labels[most],
        most_value=number(view.similarity[most]),
        least=view.labels[least],
        least_value=number(view.similarity[least]),
    )


def _share(view: View, say: Texts) -> str:
    """Which token is most of what is read, of several."""
    return largest_share(view.analysis.reads, lambda index: view.labels[index], say)


def _data(view: View, say: Texts) -> pd.DataFrame:
    """T rows: index, token, whether the head reads it, its share, similarity as drawn."""
    reads = view.analysis.reads
    columns: dict[str, Column] = {
        "index": range(len(view.labels)),
        "token": view.labels,
        "read": [yes_or_no(read, say) for read in reads.positions],
        "share": reads.share,
        "similarity": view.similarity,
    }
    titled = ((say(f"table.{name}"), values) for name, values in columns.items())
    return data_frame((*titled, *band_columns(view, say)))


def _legend(view: View, say: Texts) -> str:
    """What the dot, the colours and the vocabulary's marks mean, for those that occur."""
    analysis = view.analysis
    reads, special = analysis.reads.positions, analysis.tokens.special
    items = [key_html("read", say("legend.read"))] if reads.any() else []
    pair = (("first", "segment.first"), ("second", "segment.second"))
    segments = pair if view.is_pair else (("first", "legend.text"),)
    items += [key_html(name, say(key)) for name, key in segments]
    if (special & ~reads).any():
        items.append(key_html("special", say("legend.special")))
    marks = {mark(label) for label in view.labels}
    items += [f"<li>{escape(say(f'legend.{sign}'))}</li>" for sign in MARKS if sign in marks]
    if view.band is not None:
        items.append(key_html("band", say("ordinary.band")))
    if beyond(view)[1]:
        items.append(f"<li><b>0.00</b> {escape(say('ordinary.bold'))}</li>")
    if beside_bars(analysis.reads):
        items.append(f"<li>{escape(_beside_bars(analysis.reads, say))}</li>")
    return legend_html(*items)


def _beside_bars(reads: Reads, say: Texts) -> str:
    """What stands after the number beside a bar."""
    if reads.wins is None:
        return say("legend.share")
    return say("legend.wins", total=int(reads.wins.sum()))


def _hover(say: Texts) -> str:
    """What hovering over a bar says; plotly fills in its details."""
    token, place, share, raw = (f"%{{customdata[{field}]}}" for field in range(4))
    return say(
        "similarity.hover",
        token=token,
        index="%{pointNumber}",
        value="%{x:.3f}",
        place=place,
        share=share,
        raw=raw,
    )


def _details(view: View, index: int, say: Texts) -> list[str]:
    """Label, place in the text, share of what is read and vocabulary string of one token, escaped."""
    tokens = view.analysis.tokens
    segment = int(tokens.segment[index])
    start, end = (int(bound) for bound in tokens.span[index])
    place = say("similarity.place_none" if tokens.special[index] else "similarity.place_unknown")
    if start < end:
        name = say(segment_key(segment)) if view.is_pair else say("segment.only")
        place = say("similarity.place", start=start, end=end, segment=name)
    share = share_text(view.analysis.reads, index, say)
    return [escape(view.labels[index]), place, share, escape(visible(tokens.text[index]))]
