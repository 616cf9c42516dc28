"""Tables of labelled texts that somebody brings: CSV, TSV or JSON Lines -> columns -> a Table."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from components.errors import PoolscopeError
from components.fitting import Table
from components.texts import Sentence

CLASSES = 50  # labels at most: a column with more is hardly one of labels
COLUMNS = 200
LONG = 60  # characters: a header has shorter names
SEPARATORS = "\t,;|"
MISSING = frozenset(("", "nan", "null", "none", "n/a", "na"))
LABELS = ("label", "labels", "class", "category", "target", "stars", "score", "rating", "sentiment", "topic")


@dataclass(frozen=True)
class Sheet:
    """A table as it was read: the names of its C columns, and C cells a row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, field: str, name: object) -> list[str]:
        """The cells of a column; PoolscopeError names those that there are."""
        if name not in self.columns:
            raise PoolscopeError(field, name, "errors.table_column", columns=self.columns)
        index = self.columns.index(str(name))
        return [row[index] for row in self.rows]


@dataclass(frozen=True)
class Columns:
    """Names of the columns by what they hold; ``text_pair``: "" for single texts."""

    text: str
    label: str
    text_pair: str = ""


def read_sheet(given: object) -> Sheet:
    """The sheet that ``given`` is; PoolscopeError says in which line it is none."""
    if not isinstance(given, str):
        raise PoolscopeError("table", given, "errors.text")
    text = given.removeprefix("\ufeff")
    if not text.strip():
        raise PoolscopeError("table", "", "errors.table_empty")
    if "\0" in text:
        raise PoolscopeError("table", text, "errors.table_binary")
    if any(character == "\ufffd" or "\ud800" <= character <= "\udfff" for character in text):
        raise PoolscopeError("table", text, "errors.table_encoding")
    sheet = _from_json(text) if text.lstrip().startswith("{") else _from_separated(text)
    if not sheet.rows:
        raise PoolscopeError("table", text, "errors.table_rows")
    return sheet


def guess(sheet: Sheet) -> Columns:
    """Guess what the columns hold: the longest text; beside it a label of few values; a like text.

    PoolscopeError where no column can be a label.
    """
    cells = {name: sheet.column("table", name) for name in sheet.columns}
    lengths = {name: sum(map(len, found)) / len(found) for name, found in cells.items()}
    text = max(sheet.columns, key=lambda name: (len(set(cells[name])) > 1, lengths[name]))
    kinds = {name: len(set(found) - {""}) for name, found in cells.items() if name != text}
    labels = [name for name, kind in kinds.items() if 2 <= kind <= CLASSES]
    if not labels:
        raise PoolscopeError("table", list(sheet.columns), "errors.table_label")
    label = min(labels, key=lambda name: (name.casefold() not in LABELS, kinds[name]))
    like = [n for n in kinds if n != label and lengths[n] > lengths[text] / 3 and kinds[n] > CLASSES]
    pair = max(like, key=lengths.__getitem__, default="")
    in_order = sorted((text, pair), key=sheet.columns.index) if pair else [text, ""]
    return Columns(in_order[0], label, in_order[1])


def to_table(sheet: Sheet, columns: Columns) -> tuple[Table, tuple[Sentence, ...]]:
    """The rows that have a text and a label, and what a reader has to know of them.

    PoolscopeError where a column is not there or is named twice, or where nothing can be fitted.
    """
    named = {"text": columns.text, "label": columns.label, "text_pair": columns.text_pair}
    named = {field: name for field, name in named.items() if name or field != "text_pair"}
    cells = {field: sheet.column(field, name) for field, name in named.items()}
    if len(set(named.values())) < len(named):
        raise PoolscopeError("label", columns.label, "errors.table_twice")
    cells["label"] = [label.strip() for label in cells["label"]]
    rows = zip(*cells.values(), strict=True)
    whole = [row for row in rows if not any(cell.strip().casefold() in MISSING for cell in row)]
    if not whole:
        raise PoolscopeError("table", len(sheet.rows), "errors.table_rows")
    texts, labels, *pairs = zip(*whole, strict=True)
    kept = Table(texts, pairs[0] if pairs else (), labels)
    if (kinds := len(set(kept.labels))) > CLASSES:
        raise PoolscopeError("label", columns.label, "errors.table_classes", count=kinds, most=CLASSES)
    return kept, tuple(_notes(kept, len(sheet.rows) - len(whole)))


def _notes(table: Table, missing: int) -> Iterator[Sentence]:
    """Note what is odd about the rows."""
    if missing:
        yield Sentence("lab.missing", count=missing)
    said: dict[tuple[str, str], set[str]] = {}
    for text, pair, label in zip(table.texts, table.pairs or table.texts, table.labels, strict=True):
        said.setdefault((text, pair), set()).add(label)
    if twice := len(table.texts) - len(said):
        yield Sentence("lab.twice", count=twice)
    if torn := sum(len(labels) > 1 for labels in said.values()):
        yield Sentence("lab.conflicting", count=torn)
    label, most = Counter(table.labels).most_common(1)[0]
    if most > 0.9 * len(table.labels):
        yield Sentence("lab.lopsided", label=label, share=f"{most / len(table.labels):.0%}")


def _from_json(text: str) -> Sheet:
    """Read an object a line, whose keys are the columns; a key that a line lacks is an empty cell."""
    rows: list[dict[str, str]] = []
    names: dict[str, None] = {}
    for number, line in enumerate(StringIO(text, newline=None), start=1):  # a text may hold U+2028
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PoolscopeError("table", line, "errors.table_json", line=number) from error
        if not isinstance(found, dict) or any(isinstance(cell, dict | list) for cell in found.values()):
            raise PoolscopeError("table", line, "errors.table_json", line=number)
        rows.append({key: "" if cell is None else str(cell) for key, cell in found.items()})
        names |= dict.fromkeys(found)
    columns = _named(list(names))
    return Sheet(columns, tuple(tuple(row.get(name, "") for name in columns) for row in rows))


def _from_separated(text: str) -> Sheet:
    """Cells between commas, tabs or semicolons, the first row being the names of the columns."""
    first = text.lstrip("\r\n").splitlines()[0]
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(StringIO(text), delimiter=separator, strict=True)
    columns: tuple[str, ...] = ()
    rows = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not columns:
                columns = _named(row)
            elif len(row) != len(columns):
                cells = {"line": reader.line_num, "count": len(row), "expected": len(columns)}
                raise PoolscopeError("table", separator.join(row), "errors.table_cells", **cells)
            else:
                rows.append(tuple(row))
    except csv.Error as error:
        raise PoolscopeError("table", first, "errors.table_csv", line=reader.line_num) from error
    return Sheet(columns, tuple(rows))


def _named(header: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns; PoolscopeError where these are none, as in a table without a header."""
    names = tuple(name.strip() for name in header)
    if not 2 <= len(names) <= COLUMNS:
        raise PoolscopeError("table", list(names)[:3], "errors.table_columns", most=COLUMNS)
    if len(set(names)) < len(names) or any(len(name) > LONG or not _is_name(name) for name in names):
        raise PoolscopeError("table", ", ".join(names), "errors.table_header", longest=LONG)
    return names


def _is_name(text: str) -> bool:
    """Tell whether a text is no number, nor empty."""
    try:
        float(text)
    except ValueError:
        return bool(text)
    return False
