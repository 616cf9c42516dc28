"""Answers to "which token matters": as bars, held against erasure, in words, and attention by layer."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain
from math import isnan
from typing import Any, Literal

import numpy as np
import pandas as pd

from components.analyses.importance import Importance
from components.exhibits.control import Control, State, Switch, Whole
from components.exhibits.draw import (
    BRACKET,
    DIVERGING,
    OTHER,
    ZERO_LINE,
    Figure,
    Trace,
    axis,
    axis_number,
    cells,
    diverging,
    layout,
    least_width,
    name_width,
    row_axis,
    row_brackets,
    rows_layout,
    tick_texts,
    tick_width,
    token_colours,
    value_axis,
    written,
)
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    data_frame,
    hint_html,
    key_html,
    legend_html,
    scale_html,
    strong_html,
    token_html,
)
from components.exhibits.view import (
    View,
    asked_line,
    indices,
    labels_of,
    number,
    percent,
    reference_name,
    shorten,
    visible,
    width,
    word,
    yes_or_no,
)
from components.texts import Sentence, Texts
from components.types import Analysis, Floats

SIMILARITY = "similarity"
ERASURE = "erasure"  # what the others are held against
CHANCE = 1.96  # deviations that two unrelated orders stay within 95 times in 100

MOST_HEADS = 1000
INTEGRATED = Control("integrated", Switch(), False, "matters.integrated", "matters.integrated_info")
HEAD = Control("attention_head", Whole(0, MOST_HEADS), 0, "matters.head")  # 0: the mean over heads


Goes = Literal["alike", "opposed", "chance", "none", "random"]


@dataclass(frozen=True, eq=False)
class Method:
    """One answer: a number for each of the T tokens, more where the token matters more."""

    name: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Methods:
    """All answers of one text, held against erasure. T tokens, n of them of the text itself."""

    importance: Importance

    @property
    def analysis(self) -> Analysis:
        """What was answered."""
        return self.importance.analysis

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A readable label for each of the T tokens, not escaped."""
        return labels_of(self.analysis)

    @property
    def label(self) -> str:
        """The name of the output that is explained, not escaped."""
        return visible(self.analysis.labels[self.importance.label])

    @property
    def raw(self) -> bool:
        """Whether outputs are those of a regression, and no probabilities."""
        return self.analysis.problem_type == "regression"

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
            ERASURE: given.erasure,
        }
        return tuple(Method(name, values) for name, values in found.items() if values is not None)

    @property
    def others(self) -> tuple[Method, ...]:
        """Those that are held against erasure."""
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
        """How far from 0 rho is for two unrelated orders of n tokens, 95 times in 100.

        Its variance is then 1 / (n - 1), whatever the orders are (Kendall and Gibbons 1990).
        """
        return min(1.0, CHANCE / (len(self.own) - 1) ** 0.5) if len(self.own) > 1 else 1.0

    @property
    def goes(self) -> Goes:
        """Whether similarity orders the tokens as erasure does, beyond what chance gives."""
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
        return number(value) if self.raw else percent(min(max(value, 0.0), 1.0))


ROW, LOW_ROW = 25, 18  # pixels; rows are low where there are many
MANY = 30  # rows
TOP = 66  # pixels, for three lines above each column
COLUMN = 96  # pixels below which a column is too narrow for its name
WIDEST = 12  # narrow characters of a line of a name
FIRST = 3  # tokens whose rank stands beside their bar
PALE = 0.35  # opacity of the other bars
GAP = 0.12  # between columns, as a part of one
ROOM = 0.2  # beside the longest bar, for its rank
RHO_ROW = 40  # pixels, of two lines
RHO_WIDEST = 18  # characters of a line beside the axis of rho: a phone is narrow
BESIDE = 0.02  # between a bar and its number
BELOW = 52  # pixels, for the axis
BAND = "rgba(128, 128, 128, 0.22)"  # of what chance gives
FAR = 0.5  # an axis starts at 0 where the smallest value is below this part of the largest


def bars(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """Every answer there is, in the order of the tokens, with the ranks of the first three."""
    if isinstance(given, Sentence):
        return Shown()
    methods = Methods(given)
    view = View(methods.analysis, methods.analysis.layers)
    return Shown(
        heading=_heading(methods, say),
        words=_words(methods, say),
        data=_data(methods, say),
        figure=bars_figure(methods, view, say),
        above=hint_html(say("matters.hint")),
        legend=_legend(methods, view, say),
        about=asked_line(methods.analysis, say),
        least_width=_left(view) + COLUMN * len(methods.every),
    )


BARS = Exhibit("matters", bars, plotted=True, applies=lambda given: isinstance(given, Importance), width=3)


def method_name(method: Method, methods: Methods, say: Texts) -> str:
    """What a method is called, not escaped: "similarity to [CLS]" for example."""
    view = View(methods.analysis, methods.analysis.layers)
    reference = shorten(reference_name(view, say), 20)
    return say(f"matters.name_{method.name}", reference=reference)


def bars_figure(methods: Methods, view: View, say: Texts) -> Figure:
    """A column for each method, all with the same rows: T tokens, the first on top."""
    total, left = len(view.labels), _left(view)
    places = range(len(methods.every))
    frame = layout(
        height=total * (ROW if total <= MANY else LOW_ROW) + TOP + 12,
        margin={"l": left, "r": 14, "t": TOP, "b": 12},
        yaxis=row_axis(tick_texts(view)),
        **{f"xaxis{axis_number(place)}": _axis(methods, place) for place in places},
        **row_brackets(view, say, left),
    )
    frame["annotations"] = [*frame["annotations"], *(_title(methods, place, say) for place in places)]
    return Figure(data=[_bars(methods, view, place, say) for place in places], layout=frame)


def _bars(methods: Methods, view: View, place: int, say: Texts) -> Trace:
    """The bars of one method; all but the first three are pale."""
    method = methods.every[place]
    first = methods.ranked(method)[:FIRST]
    total = range(len(view.labels))
    name = escape(method_name(method, methods, say))
    return Trace(
        type="bar",
        orientation="h",
        xaxis=f"x{axis_number(place)}",
        x=[None if isnan(value) else float(f"{value:.3g}") for value in method.values],
        y0=0,
        dy=1,
        marker={
            "color": [OTHER] * len(total) if methods.analysis.random else token_colours(view),
            "opacity": [1 if index in first else PALE for index in total],
        },
        text=[f"<b>{first.index(index) + 1}</b>" if index in first else "" for index in total],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        hovertemplate=say("matters.hover", token="%{y}", name=name, value="%{x:.3g}") + "<extra></extra>",
        width=0.74,
    )


def _axis(methods: Methods, place: int) -> dict[str, Any]:
    """The axis of a column."""
    values, last = methods.every[place].values, (place + 1 - GAP) / len(methods.every)
    start, high = least(methods.every[place]), float(np.nanmax(values))
    room = ROOM * ((max(high, 0.0) - start) or 1.0)
    return axis(
        domain=[_start(methods, place), round(last, 4)],
        range=[start - (room if start < 0 else 0), max(high, 0.0) + room],
        showticklabels=False,
        **ZERO_LINE,
    )


def _start(methods: Methods, place: int) -> float:
    """Where a column starts, as a part of the width."""
    return round(place / len(methods.every), 4)


def least(method: Method) -> float:
    """Where the axis of a column starts: at 0 or below, or near the smallest value where all are alike."""
    low, high = float(np.nanmin(method.values)), float(np.nanmax(method.values))
    return round(low - ROOM * (high - low), 2) if 0 < FAR * high < low else min(0.0, low)


def _title(methods: Methods, place: int, say: Texts) -> dict[str, Any]:
    """What stands above a column: its method, and rho between that and erasure."""
    method, others = methods.every[place], methods.others
    lines = [f"<b>{escape(line)}</b>" for line in _lines(method_name(method, methods, say))]
    last = say("matters.rho", rho=rho_text(methods, method)) if method in others else say("matters.yardstick")
    return {
        "xref": "paper",
        "yref": "paper",
        "x": _start(methods, place),
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "text": "<br>".join([*lines, escape(last)]),
        "showarrow": False,
    }


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


def _left(view: View) -> int:
    return tick_width(view.labels) + (BRACKET if view.is_pair else 0)


def _heading(methods: Methods, say: Texts) -> str:
    """How many of the answers name different tokens."""
    if methods.analysis.random:
        return say("matters.heading_random")
    if len(methods.own) < 2:
        return say("matters.heading_short")
    firsts = [methods.ranked(method)[0] for method in methods.every]
    found = {"count": len(firsts), "label": methods.label}
    if len(set(firsts)) == 1:
        return say("matters.heading_same", token=shorten(word(methods.labels[firsts[0]]), 24), **found)
    return say("matters.heading", different=len(set(firsts)), **found)


def _words(methods: Methods, say: Texts) -> str:
    """The first three tokens of each method."""
    parts = (
        say(
            "matters.first",
            name=method_name(method, methods, say),
            tokens=say.listed(methods.labels[index] for index in methods.ranked(method)[:FIRST]),
        )
        for method in methods.every
    )
    total = len(methods.labels)
    return say("matters.description", total=total, ranks=say("list.semicolon").join(parts))


def _data(methods: Methods, say: Texts) -> pd.DataFrame:
    """T rows: index, token, whether the tokenizer added it, and the number of each method."""
    special = [yes_or_no(bool(one), say) for one in methods.analysis.tokens.special]
    columns = [(method_name(method, methods, say), np.asarray(method.values)) for method in methods.every]
    return data_frame(
        (
            (say("table.index"), range(len(methods.labels))),
            (say("table.token"), methods.labels),
            (say("table.special"), special),
            *columns,
        )
    )


def _legend(methods: Methods, view: View, say: Texts) -> str:
    """What the numbers, the colours and the third line mean, and how exact integrated gradients are."""
    pair = (("first", "segment.first"), ("second", "segment.second"))
    segments = pair if view.is_pair else (("first", "legend.text"),)
    items = [f"<li><b>1 2 3</b> {escape(say('matters.ranks'))}</li>"]
    if not methods.analysis.random:  # else all of it is grey
        items += [key_html("read", say("legend.read"))] if methods.analysis.reads.positions.any() else []
        items += [key_html(name, say(key)) for name, key in segments]
    if methods.analysis.tokens.special.any():
        items.append(key_html("special", say("matters.unranked")))
    items.append(f"<li>{escape(say('matters.rho_means'))}</li>")
    given = methods.importance
    for method in methods.every:
        if least(method) > 0:
            start = say("matters.start", name=method_name(method, methods, say), start=number(least(method)))
            items.append(f"<li>{escape(start)}</li>")
    items.append(f"<li>{escape(say('matters.erased', eraser=visible(given.eraser)))}</li>")
    if given.integrated is not None:
        delta = f"{given.integrated.delta:.2g}".replace("-", "−")
        items.append(f"<li>{escape(say('matters.delta', steps=given.integrated.steps, delta=delta))}</li>")
    return legend_html(*items)


def agreement(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """How alike each answer orders the tokens of the text and erasure does."""
    if isinstance(given, Sentence):
        return Shown()
    methods = Methods(given)
    band = key_html("chance", say("matters.chance", total=len(methods.own)))
    return Shown(
        heading=_rho_heading(methods, say),
        words=_rho_words(methods, say),
        data=_rho_data(methods, say),
        figure=agreement_figure(methods, say),
        above=hint_html(say("matters.rho_hint" if _told(methods) else "matters.no_rho")),
        legend=legend_html(band) if _told(methods) else "",
        about=asked_line(methods.analysis, say),
    )


AGREES = Exhibit(
    "erasure-rho", agreement, plotted=True, applies=lambda given: isinstance(given, Importance), width=2
)


def agreement_figure(methods: Methods, say: Texts) -> Figure:
    """A bar for each method but erasure, from -1 to 1; behind them what chance gives."""
    names = [textwrap.wrap(method_name(method, methods, say), RHO_WIDEST) for method in methods.others]
    rhos = [methods.rho(method) for method in methods.others]
    told = [(place, rho) for place, rho in enumerate(rhos) if rho is not None]
    bars = Trace(
        type="bar",
        orientation="h",
        x=[round(rho, 4) for _, rho in told],
        y=[place for place, _ in told],
        marker={"color": [OTHER if abs(rho) <= methods.chance else diverging(rho) for _, rho in told]},
        hovertemplate=say("matters.rho_hover", name="%{y}", rho="%{x:.3f}") + "<extra></extra>",
        width=0.5,
    )
    texts = written(
        [max(rho, 0.0) + BESIDE for _, rho in told],
        [place for place, _ in told],
        [number(rho) for _, rho in told],
        "middle right",
    )
    frame = layout(
        height=len(names) * RHO_ROW + BELOW,
        margin={"l": name_width(tuple(chain.from_iterable(names))), "r": 40, "t": 6, "b": BELOW - 6},
        xaxis=value_axis(
            say("matters.rho_axis"),
            range=[-1, 1],
            tickvals=[-1, -0.5, 0, 0.5, 1],
            ticktext=["−1", "", "0", "", "1"],  # there is no room for all on a phone
            tickangle=0,
            **ZERO_LINE,
        ),
        yaxis=row_axis(["<br>".join(map(escape, lines)) for lines in names]),
        shapes=[_band(methods.chance)] if told else [],
    )
    return Figure(data=[bars, texts], layout=frame)


def _told(methods: Methods) -> bool:
    """Whether there is rho of any of them."""
    return any(methods.rho(method) is not None for method in methods.others)


def _band(chance: float) -> dict[str, Any]:
    ends = {"x0": -chance, "x1": chance, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "rect", "layer": "below", **ends, "fillcolor": BAND, "line": {"width": 0}}


def _rho_heading(methods: Methods, say: Texts) -> str:
    """How many of the answers order the tokens as erasure does, beyond chance."""
    if methods.analysis.random:
        return say("matters.rho_heading_random")
    if not _told(methods):
        return say("matters.rho_heading_none")
    rhos = [methods.rho(method) for method in methods.others]
    alike = sum(rho is not None and rho > methods.chance for rho in rhos)
    return say("matters.rho_heading", count=alike, total=len(rhos))


def _rho_words(methods: Methods, say: Texts) -> str:
    parts = (
        say("matters.rho_of", name=method_name(method, methods, say), rho=rho_text(methods, method))
        for method in methods.others
    )
    chance = number(methods.chance)
    return say("matters.rho_description", rhos=say.listed(parts), chance=chance, total=len(methods.own))


def _rho_data(methods: Methods, say: Texts) -> pd.DataFrame:
    """A row for each method but erasure: its name, rho, and how far chance goes with so many tokens."""
    rhos = [methods.rho(method) for method in methods.others]
    return data_frame(
        (
            (say("matters.method"), [method_name(method, methods, say) for method in methods.others]),
            (say("matters.rho_axis"), [float("nan") if rho is None else rho for rho in rhos]),
            (say("matters.chance_column"), [methods.chance] * len(rhos)),
        )
    )


def sentence(given: Importance | Sentence, _: State, say: Texts) -> Shown:
    """The answer in words, and what could not be had, unless the verdict says so; or why there is none."""
    if isinstance(given, Sentence):
        said = escape(say("matters.refused", reason=visible(given.said(say))))
        return Shown(html=f'<p class="way finding">{said}</p>')
    methods = Methods(given)
    lines = (
        [say("matters.random")] if methods.analysis.random else [_erased(methods, say), _near(methods, say)]
    )
    more = (warning for warning in given.warnings if warning not in methods.analysis.warnings)
    notes = "".join(f"<li>{escape(visible(warning.said(say)))}</li>" for warning in more)
    notices = f'<div class="notices"><ul>{notes}</ul></div>' if notes else ""
    return Shown(html=f'<p class="way finding">{say.together(filter(None, lines))}</p>{notices}')


SENTENCE = Exhibit("importance", sentence, element="importance-lead", frame="bare")


def _erased(methods: Methods, say: Texts) -> str:
    """The token whose erasure makes the output fall most, as escaped HTML."""
    if not methods.own:
        return escape(say("matters.no_text"))
    first = methods.ranked(methods.every[-1])[0]
    found = {"eraser": escape(visible(methods.importance.eraser)), "label": strong_html(methods.label)}
    if methods.importance.erasure[first] <= 0:
        return say("matters.none_falls", **found)
    values = {"before": methods.text(methods.before), "after": methods.text(methods.without(first))}
    values = {name: strong_html(value) for name, value in values.items()}
    key = "matters.erasing" if len(methods.own) > 1 else "matters.erasing_one"
    return say(key, token=_token(methods, first), **found, **values)


def _near(methods: Methods, say: Texts) -> str:
    """Where the token most like [CLS] comes when tokens are erased, and rho, as escaped HTML."""
    if len(methods.own) < 2:
        return ""
    similarity, erasure = methods.every[0], methods.every[-1]
    most = methods.ranked(similarity)[0]
    place = methods.ranked(erasure).index(most) + 1
    view = View(methods.analysis, methods.analysis.layers)
    found = {"token": _token(methods, most), "reference": escape(shorten(reference_name(view, say), 24))}
    near = say("matters.near", place=place, total=len(methods.own), **found)
    if methods.goes == "none":
        return say.together((near, escape(say("matters.no_rho"))))
    rho = strong_html(rho_text(methods, similarity))
    return say.together((near, say(f"matters.rho_{methods.goes}", rho=rho)))


def _token(methods: Methods, index: int) -> str:
    return token_html(methods.labels[index], bool(methods.analysis.reads.positions[index]))


SCALE = [[2 * (float(str(stop)) - 0.5), colour] for stop, colour in DIVERGING if float(str(stop)) >= 0.5]


def attention(given: Importance | Sentence, state: State, say: Texts) -> Shown:
    """How much of the attention of [CLS] goes to each token, by the head that is chosen or their mean."""
    if isinstance(given, Sentence):
        return Shown()
    view = View(given.analysis, given.analysis.layers)
    name = shorten(reference_name(view, say), 40)
    if given.attention is None:
        none = say("attention.none", reference=name)
        return Shown(heading=say("attention.heading_none"), words=none, above=hint_html(none))
    head = head_of(given, state)
    weights = given.attention.mean(axis=1) if head == 0 else given.attention[:, head - 1]
    which = (
        say("attention.head", head=head) if head else say("attention.mean", count=given.attention.shape[1])
    )
    colour, most = say("attention.colour", reference=name), float(weights.max())
    token = shorten(word(view.labels[int(weights[-1].argmax())]), 24)
    heading = say("attention.heading", reference=name, token=token, share=percent(float(weights[-1].max())))
    return Shown(
        heading=heading,
        words=_attention_words(weights, view, which, say),
        data=_attention_data(weights, view, say),
        figure=_figure(weights, view, say),
        above=hint_html(which) + scale_html(colour, SCALE, (percent(0), percent(most))),
        about=asked_line(given.analysis, say),
        scale=colour,
        least_width=least_width(view),
    )


ATTENTION = Exhibit(
    "attention",
    attention,
    plotted=True,
    applies=lambda given: isinstance(given, Importance),
    controls=(HEAD,),
)


def head_of(given: Importance, state: State) -> int:
    """The head that is looked at, counted from 1; 0 for the mean, and where there is no such head."""
    head = HEAD.of(state)
    heads = 0 if given.attention is None else given.attention.shape[1]
    return head if head <= heads else 0


def _figure(weights: Floats, view: View, say: Texts) -> Figure:
    """L rows, layer 1 at the bottom, by T columns."""
    hover = say("attention.hover", token="%{x}", layer="%{y}", value="%{z:.1%}")
    drawn = cells(weights, hover, colorscale=SCALE, zmin=0, zmax=float(weights.max()))
    names = [str(layer + 1) for layer in range(len(weights))]
    return Figure(data=[drawn], layout=rows_layout(view, names, None, say))


def _attention_words(weights: Floats, view: View, which: str, say: Texts) -> str:
    """The token that gets most at each layer."""
    parts = (
        say(
            "attention.most",
            layer=layer,
            token=view.labels[int(row.argmax())],
            share=percent(float(row.max())),
        )
        for layer, row in enumerate(weights, start=1)
    )
    return say.together((which, say("attention.description", most=say.listed(parts))))


def _attention_data(weights: Floats, view: View, say: Texts) -> pd.DataFrame:
    """T rows by a column for each of the L layers."""
    layers = [(say("away.layer", layer=layer), row) for layer, row in enumerate(weights, start=1)]
    tokens = ((say("table.index"), range(len(view.labels))), (say("table.token"), view.labels))
    return data_frame((*tokens, *layers))
