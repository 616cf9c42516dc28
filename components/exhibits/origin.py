"""Origin of an answer, in words and as a map: what each hidden state brings of a change along."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from components.analyses.trace import Origin
from components.exhibits import draw, view as naming
from components.exhibits.control import State
from components.exhibits.exhibit import Column, Exhibit, Shown, scale_html, strong_html, titled
from components.exhibits.view import View, labels_of, number, render, shorten, visible
from components.texts import Texts
from components.types import Analysis, Floats

MOST = 0.5  # of the change: who carries no more, or is not the only one, does not carry most of it
SEEN = 0.2  # from which on a share is written into its cell, and what is read is said to have it
WHOLE = 0.995, 1.05  # a share between them is all of it
LONG = 6  # stays that a sentence tells one by one
ENDS = "≤ 0 %", "≥ 100 %"  # of their colours

Holder = str | int  # "word", "read", the place of a token, "spread", "shared", "moves_about"


class Stay(NamedTuple):
    """Layers one after the other in which the same ``holder`` has the change.

    "spread": nobody has more than half of it; "shared": several have, each alone; "moves_about": not one
    and the same. ``shares``: of the change, for each layer from ``first`` on; none where nobody has it.
    """

    holder: Holder
    first: int
    last: int
    shares: tuple[float, ...] = ()


def stays(claims: Mapping[Holder, Floats]) -> list[Stay]:
    """Stays of a change, from the embeddings up, of the share that each has of it at each layer."""
    layers, found = range(len(next(iter(claims.values()), ()))), list[Stay]()
    holders = [_holder({who: float(shares[layer]) for who, shares in claims.items()}) for layer in layers]
    for holder, group in groupby(layers, lambda layer: holders[layer]):
        run = list(group)
        found.append(Stay(holder, run[0], run[-1], tuple(claims[holder][run]) if holder in claims else ()))
    return found


def _holder(claims: Mapping[Holder, float]) -> Holder:
    """Holder of more than half, alone; else what is read, where it has the largest part that can be seen."""
    holding = [who for who, share in claims.items() if share > MOST]
    if holding:
        return holding[0] if len(holding) == 1 else "shared"
    largest = max(claims, key=lambda who: claims[who])
    return largest if largest == "read" and claims[largest] >= SEEN else "spread"


def story(claims: Mapping[Holder, Floats], names: Mapping[Holder, Markup], say: Texts) -> Markup:
    """Say where the change is, from the embeddings up; of many stays those in the middle are summed up."""
    told = stays(claims)
    if len(told) > LONG:
        told = [*told[:2], Stay("moves_about", told[2].first, told[-3].last), *told[-2:]]
    return render("story", say, stays=told, names=names, whole=WHOLE, shown=share_text)


def share_text(share: float) -> str:
    """A share of a change in percent, which may be less than none of it or more than all."""
    return f"{number(100 * share, 0)} %"


def shades(random: bool) -> list[Any]:
    """The colours of shares from none to all, opaque where they are written."""
    return draw.RANDOM if random else [[0.0, draw.FAINT], *zip((SEEN, 1.0), draw.SHARES, strict=True)]


def share_map(view: View, shares: Floats, say: Texts) -> draw.Figure:
    """L + 1 rows by T columns of shares, NaN where there is none; what is read is framed."""
    texts = [["" if np.isnan(one) else share_text(float(one)) for one in row] for row in shares]
    written = np.where(np.abs(shares) >= SEEN, np.char.replace(np.array(texts), " %", ""), "")
    return draw.heat_map(
        view,
        shares,
        say("trace.hover", token="%{x}", layer="%{y}", value="%{customdata}"),
        say,
        draw.read_frame(view.analysis),
        high=18,  # pixels: the map stands whole on the first screen
        customdata=texts,
        text=written.tolist(),
        texttemplate="%{text}",
        textfont={"size": 11},
        colorscale=shades(view.analysis.random),
        zmin=0,
        colorbar={"tickvals": [0, 1], "ticktext": ENDS},
        hoverongaps=False,
    )


def asked_of_read(key: str, analysis: Analysis, say: Texts) -> str:
    """Fill the sentence ``key`` with the one token that is read; its other form where that is not one."""
    two = [naming.token_name(labels_of(analysis), place, say) for place in analysis.reads.indices[:2]]
    return say(key, token=two[0]) if len(two) == 1 else say(f"{key}_many")


def origin(given: Origin, _: State, say: Texts) -> Shown:
    """The word that matters most, where its difference is, and a map of that; or that no word matters."""
    analysis, labels = given.analysis, labels_of(given.analysis)
    heading = asked_of_read("origin.heading", analysis, say)
    told = render("origin", say, given=given, word=lambda: _placed(given, say))
    drawn = not analysis.random and len(given.shares) > 0
    if drawn:
        told = Markup(say.together((told, story(_claims(given), _names(given, labels, say), say))))
    shown = Shown(heading, told.striptags(), above=Markup('<p class="story">{}</p>').format(told))
    if not drawn:
        return shown
    view = View(analysis, analysis.layers)
    falls = np.full(len(view.labels), np.nan)
    for tokens, fall in zip(given.words, given.falls, strict=True):
        falls[list(tokens)] = fall
    own: dict[str, Column] = {"table.index": range(len(labels)), "table.token": labels, "origin.fall": falls}
    layers = {say("away.layer", layer=at): row for at, row in enumerate(given.shares)}
    return replace(
        shown,
        data=titled(own, say, layers),
        figure=share_map(view, given.shares, say),
        about=naming.asked_line(analysis, say),
        legend=scale_html(say("trace.colour"), shades(False), ENDS)
        + render("origin_legend", say, given=given, word=_surface(given, given.word or 0)),
        scale=say("trace.colour"),
    )


def _claims(given: Origin) -> Mapping[Holder, Floats]:
    """The share of the word, of what is read where that is none of it, and of every other token."""
    up, read = slice(given.analysis.pool_layer + 1), set(given.analysis.reads.indices)
    claims: dict[Holder, Floats] = {"word": given.in_word[up]}
    taken = set(given.words[given.word or 0])
    if read and not read & taken:
        claims["read"], taken = given.in_read[up], taken | read
    others = (place for place in range(given.shares.shape[1]) if place not in taken)
    return claims | {place: given.shares[up, place] for place in others}


def _names(given: Origin, labels: Sequence[str], say: Texts) -> Mapping[Holder, Markup]:
    read = given.analysis.reads.indices
    tokens: dict[Holder, str] = {place: naming.token_name(labels, place, say) for place in range(len(labels))}
    many = say("origin.read_tokens", count=len(read))
    named = {"word": _surface(given, given.word or 0), "read": tokens[read[0]] if len(read) == 1 else many}
    return {who: strong_html(name) for who, name in (tokens | named).items()}


def _surface(given: Origin, index: int) -> str:
    """A word as it stands in the text, not escaped; by its tokens where their places are not known."""
    tokens, query = given.analysis.tokens, given.analysis.query
    first, last = given.words[index][0], given.words[index][-1]
    start, end = int(tokens.span[first][0]), int(tokens.span[last][1])
    text = (query.text, query.text_pair)[max(int(tokens.segment[first]), 0)][start:end].strip()
    return shorten(visible(text or "".join(tokens.text[place] for place in given.words[index])))


def _placed(given: Origin, say: Texts) -> Markup:
    """The word that matters most, told apart from others that are written alike."""
    segment, chosen = given.analysis.tokens.segment, given.word or 0
    every = [_surface(given, index) for index in range(len(given.words))]
    alike = [index for index, one in enumerate(every) if one.casefold() == every[chosen].casefold()]

    def following(index: int) -> str:
        ends = index + 1 == len(every) or segment[given.words[index][0]] != segment[given.words[index + 1][0]]
        return "" if ends else every[index + 1]

    token, then = strong_html(every[chosen]), following(chosen)
    if len(alike) == 1:
        return token
    if then and [following(index).casefold() for index in alike].count(then.casefold()) == 1:
        return say.html("origin.before", word=token, next=Markup("<em>{}</em>").format(then))
    return say.html("trace.nth", token=token, place=alike.index(chosen) + 1)


WHENCE: Exhibit[Any] = Exhibit("origin", origin, plotted=True, title="origin.heading_many")
