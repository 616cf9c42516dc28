"""Rows of numbers: as a table to read or copy, and as CSV behind a link that needs no file on the server."""

from __future__ import annotations

import csv
import io
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from html import escape

Row = Mapping[str, str]  # column -> what it shows, not escaped


def sheet(columns: Mapping[str, str], rows: Iterable[Row], numeric: Collection[str], caption: str) -> str:
    """An HTML table; ``columns`` gives each its title, and those that are ``numeric`` stand at the right."""
    head = "".join(
        f'<th scope="col"{_alignment(name, numeric)}>{escape(title)}</th>' for name, title in columns.items()
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_alignment(name, numeric)}>{escape(row[name])}</td>" for name in columns)
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def download(text: str, file: str, label: str) -> str:
    """A link that saves ``text`` as ``file``."""
    data = b64encode(text.encode("utf-8-sig", errors="replace")).decode("ascii")
    address = f"data:text/csv;base64,{data}"
    return f'<a class="download" download="{escape(file)}" href="{address}">{escape(label)}</a>'


def to_csv(columns: Mapping[str, str], rows: Iterable[Row]) -> str:
    """The rows under a header of the columns' titles."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(columns.values())
    writer.writerows([row[name] for name in columns] for row in rows)
    return file.getvalue()


def inert(text: str) -> str:
    """``text`` such that a spreadsheet does not take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _alignment(column: str, numeric: Collection[str]) -> str:
    return ' class="number"' if column in numeric else ""
