"""A whole analysis as one HTML file, to open without the app and without a network."""

from __future__ import annotations

from datetime import datetime
from html import escape

from components.figures.flow import flow
from components.figures.heatmap import heatmap
from components.figures.labels import shorten, visible
from components.figures.outputs import outputs
from components.figures.similarity import similarity
from components.figures.strips import strips_figure
from components.figures.view import Say, View
from components.types import Anatomy
from components.ui.captions import (
    heatmap_key,
    heatmap_title,
    outputs_heading,
    outputs_rest,
    similarity_heading,
    similarity_legend,
)
from components.ui.lead import flow_heading, lead, strips_heading
from components.ui.printed import printed
from components.ui.report.document import document, plot_place, section
from components.ui.report.facts import asked, reading
from components.ui.table import table
from components.ui.verdict import verdict
from components.ui.weights import weights

TITLE = 60  # characters of the text that the title names


def report(view: View, anatomy: Anatomy, say: Say, made: datetime, link: str = "") -> str:
    """Everything that the page shows of an analysis, ``view`` of the one that ``anatomy`` takes apart.

    ``made``: when, as the report says. ``link``: where the live page shows the same, http or https; ""
    if there is no such place. ValueError for any other link.
    """
    analysis = view.analysis
    figures = {
        "similarity": similarity(view, say),
        "outputs": outputs(analysis, say),
        "heatmap": heatmap(view, say),
        "flow": flow(anatomy, say),
        "strips": strips_figure(anatomy, say),
    }
    title = say("away.title", text=shorten(visible(analysis.query.text), TITLE))
    return document(title, _body(view, anatomy, asked(view, made, link, say), say), figures, say)


def _body(view: View, anatomy: Anatomy, facts: str, say: Say) -> str:
    """The page from top to bottom, as escaped HTML."""
    analysis = view.analysis
    return "".join(
        (
            f"<header><h1>{escape(say('page.title'))}</h1>{verdict(view, say)}{facts}</header>",
            section(similarity_heading(view, say), plot_place("similarity"), similarity_legend(view, say)),
            section(outputs_heading(analysis, say), plot_place("outputs"), outputs_rest(analysis, say)),
            section(heatmap_title(view, say), heatmap_key(view, say), plot_place("heatmap")),
            section(f"<h2>{escape(say('table.heading'))}</h2>", table(view, say), kind="numbers"),
            section(f"<h2>{escape(say('view.head'))}</h2>", lead(anatomy, say)),
            section(flow_heading(anatomy, say), plot_place("flow")),
            section(strips_heading(anatomy, say), plot_place("strips")),
            section(printed(anatomy, say), kind="orders"),
            section(weights(anatomy, say), kind="numbers"),
            section(f"<h2>{escape(say('takehome.heading'))}</h2>", _programs(anatomy, say)),
            section(reading(say)),
        )
    )


def _programs(anatomy: Anatomy, say: Say) -> str:
    """The two programs, to copy as they are."""
    codes = {"takehome.program": anatomy.program, "takehome.module": anatomy.module}
    return "".join(
        f'<h3>{escape(say(key))}</h3><pre tabindex="0" role="region" aria-label="{escape(say(key))}">'
        f"<code>{escape(code)}</code></pre>"
        for key, code in codes.items()
    )
