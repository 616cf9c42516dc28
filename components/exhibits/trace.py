"""The trace between two versions of a text: of which backbone it is asked, and what is shown of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from components.analyses.trace import Patched
from components.exhibits.comparison import Comparison
from components.exhibits.control import Control, State, Text
from components.exhibits.draw import DIVERGING, RANDOM, Figure, heat_map, least_width, read_frame
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    hint_html,
    layers_frame,
    or_why,
    scale_html,
    strong_html,
    unanswered,
)
from components.exhibits.view import (
    TEXT,
    View,
    asked_line,
    indices,
    labels_of,
    number,
    shorten,
    visible,
    word,
)
from components.texts import Sentence, Texts

TRACED = Control("traced", Text(), "", "trace.backbone")  # a backbone's key; the first of a comparison for ""

Traced = Patched | Sentence | None  # the trace, why there is none, or that nobody can ask for one


def traced_backbone(comparison: Comparison, state: State) -> str:
    """The key of the backbone whose trace ``state`` asks for; the first where that one is not compared."""
    keys = [spec.key for spec in comparison.backbones]
    return TRACED.of(state) if TRACED.of(state) in keys else keys[0]


def traced(comparison: Comparison) -> Traced:
    """The trace between the two versions of a comparison; asks for it."""
    return None if comparison.trace is None else or_why(comparison.trace)


def trace(given: Traced, _: State, say: Texts) -> Shown:
    """The share of the change of the logits that each state of the second version brings to the first."""
    if given is None:
        return Shown()
    if isinstance(given, Sentence):
        return unanswered("trace.heading", given, say)
    first, second = given.first, given.second.query
    view = View(first, first.layers, names=named(given))
    hints = [say("trace.hint")]
    if first.lower:  # above it there is nothing to be seen
        hints.append(say("trace.pooled", layer=first.pool_layer))
    hints += [say("trace.blank", warning=visible(one.said(say))) for one in given.warnings]
    scale, ends = say("trace.colour"), (f"≤ {share_text(-1)}", f"≥ {share_text(1)}")
    other = " / ".join(shorten(visible(text), TEXT) for text in (second.text, second.text_pair) if text)
    shades, (layers, total) = RANDOM if first.random else DIVERGING, given.shares.shape
    heading, words, told = (
        say("trace.heading_random"),
        say("trace.description", layers=layers, total=total),
        "",
    )
    if not first.random:
        heading, words = _heading(given, say), say.together((words, sentence(given, say, str)))
        told = f'<p class="story">{sentence(given, say, strong_html)}</p>'
    return Shown(
        heading=heading,
        words=words,
        data=_data(given, say),
        figure=_figure(given, view, say),
        above=f"{told}{hint_html(say.together(hints))}{scale_html(scale, shades, ends)}",
        about=say("trace.about", asked=asked_line(first, say), text=other),
        scale=scale,
        least_width=least_width(view),
    )


TRACE = Exhibit("trace", trace, plotted=True, applies=lambda given: given is not None)


def _figure(given: Patched, view: View, say: Texts) -> Figure:
    """L + 1 rows by T columns, those of tokens without a counterpart empty; what is read is framed."""
    shape, mine = (given.first.layers + 1, len(view.labels)), given.pairs[:, 0]
    shares, texts = np.full(shape, np.nan), np.full(shape, "", dtype=object)
    shares[:, mine] = given.shares
    texts[:, mine] = [[share_text(float(share)) for share in row] for row in given.shares]
    return heat_map(
        view,
        shares,
        say("trace.hover", token="%{x}", layer="%{y}", value="%{text}"),
        say,
        read_frame(given.first),
        text=texts.tolist(),
        colorscale=RANDOM if given.first.random else DIVERGING,
        colorbar={"tickvals": [-1, 0, 1], "ticktext": [share_text(share) for share in (-1, 0, 1)]},
        hoverongaps=False,
    )


def _data(given: Patched, say: Texts) -> pd.DataFrame:
    """P rows, a column for each of the L + 1 layers: shares, with both tokens before them."""
    mine, theirs = given.pairs.T.tolist()
    own, others = labels_of(given.first), labels_of(given.second)
    tokens = {
        "table.index": mine,
        "table.token": [own[place] for place in mine],
        "trace.other_index": theirs,
        "trace.other_token": [others[place] for place in theirs],
    }
    layers = {say("away.layer", layer=layer): row for layer, row in enumerate(given.shares)}
    return layers_frame(tokens, layers, say)


MOST = 0.5  # of the change: who carries less does not carry most of it
WORD = 24  # characters of a token in a sentence


class Stay(NamedTuple):
    """Layers one after the other in which the same ``token`` carries more of the change than any other.

    ``most``: whether it carries most of it. ``shares``: of the change, for each layer from ``first`` on.
    """

    token: int
    most: bool
    first: int
    last: int
    shares: tuple[float, ...]


def stays(given: Patched) -> list[Stay]:
    """Stays of the change, from the embeddings up to the layer that is pooled."""
    peaks = [(int(row.argmax()), float(row.max())) for row in given.shares[: given.first.pool_layer + 1]]
    found = []
    for (pair, most), group in groupby(enumerate(peaks), lambda one: (one[1][0], one[1][1] >= MOST)):
        layers, shares = zip(*((layer, share) for layer, (_, share) in group), strict=True)
        found.append(Stay(int(given.pairs[pair, 0]), most, layers[0], layers[-1], shares))
    return found


def _heading(given: Patched, say: Texts) -> str:
    """Say from which layer on the one token that is read carries most of the change."""
    last = stays(given)[-1]
    if not last.most or indices(given.first.reads.positions) != [last.token]:  # or it has no counterpart
        return say("trace.heading")
    key = "trace.heading_start" if last.first == 0 else "trace.heading_from"
    return say(key, layer=last.first, token=token_name(given, last.token, say))


def sentence(given: Patched, say: Texts, mark: Callable[[str], str]) -> str:
    """Say where the change is, from the embeddings up; ``mark`` makes what stands out of a token."""
    parts = []
    for token, most, first, last, shares in stays(given):
        where = say("trace.between", first=first, last=last)
        if first == 0:
            where = say("trace.from_start", last=last) if last else say("trace.at_start")
        elif first == last:
            where = say("trace.after", layer=first)
        low, high = share_text(min(shares)), share_text(max(shares))
        share = low if low == high else say("trace.shares", low=low, high=high)
        name = mark(token_name(given, token, say))
        parts.append(say("trace.in" if most else "trace.spread", token=name, where=where, shares=share))
    told = say("list.semicolon").join(parts)
    return say("trace.story", backbone=mark(visible(given.first.backbone.said(say))), parts=told)


def token_name(given: Patched, token: int, say: Texts) -> str:
    """A token of the first version in a sentence, not escaped; which one, where several are called so."""
    names = named(given)
    name = shorten(word(names[token]), WORD)
    if names.count(names[token]) == 1:
        return name
    return say("trace.nth", token=name, place=names[: token + 1].count(names[token]))


def named(given: Patched) -> tuple[str, ...]:
    """A label for each token of the first version, not escaped; "good → bad" where they differ."""
    own, others = labels_of(given.first), labels_of(given.second)
    names = list(own)
    for mine, theirs in given.pairs.tolist():
        if own[mine] != others[theirs]:
            names[mine] = f"{own[mine]} → {word(others[theirs])}"
    return tuple(names)


def share_text(share: float) -> str:
    """A share of a change in percent, which may be less than none of it or more than all."""
    return f"{number(100 * share, 0)} %"
