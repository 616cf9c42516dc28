"""Where each weight of a head comes from, what the checkpoint holds beside them, and the code that ran."""

from __future__ import annotations

from html import escape
from math import prod

from components.analyses.anatomy import Anatomy, Excerpt
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.exhibits.head.steps import ORIGINS, UNTRAINED, counted, size
from components.exhibits.tables import data_frame, table_html
from components.texts import Texts

NUMERIC = (1, 2)  # columns: shape, parameters
LISTED = 12  # unused tensors that are shown without being asked for


def weights(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """The table of what runs, and under it what does not."""
    columns = {
        "name": [visible(weight.name) for weight in anatomy.weights],
        "shape": [size(weight.shape) for weight in anatomy.weights],
        "parameters": [counted(prod(weight.shape)) for weight in anatomy.weights],
        "origin": [say(ORIGINS[weight.origin]) for weight in anatomy.weights],
    }
    data = data_frame((say(f"weights.{name}"), cells) for name, cells in columns.items())
    table = table_html(data, NUMERIC, say("weights.caption"))
    for origin in UNTRAINED:  # a table has no words for emphasis: the sentence itself is marked in it
        words = escape(say(ORIGINS[origin]))
        table = table.replace(f"<td>{words}</td>", f'<td><strong class="random">{words}</strong></td>')
    heading = f'<h2 id="weights-heading">{escape(say("weights.heading"))}</h2>'
    return Shown(data=data, html=f"{heading}{table}{_unused(anatomy, say)}")


WEIGHTS = Exhibit("weights", weights, style="numbers")


def _unused(anatomy: Anatomy, say: Texts) -> str:
    """A list of what the checkpoint holds besides, folded if it is long; nothing where there is none."""
    if anatomy.analysis.backbone.live:
        return ""
    unused = anatomy.unused
    if not unused:
        probe = anatomy.analysis.query.head != "own"
        return (
            f'<p class="rest">{escape(say("weights.unused_probe" if probe else "weights.unused_none"))}</p>'
        )
    one = len(unused) == 1
    sentence = escape(say("weights.unused_one") if one else say("weights.unused", count=counted(len(unused))))
    items = "".join(
        f"<li><code>{escape(visible(weight.name))}</code> {escape(size(weight.shape))}</li>"
        for weight in unused
    )
    names = f'<ul class="unused">{items}</ul>'
    if len(unused) > LISTED:
        return f"<details><summary>{sentence}</summary>{names}</details>"
    return f'<p class="rest">{sentence}</p>{names}'


def sources(anatomy: Anatomy, _: State, say: Texts) -> Shown:
    """Each function under its name and its place, with the lines marked that called a step."""
    found = anatomy.sources
    hint = hint_html(say("sources.hint" if found else "sources.none"))
    return Shown(html=hint + "".join(_source(source, say) for source in found))


def programs(anatomy: Anatomy, _: State, __: Texts) -> Shown:
    """Python that prints the same probabilities, and a module to train."""
    return Shown(codes=(anatomy.program, anatomy.module))


SOURCES = Exhibit(
    "sources", sources, frame="folded", title="sources.heading", where=frozenset({"page", "talk"})
)
PROGRAMS: Exhibit[Anatomy] = Exhibit(
    "takehome",
    programs,
    frame="folded",
    title="takehome.heading",
    applies=lambda anatomy: bool(anatomy.program),
    codes=("takehome.program", "takehome.module"),
)


def _source(source: Excerpt, say: Texts) -> str:
    last = source.first + len(source.lines) - 1
    words = "sources.place" if last == source.first else "sources.places"
    place = say(words, file=visible(source.file), first=source.first, last=last)
    title = escape(visible(source.title))
    lines = "".join(_line(source, source.first + index, text, say) for index, text in enumerate(source.lines))
    return (
        f'<section class="source"><h3>{title}</h3><p class="hint">{escape(place)}</p>'
        f'<pre tabindex="0" role="region" aria-label="{title}">{lines}</pre></section>'
    )


def _line(source: Excerpt, number: int, text: str, say: Texts) -> str:
    ran = " ran" if number in source.ran else ""
    picks = " picks" if number in source.picks else ""
    label = f'<span class="label">{escape(say("sources.picks"))}</span>' if picks else ""
    code = escape(visible(text.expandtabs(4)))
    gutter = f'<span class="number">{number}</span>'
    return f'<span class="line{ran}{picks}">{gutter}<code>{code}</code>{label}</span>'
