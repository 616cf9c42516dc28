"""Answers to "which token matters": as bars, held against erasure, in words, and attention by layer."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain
from math import isnan
from typing import Any, Literal

import numpy as np
from markupsafe import Markup

from components.analyses.importance import Importance
from components.exhibits import draw
from components.exhibits.control import Control, State, Switch, Whole
from components.exhibits.exhibit import (
    NOTHING,
    Column,
    Exhibit,
    Shown,
    hint_html,
    key_html,
    layers_frame,
    legend_html,
    legend_of,
    line_html,
    scale_html,
    strong_html,
    titled_frame,
    token_html,
)
from components.exhibits.similarity import segment_keys
from components.exhibits.view import (
    View,
    asked_line,
    indices,
    number,
    percent,
    reference_name,
    shorten,
    visible,
    width,
    word,
    yes_or_no,
)
from components.markup import render
from components.texts import Sentence, Texts
from components.types import Analysis, Floats

SIMILARITY = "similarity"
CHANCE = 1.96  # deviations that two unrelated orders stay within 95 times in 100
INTEGRATED = Control("integrated", Switch(), False, "matters.integrated", "matters.integrated_info")
HEAD = Control("attention_head", Whole(0, 1000), 0, "matters.head")  # 0: the mean over heads


@dataclass(frozen=True, eq=False)
class Method:
    """An answer: a number for each of the T tokens, more where the token matters more."""

    name: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Methods:
    """All answers of one text, held against erasure. T tokens, n of them of the text itself."""

    importance: Importance

    @property
    def analysis(self) -> Analysis:
        """The answer that is explained."""
        return self.importance.analysis

    @cached_property
    def view(self) -> View:
        """The answer at the last layer."""
        return View(self.analysis, self.analysis.layers)

    @property
    def labels(self) -> tuple[str, ...]:
        """A readable label for each of the T tokens, not escaped."""
        return self.view.labels

    @property
    def label(self) -> str:
        """The name of the output that is explained, not escaped."""
        return visible(self.analysis.labels[self.importance.label])

    @cached_property
    def own(self) -> list[int]:
        """The n tokens of the text: without what the tokenizer added."""
        return indices(~self.analysis.tokens.special)

    @cached_property
    def every(self) -> tuple[Method, ...]:
        """The answers that there are, erasure last."""
        given = self.importance
        found: Mapping[str, Floats | None] = {
            SIMILARITY: self.analysis.similarity[-1],
            "attention": None if given.attention is None else given.attention[-1].mean(axis=0),
            "rollout": given.rollout,
            "gradient_x_input": given.gradient_x_input,
            "integrated_gradients": None if given.integrated is None else given.integrated.values,
            "erasure": given.erasure,  # what the others are held against
        }
        return tuple(Method(name, values) for name, values in found.items() if values is not None)

    @property
    def others(self) -> tuple[Method, ...]:
        """Answers that are held against erasure."""
        return self.every[:-1]

    def ranked(self, method: Method) -> list[int]:
        """The tokens of the text, the one that matters most first; of similarity without [CLS] itself."""
        same = self.analysis.tokens.cls if method.name == SIMILARITY else None
        compared = [index for index in self.own if index != same]
        return sorted(compared, key=lambda index: -float(method.values[index]))

    def rho(self, method: Method) -> float | None:
        """Spearman's rho between a method and erasure over the tokens of the text."""
        return self.importance.agreement.get(method.name)

    @property
    def chance(self) -> float:
        """Distance of rho from 0 for two unrelated orders of n tokens, 95 times in 100.

        Its variance is then 1 / (n - 1), whatever the orders are (Kendall and Gibbons 1990).
        """
        return min(1.0, CHANCE / (len(self.own) - 1) ** 0.5) if len(self.own) > 1 else 1.0

    @property
    def goes(self) -> Literal["alike", "opposed", "chance", "none", "random"]:
        """Tell whether similarity orders the tokens as erasure does, beyond what chance gives."""
        rho = self.rho(self.every[0])
        if self.analysis.random:
            return "random"
        if rho is None:
            return "none"
        return "chance" if abs(rho) <= self.chance else "alike" if rho > 0 else "opposed"

    @property
    def before(self) -> float:
        """The explained output of the text as it is: a probability, or a raw value."""
        return float(self.analysis.probabilities[self.importance.label])

    def without(self, index: int) -> float:
        """The explained output where a token is replaced."""
        return float(np.float64(self.before) - self.importance.erasure[index])

    def text(self, value: float) -> str:
        """An output as a reader sees it."""
        raw = self.analysis.problem_type == "regression"
        return number(value) if raw else percent(min(max(value, 0.0), 1.0))


TOP = 66  # pixels, for three lines above each column
COLUMN = 96  # pixels below which a column is too narrow for its name
WIDEST = 12  # narrow characters of a line of a name
FIRST = 3  # tokens whose rank stands beside their bar
PALE = 0.35  # opacity of the other bars
GAP = 0.12  # between columns, as a part of one
ROOM = 0.2  # beside the longest bar, for its rank
RHO_ROW = 40  # pixels, of two lines
RHO_WIDEST = 18  # characters of a line beside the axis of rho: a phone is narrow
AFTER = 0.02  # between a bar and its number
BELOW = 52  # pixels, for the axis
BAND = "rgba(128, 128, 128, 0.22)"  # of what chance gives
FAR = 0.5  # an axis starts at 0 where the smallest value is below this part of the largest


def importances(given: Importance, _: State, say: Texts) -> Shown:
    """Every answer there is, in the order of the tokens, with the ranks of the first three."""
    methods = Methods(given)
    names = [method_name(method, methods, say) for method in methods.every]
    tokens = {
        "table.index": range(len(methods.labels)),
        "table.token": methods.labels,
        "table.special": [yes_or_no(bool(one), say) for one in methods.analysis.tokens.special],
    }
    columns = {name: method.values for name, method in zip(names, methods.every, strict=True)}
    firsts = [
        say.listed(methods.labels[index] for index in methods.ranked(method)[:FIRST])
        for method in methods.every
    ]
    ranks = say("list.semicolon").join(
        say("matters.first", name=name, tokens=first) for name, first in zip(names, firsts, strict=True)
    )
    return Shown(
        heading=_heading(methods, say),
        words=say("matters.description", total=len(methods.labels), ranks=ranks),
        data=layers_frame(tokens, columns, say),
        figure=_figure(methods, say),
        above=hint_html(say("matters.hint")),
        legend=_legend(methods, say),
        about=asked_line(methods.analysis, say),
        least_width=draw.token_width(methods.view) + COLUMN * len(names),
    )


def _is_there(given: Importance | Sentence) -> bool:
    return isinstance(given, Importance)


BARS: Exhibit[Any] = Exhibit("matters", importances, plotted=True, applies=_is_there, width=3)


def method_name(method: Method, methods: Methods, say: Texts) -> str:
    """Name a method, not escaped: "similarity to [CLS]" for example."""
    return say(f"matters.name_{method.name}", reference=shorten(reference_name(methods.view, say), 20))


def _figure(methods: Methods, say: Texts) -> draw.Figure:
    """A column for each method, all with the same rows: T tokens, the first on top."""
    places = range(len(methods.every))
    axes = {f"xaxis{draw.axis_number(place)}": _axis(methods, place) for place in places}
    frame = draw.token_rows(methods.view, say, TOP, 14, **axes)
    frame["annotations"] += [_title(methods, place, say) for place in places]
    return draw.Figure([_bars(methods, place, say) for place in places], frame)


def _bars(methods: Methods, place: int, say: Texts) -> draw.Trace:
    """The bars of one method; all but the first three are pale."""
    method = methods.every[place]
    first, total = methods.ranked(method)[:FIRST], range(len(methods.labels))
    name = escape(method_name(method, methods, say))
    return draw.bars(
        [None if isnan(value) else float(f"{value:.3g}") for value in method.values],
        [draw.OTHER] * len(total) if methods.analysis.random else draw.token_colours(methods.view),
        say("matters.hover", token="%{y}", name=name, value="%{x:.3g}"),
        xaxis=f"x{draw.axis_number(place)}",
        y0=0,
        dy=1,
        marker={"opacity": [1 if index in first else PALE for index in total]},
        text=[f"<b>{first.index(index) + 1}</b>" if index in first else "" for index in total],
        width=0.74,
        **draw.BESIDE,
    )


def _axis(methods: Methods, place: int) -> dict[str, Any]:
    values, last = methods.every[place].values, (place + 1 - GAP) / len(methods.every)
    start, high = _least(methods.every[place]), float(np.nanmax(values))
    room = ROOM * ((max(high, 0.0) - start) or 1.0)
    return draw.axis(
        domain=[round(place / len(methods.every), 4), round(last, 4)],
        range=[start - (room if start < 0 else 0), max(high, 0.0) + room],
        showticklabels=False,
        **draw.ZERO_LINE,
    )


def _least(method: Method) -> float:
    """Start of the axis of a column: at 0 or below, or near the smallest value where all are alike."""
    low, high = float(np.nanmin(method.values)), float(np.nanmax(method.values))
    return round(low - ROOM * (high - low), 2) if 0 < FAR * high < low else min(0.0, low)


def _title(methods: Methods, place: int, say: Texts) -> dict[str, Any]:
    """Title above a column: its method, and rho between that and erasure."""
    method = methods.every[place]
    rho = say("matters.rho", rho=rho_text(methods, method))
    lines = [f"<b>{escape(line)}</b>" for line in _lines(method_name(method, methods, say))]
    lines.append(escape(rho if method in methods.others else say("matters.yardstick")))
    corner = {
        "xref": "paper",
        "yref": "paper",
        "x": round(place / len(methods.every), 4),
        "y": 1,
        "xanchor": "left",
    }
    return {**corner, "yanchor": "bottom", "align": "left", "text": "<br>".join(lines), "showarrow": False}


def _lines(name: str) -> list[str]:
    """A name on as few lines as a narrow column has room for; it breaks at spaces."""
    first, *words = name.split(" ")
    lines = [first]
    for one in words:
        whole = f"{lines[-1]} {one}"
        lines = [*lines[:-1], whole] if width(whole) <= WIDEST else [*lines, one]
    return lines


def rho_text(methods: Methods, method: Method) -> str:
    """Rho between a method and erasure as a reader sees it; a dash where there is none."""
    rho = methods.rho(method)
    return "–" if rho is None else number(rho)


def _heading(methods: Methods, say: Texts) -> str:
    """Count the answers that name different tokens."""
    if methods.analysis.random:
        return say("matters.heading_random")
    if len(methods.own) < 2:
        return say("matters.heading_short")
    firsts = [methods.ranked(method)[0] for method in methods.every]
    found = {"count": len(firsts), "label": methods.label}
    if len(set(firsts)) == 1:
        return say("matters.heading_same", token=shorten(word(methods.labels[firsts[0]]), 24), **found)
    return say("matters.heading", different=len(set(firsts)), **found)


def _legend(methods: Methods, say: Texts) -> str:
    """Explain the numbers, the colours and the third line, and how exact integrated gradients are."""
    given, analysis = methods.importance, methods.analysis
    coloured = not analysis.random  # else all of it is grey
    items: dict[str, object] = {
        line_html(say("matters.ranks"), "1 2 3"): True,
        key_html("read", say("legend.read")): coloured and analysis.reads.positions.any(),
        **(segment_keys(methods.view, say) if coloured else {}),
        key_html("special", say("matters.unranked")): analysis.tokens.special.any(),
        line_html(say("matters.rho_means")): True,
    }
    for method in methods.every:
        name, start = method_name(method, methods, say), _least(method)
        items[line_html(say("matters.start", name=name, start=number(start)))] = start > 0
    items[line_html(say("matters.erased", eraser=visible(given.eraser)))] = True
    if given.integrated is not None:
        delta = f"{given.integrated.delta:.2g}".replace("-", "−")
        items[line_html(say("matters.delta", steps=given.integrated.steps, delta=delta))] = True
    return legend_of(items)


def agreements(given: Importance, _: State, say: Texts) -> Shown:
    """Show how alike each answer orders the tokens of the text and erasure does."""
    methods = Methods(given)
    names = [method_name(method, methods, say) for method in methods.others]
    rhos = [methods.rho(method) for method in methods.others]
    told = {place: rho for place, rho in enumerate(rhos) if rho is not None}
    total, chance = len(methods.own), number(methods.chance)
    said = (
        say("matters.rho_of", name=name, rho=rho_text(methods, method))
        for name, method in zip(names, methods.others, strict=True)
    )
    columns: dict[str, Column] = {
        "matters.method": names,
        "matters.rho_axis": [float("nan") if rho is None else rho for rho in rhos],
        "matters.chance_column": [methods.chance] * len(rhos),
    }
    band = key_html("chance", say("matters.chance", total=total))
    return Shown(
        heading=_rho_heading(methods, told, say),
        words=say("matters.rho_description", rhos=say.listed(said), chance=chance, total=total),
        data=titled_frame(columns, say),
        figure=_rho_figure(names, told, methods.chance, say),
        above=hint_html(say("matters.rho_hint" if told else "matters.no_rho")),
        legend=legend_html(band) if told else "",
        about=asked_line(methods.analysis, say),
    )


AGREES: Exhibit[Any] = Exhibit("erasure-rho", agreements, plotted=True, applies=_is_there, width=2)


def _rho_figure(names: Sequence[str], told: Mapping[int, float], chance: float, say: Texts) -> draw.Figure:
    """A bar for each method but erasure, from -1 to 1; behind them what chance gives."""
    lines = [textwrap.wrap(name, RHO_WIDEST) for name in names]
    places, rhos = list(told), list(told.values())
    drawn = draw.bars(
        [round(rho, 4) for rho in rhos],
        [draw.OTHER if abs(rho) <= chance else draw.diverging(rho) for rho in rhos],
        say("matters.rho_hover", name="%{y}", rho="%{x:.3f}"),
        y=places,
        width=0.5,
    )
    texts = draw.written(
        [max(rho, 0.0) + AFTER for rho in rhos], places, list(map(number, rhos)), "middle right"
    )
    across = {"x0": -chance, "x1": chance, "yref": "paper", "y0": 0, "y1": 1}
    band = {"type": "rect", "layer": "below", **across, "fillcolor": BAND, "line": {"width": 0}}
    # There is no room for the text of each tick on a phone.
    ticks = {"tickvals": [-1, -0.5, 0, 0.5, 1], "ticktext": ["−1", "", "0", "", "1"], "tickangle": 0}
    frame = draw.layout(
        height=len(names) * RHO_ROW + BELOW,
        margin={"l": draw.name_width(chain.from_iterable(lines)), "r": 40, "t": 6, "b": BELOW - 6},
        xaxis=draw.value_axis(say("matters.rho_axis"), range=[-1, 1], **ticks, **draw.ZERO_LINE),
        yaxis=draw.row_axis(["<br>".join(map(escape, one)) for one in lines]),
        shapes=[band] if told else [],
    )
    return draw.Figure([drawn, texts], frame)


def _rho_heading(methods: Methods, told: Mapping[int, float], say: Texts) -> str:
    """Count the answers that order the tokens as erasure does, beyond chance."""
    if methods.analysis.random or not told:
        return say("matters.rho_heading_random" if methods.analysis.random else "matters.rho_heading_none")
    alike = sum(rho > methods.chance for rho in told.values())
    return say("matters.rho_heading", count=alike, total=len(methods.others))


def sentence(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """The answer in words, and what could not be had, unless the verdict says so; or why there is none."""
    if isinstance(given, Sentence):
        return Shown(html=render("importance", say, reason=visible(given.said(say)), notices=()))
    methods = Methods(given)
    random = methods.analysis.random
    lines = [say.html("matters.random")] if random else [_erased(methods, say), _near(methods, say)]
    more = [warning for warning in given.warnings if warning not in methods.analysis.warnings]
    notices = [visible(warning.said(say)) for warning in more]
    said = Markup(say.together(filter(None, lines)))
    return Shown(html=render("importance", say, reason="", said=said, notices=notices))


SENTENCE = Exhibit("importance", sentence, element="importance-lead", frame="bare")


def _erased(methods: Methods, say: Texts) -> Markup:
    """The token whose erasure makes the output fall most."""
    if not methods.own:
        return say.html("matters.no_text")
    first = methods.ranked(methods.every[-1])[0]
    found = {"eraser": visible(methods.importance.eraser), "label": strong_html(methods.label)}
    if methods.importance.erasure[first] <= 0:
        return say.html("matters.none_falls", **found)
    before, after = (strong_html(methods.text(value)) for value in (methods.before, methods.without(first)))
    key = "matters.erasing" if len(methods.own) > 1 else "matters.erasing_one"
    return say.html(key, token=_token(methods, first), before=before, after=after, **found)


def _near(methods: Methods, say: Texts) -> Markup:
    """Say where the token most like [CLS] comes when tokens are erased, and rho."""
    if len(methods.own) < 2:
        return NOTHING
    similarity, erasure = methods.every[0], methods.every[-1]
    most = methods.ranked(similarity)[0]
    found = {"token": _token(methods, most), "reference": shorten(reference_name(methods.view, say), 24)}
    place = methods.ranked(erasure).index(most) + 1
    near = say.html("matters.near", place=place, total=len(methods.own), **found)
    rho = strong_html(rho_text(methods, similarity))
    key = "no_rho" if methods.goes == "none" else f"rho_{methods.goes}"
    return Markup(say.together((near, say.html(f"matters.{key}", rho=rho))))


def _token(methods: Methods, index: int) -> Markup:
    return token_html(methods.labels[index], bool(methods.analysis.reads.positions[index]))


SCALE = [[2 * (float(str(stop)) - 0.5), colour] for stop, colour in draw.DIVERGING if float(str(stop)) >= 0.5]


def attentions(given: Importance, state: State, say: Texts) -> Shown:
    """Show how much attention of [CLS] goes to each token, by the head that is chosen or their mean."""
    view = View(given.analysis, given.analysis.layers)
    labels, name = view.labels, shorten(reference_name(view, say), 40)
    if given.attention is None:
        none = say("attention.none", reference=name)
        return Shown(heading=say("attention.heading_none"), words=none, above=hint_html(none))
    head, count = head_of(given, state), given.attention.shape[1]
    weights = given.attention[:, head - 1] if head else given.attention.mean(axis=1)  # (L, T)
    which = say("attention.head", head=head) if head else say("attention.mean", count=count)
    most = [(labels[int(row.argmax())], percent(float(row.max()))) for row in weights]
    last, share = most[-1]
    told = (
        say("attention.most", layer=layer, token=token, share=part)
        for layer, (token, part) in enumerate(most, start=1)
    )
    highest, colour = float(weights.max()), say("attention.colour", reference=name)
    hover = say("attention.hover", token="%{x}", layer="%{y}", value="%{z:.1%}")
    layers = {say("away.layer", layer=layer): row for layer, row in enumerate(weights, start=1)}
    scale = scale_html(colour, SCALE, (percent(0), percent(highest)))
    return Shown(
        heading=say("attention.heading", reference=name, token=shorten(word(last), 24), share=share),
        words=say.together((which, say("attention.description", most=say.listed(told)))),
        data=layers_frame({"table.index": range(len(labels)), "table.token": labels}, layers, say),
        figure=draw.heat_map(view, weights, hover, say, first=1, colorscale=SCALE, zmin=0, zmax=highest),
        above=hint_html(which) + scale,
        about=asked_line(given.analysis, say),
        scale=colour,
        least_width=draw.least_width(view),
    )


ATTENTION: Exhibit[Any] = Exhibit("attention", attentions, plotted=True, applies=_is_there, controls=(HEAD,))


def head_of(given: Importance, state: State) -> int:
    """The head that is looked at, counted from 1; 0 for the mean, and where there is no such head."""
    head = HEAD.of(state)
    return head if given.attention is not None and head <= given.attention.shape[1] else 0
