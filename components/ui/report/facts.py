"""What a report says of itself: what was asked, when, with which versions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape
from importlib.metadata import version
from urllib.parse import urlsplit

from components.figures.labels import visible
from components.figures.view import Say, View, layer_name, reference_name
from components.types import Analysis, Query

INSTALLED = ("torch", "transformers", "plotly")  # what the numbers and the figures come from
READING = ("reading_reads", "reading_similarity", "reading_centred", "reading_share", "reading_untrained")


def asked(view: View, made: datetime, link: str, say: Say) -> str:
    """A list of what was asked and what was looked at."""
    analysis, query = view.analysis, view.analysis.query
    centred = say("table.yes" if view.centred else "table.no")
    facts = {
        **_texts(query, say),
        say("question.backbone"): _backbone(analysis),
        say("question.pooling"): query.pooling,
        say("question.head"): say(f"away.head_{query.head}", task=query.task),
        say("view.layer"): layer_name(view, say),
        say("view.reference"): reference_name(view, say),
        say("view.centred"): centred,
    }
    return _listed({**facts, **made_of(made, say)}, link, say)


def asked_of_all(query: Query, version: Query | None, made: datetime, link: str, say: Say) -> str:
    """The same for a comparison, of one version or of two, which shows itself what it compares."""
    return _listed({**_texts(query, say), **_version(version, say), **made_of(made, say)}, link, say)


def made_of(made: datetime, say: Say) -> dict[str, str]:
    """When the report was made, and with which versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in INSTALLED)
    return {say("away.made"): f"{made:%Y-%m-%d %H:%M %Z}".strip(), say("away.versions"): versions}


def reading(say: Say) -> str:
    """How to read the figures, in a few sentences."""
    items = "".join(f"<li>{escape(say(f'away.{key}'))}</li>" for key in READING)
    return f"<h2>{escape(say('away.reading'))}</h2><ul>{items}</ul>"


def _texts(query: Query, say: Say) -> dict[str, str]:
    pair = {say("question.pair"): query.text_pair} if query.text_pair else {}
    return {say("question.text"): query.text, **pair}


def _version(query: Query | None, say: Say) -> dict[str, str]:
    if query is None:
        return {}
    pair = {say("edit.pair"): query.text_pair} if query.text_pair else {}
    return {say("edit.text"): query.text, **pair}


def _backbone(analysis: Analysis) -> str:
    spec = analysis.backbone
    where = f"{spec.location}@{spec.revision}" if spec.source == "hub" else spec.key
    return f"{spec.title} · {spec.architecture} · {where}"


def _listed(facts: Mapping[str, str], link: str, say: Say) -> str:
    items = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(visible(fact))}</dd>" for name, fact in facts.items()
    )
    if link:
        if urlsplit(link).scheme not in ("http", "https"):
            raise ValueError(f"a link to a page is needed, not {link[:60]!r}")
        address = escape(link)
        items += f'<dt>{escape(say("away.link"))}</dt><dd><a href="{address}">{address}</a></dd>'
    return f'<dl class="asked">{items}</dl>'
