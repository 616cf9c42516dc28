"""Hidden states one by one: what the head says of each, and the change that each brings to another text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from components.analyses.anatomy import Anatomy, Lens
from components.analyses.trace import Patched
from components.exhibits import draw, exhibit, view as naming
from components.exhibits.alone import label_colours
from components.exhibits.comparison import Comparison
from components.exhibits.control import Control, State, Text
from components.exhibits.exhibit import Bar, Exhibit, Shown, hint_html, scale_html, strong_html, titled
from components.exhibits.origin import ENDS, MOST, Holder, shades, share_map, stays, story
from components.exhibits.verdict import ranked
from components.exhibits.view import LABEL, View, labels_of, number, percent, render, shorten, visible, word
from components.texts import Sentence, Texts
from components.types import Analysis, Bools, Floats


@dataclass(frozen=True, eq=False)
class Aim:
    """A label of a lens. L layers, T tokens.

    ``index``: its place among the labels. ``label``: its name, not escaped. ``raw``: values are those of a
    regression, and no probabilities. ``tokens``: (L + 1, T) its value at every hidden state. ``pooled``:
    (L + 1,) its value where the pooling is applied to each layer. ``pointed``: (T,) whether the head says it
    of a token at the last layer, ``said``: (L + 1,) of its own vector: it is the likeliest, or above one
    half. ``neutral``: the value that says nothing, that of a guess, or 0 of a regression.
    """

    analysis: Analysis
    index: int
    label: str
    raw: bool
    tokens: Floats
    pooled: Floats
    pointed: Bools
    said: Bools
    neutral: float

    @property
    def since(self) -> int | None:
        """The layer from which on the head says it of its own vector; None where it does not in earnest."""
        if self.raw or not self.said[-1]:
            return None
        return int(np.flatnonzero(~self.said).max(initial=-1)) + 1

    @property
    def knows(self) -> str:
        """Tell at which layers it says so: every one, the last alone, from a later one on, or unsure."""
        if self.since is None:
            return "unsure"
        count = int(self.said.sum())
        return "every" if count == len(self.said) else "last" if count == 1 else "later"

    def text(self, value: float) -> str:
        """A value as a reader sees it."""
        return number(value) if self.raw else percent(value)


def aim_at(analysis: Analysis, lens: Lens, say: Texts, chosen: str = "") -> Aim:
    """Take the label that is ``chosen``; where the head has not that one, the likeliest in earnest."""
    labels, several, order = analysis.labels, analysis.problem_type == "multi_label", ranked(analysis)
    index = next((index for index in order if labels[index] == chosen), order[0])
    raw = analysis.problem_type == "regression"
    named = [place for place, label in enumerate(labels) if label == labels[index]]

    def says(rows: Floats) -> Bools:
        likely: Bools = rows[:, named].max(axis=1) > 0.5 if several else np.isin(rows.argmax(axis=1), named)
        return likely

    return Aim(
        analysis,
        index,
        visible(say.label(labels[index])),
        raw,
        tokens=lens.probabilities[:, :, index],
        pooled=lens.pooled_probabilities[:, index],
        pointed=says(lens.probabilities[-1]),
        said=says(lens.pooled_probabilities),
        neutral=0.0 if raw else 0.5 if several else 1 / len(labels),
    )


def lens(anatomy: Anatomy, state: State, say: Texts) -> Shown:
    """The probability of one label, if the head's vector were the hidden state of each token."""
    if not isinstance(anatomy.lens, Lens):
        return exhibit.unanswered("lens.none", anatomy.lens, say)
    analysis, aim = anatomy.analysis, aim_at(anatomy.analysis, anatomy.lens, say, LABEL.of(state))
    view, norm, last = View(analysis, analysis.layers), anatomy.lens.norm, aim.tokens[-1]
    hints = [say("lens.hint"), say("lens.alone"), say("lens.norm", norm=visible(norm)) if norm else ""]
    found: dict[str, object] = {"label": aim.label, "total": len(last)}
    for end, place in (("low", int(last.argmin())), ("high", int(last.argmax()))):
        found |= {end: aim.text(last[place]), f"{end}_token": view.labels[place]}
    heading = say("lens.heading", count=int(aim.pointed.sum()), **found)
    if analysis.random or aim.raw:
        heading = say("lens.heading_random" if analysis.random else "lens.heading_raw", **found)
    bound, far = float(np.abs(aim.tokens).max()) or 1.0, aim.tokens - aim.neutral
    low, high = (-bound, bound) if aim.raw else (0.0, 1.0)  # ends of the scale, which is grey at neutral
    marks = [aim.text(value) for value in (low, aim.neutral, high)]
    keys, own = ("lens.colour_raw", "lens.colour"), label_colours(analysis)[aim.index]
    stops = [[0.0, draw.OTHER], draw.DIVERGING[2], [1.0, own]]  # as bars of the label: grey is not said
    if analysis.random:
        keys, stops = ("outputs.raw", "depth.axis"), draw.RANDOM
    colour = say(keys[0] if aim.raw else keys[1], label=aim.label, guess=aim.text(aim.neutral))
    layers = {say("lens.column", label=aim.label, layer=at): row for at, row in enumerate(aim.tokens)}
    figure = draw.heat_map(
        view,
        np.where(far < 0, far / (aim.neutral - low), far / max(high - aim.neutral, 1e-6)),
        say("lens.hover", token="%{x}", layer="%{y}", label=draw.escape(aim.label), value="%{text}"),
        say,
        draw.read_frame(analysis),  # round what the head says in earnest, where it reads one token
        text=[list(map(aim.text, row)) for row in aim.tokens],
        colorscale=stops,
        colorbar={"tickvals": [-1, 0, 1], "ticktext": marks},  # of an image
    )
    return Shown(
        heading=heading,
        words=say("lens.description", layers=len(aim.tokens), **found),
        data=titled({"table.index": range(len(last)), "table.token": view.labels}, say, layers),
        figure=figure,
        above=hint_html(say.together(filter(None, hints))) + scale_html(colour, stops, (marks[0], marks[2])),
        about=naming.asked_line(analysis, say),
        scale=colour,
    )


def depth(anatomy: Anatomy, state: State, say: Texts) -> Shown:
    """The probability of one label, where the pooling is applied to each layer."""
    if not isinstance(anatomy.lens, Lens):
        return exhibit.unanswered("depth.none", anatomy.lens, say)
    aim = aim_at(anatomy.analysis, anatomy.lens, say, LABEL.of(state))
    hint = "depth.hint_raw" if aim.raw else "depth.hint"
    told = (say("depth.value", layer=layer, value=aim.text(one)) for layer, one in enumerate(aim.pooled))
    return Shown(
        heading=_finding(aim, say),
        words=say("depth.description", label=aim.label, values=say.listed(told)),
        html=render("bars", bars=_bars(aim, say)),
        above=hint_html(say(hint, label=aim.label, pooling=visible(aim.analysis.query.pooling))),
    )


def _bars(aim: Aim, say: Texts) -> list[Bar]:
    """A bar for each layer, the last on top; of raw values as long as they are large, grey below 0."""
    longest = float(np.abs(aim.pooled).max()) or 1.0 if aim.raw else 1.0
    grey = draw.OTHER
    own = grey if aim.analysis.random else label_colours(aim.analysis)[aim.index]
    every = [
        Bar(say("away.layer", layer=layer), aim.text(one), 0, abs(one) / longest, own if one >= 0 else grey)
        for layer, one in enumerate(aim.pooled.tolist())
    ]
    return every[::-1]


def _finding(aim: Aim, say: Texts) -> str:
    """Say from which layer on the head says the label to the end, not escaped."""
    count = int(aim.said.sum())
    key = {"every": "_every", "last": "_last", "later": ""}.get(aim.knows, "_below" if count else "_never")
    if aim.analysis.random or aim.raw:
        key = "_random" if aim.analysis.random else "_raw"
    found = {"label": aim.label, "layer": aim.since, "count": count, "total": len(aim.pooled)}
    return say(f"depth.heading{key}", first=aim.text(aim.pooled[0]), last=aim.text(aim.pooled[-1]), **found)


TRACED = Control("traced", Text(), "", "trace.backbone")  # a backbone's key; the first of a comparison for ""

Traced = Patched | Sentence | None  # the trace, why there is none, or that nobody can ask for one


def traced_backbone(comparison: Comparison, state: State) -> str:
    """The key of the backbone whose trace ``state`` asks for; the first where that one is not compared."""
    keys = [spec.key for spec in comparison.backbones]
    return TRACED.of(state) if TRACED.of(state) in keys else keys[0]


def traced(comparison: Comparison) -> Traced:
    """The trace between the two versions of a comparison; asks for it."""
    return None if comparison.trace is None else exhibit.or_why(comparison.trace)


def trace(given: Patched, _: State, say: Texts) -> Shown:
    """The share of the change of the logits that each state of the second version brings to the first."""
    first, second = given.first, given.second.query
    view = View(first, first.layers, names=named(given))
    colour, stops = say("trace.colour"), shades(first.random)
    texts = (visible(text) for text in (second.text, second.text_pair) if text)
    other = " / ".join(shorten(text, naming.TEXT) for text in texts)
    mine, theirs = given.pairs.T.tolist()
    own, others = labels_of(first), labels_of(given.second)
    tokens = {
        "table.index": mine,
        "table.token": [own[place] for place in mine],
        "trace.other_index": theirs,
        "trace.other_token": [others[place] for place in theirs],
    }
    columns = {say("away.layer", layer=layer): row for layer, row in enumerate(given.shares)}
    layers, total = given.shares.shape
    heading = say("trace.heading_random" if first.random else "trace.heading")
    words = say("trace.description", layers=layers, total=total)
    told = Markup()
    if mine and not first.random:
        told, since = trace_story(given, say), settled(given)
        words = say.together((words, told.striptags()))
        token = "" if since is None else naming.token_name(view.names, first.reads.indices[0], say)
        once = since == layers - 1 and (trace_claims(given)["read"] > MOST).sum() == 1
        key = "" if since is None else "_last" if once else "_from" if since else "_start"
        heading = say(f"trace.heading{key}", layer=since, token=token)
    shares = np.full((layers, len(view.labels)), np.nan)
    shares[:, mine] = given.shares
    return Shown(
        heading=heading,
        words=words,
        data=titled(tokens, say, columns),
        figure=share_map(view, shares, say),
        above=render("trace", say, given=given, told=told, scale=scale_html(colour, stops, ENDS)),
        about=say("trace.about", asked=naming.asked_line(first, say), text=other),
        scale=colour,
    )


def settled(given: Patched) -> int | None:
    """Find the layer from which on the one token that is read carries most of the change, if it does."""
    claims = trace_claims(given)
    if "read" not in claims or stays(claims)[-1].holder != "read":  # it has no counterpart, or not most of it
        return None
    since = int(np.flatnonzero(claims["read"] <= MOST).max(initial=-1)) + 1
    return since if since <= given.first.pool_layer else None


def trace_story(given: Patched, say: Texts) -> Markup:
    """Say where the change is, from the embeddings up."""
    read, tokens = given.first.reads.indices, named(given)
    names: dict[Holder, Markup] = {
        "read" if read == [place] else place: strong_html(naming.token_name(tokens, place, say))
        for place in given.pairs[:, 0].tolist()
    }
    backbone = strong_html(visible(given.first.backbone.said(say)))
    return say.html("trace.story", backbone=backbone, story=story(trace_claims(given), names, say))


def trace_claims(given: Patched) -> Mapping[Holder, Floats]:
    """The share of every token that has a counterpart, up to the layer that is pooled."""
    read, up = given.first.reads.indices, slice(given.first.pool_layer + 1)
    places = ("read" if read == [place] else place for place in given.pairs[:, 0].tolist())
    return dict(zip(places, given.shares[up].T, strict=True))


def named(given: Patched) -> tuple[str, ...]:
    """A label for each token of the first version, not escaped; "good → bad" where they differ."""
    own, others = labels_of(given.first), labels_of(given.second)
    names = list(own)
    for mine, theirs in given.pairs.tolist():
        if own[mine] != others[theirs]:
            names[mine] = f"{own[mine]} → {word(others[theirs])}"
    return tuple(names)


LENS = Exhibit("lens", lens, plotted=True, width=3)
DEPTH = Exhibit("depth", depth, width=2)
TRACE: Exhibit[Any] = Exhibit(
    "trace", trace, plotted=True, applies=lambda given: given is not None, none="trace.heading"
)
