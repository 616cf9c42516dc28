"""The numbers behind the plots: as a table to read or copy, and as CSV."""

from __future__ import annotations

import pandas as pd

from components.exhibits.answer.similarity import SIMILARITIES, all_columns, flat_tokens
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.draw.style import segment_key
from components.exhibits.exhibit import Exhibit, Shown
from components.exhibits.tables import Column, csv_link, data_frame, table_html
from components.exhibits.view import (
    LAYER,
    View,
    layer_name,
    number,
    percent,
    reference_name,
    yes_or_no,
)
from components.texts import Texts
from components.types import Analysis

NUMERIC = (0, 7, 8, 9, 10, 11)  # columns: index, share, the similarities, dimensions under a maximum
ALWAYS = 11  # columns; the ordinary ones, behind them, are in the caption


def table(analysis: Analysis, state: State, say: Texts) -> Shown:
    """T rows with a link that saves them as CSV."""
    view = View.of(analysis, state)
    data = _data(view, say)
    caption = _caption(view, say)
    link = csv_link(data, "poolscope.csv", say("table.download"))
    return Shown(data=data, html=link + table_html(_rounded(view, data, say), NUMERIC, caption))


TABLE = Exhibit(
    "numbers",
    table,
    style="numbers",
    frame="folded",
    title="table.heading",
    controls=(LAYER,),
)


def _data(view: View, say: Texts) -> pd.DataFrame:
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
        "share": [_share(view, index, say) for index in range(len(view.labels))],
        **{
            name: [number(value, 4) for value in analysis.cosines(centring)[view.layer]]
            for name, centring in SIMILARITIES
        },
    }
    texts = {say(f"table.{name}"): cells for name, cells in shown.items()}
    titles = data.columns[: ALWAYS + (analysis.reads.wins is not None)]
    columns = (texts.get(title, list(map(str, data.iloc[:, place]))) for place, title in enumerate(titles))
    return data_frame(zip(titles, columns, strict=True))


def _share(view: View, index: int, say: Texts) -> str:
    """The share of one token; that there is no slope where it is read all the same."""
    reads = view.analysis.reads
    share = percent(reads.share[index])
    return say("table.flat", share=share) if index in flat_tokens(reads) else share
