"""Each token's similarity to the reference: bars at one layer, a heat map of all, and the table of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from math import ceil, floor
from typing import Any

import numpy as np
import pandas as pd

from components.exhibits.control import State
from components.exhibits.draw import (
    BRACKET,
    DIVERGING,
    SPECIAL,
    ZERO_LINE,
    Figure,
    Trace,
    cells,
    cells_frame,
    diverging,
    layers_layout,
    layout,
    least_width,
    row_axis,
    row_brackets,
    segment_key,
    tick_texts,
    tick_width,
    token_colours,
    value_axis,
)
from components.exhibits.exhibit import (
    Column,
    Exhibit,
    Shown,
    data_frame,
    hint_html,
    key_html,
    legend_html,
    saved_table,
    scale_html,
)
from components.exhibits.view import (
    CENTRED,
    LAYER,
    MARKS,
    View,
    asked_line,
    indices,
    layer_name,
    mark,
    number,
    percent,
    reference_name,
    shorten,
    visible,
    yes_or_no,
)
from components.texts import Texts
from components.types import Analysis, Centring, Floats, Reads

ENDS = ("low", "median", "high")
SIMILARITIES: tuple[tuple[str, Centring], ...] = (  # columns of a table, and what they are
    ("similarity", "plain"),
    ("centred", "centred"),
    ("standardised", "standardised"),
)
BESIDE = 0.05  # where the colours of what is not ordinary begin, on a scale from 0 to 1
GREY = 0.02  # how far the grey of what is ordinary reaches
FAINT = "rgba(128, 128, 128, 0.2)"  # that grey: what stands out does so in the light and in the dark theme
SCALE = [  # the two-way scale with a step on both sides of what is ordinary
    *(stop for stop in DIVERGING if float(str(stop[0])) < 0.5),
    [0.5 - GREY, diverging(-0.2)],
    *([0.5 + side, FAINT] for side in (-GREY, GREY)),
    [0.5 + GREY, diverging(0.2)],
    *(stop for stop in DIVERGING if float(str(stop[0])) > 0.5),
]


def beyond(view: View) -> tuple[list[int], list[int]]:
    """The tokens less and those more like [CLS] than is ordinary at the layer under study."""
    if view.band is None:
        return [], []
    low, _, high = view.band
    values = view.similarity
    return [one for one in view.others if values[one] < low], [
        one for one in view.others if values[one] > high
    ]


def departures(by_layer: Floats, bands: Floats) -> Floats:
    """Where similarities (L + 1, T) lie on the scale of colours, in [-1, 1]; ``bands``: (L + 1, 3).

    0 is ordinary; what lies beyond the band is as far along as it is on the way from there to 1 or to -1.
    """
    low, high = bands[:, :1], bands[:, 2:]
    more = (by_layer - high) / np.maximum(1 - high, 1e-6)
    less = (low - by_layer) / np.maximum(low + 1, 1e-6)
    far: Floats = np.where(more > 0, more, -less).clip(-1, 1)
    shown: Floats = np.where((more > 0) | (less > 0), np.sign(far) * BESIDE + (1 - BESIDE) * far, 0)
    return shown.astype(np.float32)


def band_shapes(view: View) -> list[dict[str, Any]]:
    """Behind bars from left to right: the band, and a line at its median."""
    if view.band is None:
        return []
    low, median, high = view.band
    ends = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    fill = {"fillcolor": SPECIAL, "opacity": 0.28, "line": {"width": 0}}
    line = {"line": {"color": SPECIAL, "width": 2}}
    return [
        {"type": "rect", "x0": low, "x1": high, **ends, **fill},
        {"type": "line", "x0": median, "x1": median, **ends, **line},
    ]


def band_words(view: View, say: Texts) -> str:
    """What is ordinary at the layer under study, and how many tokens are not; "" where that is not known."""
    if view.band is None:
        return ""
    low, median, high = map(number, view.band)
    less, more = map(len, beyond(view))
    return say("ordinary.words", low=low, median=median, high=high, less=less, more=more)


def band_columns(view: View, say: Texts) -> Iterator[tuple[str, Column]]:
    """The ends and the median of the band that is shown, alike in all T rows; none where it is not known."""
    if view.band is not None:
        for end, value in zip(ENDS, view.band, strict=True):
            yield say(f"table.ordinary_{end}"), [value] * len(view.analysis.tokens.text)


def all_columns(view: View, say: Texts) -> Iterator[tuple[str, Column]]:
    """The same for every centring."""
    for name, centring in SIMILARITIES if view.band is not None else ():
        for title, values in band_columns(View(view.analysis, view.layer, centring), say):
            yield say("table.of", what=say(f"table.{name}"), column=title), values


NAMED = 3  # tokens whose dimensions are counted by name

Name = Callable[[int], str]  # index of a token -> what it is called


def largest_share(reads: Reads, name: Name, say: Texts) -> str:
    """Which token is most of what is read; "" where only one is read, or none."""
    read = indices(reads.positions)
    if len(read) < 2:
        return ""
    shares = {percent(reads.share[index]) for index in read}
    if len(shares) == 1:
        return say("reads.equal", share=shares.pop())
    most = max(read, key=lambda index: float(reads.share[index]))
    return say("reads.largest", token=name(most), share=percent(reads.share[most]))


def flat_count(reads: Reads, say: Texts) -> str:
    """How many tokens are read though the logits have no slope there; "" where there are none."""
    count = len(flat_tokens(reads))
    return say("reads.flat" if count > 1 else "reads.flat_one", count=count) if count else ""


def won_dimensions(reads: Reads, name: Name, say: Texts) -> str:
    """Which tokens the largest values are of, under a maximum over several; else ""."""
    if reads.wins is None or len(reads.wins) < 2:
        return ""
    order = [int(index) for index in np.argsort(-reads.wins, kind="stable") if reads.wins[index]]
    named, rest = order[:NAMED], order[NAMED:]
    parts = [say("reads.wins", token=name(index), count=int(reads.wins[index])) for index in named]
    if rest:
        parts.append(say("reads.wins_rest", count=int(reads.wins[rest].sum())))
    return say("reads.maximum", total=int(reads.wins.sum()), tokens=say.listed(parts))


def share_text(reads: Reads, index: int, say: Texts) -> str:
    """The share of one token, and why it is nothing where the token is read all the same."""
    share = percent(reads.share[index])
    if index in flat_tokens(reads):
        share = say("reads.share_flat", share=share)
    if reads.wins is None:
        return share
    return say("reads.share_wins", share=share, count=int(reads.wins[index]), total=int(reads.wins.sum()))


def beside_bars(reads: Reads) -> list[str]:
    """For each token, how much of what is read it is; or, under a maximum, how many dimensions it wins.

    Empty where only one is read or all are read alike: then the verdict says it all.
    """
    if reads.wins is not None:
        return [str(int(count)) for count in reads.wins] if len(reads.wins) > 1 else []
    shares = [percent(share) if share else "" for share in reads.share]
    return shares if len({share for share in shares if share}) > 1 else []


def flat_tokens(reads: Reads) -> Sequence[int]:
    """Indices of the tokens that are read though the logits have no slope there."""
    return indices(reads.positions & (reads.share == 0))


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
    items: list[str] = [key_html("read", say("legend.read"))] if reads.any() else []
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


def heatmap(analysis: Analysis, state: State, say: Texts) -> Shown:
    """The same cosines at every layer; on the page a click on a row studies that layer."""
    view = View.of(analysis, state)
    scale = say(f"heatmap.colour_{view.centring}")
    if view.bands is not None:
        scale = say("ordinary.colour", cosine=scale)
    return Shown(
        heading=say("heatmap.heading", reference=shorten(reference_name(view, say), 40)),
        words=_heatmap_words(view, say),
        data=_heatmap_data(view, say),
        figure=heatmap_figure(view, say),
        action=hint_html(say("heatmap.hint")),
        above=scale_html(scale, DIVERGING if view.bands is None else SCALE),
        about=asked_line(analysis, say),
        scale=scale,
        least_width=least_width(view),
    )


HEATMAP = Exhibit("heatmap", heatmap, plotted=True, controls=(LAYER, CENTRED))


def heatmap_figure(view: View, say: Texts) -> Figure:
    """L + 1 rows, layer 0 at the bottom, by T columns; the layer under study is framed."""
    hover, bands = partial(say, "heatmap.hover", token="%{x}", layer="%{y}"), view.bands
    frame = cells_frame(view.layer, 0, view.by_layer.shape[1] - 1)
    if bands is None:
        drawn = cells(view.by_layer, hover(value="%{z:.3f}"), colorscale=DIVERGING)
    else:  # coloured by how far from ordinary they are
        drawn = cells(
            departures(view.by_layer, bands),
            hover(value="%{customdata:.3f}"),
            customdata=np.round(view.by_layer.astype(np.float64), 4).tolist(),
            colorscale=SCALE,
            colorbar={"tickvals": [-1, 0, 1], "ticktext": ["−1", say("ordinary.name"), "1"]},  # of an image
        )
    return Figure(data=[drawn], layout=layers_layout(view, frame, say))


def _heatmap_words(view: View, say: Texts) -> str:
    """Where similarity is lowest and highest, the reference itself left out."""
    layers, total = view.by_layer.shape
    others = view.others or [0]
    values = view.by_layer[:, others]
    found: dict[str, object] = {}
    for end, place in (("low", int(values.argmin())), ("high", int(values.argmax()))):
        layer, column = divmod(place, len(others))
        found |= {
            end: number(values[layer, column]),
            f"{end}_token": view.labels[others[column]],
            f"{end}_layer": layer,
        }
    words = say("heatmap.description", layers=layers, total=total, **found)
    if view.bands is None or not view.others:
        return words
    far = departures(view.by_layer, view.bands)[:, others]
    less, more = int((far < 0).sum()), int((far > 0).sum())
    return say.together((words, say("ordinary.cells", more=more, less=less, total=far.size)))


def _heatmap_data(view: View, say: Texts) -> pd.DataFrame:
    """T rows by a column for each of the L + 1 layers, and below them rows of what is ordinary there."""
    ends = () if view.bands is None else tuple(say(f"table.ordinary_{end}") for end in ENDS)
    rows = view.by_layer if view.bands is None else np.hstack([view.by_layer, view.bands])
    layers = [(say("away.layer", layer=layer), row) for layer, row in enumerate(rows)]
    places = (*map(str, range(len(view.labels))), *("" for _ in ends))
    tokens = ((say("table.index"), places), (say("table.token"), (*view.labels, *ends)))
    return data_frame((*tokens, *layers))


NUMERIC = (0, 7, 8, 9, 10, 11)  # columns: index, share, the similarities, dimensions under a maximum
ALWAYS = 11  # columns; the ordinary ones, behind them, are in the caption


def table(analysis: Analysis, state: State, say: Texts) -> Shown:
    """T rows with a link that saves them as CSV."""
    view = View.of(analysis, state)
    data = _table_data(view, say)
    shown, caption = _rounded(view, data, say), _caption(view, say)
    return Shown(data=data, html=saved_table(data, shown, NUMERIC, caption, "poolscope.csv", say))


TABLE = Exhibit(
    "numbers",
    table,
    style="numbers",
    frame="folded",
    title="table.heading",
    controls=(LAYER,),
)


def _table_data(view: View, say: Texts) -> pd.DataFrame:
    """A row for each of the T tokens; vocabulary strings are given as they are."""
    analysis, tokens = view.analysis, view.analysis.tokens
    columns: dict[str, Column] = {
        "index": range(len(view.labels)),
        "token": view.labels,
        "raw": tokens.text,
        "characters": [f"{start}–{end}" if start < end else "" for start, end in tokens.span],
        "segment": [say(segment_key(int(one))) if one >= 0 else "" for one in tokens.segment],
        "special": [yes_or_no(one, say) for one in tokens.special],
        "read": [yes_or_no(one, say) for one in analysis.reads.positions],
        "share": analysis.reads.share,
        **{name: analysis.cosines(centring)[view.layer] for name, centring in SIMILARITIES},
    }
    if analysis.reads.wins is not None:
        columns["wins"] = analysis.reads.wins
    titled = ((say(f"table.{name}"), cells) for name, cells in columns.items())
    return data_frame((*titled, *all_columns(view, say)))


def _caption(view: View, say: Texts) -> str:
    """What the numbers are, and what is ordinary at the layer under study."""
    about = say("table.caption", layer=layer_name(view, say), reference=reference_name(view, say))
    ranges = [
        say("ordinary.range", what=say(f"table.{name}"), low=number(band[0]), high=number(band[2]))
        for name, centring in SIMILARITIES
        if (band := View(view.analysis, view.layer, centring).band) is not None
    ]
    if not ranges:
        return about
    return say.together((about, say("ordinary.caption", ranges=say.listed(ranges))))


def _rounded(view: View, data: pd.DataFrame, say: Texts) -> pd.DataFrame:
    """The same rows as they are read: every cell a text."""
    analysis = view.analysis
    shown: dict[str, Column] = {
        "raw": [visible(text) for text in analysis.tokens.text],
        "share": [_table_share(view, index, say) for index in range(len(view.labels))],
        **{
            name: [number(value, 4) for value in analysis.cosines(centring)[view.layer]]
            for name, centring in SIMILARITIES
        },
    }
    texts = {say(f"table.{name}"): cells for name, cells in shown.items()}
    titles = data.columns[: ALWAYS + (analysis.reads.wins is not None)]
    columns = (texts.get(title, list(map(str, data.iloc[:, place]))) for place, title in enumerate(titles))
    return data_frame(zip(titles, columns, strict=True))


def _table_share(view: View, index: int, say: Texts) -> str:
    """The share of one token; that there is no slope where it is read all the same."""
    reads = view.analysis.reads
    share = percent(reads.share[index])
    return say("table.flat", share=share) if index in flat_tokens(reads) else share
