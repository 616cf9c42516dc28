"""The verdict, one sentence on what the head reads and one on what it says; and a bar for each label."""

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
from markupsafe import Markup

from components.errors import PoolscopeError
from components.exhibits import draw, view as naming
from components.exhibits.alone import label_colours
from components.exhibits.control import State
from components.exhibits.exhibit import Bar, Column, Exhibit, Shown, csv_link, hint_html
from components.exhibits.similarity import flat_tokens
from components.exhibits.view import View, indices, number, percent, render, shorten, visible, word
from components.texts import Texts
from components.types import SWAPS, Analysis

SHOWN = 10  # bars; the rest is summed up in words


def outputs(analysis: Analysis, _: State, say: Texts) -> Shown:
    """The probabilities that the head gives, or the values of a regression."""
    order = ranked(analysis)
    names = [visible(analysis.labels[index]) for index in order]
    told = (
        say("outputs.output", label=label, value=output_text(analysis, index))
        for label, index in zip(names[:SHOWN], order, strict=False)
    )
    name = say("outputs.raw" if analysis.problem_type == "regression" else "outputs.probability")
    swap = (warning.said(say) for warning in analysis.warnings if warning.key in SWAPS)
    columns: dict[str, Column] = {
        say("away.label"): names,
        say("away.logit"): analysis.logits[order],
        name: analysis.probabilities[order],
        say("away.trained"): [naming.yes_or_no(not analysis.random, say)] * len(order),
    }
    random = "heading_unread" if analysis.head_unread else "heading_untrained"
    random = "heading_random" if analysis.head_trained else random
    heading = say(f"outputs.{random if analysis.random else 'heading'}")
    if analysis.query.head != "own":
        heading = say("outputs.heading_probe", task=say.name(analysis.query.task))
    found = {"analysis": analysis, "name": name, "rest": order[SHOWN:]}
    data = list(columns.items())
    link = csv_link(data, "poolscope-outputs.csv", say("table.download"))
    return Shown(
        heading=heading,
        words=say("outputs.description", outputs=say.listed(told)),
        data=data,
        html=render("bars", bars=output_bars(analysis, say)),
        legend=render("outputs_legend", say, link=link, **found),
        above="".join(hint_html(visible(one)) for one in swap),
    )


OUTPUTS = Exhibit("outputs", outputs, width=2)


def output_bars(analysis: Analysis, say: Texts) -> list[Bar]:
    """A bar for each output, of those that are likeliest; grey where the head is untrained."""
    order, chosen = ranked(analysis)[:SHOWN], [] if analysis.random else chosen_labels(analysis)
    values, low, high = analysis.probabilities[order].tolist(), 0.0, 1.0
    colours = label_colours(analysis)
    if analysis.problem_type == "regression":  # from the least of 0 and all values to the most
        low, high = min(0.0, *values), max(0.0, *values)
    whole = (high - low) or 1.0
    return [
        Bar(
            shorten(visible(say.label(analysis.labels[one])), 40),
            output_text(analysis, one),
            (min(value, 0.0) - low) / whole,
            abs(value) / whole,
            colours[one] if one in chosen else draw.OTHER,
        )
        for one, value in zip(order, values, strict=True)
    ]


def ranked(analysis: Analysis) -> list[int]:
    """Indices of the labels as they are shown: the likeliest first, those of a regression as they are."""
    if analysis.problem_type == "regression":
        return list(range(len(analysis.labels)))
    return [int(index) for index in np.argsort(-analysis.probabilities, kind="stable")]


def chosen_labels(analysis: Analysis) -> list[int]:
    """Indices of the labels that the head chose, the likeliest first; every one of a regression."""
    order = ranked(analysis)
    if analysis.problem_type == "multi_label":
        return [index for index in order if analysis.probabilities[index] > 0.5]
    return order if analysis.problem_type == "regression" else order[:1]


def output_text(analysis: Analysis, index: int) -> str:
    """An output as it stands beside its bar: percent, or the raw value for regression."""
    value = float(analysis.probabilities[index])
    return number(value) if analysis.problem_type == "regression" else percent(value)


BESIDE = "beside"  # under this key of the state, HTML of what the page says beside of a miniature
TOLD = ("no_end", "no_chat", "skips", "skips_end")  # warnings that are of the verdict itself
CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # where a class name may break on a narrow screen
WHOLE_ROW, CUT_ROW = 24, 18  # tokens; a row of more is cut to its ends and what is read, the others counted


def verdict(analysis: Analysis, state: State, say: Texts) -> Shown:
    """The answer in words."""
    view = View.of(analysis, state)
    told = [one for one in analysis.warnings if one.key.removeprefix("warnings.") in TOLD]
    typed = [one for one in analysis.warnings if told and one.key == "warnings.typed"]  # which they say, too
    html = render(
        "verdict",
        say,
        analysis=analysis,
        labels=view.labels,
        architecture=Markup("<wbr>").join(CAPITALS.split(visible(analysis.backbone.architecture))),
        unread=indices(~analysis.reads.positions),
        row=list(_row(view, say)),
        right_to_left=2 * sum(map(naming.right_to_left, view.labels)) > len(view.labels),
        chosen=chosen_labels(analysis),
        value=partial(output_text, analysis),
        colours=lambda one: draw.painted(label_colours(analysis)[one]),
        details=told,
        flat=len(flat_tokens(analysis.reads)),
        beside=state.get(BESIDE, ""),
        notices=[one for one in analysis.warnings if one not in (analysis.unreadable, *told, *typed)],
    )
    return Shown(html=html)


VERDICT = Exhibit("reads", verdict, element="verdict", frame="bare", title="verdict.title")


HOW_TO_READ: Exhibit[Analysis] = Exhibit(  # for who has no page to try the figures on
    "reading",
    lambda analysis, _, say: Shown(html=render("reading", say, live=analysis.backbone.live)),
    where=frozenset({"report"}),
)


def mistake(error: PoolscopeError, say: Texts, title: str = "verdict.mistake") -> Markup:
    """A message in the place of what was asked for, under the text of the key ``title``."""
    html = Markup('<div class="mistake" role="alert"><p class="reads">{}</p><p>{}</p></div>')
    return html.format(say(title), visible(error.plainly(say)))


def _row(view: View, say: Texts) -> Iterator[tuple[str, str]]:
    """Tokens in their order, not escaped, each with its class in the style sheet; of a long text not all.

    Those next to an end or to one that is read come before others, which are counted where they stand.
    """
    reads, segments = view.analysis.reads.positions, view.analysis.tokens.segment
    total, read = len(reads), indices(reads)
    sights = np.array([0, total - 1, *(read if len(read) <= CUT_ROW // 2 else ())])
    far = np.abs(np.arange(total)[:, None] - sights).min(axis=1)
    most, last = total if total <= WHOLE_ROW else CUT_ROW, -1
    for index in sorted(np.argsort(far, kind="stable")[:most].tolist()):
        if hidden := index - last - 1:
            lit = int(reads[last + 1 : index].sum())
            key = "verdict.row_some" if 0 < lit < hidden else "verdict.row_rest"
            yield say(key, count=hidden, read=lit), "read" if lit == hidden else "rest"
        kind = {0: "first", 1: "second"}.get(int(segments[index]), "") if view.is_pair else ""
        yield shorten(word(view.labels[index], naming.INSIDE)), "read" if reads[index] else kind
        last = index


def quoted(view: View, index: int, say: Texts) -> str:
    """A token by its name, not escaped: a word of the text in quotes, for it may be a full stop."""
    name = shorten(word(view.labels[index]), 24)
    return name if view.analysis.tokens.special[index] else say("similarity.stand_in", token=name)
