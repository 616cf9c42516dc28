"""A talk to hand out: a sheet for each slide in one HTML file, to open without the app, or to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlsplit

from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import Exhibit, Shown, heading_html
from components.exhibits.report.document import document, leading, plot_place
from components.exhibits.script import Script, Step
from components.exhibits.slides import question_html
from components.texts import Texts


@dataclass(frozen=True, eq=False)
class Sheet:
    """What stands on a sheet: a step, the sentences that it is about, as HTML, and what is shown of them.

    ``summary``: HTML under the heading. ``mistake``: why nothing is shown, if so, in words. ``link``: where
    the live page shows the same, or "" where nothing does; ``code``: its QR code, as HTML.
    """

    step: Step
    asked: str
    exhibit: Exhibit[Any]
    shown: Shown
    summary: str
    mistake: str
    link: str
    code: str


def handout(script: Script, sheets: Sequence[Sheet], say: Texts) -> tuple[str, ...]:
    """One HTML document of a talk, in pieces; its plots can be looked at closely without a network."""
    title = script.titled(say.language.tag)
    figures = {
        f"slide-{number}": sheet.shown.figure for number, sheet in enumerate(sheets, 1) if sheet.shown.figure
    }
    notes, printed = escape(say("handout.notes")), escape(say("handout.print"))
    head = (
        f"<header><h1>{escape(visible(title))}</h1>"
        f'<label><input type="checkbox" id="notes"> {notes}</label>'
        f'<button type="button" id="print">{printed}</button></header>'
    )
    body = "".join(_sheet(number, sheet, len(sheets), say) for number, sheet in enumerate(sheets, 1))
    return document(visible(title), head + body, figures, say, "handout")


def _sheet(number: int, sheet: Sheet, count: int, say: Texts) -> str:
    """One sheet from top to bottom."""
    step, tag, shown = sheet.step, say.language.tag, sheet.shown
    if sheet.mistake:
        inside = f'<p class="mistake">{escape(sheet.mistake)}</p>'
    else:
        name = f"slide-{number}"
        above = heading_html(shown, name, say, live=False) + sheet.summary
        plot = "" if shown.figure is None else plot_place(name)
        codes = "".join(f"<pre><code>{escape(text)}</code></pre>" for text in shown.codes)
        inside = leading(above + plot + shown.html + shown.legend + codes, sheet.link)
    lines = "".join(
        f"<p>{escape(visible(line))}</p>" for line in step.noted(tag).splitlines() if line.strip()
    )
    caption, notes = escape(visible(step.said(tag))), f'<div class="notes">{lines}</div>' if lines else ""
    return (
        f'<section class="sheet"><h2 class="caption">{caption}</h2>{question_html(step, tag)}{sheet.asked}'
        f'<div class="stage"><div class="card {sheet.exhibit.style}">{inside}</div></div>'
        f'{notes}<footer>{_link(sheet)}<span class="number">{number} / {count}</span></footer></section>'
    )


def _link(sheet: Sheet) -> str:
    """The link of the page, to read and as a QR code; nothing where there is none."""
    if urlsplit(sheet.link).scheme not in ("http", "https"):
        return ""
    address = escape(sheet.link)
    return f'{sheet.code}<a href="{address}">{address}</a>'
