"""A whole comparison as one HTML file, to open without the app and without a network."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape

from components.figures.curves import curves, curves_figure
from components.figures.grid import Comparison
from components.figures.labels import shorten, visible
from components.figures.versions import versions
from components.figures.view import Say
from components.ui.compare.captions import curves_heading
from components.ui.compare.edit_table import edit_table
from components.ui.compare.layout import drawn_grid
from components.ui.compare.table import compare_table
from components.ui.report.document import document, plot_place, section
from components.ui.report.facts import asked_of_all

TITLE = 60  # characters of the text that the title names


def comparison_report(
    comparison: Comparison, titles: Mapping[str, str], say: Say, made: datetime, link: str = ""
) -> str:
    """Everything that the page shows of a comparison with at least one cell; ``titles`` are the poolings'.

    ``made`` and ``link``: as in a report on an analysis. Curves are plain.
    """
    lines = curves(comparison, centred=False)
    query = comparison.cells[0].query
    both = versions(comparison)
    table = compare_table(comparison, say) if both is None else edit_table(both, say)
    said, cells = drawn_grid(comparison, titles, say)
    figures = {"curves": curves_figure(lines, say)} if lines else {}
    body = "".join(
        (
            f"<header><h1>{escape(say('page.title'))}</h1>",
            f"{said}{asked_of_all(query, made, link, say)}</header>",
            section(
                f"<h2>{escape(say('page.compare'))}</h2>",
                f'<div id="compare-grid">{cells}</div>',
            ),
            section(curves_heading(lines, comparison, say), plot_place("curves") if lines else ""),
            section(f"<h2>{escape(say('compare.numbers'))}</h2>", table),
        )
    )
    return document(say("away.title", text=shorten(visible(query.text), TITLE)), body, figures, say)
