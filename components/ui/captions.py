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
from components.ui.away import about, away
from components.ui.plot_csv import heatmap_csv, outputs_csv, similarity_csv


def similarity_heading(view: View, say: Say, name: str = "similarity") -> str:
    """The question that the bars of the plot ``name`` answer, and what they show in words."""
    heading = say("similarity.heading", reference=shorten(reference_name(view, say), 40))
    row = away(name, similarity_csv(view, say), about(view.analysis, say), say)
    return titled(name, heading, _similarity_description(view, say), row)


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
        heading = say("outputs.heading_probe", task=say.name(analysis.query.task))
    parts = (
        say("outputs.output", label=visible(analysis.labels[index]), value=output_text(analysis, index))
        for index in ranked(analysis)[:SHOWN]
    )
    row = away(name, outputs_csv(analysis, say), about(analysis, say), say)
    return titled(name, heading, say("outputs.description", outputs=say.listed(parts)), row)


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
    """What the heat map shows and that its rows can be clicked."""
    hint = f'<p class="hint">{escape(say("heatmap.hint"))}</p>'
    return heatmap_title(view, say, name) + hint + heatmap_key(view, say, name)


def heatmap_title(view: View, say: Say, name: str = "heatmap") -> str:
    """What the heat map shows, also in words."""
    heading = say("heatmap.heading", reference=shorten(reference_name(view, say), 40))
    row = away(name, heatmap_csv(view, say), about(view.analysis, say), say, _scale_name(view, say))
    return titled(name, heading, _heatmap_description(view, say), row)


def heatmap_key(view: View, say: Say, name: str = "heatmap") -> str:
    """The colours from -1 to 1, and room for the plot, so that many tokens scroll in their own box."""
    room = f"<style>#{name}-plot .js-plotly-plot {{ min-width: {least_width(view)}px }}</style>"
    return scale(_scale_name(view, say)) + room


def _heatmap_description(view: View, say: Say) -> str:
    """Where similarity is lowest and highest, the reference itself left out."""
    layers, total = view.by_layer.shape
    others = [index for index in range(total) if index != view.reference] or [0]
    values = view.by_layer[:, others]
    found: dict[str, object] = {}
    for end, place in (("low", int(values.argmin())), ("high", int(values.argmax()))):
        layer, column = divmod(place, len(others))
        found |= {
            end: number(values[layer, column]),
            f"{end}_token": view.labels[others[column]],
            f"{end}_layer": layer,
        }
    return say("heatmap.description", layers=layers, total=total, **found)


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


def titled(name: str, heading: str, description: str, row: str = "") -> str:
    """The heading of the plot ``name``, and for who cannot see it what it shows in words.

    ``row`` is what ``away`` gives, or "" where there is nothing to take away.
    """
    return (
        f'<div class="titled"><h2 id="{name}-heading">{escape(heading)}</h2>{row}</div>'
        f'<p id="{name}-description" class="unseen">{escape(description)}</p>'
    )


def scale(name: str) -> str:
    """The colours from -1 to 1, behind the ``name`` of what they stand for."""
    colours = ", ".join(str(colour) for _, colour in DIVERGING)
    strip = f'<span class="strip" style="background: linear-gradient(90deg, {colours})"></span>'
    return f'<p class="scale">{escape(name)} <span>−1</span>{strip}<span>1</span></p>'


def _scale_name(view: View, say: Say) -> str:
    return say("heatmap.colour_centred" if view.centred else "heatmap.colour")


def _key(name: str, text: str) -> str:
    return f'<li><span class="key {name}" aria-hidden="true"></span>{escape(text)}</li>'
