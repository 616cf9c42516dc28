"""The noun: an exhibit is one thing that a visitor looks at, whole, with its numbers as columns.

The page, the report and the talk walk the same panels of exhibits, and know none of them by name.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast
from urllib.parse import quote

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from components.errors import or_why as or_why
from components.exhibits.control import Control, State
from components.exhibits.draw import Figure
from components.exhibits.view import CENTRED, CENTRINGS, LAYER, render, visible
from components.texts import Sentence, Texts
from components.types import Analysis, Query, grouped as grouped

Column = Sequence[object] | NDArray[Any]
Data = Sequence[tuple[str, Column]]  # of one length, each after its title; two may have the same
# What a spreadsheet takes for the beginning of a formula; Excel takes the full-width ones, too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def titled(columns: Mapping[str, Column], say: Texts, layers: Mapping[str, Column] | None = None) -> Data:
    """Columns side by side by the keys of their titles, and behind them others by their titles."""
    return [*((say(key), cells) for key, cells in columns.items()), *(layers or {}).items()]


def as_read(data: Data, text: Callable[[Any], str]) -> Data:
    """The same columns with the ``text`` of each cell."""
    return [(title, list(map(text, _plain(cells)))) for title, cells in data]


def to_csv(data: Data) -> str:
    """Columns and rows as CSV: numbers with seven digits, texts such that none is a formula.

    ValueError where a column is shorter than another.
    """
    file = io.StringIO(newline="")
    lines = csv.writer(file, lineterminator="\r\n")  # a DataFrame takes ten times as long for a few rows
    lines.writerow(_csv_cell(title) for title, _ in data)
    lines.writerows(zip(*(map(_csv_cell, _plain(cells)) for _, cells in data), strict=True))
    return file.getvalue()


def csv_link(data: Data, file: str, label: str) -> Markup:
    """A link that saves columns as CSV, without a file on the server or base64, which packs badly."""
    address = f"data:text/csv,{quote(to_csv(data).encode('utf-8-sig', errors='replace'), safe=',()')}"
    return Markup('<a class="download" download="{}" href="{}">{}</a>').format(file, address, label)


def saved_table(
    data: Data, shown: Data, numeric: Collection[int], caption: str, file: str, say: Texts
) -> Markup:
    """A link that saves ``data`` as the CSV ``file``, and under it a table of the same as it is read.

    ``shown`` holds texts, not escaped; the columns ``numeric`` stand at the right.
    """
    titles, cells = zip(*shown, strict=True)
    rows = zip(*cells, strict=True)
    table = render("table", caption=caption, titles=titles, numeric=numeric, rows=rows)
    return csv_link(data, file, say("table.download")) + table


def _plain(cells: Column) -> Sequence[object]:
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def _csv_cell(cell: object) -> str:
    if isinstance(cell, float | np.floating):
        return "" if isnan(cell) else f"{cell:.7g}"
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(FORMULA) else cell
    return "" if cell is None else str(cell)


class Bar(NamedTuple):
    """A bar in HTML: its name, its value in a ``text``, and where it starts and how long it is, in [0, 1]."""

    name: str
    text: str
    start: float
    share: float
    colour: str


S = TypeVar("S")  # what an exhibit shows: an analysis, an anatomy, a comparison, the evidence
A = TypeVar("A")  # the answer of a tab, which may hold several such

Where = Literal["page", "talk", "report"]
# Draw plots, choose frames, and make the buttons that save images work, on the page and in documents.
SCRIPTS = tuple(map(Path(__file__).with_name, ("plots.js", "frames.js", "export.js")))
MEMBER, PIECES = re.compile(r'(?<=[\]}],)(?=")'), 12  # of a figure's JSON: many are the same at all layers


@dataclass(frozen=True, eq=False)
class Shown:
    """An exhibit of one answer, in one language.

    ``heading``: the question that it answers. ``words``: what it shows, for who cannot see it.
    ``about``: what was asked, as an image of it says; ``scale`` names its colours there. None is escaped.

    Escaped HTML: ``above`` stands under the heading, ``action`` before that where the page can be clicked,
    ``html`` is the exhibit itself where it is no figure, ``legend`` stands below.

    ``data``: its numbers, columns named in the language. ``codes``: programs, one for each of the exhibit's.
    """

    heading: str = ""
    words: str = ""
    data: Data | None = None
    figure: Figure | None = None
    html: str = ""
    legend: str = ""
    above: str = ""
    action: str = ""
    about: str = ""
    scale: str = ""
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Exhibit(Generic[S]):
    """A way to show one thing of any answer; ``show`` takes the answer, what is set, and a language.

    ``name``: in the script of a talk. ``element``: its id on the page, the name if it is "". ``style``: the
    class of the style sheet for what it stands in. ``plotted``: whether it is a figure.

    ``title``: key of its heading where ``show`` gives none: the label of a ``folded`` one, a heading of the
    report; of a ``bare`` one, which has no heading, what a list calls it. ``applies``: to which answers;
    others show nothing. ``controls``: what it depends on; those that are not the panel's stand in its own
    card. ``with_summary``: the panel's summary, if any, belongs to it. ``where`` it is shown. ``codes``:
    keys of the titles of its programs. ``width``: its part of a row. ``none``: key of the heading under which
    a subject that is a Sentence says why there is nothing to show, if that is not the title.
    """

    name: str
    show: Callable[[S, State, Texts], Shown]
    element: str = ""
    style: str = ""
    frame: Literal["card", "folded", "bare"] = "card"
    plotted: bool = False
    title: str = ""
    applies: Callable[[S], bool] = field(default=lambda _: True)
    controls: tuple[Control[Any], ...] = ()
    with_summary: bool = False
    where: frozenset[Where] = frozenset({"page", "talk", "report"})
    codes: tuple[str, ...] = ()
    width: int = 1
    none: str = ""

    @property
    def follows(self) -> bool:
        """Tell whether it depends on the layer or on the centring."""
        return not {LAYER, CENTRED}.isdisjoint(self.controls)

    def shown(self, subject: S, state: State, say: Texts) -> Shown:
        """The exhibit of ``subject``, or why that cannot be had; empty where it does not apply."""
        if isinstance(subject, Sentence) and (heading := self.none or self.title):
            return unanswered(heading, subject, say)
        return self.show(subject, state, say) if self.applies(subject) else Shown()


@dataclass(frozen=True, eq=False)
class Panel(Generic[A, S]):
    """Exhibits of the same answer: one that is the ``summary``, if any, then rows from the top down.

    ``key``: its id on the page. ``title``: key of its name. ``subject`` takes what they show out of the
    answer of their tab, if not all of it. ``controls``: what several exhibits depend on, beside them.
    """

    key: str
    title: str
    subject: Callable[[A], S] = field(default=lambda answer: cast("S", answer))
    summary: Exhibit[S] | None = None
    rows: tuple[tuple[Exhibit[S], ...], ...] = ()
    controls: tuple[Control[Any], ...] = ()

    @property
    def exhibits(self) -> tuple[Exhibit[S], ...]:
        """All of them, the summary first."""
        rows = (exhibit for row in self.rows for exhibit in row)
        return tuple(rows) if self.summary is None else (self.summary, *rows)


def at_once(scripts: Iterable[Path]) -> str:
    """Scripts that run one after the other; what one names is its own."""
    return "".join(f"{{\n{file.read_text(encoding='utf-8')}}}\n" for file in scripts)


def heading_html(shown: Shown, name: str, say: Texts, live: bool = True) -> Markup:
    """Head of the figure or the table ``name``: its heading, what it shows in words, hints and colour scale.

    ``live``: on the page, where something may be clicked.
    """
    link = ""
    if shown.data is not None and shown.figure is not None:
        link = csv_link(shown.data, f"poolscope-{name}.csv", "CSV")
    return render("heading", say, shown=shown, name=name, link=link, live=live)


def exhibit_html(
    exhibit: Exhibit[Any], name: str, shown: Shown, say: Texts, style: str = "card", summary: str = ""
) -> Markup:
    """An exhibit from top to bottom, away from where the page may be clicked; see slides.js of the page.

    ``name``: of its heading and its plot. ``style``: a class of what it stands in. ``summary``: HTML that
    goes under its heading.
    """
    return render(
        "exhibit",
        say,
        name=name,
        style=f"{style} {exhibit.style}".strip(),
        heading=heading_html(shown, name, say, live=False) + Markup(summary),
        shown=shown,
        figure=None if shown.figure is None else Markup(shown.figure.to_json()),
        codes=list(zip(exhibit.codes, shown.codes, strict=False)),
        pieces=PIECES if exhibit.follows else 0,
    )


def exhibit_parts(exhibit: Exhibit[S], subject: S, say: Texts, state: State) -> tuple[str, ...]:
    """Parts of such HTML that follow the layer: those above a figure, its JSON in pieces, the rest."""
    shown = exhibit.show(subject, state, say)
    rest = f"{shown.html}{shown.legend}"
    if shown.figure is None:
        return (rest,)
    above = str(heading_html(shown, exhibit.element or exhibit.name, say, live=False))
    pieces = MEMBER.split(shown.figure.to_json(), PIECES - 1)
    return above, *pieces, *[""] * (PIECES - len(pieces)), rest


Drawing = tuple[Callable[[State], Sequence[Any]], Sequence[Control[Any]]]  # of parts, and what they depend on


def frames_json(drawings: Iterable[Drawing], analysis: Analysis, state: State, answered: str = "") -> str:
    """Draw an answer at every layer and with every centring, else in ``state``; frames.js shows one of them.

    Each is drawn once for a value of its controls; a part has ``values`` and ``at``. ``answered``: its key.
    """
    looks, parts = product(CENTRINGS, range(analysis.layers + 1)), []
    states = [{**state, LAYER.key: layer, CENTRED.key: centring} for centring, layer in looks]
    for draw, controls in drawings:
        keys = [tuple(control.of(seen) for control in controls) for seen in states]
        drawn = {key: draw(seen) for key, seen in dict(zip(keys, states, strict=True)).items()}
        for column in zip(*(drawn[key] for key in keys), strict=True):
            values = list(dict.fromkeys(column))
            parts.append({"values": values, "at": [values.index(one) for one in column]})
    return json.dumps({"answered": answered, "last": analysis.layers, "centrings": CENTRINGS, "parts": parts})


def scale_html(name: str, stops: Sequence[Sequence[object]], ends: tuple[str, str]) -> Markup:
    """The colours between two ``ends``, behind the ``name`` of what they say; ``stops`` are a plot's."""
    return render("scale", name=name, stops=stops, ends=ends)


hint_html = Markup('<p class="hint">{}</p>').format  # a quiet line under a heading
status_html = Markup('<p role="status">{}</p>').format  # what is read out as it comes
strong_html = Markup("<strong>{}</strong>").format  # a text that stands out in a sentence


def asked(name: str, of: Callable[[Query], Query] = lambda query: query) -> Callable[[Any], Any]:
    """Make what asks for the analysis ``name`` of an answer's question, once, or says why it cannot be had.

    ``of``: the question that is asked there, made of the answer's.
    """

    def found(answered: Any) -> Any:
        if name not in answered.found:
            answered.found[name] = or_why(lambda: answered.analyst.ask(name, of(answered.analysis.query)))
        return answered.found[name]

    return found


def unanswered(heading: str, why: Sentence, say: Texts) -> Shown:
    """An exhibit of what cannot be had, which says ``why``; ``heading`` is the key of a text."""
    said = visible(why.said(say))
    return Shown(heading=say(heading), words=said, above=hint_html(said))
