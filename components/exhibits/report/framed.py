"""A document as an element of a page that is not ours, a notebook's for example: packed, in a sandbox."""

from __future__ import annotations

import gzip
from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path

from components.texts import Texts

SCRIPT = Path(__file__).with_name("unpack.js")
SANDBOX = (
    "allow-scripts allow-downloads"  # its own scripts, and buttons that save: nothing of the page around
)
LEVEL = 6  # of gzip: 9 takes off 0.2 % more
COLOURS = "margin: 1rem; background: #fff; color: #1e293b; font: 16px/1.5 system-ui, sans-serif"


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
    return SCRIPT.read_text(encoding="utf-8")
