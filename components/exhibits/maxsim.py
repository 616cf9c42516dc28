"""Late interaction of a pair: the best token of the second text for each of the first."""

from html import escape

import numpy as np

from components.analyses.maxsim import MaxSim
from components.exhibits import draw, exhibit
from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, hint_html, titled_frame, unanswered
from components.exhibits.sees import POINTED, token_square
from components.exhibits.similarity import SCALE, departures
from components.exhibits.view import TEXT, indices, number, shorten, token_labels, visible, word, yes_or_no
from components.texts import Sentence, Texts

NAMED = 6  # matches that a sentence names
NAMES = 48  # columns that have names below them
COLUMN = 28  # pixels, which a number takes
GREY = 0.5  # where SCALE has what is ordinary


def maxsim(found: MaxSim | Sentence | None, _: State, say: Texts) -> Shown:
    """How many tokens find a match, which, and the cosines of all; nothing of a single text."""
    if found is None:
        return Shown()
    if isinstance(found, Sentence):
        return unanswered("maxsim.title", found, say)
    texts = found.query.text, found.query.text_pair
    names = token_labels(found.tokens, texts[:1]), token_labels(found.tokens_pair, texts[1:])
    asked = (shorten(visible(text), TEXT) for text in texts)
    counts = {"count": int(found.matched.sum()), "total": int(found.own.sum()), "others": found.others}
    heading = say(f"maxsim.{'some' if found.beyond_chance else 'chance'}", **counts)
    told = [
        *([say("maxsim.matched", pairs=_pairs(found, names, say))] if found.beyond_chance else []),
        say("maxsim.counted", expected=number(counts["total"] * found.chance, 1), **counts),
        say(
            "maxsim.score",
            score=number(found.score),
            count=len(found.best),
            mean=number(found.highest.mean()),
        ),
        *(visible(one.said(say)) for one in found.warnings if one.key.startswith("maxsim.")),
    ]
    scale = [(2 * (place - GREY), colour) for place, colour in SCALE if place >= GREY]
    return Shown(
        heading=heading,
        words=say.together((heading, *told)),
        data=titled_frame(
            {
                "table.token": names[0],
                "maxsim.best": [names[1][place] for place in found.best],
                "maxsim.cosine": found.highest,
                "maxsim.ordinary": found.ordinary,
                "maxsim.match": [yes_or_no(bool(one), say) for one in found.matched],
            },
            say,
        ),
        figure=_figure(found, names, say),
        above=exhibit.NOTHING.join(map(hint_html, told)),
        legend=exhibit.scale_html(say("maxsim.colour"), scale, ("", "1")),
        about=say("away.about_curves_pair", **dict(zip(("text", "text_pair"), asked, strict=True))),
        least_width=draw.LEFT + COLUMN * len(names[1]),
    )


MAXSIM: Exhibit[MaxSim | Sentence | None] = Exhibit(
    "maxsim",
    maxsim,
    plotted=True,
    title="maxsim.title",
    applies=lambda found: found is not None,
    where=frozenset({"page", "report"}),  # a talk may be given any text in the place of a pair
)


def _pairs(found: MaxSim, names: tuple[tuple[str, ...], tuple[str, ...]], say: Texts) -> str:
    """The matches that are farthest above the ordinary, in their order, not escaped."""
    order = sorted(
        indices(found.matched), key=lambda token: float(found.ordinary[token] - found.highest[token])
    )
    told = (
        say(
            "maxsim.pair",
            token=shorten(word(names[0][token])),
            other=shorten(word(names[1][found.best[token]])),
            cosine=number(found.highest[token]),
        )
        for token in order[:NAMED]
    )
    return say.listed(told)


def _figure(found: MaxSim, names: tuple[tuple[str, ...], tuple[str, ...]], say: Texts) -> draw.Figure:
    """T rows by U columns: in colour what is above the ordinary; the best of each row has its number."""
    cosines, total = found.similarity, len(found.best)
    high = np.maximum(found.ordinary, -1)
    shown = departures(cosines, np.stack([np.full_like(high, -1), high, high], axis=1))
    ticks = [[escape(shorten(label)) for label in each] for each in names]
    told = [
        [say("maxsim.hover", token=token, other=other, cosine=number(one)) for other, one in row]
        for token, row in zip(ticks[0], (zip(ticks[1], row, strict=True) for row in cosines), strict=True)
    ]
    small, place = max(cosines.shape) <= POINTED, (np.arange(total), found.best)
    texts = np.full(cosines.shape, "", dtype=object)
    texts[place] = np.where(shown[place] > 0, [number(one) for one in found.highest], "")
    cells = draw.Trace(
        type="heatmap",
        z=shown.tolist(),
        **{"zmin": -1, "zmax": 1, "colorscale": SCALE, "showscale": False, "xgap": 1, "ygap": 1},
        **{"customdata": told if small else [], "hovertemplate": "%{customdata}<extra></extra>"},
        **({"text": texts.tolist(), "texttemplate": "%{text}", "textfont": {"size": 11}} if small else {}),
        hoverinfo="all" if small else "skip",
    )
    rows = np.flatnonzero(shown[place] == 0).tolist() if small else []  # in the colour of the page's text
    best, values = (list(map(each.__getitem__, rows)) for each in (found.best.tolist(), found.highest))
    grey = draw.written(best, rows, list(map(number, values)), "middle center", textfont={"size": 11})
    wide = draw.tick_width(names[0]), draw.tick_width(names[1])
    titles = say("maxsim.first"), say("maxsim.second")
    return draw.Figure([cells, grey], token_square((ticks[0], ticks[1]), wide, *titles, NAMES))
