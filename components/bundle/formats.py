"""File formats of labelled text: each gives a file's rows, column name -> text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Row = Mapping[str, str]


def _tab_separated(path: Path, columns: Sequence[str]) -> list[Row]:
    """The first line names the columns; quotation marks are ordinary characters."""
    del columns
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _comma_separated(path: Path, columns: Sequence[str]) -> list[Row]:
    """Quoted fields and no line of names."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, fieldnames=columns))


def _label_first(path: Path, columns: Sequence[str]) -> list[Row]:
    """A label, a space, a text; Latin-1."""
    with path.open(encoding="latin-1", newline="\n") as lines:
        return [dict(zip(columns, line.split(" ", 1), strict=True)) for line in lines]


def _aligned(path: Path, columns: Sequence[str]) -> list[Row]:
    """One file per column, whose name takes the place of * in the path; line n of each makes row n."""
    files = (path.with_name(path.name.replace("*", column)) for column in columns)
    texts = (file.read_text(encoding="utf-8").splitlines() for file in files)
    return [dict(zip(columns, row, strict=True)) for row in zip(*texts, strict=True)]


FORMATS: Mapping[str, Callable[[Path, Sequence[str]], list[Row]]] = {
    "tab-separated": _tab_separated,
    "comma-separated": _comma_separated,
    "label first": _label_first,
    "aligned": _aligned,
}
