"""A report: every exhibit of an answer in one HTML file, to open without the app and without a network."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plotly.offline import get_plotlyjs

from components.exhibits.control import State
from components.exhibits.exhibit import EXPORT, Exhibit, Panel, Shown, heading_html
from components.exhibits.view import shorten, visible
from components.texts import ASSETS, Texts

HERE = Path(__file__).parent
INSTALLED = ("torch", "transformers", "plotly")  # what the numbers and the figures come from
PAGE_LINK = re.compile(r' href="\?([^"]*)"')
PAPER = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # the policy of a page without scripts
END = "</body></html>\n"
TITLE = 60  # characters of the text that the title names
# Of a document on a page that is not ours: its own scripts and buttons that save, nothing of that page.
SANDBOX = "allow-scripts allow-downloads"
LEVEL = 6  # of gzip: 9 takes off 0.2 % more
COLOURS = "margin: 1rem; background: #fff; color: #1e293b; font: 16px/1.5 system-ui, sans-serif"


@dataclass(frozen=True)
class Made:
    """When a report was made, and ``link``: where the live page shows the same, or "" where nothing does."""

    when: datetime
    link: str = ""


def report(
    panels: Sequence[Panel[Any, Any]],
    answer: Any,
    state: State,
    facts: Mapping[str, str],
    made: Made,
    say: Texts,
) -> tuple[str, ...]:
    """Every exhibit that applies to ``answer``, looked at as ``state`` says, under what was asked.

    In pieces: what is the same in every report, nearly all of it, is there once. ``facts``: what was asked,
    by name, not escaped, the text first. ValueError for a link that leads to no page.
    """
    sections: list[str] = []
    figures: dict[str, Any] = {}
    summary = ""
    for panel in panels:
        subject = panel.subject(answer)
        if panel.summary is not None:
            said = panel.summary.shown(subject, state, say).html
            title = f"<h2>{escape(say(panel.title))}</h2>"
            sections += [section(title, said)] if summary else []
            summary = summary or said
        for exhibit in (one for row in panel.rows for one in row):
            if "report" in exhibit.where and exhibit.applies(subject):
                shown = exhibit.show(subject, state, say)
                name = exhibit.element or exhibit.name
                figures |= {} if shown.figure is None else {name: shown.figure}
                parts = (leading(part, made.link) for part in _parts(exhibit, name, shown, say))
                sections.append(section(*parts, kind=exhibit.style))
    head = f"<header><h1>{escape(say('page.title'))}</h1>{summary}{_facts(facts, made, say)}</header>"
    text = shorten(visible(next(iter(facts.values()))), TITLE)
    return document(say("away.title", text=text), head + "".join(sections), figures, say)


def _parts(exhibit: Exhibit[Any], name: str, shown: Shown, say: Texts) -> list[str]:
    """An exhibit from top to bottom, as escaped HTML."""
    parts = [f"<h2>{escape(say(exhibit.title))}</h2>"] if exhibit.title and exhibit.frame != "bare" else []
    parts.append(heading_html(shown, name, say, live=False))
    parts += [] if shown.figure is None else [plot_place(name)]
    parts += [shown.html, shown.legend]
    for title, text in zip(exhibit.codes, shown.codes, strict=True):
        label = escape(say(title))
        parts.append(
            f'<h3>{label}</h3><pre tabindex="0" role="region" aria-label="{label}">'
            f"<code>{escape(text)}</code></pre>"
        )
    return parts


def _facts(facts: Mapping[str, str], made: Made, say: Texts) -> str:
    """What was asked, when, with which versions and where it can be seen."""
    versions = ", ".join(f"{name} {version(name)}" for name in INSTALLED)
    when = f"{made.when:%Y-%m-%d %H:%M %Z}".strip()
    whole = {**facts, say("away.made"): when, say("away.versions"): versions}
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(visible(one))}</dd>" for name, one in whole.items())
    if made.link:
        if urlsplit(made.link).scheme not in ("http", "https"):
            raise ValueError(f"a link to a page is needed, not {made.link[:60]!r}")
        address = escape(made.link)
        items += f'<dt>{escape(say("away.link"))}</dt><dd><a href="{address}">{address}</a></dd>'
    return f'<dl class="asked">{items}</dl>'


def document(title: str, body: str, figures: Mapping[str, Any], say: Texts) -> tuple[str, ...]:
    """A page of ``body``, escaped HTML with a ``plot_place`` for each of the ``figures``, in pieces.

    Nothing but its own scripts can run in it, and it can load nothing.
    """
    data = "".join(
        f'<script type="application/json" data-figure="{name}">{figure.to_json()}</script>'
        for name, figure in figures.items()
    )
    scripts = _scripts()
    return (_begin(title, body, scripts.policy, say) + data, *scripts.tags, END)


def paper(title: str, body: str, say: Texts) -> str:
    """A page of ``body``, escaped HTML, in which no script can run and which can load nothing."""
    return _begin(title, body, PAPER, say) + END


def _begin(title: str, body: str, policy: str, say: Texts) -> str:
    """The page but for its end. ``policy``: what the browser lets it do."""
    begin = (
        f'<!doctype html>\n<html lang="{escape(say("away.language"))}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head><body><main>{body}</main>"
    )
    return begin.encode("utf-8", errors="replace").decode("utf-8")  # half a character cannot be saved


def plot_place(name: str) -> str:
    """Where the figure ``name`` is drawn; its heading is there already."""
    return (
        f'<div id="{name}-plot" class="plot" tabindex="0" role="group" aria-labelledby="{name}-heading">'
        f'<div role="img" aria-labelledby="{name}-heading" aria-describedby="{name}-description"></div></div>'
    )


def section(*parts: str, kind: str = "") -> str:
    """Parts that belong together; ``kind`` is what the page's style sheet calls them."""
    return f'<section class="card {kind}">{"".join(parts)}</section>'


def leading(html: str, link: str) -> str:
    """``html`` whose links to other states of the page lead to that of ``link``, or nowhere without it."""
    if not link:
        return PAGE_LINK.sub("", html)
    page = escape(link.partition("?")[0])
    return PAGE_LINK.sub(lambda found: f' href="{page}?{found[1]}"', html)


@dataclass(frozen=True)
class Scripts:
    """What is the same in every report: its scripts with their tags, and what may run."""

    tags: tuple[str, ...]
    policy: str


@cache
def _style() -> str:
    """The style sheets of what is shown and of the document around it."""
    styles = (ASSETS / "answers.css", HERE / "report.css")
    return "".join(file.read_text(encoding="utf-8") for file in styles)


@cache
def _scripts() -> Scripts:
    """Read once: Plotly alone is 5 MB, and reports that are sent at the same time share it."""
    files = (EXPORT, HERE / "report.js")
    scripts = [get_plotlyjs(), *(file.read_text(encoding="utf-8") for file in files)]
    return Scripts(
        tags=tuple(f"<script>{script}</script>" for script in scripts),
        policy=_policy(scripts),
    )


def _policy(scripts: list[str]) -> str:
    """What the document may do: run these scripts, and show images that it made itself."""
    hashes = (b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    run = " ".join(f"'sha256-{value}'" for value in hashes)
    return f"default-src 'none'; script-src {run}; style-src 'unsafe-inline'; img-src data: blob:"


def framed(pieces: tuple[str, ...], title: str, height: int, say: Texts) -> str:
    """The document of these ``pieces`` as one HTML element, ``height`` pixels high and as wide as its place.

    It brings everything with it and loads nothing. The browser unpacks it: Plotly alone is 5 MB. ``title``:
    what a screen reader calls it, not escaped.
    """
    packed = b64encode(gzip.compress("".join(pieces).encode(), LEVEL, mtime=0)).decode("ascii")
    page = (
        f'<!doctype html><html lang="{escape(say.language.tag)}"><meta charset="utf-8">'
        f'<title>{escape(title)}</title><body style="{COLOURS}"><p>{escape(say("notebook.packed"))}</p>'
        f'<script type="application/gzip">{packed}</script><script>{_script()}</script>'
    )
    return (
        f'<iframe sandbox="{SANDBOX}" title="{escape(title)}" srcdoc="{escape(page)}" '
        f'style="width: 100%; height: {height}px; border: 0; resize: vertical; overflow: auto"></iframe>'
    )


@cache
def _script() -> str:
    return (HERE / "unpack.js").read_text(encoding="utf-8")
