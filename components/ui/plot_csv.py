"""The numbers that each plot shows, as CSV with seven digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from components.figures.curves import curves
from components.figures.flow import ORIGINS
from components.figures.grid import Comparison
from components.figures.labels import visible
from components.figures.outputs import ranked
from components.figures.steps import labels_of, numbered, size
from components.figures.strips import strips
from components.figures.view import Say, View
from components.types import Analysis, Anatomy
from components.ui.sheet import inert, to_csv

Cells = Sequence[object]


def similarity_csv(view: View, say: Say) -> str:
    """T rows: index, token, whether the head reads it, its share, similarity as drawn."""
    names = ("table.index", "table.token", "table.read", "table.share", "table.similarity")
    reads = view.analysis.reads
    rows = [
        (index, label, _answer(reads.positions[index], say), reads.share[index], view.similarity[index])
        for index, label in enumerate(view.labels)
    ]
    return _csv([say(name) for name in names], rows)


def outputs_csv(analysis: Analysis, say: Say) -> str:
    """K rows, the likeliest first: label, logit, probability or raw value, whether the head is trained."""
    raw = analysis.problem_type == "regression"
    value = say("outputs.raw" if raw else "outputs.probability")
    trained = _answer(analysis.head_trained, say)
    rows = [
        (visible(analysis.labels[index]), analysis.logits[index], analysis.probabilities[index], trained)
        for index in ranked(analysis)
    ]
    return _csv([say("away.label"), say("away.logit"), value, say("away.trained")], rows)


def heatmap_csv(view: View, say: Say) -> str:
    """T rows by a column for each of the L + 1 layers."""
    layers = [say("away.layer", layer=layer) for layer in range(len(view.by_layer))]
    rows = [(index, label, *view.by_layer[:, index]) for index, label in enumerate(view.labels)]
    return _csv([say("table.index"), say("table.token"), *layers], rows)


def flow_csv(anatomy: Anatomy, say: Say) -> str:
    """Down the stream: T tokens with their shares, the steps, K classes with their outputs."""
    columns = ("part", "name", "before", "after", "parameters", "origin", "share", "output")
    token, step_, class_ = (say(f"away.{part}") for part in ("token", "step", "class"))
    analysis = anatomy.analysis
    rows: list[Cells] = [
        (token, label, "", "", "", "", analysis.reads.share[index], "")
        for index, label in enumerate(labels_of(anatomy))
    ]
    for index, step in enumerate(anatomy.steps):
        shapes = (size(step.in_shape), size(step.out_shape))
        origin = say(ORIGINS[step.origin]) if step.origin else ""
        rows.append((step_, numbered(anatomy, index, say), *shapes, step.parameters, origin, "", ""))
    rows += [
        (class_, visible(analysis.labels[index]), "", "", "", "", "", analysis.probabilities[index])
        for index in ranked(analysis)
    ]
    return _csv([say(f"away.{column}") for column in columns], rows)


def strips_csv(anatomy: Anatomy, say: Say) -> str:
    """A column for each vector on the way, as long as the longest of them."""
    rows = strips(anatomy, say)
    longest = max(len(strip.values) for strip in rows)
    cells = [
        (index, *(strip.values[index] if index < len(strip.values) else "" for strip in rows))
        for index in range(longest)
    ]
    return _csv([say("table.index"), *(strip.name for strip in rows)], cells)


def curves_csv(comparison: Comparison, say: Say) -> str:
    """A row for each layer of each backbone: depth in percent, mean similarity, plain and centred."""
    columns = ("backbone", "layer_number", "depth", "mean", "mean_centred")
    rows = [
        (plain.name, layer, *numbers)
        for plain, centred in zip(curves(comparison, False), curves(comparison, True), strict=True)
        for layer, numbers in enumerate(zip(plain.depth, plain.values, centred.values, strict=True))
    ]
    return _csv([say(f"away.{column}") for column in columns], rows)


def _csv(titles: Sequence[str], rows: Sequence[Cells]) -> str:
    columns = {str(place): inert(title) for place, title in enumerate(titles)}
    return to_csv(columns, [{str(place): _cell(cell) for place, cell in enumerate(row)} for row in rows])


def _cell(cell: object) -> str:
    """A number with seven digits, a text such that no spreadsheet takes it for a formula."""
    return f"{cell:.7g}" if isinstance(cell, float | np.floating) else inert(str(cell))


def _answer(fact: object, say: Say) -> str:
    return say("table.yes" if fact else "table.no")
