"""The numbers of an exhibit: a DataFrame as CSV, and as an HTML table to read or copy."""

from __future__ import annotations

import csv
import io
from base64 import b64encode
from collections.abc import Collection, Iterable, Sequence
from html import escape
from math import isnan
from typing import Any

import pandas as pd
from numpy.typing import NDArray

Column = Sequence[object] | NDArray[Any]
# What a spreadsheet takes for the beginning of a formula; Excel takes the full-width ones, too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def data_frame(columns: Iterable[tuple[str, Column]]) -> pd.DataFrame:
    """Columns of one length side by side, each after its title; two may have the same.

    Texts stay Python's own, which may hold half of a surrogate pair; Arrow's cannot. ValueError where a
    column is shorter than another.
    """
    titles, values = zip(*columns, strict=True)
    if len({len(one) for one in values}) > 1:
        raise ValueError(f"columns differ in length: {dict(zip(titles, map(len, values), strict=True))}")
    index = pd.RangeIndex(len(values[0]))  # one for all: to align several takes longer than all the rest
    series = (pd.Series(one, index, dtype=object if _is_text(one) else None) for one in values)
    return pd.DataFrame(dict(enumerate(series)), index).set_axis(pd.Index(titles, dtype=object), axis=1)


def to_csv(data: pd.DataFrame) -> str:
    """Columns and rows as CSV: numbers with seven digits, texts such that none is a formula."""
    file = io.StringIO(newline="")
    lines = csv.writer(file, lineterminator="\r\n")  # pandas' own takes ten times as long for a few rows
    lines.writerow(_inert(str(title)) for title in data.columns)
    columns = (map(_csv_cell, column.tolist()) for _, column in data.items())
    lines.writerows(zip(*columns, strict=True))
    return file.getvalue()


def table_html(data: pd.DataFrame, numeric: Collection[int], caption: str) -> str:
    """An HTML table of a DataFrame of texts, not escaped; the columns ``numeric`` stand at the right."""
    kinds = [' class="number"' if place in numeric else "" for place in range(data.shape[1])]
    head = "".join(
        f'<th scope="col"{kind}>{escape(title)}</th>' for kind, title in zip(kinds, data.columns, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(text)}</td>" for kind, text in zip(kinds, row, strict=True))
        + "</tr>"
        for row in data.itertuples(index=False, name=None)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def csv_link(data: pd.DataFrame, file: str, label: str) -> str:
    """A link that saves the DataFrame as CSV, which needs no file on the server."""
    encoded = b64encode(to_csv(data).encode("utf-8-sig", errors="replace")).decode("ascii")
    address = f"data:text/csv;base64,{encoded}"
    return f'<a class="download" download="{escape(file)}" href="{address}">{escape(label)}</a>'


def _is_text(values: Column) -> bool:
    return any(isinstance(value, str) for value in values)


def _csv_cell(cell: object) -> str:
    if isinstance(cell, float):
        return "" if isnan(cell) else f"{cell:.7g}"
    if isinstance(cell, str):
        return _inert(cell)
    return "" if cell is None else str(cell)


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text
