"""Headings, legends and descriptions of the plots, as escaped HTML."""

from __future__ import annotations

from html import escape

import numpy as np

from components.figures.heatmap import least_width
from components.figures.labels import MARKS, mark, shorten, visible
from components.figures.outputs import SHOWN, output_text, ranked
from components.figures.style import DIVERGING
from components.figures.view import Say, View, number, percent, reference_name
from components.types import Analysis


def similarity_heading(view: View, say: Say, name: str = "similarity") -> str:
    """The question that the bars of the plot ``name`` answer, and what they show in words."""
    heading = say("similarity.heading", reference=shorten(reference_name(view, say), 40))
    return titled(name, heading, _similarity_description(view, say))


def similarity_legend(view: View, say: Say) -> str:
    """What the dot, the colours and the vocabulary's marks mean, for those that occur."""
    analysis = view.analysis
    reads, special = analysis.reads.positions, analysis.tokens.special
    items = [_key("read", say("legend.read"))] if reads.any() else []
    pair = (("first", "segment.first"), ("second", "segment.second"))
    segments = pair if view.is_pair else (("first", "legend.text"),)
    items += [_key(name, say(key)) for name, key in segments]
    if (special & ~reads).any():
        items.append(_key("special", say("legend.special")))
    marks = {mark(label) for label in view.labels}
    items += [f"<li>{escape(say(f'legend.{sign}'))}</li>" for sign in MARKS if sign in marks]
    return f'<ul class="legend">{"".join(items)}</ul>'


def outputs_heading(analysis: Analysis, say: Say, name: str = "outputs") -> str:
    """What the head says: as a heading, and in words."""
    heading = say("outputs.heading" if analysis.head_trained else "outputs.heading_untrained")
    if analysis.query.head == "probe":
        heading = say("outputs.heading_probe", task=analysis.query.task)
    parts = (
        say("outputs.output", label=visible(analysis.labels[index]), value=output_text(analysis, index))
        for index in ranked(analysis)[:SHOWN]
    )
    return titled(name, heading, say("outputs.description", outputs=", ".join(parts)))


def outputs_rest(analysis: Analysis, say: Say) -> str:
    """The labels that have no bar, summed up; "" if every label has one."""
    rest = ranked(analysis)[SHOWN:]
    if not rest:
        return ""
    if analysis.problem_type == "single_label":
        share = percent(float(analysis.probabilities[rest].sum()))
        return f'<p class="rest">{escape(say("outputs.rest", count=len(rest), share=share))}</p>'
    return f'<p class="rest">{escape(say("outputs.rest_raw", count=len(rest)))}</p>'


def heatmap_heading(view: View, say: Say, name: str = "heatmap") -> str:
    """What the heat map shows; also gives it room, so that many tokens scroll in their own box."""
    heading = say("heatmap.heading", reference=shorten(reference_name(view, say), 40))
    layers, total = view.by_layer.shape
    description = say(
        "heatmap.description",
        layers=layers,
        total=total,
        low=number(view.by_layer.min()),
        high=number(view.by_layer.max()),
    )
    colours = scale(say("heatmap.colour_centred" if view.centred else "heatmap.colour"))
    hint = f'<p class="hint">{escape(say("heatmap.hint"))}</p>{colours}'
    room = f"<style>#{name}-plot .js-plotly-plot {{ min-width: {least_width(view)}px }}</style>"
    return titled(name, heading, description) + hint + room


def _similarity_description(view: View, say: Say) -> str:
    others = [index for index in range(len(view.labels)) if index != view.reference]
    if not others:
        return say("similarity.description_one", most=view.labels[0], most_value=number(view.similarity[0]))
    values = view.similarity[others]
    most, least = others[int(np.argmax(values))], others[int(np.argmin(values))]
    return say(
        "similarity.description",
        total=len(view.labels),
        most=view.labels[most],
        most_value=number(view.similarity[most]),
        least=view.labels[least],
        least_value=number(view.similarity[least]),
    )


def titled(name: str, heading: str, description: str) -> str:
    """The heading of the plot ``name``, and for who cannot see it what it shows in words."""
    return (
        f'<h2 id="{name}-heading">{escape(heading)}</h2>'
        f'<p id="{name}-description" class="unseen">{escape(description)}</p>'
    )


def scale(name: str) -> str:
    """The colours from -1 to 1, behind the ``name`` of what they stand for."""
    colours = ", ".join(str(colour) for _, colour in DIVERGING)
    strip = f'<span class="strip" style="background: linear-gradient(90deg, {colours})"></span>'
    return f'<p class="scale">{escape(name)} <span>−1</span>{strip}<span>1</span></p>'


def _key(name: str, text: str) -> str:
    return f'<li><span class="key {name}" aria-hidden="true"></span>{escape(text)}</li>'
