"""A document that stands alone: its texts, its figures and all they need, in one file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from components.figures.document import figure_json, plotly_script
from components.figures.view import Say
from components.texts import ASSETS
from components.ui.away import SCRIPT

HERE = Path(__file__).parent


def document(title: str, body: str, figures: Mapping[str, Any], say: Say) -> str:
    """A page of ``body``, escaped HTML with a ``plot_place`` for each of the ``figures``.

    Nothing but its own three scripts can run in it, and it can load nothing.
    """
    styles = (ASSETS / "answers.css", HERE / "report.css")
    style = "".join(file.read_text(encoding="utf-8") for file in styles)
    data = "".join(
        f'<script type="application/json" data-figure="{name}">{figure_json(figure)}</script>'
        for name, figure in figures.items()
    )
    files = (SCRIPT, HERE / "draw.js")
    scripts = [plotly_script(), *(file.read_text(encoding="utf-8") for file in files)]
    run = "".join(f"<script>{script}</script>" for script in scripts)
    whole = (
        f'<!doctype html>\n<html lang="{escape(say("away.language"))}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>"
        f"<body><main>{body}</main>{data}{run}</body></html>\n"
    )
    return whole.encode("utf-8", errors="replace").decode("utf-8")  # half a character cannot be saved


def plot_place(name: str) -> str:
    """Where the figure ``name`` is drawn; its heading is there already."""
    return (
        f'<div id="{name}-plot" class="plot" tabindex="0" role="group" aria-labelledby="{name}-heading">'
        f'<div role="img" aria-labelledby="{name}-heading" aria-describedby="{name}-description"></div></div>'
    )


def section(*parts: str, kind: str = "") -> str:
    """Parts that belong together; ``kind`` is what the page's style sheet calls them."""
    return f'<section class="card {kind}">{"".join(parts)}</section>'


def _policy(scripts: list[str]) -> str:
    """What the document may do: run these scripts, and show images that it made itself."""
    hashes = (b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    run = " ".join(f"'sha256-{value}'" for value in hashes)
    return f"default-src 'none'; script-src {run}; style-src 'unsafe-inline'; img-src data: blob:"
