"""The numbers behind the plots: as a table to read or copy, and as CSV."""

from __future__ import annotations

from components.figures.labels import visible
from components.figures.style import segment_key
from components.figures.view import Say, View, layer_name, number, percent, reference_name
from components.ui.sheet import download, inert, sheet, to_csv

NUMERIC = ("index", "share", "similarity", "centred")


def table(view: View, say: Say) -> str:
    """An HTML table of T rows with a link that saves them as CSV."""
    caption = say("table.caption", layer=layer_name(view, say), reference=reference_name(view, say))
    link = download(csv_text(view, say), "poolscope.csv", say("table.download"))
    return link + sheet(_columns(say), _shown(view, say), NUMERIC, caption)


def csv_text(view: View, say: Say) -> str:
    """T rows under a header, numbers with seven digits; vocabulary strings are given as they are."""
    analysis = view.analysis
    rows = []
    for index, row in enumerate(_shown(view, say)):
        exact = {
            "token": inert(row["token"]),
            "raw": inert(analysis.tokens.text[index]),
            "share": f"{analysis.reads.share[index]:.7g}",
            "similarity": f"{analysis.similarity[view.layer, index]:.7g}",
            "centred": f"{analysis.centred[view.layer, index]:.7g}",
        }
        rows.append({**row, **exact})
    return to_csv(_columns(say), rows)


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
                "characters": f"{start}–{end}" if start < end else "",
                "segment": say(segment_key(segment)) if segment >= 0 else "",
                "special": yes if tokens.special[index] else no,
                "read": yes if analysis.reads.positions[index] else no,
                "share": percent(analysis.reads.share[index]),
                "similarity": number(analysis.similarity[view.layer, index], 4),
                "centred": number(analysis.centred[view.layer, index], 4),
            }
        )
    return rows
