"""The passport of a checkpoint as a page to print, and as a badge for its model card."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import prod

from components.analyses.anatomy import Origin
from components.analyses.passport import Passport
from components.exhibits.draw.labels import shorten, visible, width
from components.exhibits.head.steps import ORIGINS, counted, size
from components.exhibits.report.document import paper, section
from components.exhibits.tables import Column, data_frame, table_html
from components.exhibits.view import number
from components.texts import Named, Texts

GREEN, RED, GREY = "#157f3b", "#b3261e", "#475569"  # white is read on each of them
COLOURS = {"safe": GREEN, "moves": RED, "reads_padding": RED, "alone": GREY}
LETTER, MARGIN, HEIGHT = 6.1, 12, 20  # pixels of a badge: a letter is about so wide
LEFT = "poolscope"
LONGEST = 24  # characters of a token in a badge


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
    tables = (_samples(passport, say), _ways(passport, say), _weights(passport, say))
    more = (_ordinary(passport, say), _scripts(passport, say))
    return paper(title, head + section(says) + "".join((*tables, *more)), say)


def badge(passport: Passport, say: Texts) -> str:
    """What is read and whether a batch is safe, as an SVG for a model card."""
    token = shorten(visible(passport.token), LONGEST)
    reads = say(f"passport.badge_{passport.place}")
    said = say(
        "passport.badge", reads=reads, token=f" {token}" if token else "", padding=_verdict(passport, say)
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


def _verdict(passport: Passport, say: Texts) -> str:
    return say(f"passport.batch_{passport.padding}")


def _table(key: str, columns: dict[str, Column], numeric: Sequence[int], say: Texts) -> str:
    """A section with its heading, a table of texts, and what it says of them."""
    data = data_frame((say(f"passport.{name}"), cells) for name, cells in columns.items())
    heading = f"<h2>{escape(say(f'passport.{key}'))}</h2>"
    return section(heading, table_html(data, numeric, say(f"passport.{key}_caption")), kind="numbers")


def _samples(passport: Passport, say: Texts) -> str:
    """What is read of each text."""

    def read(tokens: Sequence[str], reads: Sequence[int]) -> str:
        if len(reads) == len(tokens):
            return say("passport.every")
        return say.listed(visible(tokens[index]) for index in reads) or say("passport.nothing")

    texts = [one.text if not one.text_pair else f"{one.text} ‖ {one.text_pair}" for one in passport.samples]
    columns: dict[str, Column] = {
        "text": texts,
        "tokens": [counted(len(one.tokens)) for one in passport.samples],
        "read": [read(one.tokens, one.reads) for one in passport.samples],
    }
    return _table("reads", columns, (1,), say)


def _ways(passport: Passport, say: Texts) -> str:
    """What each way to pad does."""
    if not passport.ways:
        return ""
    columns: dict[str, Column] = {
        "way": [say(f"batch.{one.name}") for one in passport.ways],
        "verdict": [say(f"batch.is_{one.verdict}") for one in passport.ways],
        "largest": [f"{one.largest:.2g}" for one in passport.ways],
    }
    return _table("padding", columns, (2,), say)


def _weights(passport: Passport, say: Texts) -> str:
    """Where the weights of the head come from."""
    origins: list[Origin] = [one.origin for one in passport.weights]
    columns: dict[str, Column] = {
        "name": [visible(one.name) for one in passport.weights],
        "shape": [size(one.shape) for one in passport.weights],
        "numbers": [counted(prod(one.shape)) for one in passport.weights],
        "origin": [say(ORIGINS[origin]) for origin in origins],
    }
    return _table("weights", columns, (1, 2), say)


def _ordinary(passport: Passport, say: Texts) -> str:
    """How similar [CLS] is to unrelated tokens, layer by layer."""
    low, median, high = ([number(float(value)) for value in column] for column in passport.ordinary.T)
    layers = [str(layer) for layer in range(len(median))]
    columns: dict[str, Column] = {"layer": layers, "low": low, "median": median, "high": high}
    return _table("ordinary", columns, (0, 1, 2, 3), say)


def _scripts(passport: Passport, say: Texts) -> str:
    """Which characters have no token."""
    columns: dict[str, Column] = {
        "script": [Named(one.script).said(say) for one in passport.scripts],
        "tried": [one.tried for one in passport.scripts],
        "unread": [one.unread or say("passport.none_lost") for one in passport.scripts],
    }
    return _table("scripts", columns, (), say)
