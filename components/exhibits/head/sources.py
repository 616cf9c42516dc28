"""The code of a head: the functions that ran, line by line, and two programs to take home."""

from __future__ import annotations

from html import escape

from components.anatomy import Anatomy, Excerpt
from components.exhibits.control import State
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, hint_html
from components.texts import Texts


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
