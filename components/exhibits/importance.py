"""Answers to "which token matters": as bars, held against erasure, and in words."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from components.analyses.importance import SIMILARITY, Importance, spearman
from components.exhibits import draw, exhibit, view as naming
from components.exhibits.control import Choice, Control, State
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.view import View, number, percent, reference_name, render, shorten, visible
from components.texts import Sentence, Texts
from components.types import Analysis, Floats

CHANCE = 1.96  # deviations that two unrelated orders stay within 95 times in 100
SAME = 1e-6  # values no further apart are the same but for rounding
WHEN = Choice(
    ("quick", "on", "off"),
    ("matters.integrated_quick", "matters.integrated_on", "matters.integrated_off"),
)
INTEGRATED = Control("integrated", WHEN, "quick", "matters.integrated")
LOOKS = naming.LABEL, INTEGRATED


@dataclass(frozen=True, eq=False)
class Method:
    """An answer: a number for each of the T tokens, more where the token matters more.

    ``title``: its name, not escaped. ``ranked``: the tokens of the text, without what the tokenizer added,
    the one that matters most first. ``rho``: Spearman's between it and erasure over these, if there is one.
    """

    title: str
    values: Floats
    ranked: list[int]
    rho: float | None

    @property
    def places(self) -> dict[int, int]:
        """The places of tokens in its order, from 1, of those that share theirs with no other."""
        found, ranked = {}, self.values[self.ranked]
        for place, (index, value) in enumerate(zip(self.ranked, ranked, strict=True), start=1):
            if np.count_nonzero(np.abs(ranked - value) <= SAME) == 1:
                found[index] = place
        return found

    @property
    def top(self) -> int | None:
        """The token that matters most; None where several do alike, or there is none."""
        return next((index for index, place in self.places.items() if place == 1), None)

    @property
    def least(self) -> float:
        """Start of its axis: at 0 or below, or near the smallest value where all are alike."""
        low, high = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        return round(low - ROOM * (high - low), 2) if 0 < FAR * high < low else min(0.0, low)


def methods_of(given: Importance, say: Texts) -> list[Method]:
    """All answers of a text: similarity first, which ranks all but its reference, and erasure last."""
    analysis = given.analysis
    reference = shorten(reference_name(View(analysis, analysis.layers), say), 20)
    own, found = np.flatnonzero(~analysis.tokens.special), []
    for name, values in given.answers.items():
        ranked = own[np.argsort(-values[own], kind="stable")].tolist()
        if name == SIMILARITY:
            ranked = [index for index in ranked if index != analysis.reference]
        title = say(f"matters.name_{name}", reference=reference)
        found.append(Method(title, values, ranked, given.agreement.get(name)))
    return found


def integrates(analysis: Analysis, state: State) -> bool:
    """Tell whether integrated gradients are asked for."""
    asked = INTEGRATED.of(state)
    return asked == "on" or (asked == "quick" and naming.light(analysis))


def explained(given: Importance, say: Texts) -> str:
    """The name of the output that is explained, not escaped."""
    return visible(say.label(given.analysis.labels[given.label]))


def explained_value(given: Importance, erased: int | None = None) -> str:
    """The explained output as a reader sees it: of the text as it is, or where a token is replaced."""
    value = float(given.analysis.probabilities[given.label])
    value -= 0.0 if erased is None else float(given.erasure[erased])
    raw = given.analysis.problem_type == "regression"
    return number(value) if raw else percent(min(max(value, 0.0), 1.0))


def chance_of(total: int) -> float:
    """Distance of rho from 0 for two unrelated orders of so many tokens, 95 times in 100.

    Its variance is then 1 / (total - 1), whatever the orders are (Kendall and Gibbons 1990).
    """
    return min(1.0, CHANCE / (total - 1) ** 0.5) if total > 1 else 1.0


def goes(given: Importance, similarity: Method, erasure: Method) -> str:
    """Tell how similarity and erasure order the tokens: alike, opposed, as by chance, none or random.

    Few: no order of so many tokens, with as many of one value, is further from 0 than chance goes.
    """
    if given.analysis.random:
        return "random"
    if similarity.rho is None:
        return "none"
    one, other = (np.sort(method.values[similarity.ranked]) for method in (similarity, erasure))
    chance, reached = chance_of(len(one)), (spearman(one, other), spearman(one, other[::-1]))
    if abs(similarity.rho) > chance:
        return "alike" if similarity.rho > 0 else "opposed"
    return "chance" if max(abs(rho or 0.0) for rho in reached) > chance else "few"


def rho_text(rho: float | None) -> str:
    """Rho as a reader sees it; a dash where there is none."""
    return "–" if rho is None else number(rho)


def sized(similarity: Method, erasure: Method) -> str:
    """Rho of similarity with the size of what erasure changes, whether the output falls or rises."""
    own = similarity.ranked
    return rho_text(spearman(similarity.values[own], np.abs(erasure.values[own])))


def falls(given: Importance, token: int | None) -> bool:
    """Tell whether the output is seen to fall where this token is replaced."""
    shown = token is not None and explained_value(given, token) != explained_value(given)
    return shown and bool(given.erasure[token] > 0)


TOP = 66  # pixels, for three lines above each column
COLUMN = 96  # pixels below which a column is too narrow for its name
WIDEST = 12  # characters of a line of a name
FIRST = 3  # tokens whose rank stands beside their bar
PALE = 0.35  # opacity of the other bars
GAP = 0.12  # between columns, as a part of one
ROOM = 0.2  # beside the longest bar, for its rank
FAR = 0.5  # an axis starts at 0 where the smallest value is below this part of the largest


def importances(given: Importance, _: State, say: Texts) -> Shown:
    """Every answer there is, in the order of the tokens, with the ranks of the first three."""
    analysis, methods = given.analysis, methods_of(given, say)
    view = View(analysis, analysis.layers)
    tokens = {
        "table.index": range(len(view.labels)),
        "table.token": view.labels,
        "table.special": [naming.yes_or_no(bool(one), say) for one in analysis.tokens.special],
    }
    ranks = []
    for method in methods:
        first = say.listed(view.labels[index] for index, place in method.places.items() if place <= FIRST)
        ranks.append(say("matters.first", name=method.title, tokens=first or say("matters.no_first")))
    told = say("list.semicolon").join(ranks)
    agreement, total = _agreement(given, methods, say), len(methods[-1].ranked)
    told_of = {"given": given, "methods": methods, "view": view, "total": total, "chance": chance_of}
    return Shown(
        heading=_heading(given, methods, view, say),
        words=say.together((say("matters.description", total=len(view.labels), ranks=told), *agreement[1:])),
        data=exhibit.titled(tokens, say, {method.title: method.values for method in methods}),
        figure=_figure(methods, view, say),
        above="".join(map(hint_html, (*agreement[:1], say("matters.hint")))),
        legend=render("importance_legend", say, **told_of),
        about=naming.asked_line(analysis, say),
    )


def _figure(methods: list[Method], view: View, say: Texts) -> draw.Figure:
    """A column for each method, all with the same rows: T tokens, the first on top."""
    traces, axes, titles = [], {}, []
    total, random = len(methods), view.analysis.random
    colours = [draw.OTHER] * len(view.labels) if random else draw.token_colours(view)
    for place, method in enumerate((methods[0], methods[-1], *methods[1:-1])):  # a phone has room for two
        left, right = round(place / total, 4), round((place + 1 - GAP) / total, 4)
        traces.append(_bars(method, colours, place, say))
        start, high = method.least, max(0.0, float(np.nanmax(method.values)))
        room = ROOM * ((high - start) or 1.0)
        ends = {"domain": [left, right], "range": [start - (room if start < 0 else 0), high + room]}
        axes[f"xaxis{draw.axis_number(place)}"] = draw.axis(**ends, showticklabels=False, **draw.ZERO_LINE)
        last = say("matters.yardstick" if place == 1 else "matters.rho", rho=rho_text(method.rho))
        longest = WIDEST * len(method.title) // naming.width(method.title)
        names = textwrap.wrap(method.title, longest, break_long_words=False)
        beyond = not random and abs(method.rho or 0.0) > chance_of(len(method.ranked))
        lines = [*(f"<b>{draw.escape(line)}</b>" for line in names), f"<b>{last}</b>" if beyond else last]
        title = {"x": left, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        titles.append({**title, "align": "left", "text": "<br>".join(lines), "showarrow": False})
    frame = draw.token_rows(view, say, TOP, 14, **axes)
    frame["annotations"] += titles
    return draw.Figure(traces, frame, draw.token_width(view) + COLUMN * total)


def _bars(method: Method, colours: list[str], place: int, say: Texts) -> draw.Trace:
    """The bars of one method; all but the first three, which share their place with no other, are pale."""
    first = {index: place for index, place in method.places.items() if place <= FIRST}
    total = range(len(colours))
    return draw.bars(
        [None if isnan(value) else float(f"{value:.3g}") for value in method.values],
        colours,
        say("matters.hover", token="%{y}", name=draw.escape(method.title), value="%{x:.3g}"),
        xaxis=f"x{draw.axis_number(place)}",
        marker={"opacity": [1 if index in first else PALE for index in total]},
        text=[f"<b>{first[index]}</b>" if index in first else "" for index in total],
        width=0.74,  # ranks are as large as all else, however thin that is
        **{"textposition": "outside", "textangle": 0, "cliponaxis": False, "constraintext": "none"},
    )


def _heading(given: Importance, methods: list[Method], view: View, say: Texts) -> str:
    """Count the answers that name different tokens; those in which several share the place name none."""
    if given.analysis.random:
        return say("matters.heading_random")
    if len(methods[-1].ranked) < 2:
        return say("matters.heading_short")
    tops = [method.top for method in methods if method.top is not None]
    found = {"count": len(tops), "total": len(methods), "label": explained(given, say)}
    if len(set(tops)) > 1:
        return say("matters.heading", different=len(set(tops)), **found)
    if not tops:
        return say("matters.heading_tied", **found)
    key = "matters.heading_same" if len(tops) == len(methods) else "matters.heading_some"
    return say(key, token=naming.token_name(view.labels, tops[0], say), **found)


def _agreement(given: Importance, methods: Sequence[Method], say: Texts) -> list[str]:
    """Count the answers that order the tokens as erasure does, beyond chance; then rho of each, in words."""
    *others, erasure = methods
    total = len(erasure.ranked)
    if given.analysis.random or all(one.rho is None for one in others):
        return [] if given.analysis.random else [say("matters.no_rho")]
    chance = chance_of(total)
    alike = sum((one.rho or 0.0) > chance_of(len(one.ranked)) for one in others)
    key = "matters.agree_few" if chance == 1 else "matters.agree"
    rhos = say.listed(say("matters.rho_of", name=one.title, rho=rho_text(one.rho)) for one in others)
    return [
        say(key, count=alike, total=total if chance == 1 else len(others)),
        say("matters.rhos", rhos=rhos, chance=number(chance), total=total),
    ]


def sentence(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """The answer in words, and what could not be had, unless the verdict says so; or why there is none."""
    if isinstance(given, Sentence):
        return Shown(html=render("importance", say, reason=given, notices=()))
    similarity, *_others, erasure = methods_of(given, say)
    view = View(given.analysis, given.analysis.layers)
    highest = given.erasure[erasure.ranked].max(initial=-np.inf)
    html = render(
        "importance",
        say,
        reason="",
        given=given,
        similarity=similarity,
        erasure=erasure,
        alike=np.count_nonzero(highest - given.erasure[erasure.ranked] <= SAME),
        reference=shorten(reference_name(view, say), 24),
        going=goes(given, similarity, erasure),
        rho=rho_text(similarity.rho),
        sized=sized(similarity, erasure),
        name=partial(naming.token_name, view.labels, say=say),
        value=partial(explained_value, given),
        falls=partial(falls, given),
        notices=[one for one in given.warnings if one not in given.analysis.warnings],
    )
    return Shown(html=html)


BARS: Exhibit[Any] = Exhibit(
    "matters", importances, plotted=True, applies=lambda given: isinstance(given, Importance)
)
IMPORTANT = Exhibit("importance", sentence, element="importance-lead", frame="bare")
