"""A whole comparison as one HTML file, to open without the app and without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape

from components.figures.curves import curves, curves_figure
from components.figures.grid import Comparison
from components.figures.labels import shorten, visible
from components.figures.versions import versions
from components.figures.view import Say
from components.ui.compare.alignment import aligned
from components.ui.compare.captions import curves_heading
from components.ui.compare.edit_moves import edit_moves
from components.ui.compare.edit_table import edit_table
from components.ui.compare.layout import drawn_grid
from components.ui.compare.table import compare_table
from components.ui.report.document import document, plot_place, section
from components.ui.report.facts import asked_of_all

TITLE = 60  # characters of the text that the title names


@dataclass(frozen=True)
class Look:
    """How a comparison is looked at: words at a depth in percent, words and curves plain or centred."""

    depth: float = 100.0
    words_centred: bool = False
    curves_centred: bool = False


def comparison_report(
    comparison: Comparison,
    titles: Mapping[str, str],
    say: Say,
    made: datetime,
    link: str = "",
    look: Look = Look(),
) -> str:
    """Everything that the page shows of a comparison with at least one cell; ``titles`` are the poolings'.

    ``made`` and ``link``: as in a report on an analysis.
    """
    lines = curves(comparison, look.curves_centred)
    both = versions(comparison)
    query, version = comparison.cells[0].query, both.after.cells[0].query if both else None
    said, cells = drawn_grid(comparison, titles, say)
    heading, words = aligned(comparison, look.depth, look.words_centred, say)
    moves, table = (
        ("", compare_table(comparison, say))
        if both is None
        else (edit_moves(both, say), edit_table(both, say))
    )
    body = "".join(
        (
            f"<header><h1>{escape(say('page.title'))}</h1>",
            f"{said}{asked_of_all(query, version, made, link, say)}</header>",
            section(f"<h2>{escape(say('page.compare'))}</h2>", cells, kind="compare-grid"),
            section(moves, kind="compare-moves") if moves else "",
            section(heading, words, kind="aligned"),
            section(curves_heading(lines, comparison, say), plot_place("curves") if lines else ""),
            section(f"<h2>{escape(say('compare.numbers'))}</h2>", table, kind="numbers"),
        )
    )
    figures = {"curves": curves_figure(lines, say)} if lines else {}
    return document(say("away.title", text=shorten(visible(query.text), TITLE)), body, figures, say)
