"""The functions that ran, line by line, as escaped HTML."""

from __future__ import annotations

from html import escape

from components.figures.labels import visible
from components.figures.view import Say
from components.types import Excerpt


def sources(found: tuple[Excerpt, ...], say: Say) -> str:
    """Each function under its name and its place, with the lines marked that called a step."""
    if not found:
        return f'<p class="hint">{escape(say("sources.none"))}</p>'
    hint = f'<p class="hint">{escape(say("sources.hint"))}</p>'
    return hint + "".join(_source(source, say) for source in found)


def _source(source: Excerpt, say: Say) -> str:
    last = source.first + len(source.lines) - 1
    words = "sources.place" if last == source.first else "sources.places"
    place = say(words, file=visible(source.file), first=source.first, last=last)
    title = escape(visible(source.title))
    lines = "".join(_line(source, source.first + index, text, say) for index, text in enumerate(source.lines))
    return (
        f'<section class="source"><h3>{title}</h3><p class="hint">{escape(place)}</p>'
        f'<pre tabindex="0" role="region" aria-label="{title}">{lines}</pre></section>'
    )


def _line(source: Excerpt, number: int, text: str, say: Say) -> str:
    ran = " ran" if number in source.ran else ""
    picks = " picks" if number in source.picks else ""
    label = f'<span class="label">{escape(say("sources.picks"))}</span>' if picks else ""
    code = escape(visible(text.expandtabs(4)))
    gutter = f'<span class="number">{number}</span>'
    return f'<span class="line{ran}{picks}">{gutter}<code>{code}</code>{label}</span>'
