"""The passport of a checkpoint as a page to print, and as a badge for its model card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import prod

from components.analyses.passport import Passport
from components.exhibits.exhibit import Column, table_html, titled_frame
from components.exhibits.head import ORIGINS, counted, size
from components.exhibits.report import paper, section
from components.exhibits.view import number, shorten, visible, width
from components.texts import Named, Texts

GREEN, RED, GREY = "#157f3b", "#b3261e", "#475569"  # white is read on each of them
COLOURS = {"safe": GREEN, "moves": RED, "reads_padding": RED, "alone": GREY}
LETTER, MARGIN, HEIGHT = 6.1, 12, 20  # pixels of a badge: a letter is about so wide
LEFT = "poolscope"
LONGEST = 24  # characters of a token in a badge
NUMERIC = {"reads": (1,), "padding": (2,), "weights": (1, 2), "ordinary": range(4), "scripts": ()}


def page(passport: Passport, say: Texts) -> str:
    """The whole passport as one HTML file without scripts, to read, print, or put beside a model card."""
    spec = passport.backbone
    title = say("passport.title", name=visible(spec.said(say)))
    facts = {
        "passport.checkpoint": spec.location if spec.source == "hub" else spec.key,
        "passport.revision": spec.revision or "",
        "passport.fingerprint": passport.fingerprint,
        "passport.class": spec.architecture,
        "passport.licence": spec.licence,
        "passport.size": say(
            "passport.sizes",
            parameters=counted(passport.parameters),
            layers=passport.layers,
            width=passport.width,
            limit=counted(passport.limit),
        ),
    }
    rows = "".join(
        f"<dt>{escape(say(key))}</dt><dd>{escape(visible(value))}</dd>"
        for key, value in facts.items()
        if value
    )
    says = "".join(f"<p>{escape(visible(one.said(say)))}</p>" for one in passport.says)
    head = f'<header><h1>{escape(title)}</h1><dl class="asked">{rows}</dl></header>'
    return paper(title, head + section(says) + "".join(_tables(passport, say)), say)


def badge(passport: Passport, say: Texts) -> str:
    """What is read and whether a batch is safe, as an SVG for a model card."""
    token = shorten(visible(passport.token), LONGEST)
    reads = say(f"passport.badge_{passport.place}")
    said = say(
        "passport.badge",
        reads=reads,
        token=f" {token}" if token else "",
        padding=say(f"passport.batch_{passport.padding}"),
    )
    left, right = (LETTER * width(text) + MARGIN for text in (LEFT, said))
    whole, colour = round(left + right), COLOURS[passport.padding]
    label = escape(f"{LEFT}: {said}")
    texts = "".join(
        f'<text x="{middle:.0f}" y="14" textLength="{room - MARGIN:.0f}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(text)}</text>"
        for text, middle, room in ((LEFT, left / 2, left), (said, left + right / 2, right))
    )
    room = f'width="{whole}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {room} role="img" aria-label="{label}">'
        f'<title>{label}</title><rect {room} rx="3" fill="#1e293b"/>'
        f'<rect x="{left:.0f}" width="{whole - left:.0f}" height="{HEIGHT}" rx="3" fill="{colour}"/>'
        f'<g fill="#fff" text-anchor="middle" font-family="Verdana, DejaVu Sans" font-size="11">{texts}</g>'
        "</svg>\n"
    )


def _tables(passport: Passport, say: Texts) -> Iterator[str]:
    """What was measured, each a section with its heading, a table of texts, and what it says of them."""
    for key, columns in _columns(passport, say).items():
        if len(next(iter(columns.values()))) or key != "padding":  # a tokenizer may have no padding
            data = titled_frame(columns, say)
            heading = f"<h2>{escape(say(f'passport.{key}'))}</h2>"
            table = table_html(data, NUMERIC[key], say(f"passport.{key}_caption"))
            yield section(heading, table, kind="numbers")


def _columns(passport: Passport, say: Texts) -> dict[str, dict[str, Column]]:
    """By the key of a table: texts by the key of their column."""
    samples, weights, scripts = passport.samples, passport.weights, passport.scripts
    low, median, high = ([number(float(value)) for value in column] for column in passport.ordinary.T)
    return {
        "reads": {
            "passport.text": [
                f"{one.text} ‖ {one.text_pair}" if one.text_pair else one.text for one in samples
            ],
            "passport.tokens": [counted(len(one.tokens)) for one in samples],
            "passport.read": [_read(one.tokens, one.reads, say) for one in samples],
        },
        "padding": {
            "passport.way": [say(f"batch.{one.name}") for one in passport.ways],
            "passport.verdict": [say(f"batch.is_{one.verdict}") for one in passport.ways],
            "passport.largest": [f"{one.largest:.2g}" for one in passport.ways],
        },
        "weights": {
            "passport.name": [visible(one.name) for one in weights],
            "passport.shape": [size(one.shape) for one in weights],
            "passport.numbers": [counted(prod(one.shape)) for one in weights],
            "passport.origin": [say(ORIGINS[one.origin]) for one in weights],
        },
        "ordinary": {
            "passport.layer": [*map(str, range(len(median)))],
            "passport.low": low,
            "passport.median": median,
            "passport.high": high,
        },
        "scripts": {
            "passport.script": [Named(one.script).said(say) for one in scripts],
            "passport.tried": [one.tried for one in scripts],
            "passport.unread": [one.unread or say("passport.none_lost") for one in scripts],
        },
    }


def _read(tokens: Sequence[str], reads: Sequence[int], say: Texts) -> str:
    """What is read of a text."""
    if len(reads) == len(tokens):
        return say("passport.every")
    return say.listed(visible(tokens[index]) for index in reads) or say("passport.nothing")
