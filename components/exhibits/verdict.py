"""The verdict, one sentence on what the head reads and one on what it says; and a bar for each label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

import numpy as np
import pandas as pd

from components.errors import PoolscopeError
from components.exhibits.control import State
from components.exhibits.draw import (
    OTHER,
    ZERO_LINE,
    Figure,
    Trace,
    label_colour,
    layout,
    row_axis,
    tick_width,
    value_axis,
)
from components.exhibits.exhibit import Exhibit, Shown, data_frame, hint_html, strong_html, token_html
from components.exhibits.similarity import flat_count, largest_share, won_dimensions
from components.exhibits.view import (
    CAPITALS,
    View,
    asked_line,
    breakable_html,
    indices,
    number,
    percent,
    shorten,
    visible,
    word,
    yes_or_no,
)
from components.texts import Sentence, Texts
from components.types import SWAPS, Analysis

ROW = 40  # pixels
SHOWN = 10  # bars; the rest is summed up in words


def outputs(analysis: Analysis, _: State, say: Texts) -> Shown:
    """The probabilities that the head gives, or the values of a regression."""
    return Shown(
        heading=_heading(analysis, say),
        words=_words(analysis, say),
        data=_data(analysis, say),
        figure=outputs_figure(analysis, say),
        legend=_rest(analysis, say),
        above=_swap(analysis, say),
        about=asked_line(analysis, say),
    )


OUTPUTS = Exhibit("outputs", outputs, plotted=True, width=2)


def outputs_figure(analysis: Analysis, say: Texts) -> Figure:
    """Horizontal bars of probabilities, or of raw values for regression; grey where the head is untrained."""
    order = ranked(analysis)[:SHOWN]
    values = [float(analysis.probabilities[index]) for index in order]
    labels = tuple(visible(analysis.labels[index]) for index in order)
    raw = analysis.problem_type == "regression"
    chosen = [] if analysis.random else chosen_labels(analysis)
    name = say("outputs.raw" if raw else "outputs.probability")
    bars = Trace(
        type="bar",
        orientation="h",
        x=[round(value, 6) for value in values],
        y=list(range(len(order))),
        marker={"color": [label_colour(index) if index in chosen else OTHER for index in order]},
        text=[output_text(analysis, index) for index in order],
        textposition="outside",
        textangle=0,
        cliponaxis=False,
        hovertext=[
            say(
                "outputs.hover",
                label=escape(visible(analysis.labels[index])),
                name=name,
                value=number(analysis.probabilities[index], 4),
                logit=number(analysis.logits[index], 4),
            )
            for index in order
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        width=0.62,
    )
    frame = layout(
        height=len(order) * ROW + 52,
        margin={"l": tick_width(labels), "r": 14, "t": 6, "b": 46},
        xaxis=value_axis(
            name,
            **(_raw_range(values) if raw else {"range": [0, 1.22], "tickvals": [0, 0.25, 0.5, 0.75, 1]}),
            **ZERO_LINE,
        ),
        yaxis=row_axis([escape(shorten(label)) for label in labels]),
    )
    return Figure(data=[bars], layout=frame)


def ranked(analysis: Analysis) -> list[int]:
    """Indices of the labels as they are shown: the likeliest first, those of a regression as they are."""
    if analysis.problem_type == "regression":
        return list(range(len(analysis.labels)))
    return [int(index) for index in np.argsort(-analysis.probabilities, kind="stable")]


def chosen_labels(analysis: Analysis) -> list[int]:
    """Indices of the labels that the head chose, the likeliest first; every one of a regression."""
    every = analysis.problem_type == "regression"
    return [index for index in ranked(analysis) if every or analysis.labels[index] in analysis.predicted]


def output_text(analysis: Analysis, index: int) -> str:
    """One output as it stands beside its bar: percent, or the raw value for regression."""
    value = float(analysis.probabilities[index])
    return number(value) if analysis.problem_type == "regression" else percent(value)


def _heading(analysis: Analysis, say: Texts) -> str:
    if analysis.query.head != "own":
        return say("outputs.heading_probe", task=say.name(analysis.query.task))
    if analysis.random:
        return say("outputs.heading_untrained" if not analysis.head_trained else "outputs.heading_random")
    return say("outputs.heading")


def _words(analysis: Analysis, say: Texts) -> str:
    """The outputs that have a bar."""
    parts = (
        say("outputs.output", label=visible(analysis.labels[index]), value=output_text(analysis, index))
        for index in ranked(analysis)[:SHOWN]
    )
    return say("outputs.description", outputs=say.listed(parts))


def _data(analysis: Analysis, say: Texts) -> pd.DataFrame:
    """K rows, the likeliest first: label, logit, probability or raw value, whether no weight is random."""
    raw, order = analysis.problem_type == "regression", ranked(analysis)
    trained = yes_or_no(not analysis.random, say)
    return data_frame(
        (
            (say("away.label"), [visible(analysis.labels[index]) for index in order]),
            (say("away.logit"), analysis.logits[order]),
            (say("outputs.raw" if raw else "outputs.probability"), analysis.probabilities[order]),
            (say("away.trained"), [trained] * len(order)),
        )
    )


def _swap(analysis: Analysis, say: Texts) -> str:
    """That the head was given a vector it was not trained on; "" where it was not."""
    said = (warning.said(say) for warning in analysis.warnings if warning.key in SWAPS)
    return "".join(hint_html(visible(one)) for one in said)


def _rest(analysis: Analysis, say: Texts) -> str:
    """The labels that have no bar, summed up; "" if every label has one."""
    rest = ranked(analysis)[SHOWN:]
    if not rest:
        return ""
    words = "outputs.rest" if analysis.problem_type == "single_label" else "outputs.rest_raw"
    together = percent(float(analysis.probabilities[rest].sum()))
    return f'<p class="rest">{escape(say(words, count=len(rest), share=together))}</p>'


def _raw_range(values: list[float]) -> dict[str, list[float]]:
    """An axis that holds 0 and every value, with room for the texts beside the bars."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.25 * ((high - low) or 1.0)
    return {"range": [low - room if low < 0 else 0.0, high + room if high > 0 else 0.0]}


UNTRAINED = "reading_untrained"
READING = (
    *(f"reading_{key}" for key in ("reads", "similarity", "ordinary", "centred", "share")),
    UNTRAINED,
)
NAMED = 4  # tokens that the sentence names; more are only counted


def verdict(analysis: Analysis, state: State, say: Texts) -> Shown:
    """The answer in words."""
    view = View.of(analysis, state)
    read, total = int(analysis.reads.positions.sum()), len(view.labels)
    lines = [f'<p class="reads">{_reads(view, say)}</p>', f'<p class="says">{_says(analysis, say)}</p>']
    if analysis.unreadable is not None:  # first, before anything that sounds like an answer
        lines.insert(0, f'<p class="reads unreadable">{escape(visible(analysis.unreadable.said(say)))}</p>')
    rest = "rest_none" if read == 0 else "rest_all" if read == total else "rest_one"
    reads, quoted = analysis.reads, partial(_quoted, view, say=say)
    details = (_of_layer(rest, analysis, say), flat_count(reads, say), won_dimensions(reads, quoted, say))
    lines.append(f'<p class="detail">{escape(say.together(filter(None, details)))}</p>')
    notices = _notices([one for one in analysis.warnings if one is not analysis.unreadable], say)
    return Shown(html=f'<div class="verdict">{"".join(lines)}</div>{notices}')


VERDICT = Exhibit("reads", verdict, element="verdict", frame="bare", title="verdict.title")


def how_to_read(analysis: Analysis, _: State, say: Texts) -> Shown:
    """How to read the figures, in a few sentences, for who has no page to try them on."""
    known = not analysis.backbone.live  # whether it shows which weights were drawn at random
    items = "".join(f"<li>{escape(say(f'away.{key}'))}</li>" for key in READING if known or key != UNTRAINED)
    return Shown(html=f"<h2>{escape(say('away.reading'))}</h2><ul>{items}</ul>")


HOW_TO_READ = Exhibit("reading", how_to_read, where=frozenset({"report"}))


def mistake(error: PoolscopeError, say: Texts) -> str:
    """What is shown in the place of the verdict where there is none."""
    heading, message = escape(say("verdict.mistake")), escape(visible(error.plainly(say)))
    return f'<div class="mistake" role="alert"><p class="reads">{heading}</p><p>{message}</p></div>'


def _reads(view: View, say: Texts) -> str:
    """What is read and, of several tokens, which is most of it."""

    def name(index: int) -> str:
        return token_html(view.labels[index], read=True)

    return say.together(filter(None, (_read(view, say), largest_share(view.analysis.reads, name, say))))


def _read(view: View, say: Texts) -> str:
    reads, unread = indices(view.analysis.reads.positions), indices(~view.analysis.reads.positions)
    total, reader = len(view.labels), _reader(view.analysis, say)
    if not reads or not unread:
        every = strong_html(say("verdict.count_all" if reads else "verdict.count_none", total=total))
        return say("verdict.reads_all", reader=reader, count=every)
    count = strong_html(say("verdict.count", read=len(reads), total=total))
    for key, few in (("verdict.reads_some", reads), ("verdict.reads_but", unread)):
        if len(few) <= NAMED:
            tokens = say.listed(_token(view, index, say) for index in few)
            return say(key, reader=reader, count=count, tokens=tokens)
    return say("verdict.reads_many", reader=reader, count=count)


def _reader(analysis: Analysis, say: Texts) -> str:
    """Who reads: the checkpoint's class, with the vector it is given if that is not its own, or the probe."""
    query, name = analysis.query, visible(analysis.backbone.architecture)
    architecture = f"<code>{breakable_html(name, CAPITALS)}</code>"
    pooling = strong_html(query.pooling)
    if query.head != "own":
        return _of_layer("probe", analysis, say, pooling=pooling, task=strong_html(say.name(query.task)))
    if query.pooling != "native" or analysis.lower:
        return _of_layer("fed", analysis, say, architecture=architecture, pooling=pooling)
    return architecture


def _of_layer(key: str, analysis: Analysis, say: Texts, **values: str) -> str:
    """What is said of the last layer, or of a lower one that is pooled in its place."""
    if not analysis.lower:
        return say(f"verdict.{key}", **values)
    return say(f"verdict.{key}_lower", layer=analysis.pool_layer, **values)


def _says(analysis: Analysis, say: Texts) -> str:
    if analysis.random:
        why = "verdict.untrained_body" if analysis.head_trained else "verdict.untrained"
        return f'<span class="untrained">{escape(say(why))}</span>'
    chosen = chosen_labels(analysis)
    if not chosen:
        return escape(say("verdict.says_none", total=len(analysis.labels)))
    answers = (
        say(
            "verdict.answer",
            label=strong_html(shorten(visible(analysis.labels[index]), 40)),
            value=escape(output_text(analysis, index)),
        )
        for index in chosen[:NAMED]
    )
    key = "verdict.says" if analysis.unreadable is None else "verdict.says_unread"
    return say(key, answer=say.listed(answers))


def _quoted(view: View, index: int, say: Texts) -> str:
    """A token by its name, not escaped: a word of the text in quotes, for it may be a full stop."""
    name = shorten(word(view.labels[index]), 24)
    return name if view.analysis.tokens.special[index] else say("similarity.stand_in", token=name)


def _token(view: View, index: int, say: Texts) -> str:
    chip = token_html(view.labels[index], bool(view.analysis.reads.positions[index]))
    if len(view.labels) == 1:
        return say("verdict.alone", token=chip)
    if index == 0:
        return say("verdict.first", token=chip)
    if index == len(view.labels) - 1:
        return say("verdict.last", token=chip)
    return say("verdict.nth", token=chip, number=index + 1)


def _notices(warnings: Sequence[Sentence], say: Texts) -> str:
    if not warnings:
        return ""
    items = "".join(f"<li>{escape(visible(warning.said(say)))}</li>" for warning in warnings)
    heading = strong_html(say("verdict.notices"))
    return f'<div class="notices" role="status">{heading}<ul>{items}</ul></div>'
