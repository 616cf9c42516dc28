"""The plots of accuracy under a probe and of rho of the raw cosine, with their legend; and two tables.

Both plots have the same rows, one for each pooling. The tables hold layers and explanations, each held
against one of its columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from components.analyses.importance import SIMILARITY
from components.exhibits import draw, evidence as tables
from components.exhibits.control import State
from components.exhibits.evidence import BASE, LEVEL, Evidence, corrected, named
from components.exhibits.exhibit import Data, Exhibit, Shown, csv_link, grouped, hint_html
from components.exhibits.view import number, one_vector, render, shorten, visible
from components.results import TEST, Row, beside
from components.texts import Texts

WIDEST = 20  # characters of a line of a label: of the longest name of a pooling
VALUES = 66  # pixels of the column of values at the right
BESIDE = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "showarrow": False}  # of a value there
FEW = {"tickangle": 0, "nticks": 3}  # of an axis, whose ticks then stand apart on a phone, too
ENDS = ("value", "low", "high")  # of an interval
GUIDE = "rgba(128, 128, 128, 0.9)"  # of a line through a value that others are held against

Cells = dict[tuple[tuple[str, ...], str], Row]  # by the names of their row, and their column


def legend(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Colour and shape of each backbone, and what lines and gaps mean."""
    poolings, keys = set(chain.from_iterable(evidence.rows)), evidence.backbones
    unmeasured = any({row.pooling for row in evidence.rhos(key)} < poolings for key in keys)
    known = {"evidence": evidence, "marks": draw.MARKS, "lines": draw.LINES, "unmeasured": unmeasured}
    return Shown(html=render("evidence_legend", say, **known, base=BASE, accuracy=tables.accuracy_text))


def accuracy(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy of the same classifier on every pooling, and lines at what needs no network."""

    def in_percent(row: Row) -> Row:
        return beside(row, **{end: 100 * getattr(row, end) for end in ENDS})

    found = {key: list(map(in_percent, evidence.of("probe", key))) for key in evidence.backbones}
    title = say("evidence.accuracy_axis", task=draw.escape(visible(say.name(evidence.task))))
    axis = draw.value_axis(title, ticksuffix=" %", **FEW)
    plot = _figure(evidence, found, lambda value: tables.accuracy_text(value / 100), axis, say)
    lines = [draw.guide(100 * row.value, draw.LINES[row.method][0], GUIDE) for row in evidence.baselines]
    figure = replace(plot, layout={**plot.layout, "shapes": [*plot.layout["shapes"], *lines]})
    return _shown(evidence, "accuracy", figure, say)


def rho(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Agreement of the raw cosine with people, for the same poolings in the same order."""
    found = {key: evidence.rhos(key) for key in evidence.backbones}
    axis = draw.value_axis(say("evidence.rho_axis"), **FEW)
    return _shown(evidence, "rho", _figure(evidence, found, number, axis, say), say)


def _shown(evidence: Evidence, name: str, figure: draw.Figure, say: Texts) -> Shown:
    signs = zip(evidence.backbones, draw.MARKS, strict=False)
    names = "  ".join(f"{sign} {evidence.title(key)}" for key, (_, _, sign) in signs)
    return Shown(
        heading=say(f"evidence.{name}_heading"),
        words=say("evidence.description", count=len(evidence.rows)),
        data=tables.data_of("probes", tables.probe_rows(evidence, say), say),
        figure=figure,
        about=say("away.about_evidence", task=visible(say.name(evidence.task)), backbones=names),
    )


def _figure(
    evidence: Evidence, found: Mapping[str, Sequence[Row]], shown: tables.Format, axis: draw.Part, say: Texts
) -> draw.Figure:
    rows, total = evidence.rows, len(evidence.backbones)
    whisker = {"thickness": 2.5, "width": 6} if total == 1 else {"thickness": 1.5, "width": 0}
    traces, shapes, values = [], [], []
    for index, (key, measured) in enumerate(found.items()):
        colour, symbol, _ = draw.MARKS[index]
        shift = (index - (total - 1) / 2) * 0.75 / total
        first = {row.pooling: row for row in reversed(measured)}
        placed = list[Row]()
        for place, names in enumerate(rows):
            known = [first[name] for name in names if name in first]
            if known:
                placed.append(beside(named(known[0], names), place=round(place + shift, 3)))
        said = [_said(evidence, row, shown, say) for row in placed]
        marker = {"color": colour, "symbol": symbol, "size": 8 if total == 1 else 7}
        places, name = [row.place for row in placed], draw.escape(evidence.title(key))
        traces.append(draw.dots(placed, places, said, marker, whisker, name=name))
        for row in placed if total == 1 else ():
            values.append({**BESIDE, "y": row.place, "text": shown(row.value)})
            shapes += [draw.guide(row.value, "dot", GUIDE)] if BASE in row.poolings else []
    every = [one_vector(map(shorten, map(visible, names))) for names in rows]
    labels, ticks, room = draw.row_names(every, WIDEST)
    bold = [f"<b>{tick}</b>" if BASE in names else tick for names, tick in zip(rows, ticks, strict=True)]
    left = draw.tick_width(chain(*labels))
    frame = draw.layout(
        height=len(rows) * max(22 + 6 * total, room) + 68,
        margin={"l": left, "r": VALUES if total == 1 else 30, "t": 6, "b": 62},
        xaxis=axis,
        yaxis=draw.row_axis(bold, showgrid=True, gridcolor="rgba(128, 128, 128, 0.12)"),
        shapes=shapes,
        annotations=values,
    )
    return draw.Figure(traces, frame, left + 3 * VALUES)  # or dots could not be told apart


def _said(evidence: Evidence, row: Row, shown: tables.Format, say: Texts) -> str:
    """Words on a dot; ``shown`` writes a value and its ends."""
    told = {"pooling": row.called, "backbone": evidence.title(row.backbone), "examples": row.measured}
    return say.html("evidence.hover", **told, **{end: shown(getattr(row, end)) for end in ENDS})


def profiles(evidence: Evidence, backbone: str) -> list[list[Row]]:
    """Each vector of a backbone at every layer, from the embeddings to the last; none if only that is known.

    One profile for the ``poolings`` that are one vector at all layers. The layers below the last are held
    against it: their p is ``corrected`` by Holm's method over all of them, and that of the last is None.
    """
    lower = grouped((row.pooling, row) for row in evidence.of("depth", backbone))
    whole = (
        [*below, beside(row, layer=len(below), **dict.fromkeys(TEST))]
        for row in evidence.of("probe", backbone)
        if (below := lower.get(row.pooling))
    )
    alike = grouped((tuple(one.vector for one in profile), profile) for profile in whole)
    rows = [named(row, [one[0].pooling for one in same]) for same in alike.values() for row in same[0]]
    tested = corrected(rows, lambda row: row.p is not None)
    return list(grouped((row.poolings, row) for row in tested).values())


def depths(evidence: Evidence, _: State, say: Texts) -> Shown:
    """Accuracy at every layer, and whether a lower one is better than the last by more than chance."""
    known = chain.from_iterable(profiles(evidence, key) for key in evidence.backbones)
    rows, name = list(chain.from_iterable(known)), say("evidence.column_layer")
    cells: Cells = {((evidence.title(row.backbone), row.called), f"{name} {row.layer}"): row for row in rows}
    saved = tables.saved_rows(evidence, rows, say)
    hint = say("evidence.depths_hint", task=visible(say.name(evidence.task)))
    return _table(cells, tables.accuracy_text, tables.data_of("depths", saved, say), "depths", hint, say)


def _table(cells: Cells, shown: tables.Format, saved: Data, name: str, hint: str, say: Texts) -> Shown:
    """Values by row and column, both in the order of their first, and ``saved``, which the file holds.

    ``name``: of its texts. The names of a row are those of a backbone and a pooling.
    """
    rows, columns = (list(dict.fromkeys(one[side] for one in cells)) for side in (0, 1))
    known = {"cells": cells, "rows": rows, "columns": columns, "shown": shown, "sign": tables.sign}
    link = csv_link(saved, f"poolscope-{name}.csv", say("table.download"))
    return Shown(data=saved, html=render("cells", say, **known, name=name, link=link, hint=hint))


def explained(evidence: Evidence) -> list[Row]:
    """Every answer of every checkpoint, in the order of the results; whether it is of the ``last`` layer.

    Of these, all but similarity have their p against it ``corrected`` by Holm's method over all checkpoints.
    """
    rows = evidence.every["agreement"]
    last = {(row.backbone, row.method): row for row in sorted(rows, key=lambda row: row.layer or 0)}
    found = [beside(row, last=row is last[row.backbone, row.method]) for row in rows]
    return corrected(found, lambda row: row.last and row.method != SIMILARITY)


def explanations(evidence: Evidence, _: State, say: Texts) -> Shown:
    """A row for each checkpoint: how alike each answer of its last layer and erasure rank tokens."""
    found, saved, cells = explained(evidence), list[Row](), Cells()
    for row, told in zip(found, tables.saved_rows(evidence, found, say, "rho"), strict=True):
        name = say(f"evidence.answer_{row.method}")
        answer = name if row.layer is None else say("evidence.at_layer", name=name, layer=row.layer)
        own = dict.fromkeys(TEST) if row.last and row.method == SIMILARITY else {}  # held against itself
        saved.append(beside(told, answer=answer, **own))
        if row.last:
            cells[(told.backbone,), name] = row
    beaten = len({row.backbone for row in found if tables.sign(row) == "better"})
    values: dict[str, object] = {"level": LEVEL, "tests": sum(row.corrected is not None for row in found)}
    values |= {"count": say("evidence.explained_of", some=beaten, all=len({row.backbone for row in found}))}
    told = say(f"evidence.explained_{'no' if beaten else 'yes'}", **values)
    tasks = say.listed(visible(say.name(task)) for task in dict.fromkeys(row.task for row in found))
    hint = say("evidence.explained_hint", task=tasks, total=max(row.measured for row in found))
    shown = _table(cells, number, tables.data_of("explained", saved, say), "explained", hint, say)
    return replace(shown, above=hint_html(told))


LEGEND = Exhibit("evidence-legend", legend, frame="bare")
ACCURACY = Exhibit("accuracy", accuracy, plotted=True, with_summary=True)
RHO = Exhibit("rho", rho, plotted=True, with_summary=True)
DEPTHS, EXPLANATIONS = (
    Exhibit(name, show, style="numbers", frame="folded", title=f"evidence.{title}_heading", applies=applies)
    for name, show, title, applies in (
        ("depths", depths, "depths", lambda known: bool(known.of("depth"))),
        ("explanations", explanations, "explained", lambda known: bool(known.every["agreement"])),
    )
)
