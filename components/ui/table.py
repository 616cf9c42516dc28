"""The numbers behind the plots: as a table to read or copy, and as CSV."""

from __future__ import annotations

import csv
import io
from base64 import b64encode
from html import escape

from components.figures.labels import visible
from components.figures.style import segment_key
from components.figures.view import Say, View, layer_name, number, percent, reference_name

NUMERIC = ("index", "share", "similarity", "centred")


def table(view: View, say: Say) -> str:
    """An HTML table of T rows with a link that saves them as CSV; needs no file on the server."""
    columns = _columns(say)
    caption = say("table.caption", layer=layer_name(view, say), reference=reference_name(view, say))
    head = "".join(
        f'<th scope="col"{_alignment(name)}>{escape(title)}</th>' for name, title in columns.items()
    )
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in _shown(view, say))
    data = b64encode(csv_text(view, say).encode("utf-8-sig", errors="replace")).decode("ascii")
    return (
        f'<a class="download" download="poolscope.csv" href="data:text/csv;base64,{data}">'
        f'{escape(say("table.download"))}</a><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def csv_text(view: View, say: Say) -> str:
    """T rows under a header, numbers with seven digits; vocabulary strings are given as they are."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(_columns(say).values())
    analysis = view.analysis
    for index, row in enumerate(_shown(view, say)):
        exact = {
            "token": _inert(row["token"]),
            "raw": _inert(analysis.tokens.text[index]),
            "share": f"{analysis.reads.share[index]:.7g}",
            "similarity": f"{analysis.similarity[view.layer, index]:.7g}",
            "centred": f"{analysis.centred[view.layer, index]:.7g}",
        }
        writer.writerow({**row, **exact}.values())
    return file.getvalue()


def _columns(say: Say) -> dict[str, str]:
    return {
        "index": say("table.index"),
        "token": say("table.token"),
        "raw": say("table.raw"),
        "characters": say("table.characters"),
        "segment": say("table.segment"),
        "special": say("table.special"),
        "read": say("table.read"),
        "share": say("table.share"),
        "similarity": say("table.similarity"),
        "centred": say("table.centred"),
    }


def _shown(view: View, say: Say) -> list[dict[str, str]]:
    """What each row shows, by column, not escaped."""
    analysis, tokens = view.analysis, view.analysis.tokens
    yes, no = say("table.yes"), say("table.no")
    rows = []
    for index, label in enumerate(view.labels):
        segment = int(tokens.segment[index])
        start, end = (int(bound) for bound in tokens.span[index])
        rows.append(
            {
                "index": str(index),
                "token": label,
                "raw": visible(tokens.text[index]),
                "characters": f"{start}–{end}" if segment >= 0 else "",
                "segment": say(segment_key(segment)) if segment >= 0 else "",
                "special": yes if tokens.special[index] else no,
                "read": yes if analysis.reads.positions[index] else no,
                "share": percent(analysis.reads.share[index]),
                "similarity": number(analysis.similarity[view.layer, index], 4),
                "centred": number(analysis.centred[view.layer, index], 4),
            }
        )
    return rows


def _cells(row: dict[str, str]) -> str:
    return "".join(f"<td{_alignment(name)}>{escape(text)}</td>" for name, text in row.items())


def _alignment(column: str) -> str:
    return ' class="number"' if column in NUMERIC else ""


def _inert(text: str) -> str:
    """``text`` such that a spreadsheet does not take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
