"""Each token's similarity to the reference: bars at one layer, a heat map of all, and the table of both."""

from math import ceil, floor

import numpy as np
from markupsafe import Markup

from components.exhibits import alone, draw, exhibit, view as naming
from components.exhibits.control import State
from components.exhibits.exhibit import Column, Exhibit, Shown, titled
from components.exhibits.view import CENTRED, LAYER, View, number, percent, render, shorten, visible
from components.texts import Texts
from components.types import Analysis, Floats, Reads

ENDS = ("low", "median", "high")
KEYS = ("ordinary.below", "ordinary.name", "ordinary.above")  # of what the colours say
PALE = 0.5  # of a bar that is not above the band
BEYOND = 0.05  # of tokens of other sentences lie above the band, and as many below it
OUTSIDE = 0.2  # where the colours of what is not ordinary begin, on a scale from 0 to 1
TOP = 54  # pixels
ROOM = 0.16  # of the axis, for a number beside a bar
GAP = "\u2009"  # between the two: a thin space
SHARE = 52  # pixels, for a share after it
STEPS = (0.5, 0.25, 0.1, 0.05, 0.02, 0.01)  # between ticks
NARROW = 0.1  # the axis starts at a multiple of it, or of the step between ticks
SAVED = ("index", "token", "read", "share")  # columns of the figure, before its similarity
NUMERIC = (0, 7, 8, 9, 10, 11)  # columns: index, share, the similarities, dimensions under a maximum
FAINT = [[(1 + side * OUTSIDE) / 2, draw.FAINT] for side in (-1, 1)]  # between both, where it is ordinary
INNER = [[stop, draw.diverging(side * OUTSIDE)] for side, (stop, _) in zip((-1, 1), FAINT, strict=True)]
SCALE = [*draw.DIVERGING[:2], INNER[0], *FAINT, INNER[1], *draw.DIVERGING[3:]]


def beside_band(view: View, total: int, say: Texts) -> dict[str, str]:
    """Names for the band's sentences, and how many of ``total`` lie on one side of it by chance."""
    others = say("ordinary.pairs" if view.is_pair else "ordinary.sentences")
    name = shorten(naming.reference_name(view, say), 40)
    return {"reference": name, "others": others, "expected": f"{BEYOND * total:.4g}"}


def departures(by_layer: Floats, bands: Floats) -> Floats:
    """Places of similarities (L + 1, T) on the scale of colours, in [-1, 1]; ``bands``: (L + 1, 3).

    0 is ordinary; what lies beyond the band is as far along as it is on the way from there to 1 or to -1.
    """
    low, high = bands[:, :1], bands[:, 2:]
    more = ((by_layer - high) / np.maximum(1 - high, 1e-6)).clip(0, 1)
    less = ((low - by_layer) / np.maximum(low + 1, 1e-6)).clip(0, 1)
    return np.asarray(np.sign(more - less) * OUTSIDE + (1 - OUTSIDE) * (more - less), np.float32)


def ordinary_scale(name: str, say: Texts) -> Markup:
    """The colours of what is below, within and above what is ordinary."""
    below, _, above = map(say, KEYS)
    return exhibit.scale_html(name, SCALE, (below, above))


def share_text(reads: Reads, index: int, say: Texts) -> str:
    """The share of one token, and why it is nothing where the token is read all the same."""
    share = percent(reads.share[index])
    if reads.positions[index] and not reads.share[index]:
        share = say("reads.share_flat", share=share)
    if reads.wins is None:
        return share
    return say("reads.share_wins", share=share, count=int(reads.wins[index]), total=int(reads.wins.sum()))


def beside_bars(reads: Reads) -> list[str]:
    """For each token, its share of the sensitivity; or, under a maximum, how many dimensions it wins.

    Empty where only one is read or all are read alike: then the verdict says it all.
    """
    if reads.wins is not None:
        return [str(int(count)) for count in reads.wins] if len(reads.wins) > 1 else []
    shares = [percent(share) if share else "" for share in reads.share]
    return shares if len({share for share in shares if share}) > 1 else []


def flat_tokens(reads: Reads) -> list[int]:
    """Indices of the tokens that are read though the logits have no slope there."""
    return naming.indices(reads.positions & (reads.share == 0))


def similarity(analysis: Analysis, state: State, say: Texts) -> Shown:
    """Show how similar each token's hidden state is to the reference, at the layer under study."""
    view = View.of(analysis, state)
    columns = _columns(view, say)
    own = {f"table.{key}": columns[f"table.{key}"] for key in (*SAVED, view.centring)}
    total, last = len(view.others), len(view.areas) - 1
    found = {"count": len(view.above), "total": total, **beside_band(view, total, say)}
    legend = render(
        "similarity_legend",
        say,
        view=view,
        answers=alone.answers(view),
        colours=alone.label_colours(analysis),
        special=(analysis.tokens.special & ~analysis.reads.positions).any(),
        inside=naming.INSIDE in map(naming.mark, view.labels),
        band=beside_band(view, 0, say),
        beside=beside_bars(analysis.reads),
        told=alone.words(view, say),
        layers=np.unique(np.linspace(0, last, 7).round().astype(int)),  # of which a line tells the area
    )
    return Shown(
        heading=say("ordinary.heading" if view.others else "similarity.heading", **found),
        words=_words(view, say),
        data=titled(own, say),
        figure=_figure(view, say),
        legend=legend,
        about=naming.asked_line(analysis, say),
    )


SIMILARITY = Exhibit("similarity", similarity, plotted=True, controls=(LAYER, CENTRED), width=3)


def _figure(view: View, say: Texts) -> draw.Figure:
    """Horizontal bars for T tokens, the first on top."""
    total, more, shares = len(view.labels), set(view.above), beside_bars(view.analysis.reads)
    full = {*more, view.analysis.reference}
    texts = [
        f"<b>{number(value)}</b>" if index in more else number(value)
        for index, value in enumerate(view.similarity)
    ]
    if shares:
        texts = [f"{text} · {share}" if share else text for text, share in zip(texts, shares, strict=True)]
    names = ("token", "place", "share", "raw")
    hover = {name: f"%{{customdata[{place}]}}" for place, name in enumerate(names)}
    drawn = draw.bars(
        [round(float(value), 4) for value in view.similarity],
        draw.token_colours(view),
        say("similarity.hover", index="%{pointNumber}", value="%{x:.3f}", **hover),
        y=list(range(total)),
        customdata=[_details(view, index, say) for index in range(total)],
        width=0.74,
        marker={"opacity": [1 if index in full else PALE for index in range(total)]},
    )
    behind = [max(float(value), 0.0) for value in view.similarity]  # left of 0 names of tokens may stand
    values = draw.written(behind, list(range(total)), [f"{GAP}{text}" for text in texts], "middle right")
    start, ticks = _scale(view)
    room = ROOM * (1 - start)
    reference = draw.escape(shorten(naming.reference_name(view, say), 30))
    title = say(f"similarity.axis_{view.centring}", reference=reference, layer=naming.layer_name(view, say))
    title += say("similarity.start", start=number(start)) if start else ""
    ends = [start, 1 + room]
    scale = draw.value_axis(title, range=ends, tickvals=ticks, side="top", **draw.ZERO_LINE)
    squares, titles = alone.column(view, ends[1], say)
    right = alone.WIDTH if squares else SHARE if shares else 0
    frame = draw.token_rows(view, say, TOP, 14 + right, xaxis=scale)
    frame["annotations"] += titles
    low, median, high = view.band
    across = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    fill = {"fillcolor": draw.SPECIAL, "opacity": 0.28, "line": {"width": 0}}
    line = {"line": {"color": draw.SPECIAL, "width": 2}}
    frame["shapes"].append({"type": "rect", "x0": low, "x1": high, **across, **fill})
    frame["shapes"].append({"type": "line", "x0": median, "x1": median, **across, **line})
    return draw.Figure([drawn, *squares, values], frame)


def _scale(view: View) -> tuple[float, list[float]]:
    """Start of the axis and its ticks: the same at every layer, low enough for all of them."""
    lowest = round(min(float(view.by_layer.min()), float(view.bands.min())), 4)
    step = next((step for step in STEPS if 1 - lowest > 2 * step), STEPS[-1])
    grid = min(step, NARROW)
    start = min(floor(round(lowest / grid, 3)), round(1 / grid) - 2) * grid
    ticks = [step * place for place in range(ceil(start / step - 1e-6), round(1 / step) + 1)]
    return round(start, 2) + 0.0, [round(tick, 2) for tick in ticks]


def _words(view: View, say: Texts) -> str:
    """The tokens most and least similar, what is ordinary and how many are not, and what is read most."""
    values, labels, others = view.similarity, view.labels, view.others or [0]
    most, least = (others[int(pick(values[others]))] for pick in (np.argmax, np.argmin))
    found = {"most": labels[most], "most_value": number(values[most]), "total": len(labels)}
    found |= {"least": labels[least], "least_value": number(values[least])}
    parts = [say("similarity.description" if view.others else "similarity.description_one", **found)]
    if total := len(view.others):
        less = sum(values[index] < view.band[0] for index in view.others)
        band = dict(zip(ENDS, map(number, view.band), strict=True)) | {"less": less, "more": len(view.above)}
        parts.append(say("ordinary.words", total=total, **band, **beside_band(view, total, say)))
    return say.together(filter(None, (*parts, alone.words(view, say))))


def _details(view: View, index: int, say: Texts) -> list[str]:
    """Label, place in the text, share of what is read and vocabulary string of one token, escaped."""
    tokens = view.analysis.tokens
    start, end = (int(bound) for bound in tokens.span[index])
    place = say("similarity.place_none" if tokens.special[index] else "similarity.place_unknown")
    if start < end:
        name = say(draw.SEGMENT_KEYS[tokens.segment[index]] if view.is_pair else "segment.only")
        place = say("similarity.place", start=start, end=end, segment=name)
    share = share_text(view.analysis.reads, index, say)
    return [draw.escape(view.labels[index]), place, share, draw.escape(visible(tokens.text[index]))]


def heatmap(analysis: Analysis, state: State, say: Texts) -> Shown:
    """Show the cosines at every layer; on the page a click on a row studies that layer.

    L + 1 rows, layer 0 at the bottom, by T columns, coloured by how far from ordinary they are; the layer
    under study is framed. In words its size, and how many cells are beyond what is ordinary at their layer.
    """
    view = View.of(analysis, state)
    far = departures(view.by_layer, view.bands)  # (L + 1, T)
    words = say("heatmap.description", layers=len(far), total=far.shape[1])
    if view.others:
        held = far[:, view.others]
        counts = {"more": int((held > 0).sum()), "less": int((held < 0).sum()), "total": held.size}
        words = say.together((words, say("ordinary.cells", **counts, **beside_band(view, held.size, say))))
    figure = draw.heat_map(
        view,
        far,
        say("heatmap.hover", token="%{x}", layer="%{y}", value="%{customdata:.3f}"),
        say,
        draw.cells_frame(view.layer, 0, len(view.labels) - 1),
        customdata=np.round(view.by_layer.astype(np.float64), 4).tolist(),
        colorscale=SCALE,
        colorbar={"tickvals": [-1, 0, 1], "ticktext": list(map(say, KEYS))},  # of an image
    )
    scale = say("ordinary.colour", cosine=say(f"heatmap.colour_{view.centring}"))
    rows = np.hstack([view.by_layer, view.bands])  # below the tokens those of what is ordinary at each layer
    places = [*map(str, range(len(view.labels))), *[""] * len(ENDS)]
    labels = [*view.labels, *(say(f"table.ordinary_{end}") for end in ENDS)]
    layers = {say("away.layer", layer=layer): row for layer, row in enumerate(rows)}
    return Shown(
        heading=say("heatmap.heading", reference=shorten(naming.reference_name(view, say), 40)),
        words=words,
        data=titled({"table.index": places, "table.token": labels}, say, layers),
        figure=figure,
        action=exhibit.hint_html(say("heatmap.hint")),
        above=ordinary_scale(scale, say),
        about=naming.asked_line(analysis, say),
        scale=scale,
    )


HEATMAP = Exhibit("heatmap", heatmap, plotted=True, controls=(LAYER, CENTRED), width=3)


def table(analysis: Analysis, state: State, say: Texts) -> Shown:
    """T rows with a link that saves them as CSV."""
    view, reads = View.of(analysis, state), analysis.reads
    own, flat, shares = _columns(view, say), flat_tokens(reads), list(map(percent, reads.share))
    read = {  # otherwise than they are saved
        "table.raw": list(map(visible, analysis.tokens.text)),
        "table.share": [
            say("table.flat", share=share) if index in flat else share for index, share in enumerate(shares)
        ],
        **{
            f"table.{one}": [number(value, 4) for value in analysis.cosines(one)[view.layer]]
            for one in naming.CENTRINGS
        },
    }
    reference = naming.reference_name(view, say)
    caption = say("table.caption", layer=naming.layer_name(view, say), reference=reference)
    data = titled(own, say)
    shown = titled({**{key: list(map(str, values)) for key, values in own.items()}, **read}, say)
    return Shown(data=data, html=exhibit.saved_table(data, shown, NUMERIC, caption, "poolscope.csv", say))


TABLE = Exhibit("numbers", table, style="numbers", frame="folded", title="table.heading", controls=(LAYER,))


def _columns(view: View, say: Texts) -> dict[str, Column]:
    """Columns of T tokens by the keys of their titles; vocabulary strings are given as they are."""
    analysis, tokens = view.analysis, view.analysis.tokens
    wins = {} if analysis.reads.wins is None else {"table.wins": analysis.reads.wins}
    return {
        "table.index": range(len(view.labels)),
        "table.token": view.labels,
        "table.raw": tokens.text,
        "table.characters": [f"{start}–{end}" if start < end else "" for start, end in tokens.span],
        "table.segment": [say(draw.SEGMENT_KEYS[one]) if one >= 0 else "" for one in tokens.segment],
        "table.special": [naming.yes_or_no(one, say) for one in tokens.special],
        "table.read": [naming.yes_or_no(one, say) for one in analysis.reads.positions],
        "table.share": analysis.reads.share,
        **{f"table.{one}": analysis.cosines(one)[view.layer] for one in naming.CENTRINGS},
        **wins,
    }
