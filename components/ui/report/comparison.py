"""A whole comparison as one HTML file, to open without the app and without a network."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape

from components.figures.curves import curves, curves_figure
from components.figures.grid import Comparison
from components.figures.labels import shorten, visible
from components.figures.view import Say
from components.ui.compare_captions import curves_heading
from components.ui.compare_grid import grid
from components.ui.compare_table import compare_table
from components.ui.compare_words import agreement
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
    figures = {"curves": curves_figure(lines, say)} if lines else {}
    body = "".join(
        (
            f"<header><h1>{escape(say('page.title'))}</h1>",
            f"{agreement(comparison, say)}{asked_of_all(query, made, link, say)}</header>",
            section(
                f"<h2>{escape(say('page.compare'))}</h2>",
                f'<div id="compare-grid">{grid(comparison, titles, say)}</div>',
            ),
            section(curves_heading(lines, comparison, say), plot_place("curves") if lines else ""),
            section(f"<h2>{escape(say('compare.numbers'))}</h2>", compare_table(comparison, say)),
        )
    )
    return document(say("away.title", text=shorten(visible(query.text), TITLE)), body, figures, say)
