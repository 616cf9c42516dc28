"""The rows that the best combination gets wrong, and labels that look wrong, each a click from Classify."""

from __future__ import annotations

from html import escape

from components.exhibits.control import State
from components.exhibits.exhibit import Exhibit, Shown, csv_link, data_frame, hint_html
from components.exhibits.lab.found import UNLINKED, Found
from components.exhibits.view import classify_link, percent, shorten, visible
from components.fitting import Miss
from components.texts import Texts
from components.types import Query

SHOWN = 100  # rows of the table on the page; the file has all
LONGEST = 200  # characters of a text on the page


def misses(found: Found, _: State, say: Texts) -> Shown:
    """A row for each miss, the surest first; the text leads to Classify."""
    fit = found.fit
    wrong = sum(miss.given != miss.predicted for miss in fit.misses)
    doubted = sum(miss.suspicious for miss in fit.misses)
    heading = say("lab.misses", count=wrong, total=len(fit.table.texts), doubted=doubted)
    data = data_frame(
        (
            (say("lab.column_row"), [miss.row + 1 for miss in fit.misses]),
            (say("lab.column_text"), [_text(found, miss) for miss in fit.misses]),
            (say("lab.given"), [miss.given for miss in fit.misses]),
            (say("lab.given_probability"), [miss.given_probability for miss in fit.misses]),
            (say("lab.predicted"), [miss.predicted for miss in fit.misses]),
            (say("lab.predicted_probability"), [miss.predicted_probability for miss in fit.misses]),
            (say("lab.doubted"), [_doubt(miss, say) for miss in fit.misses]),
        )
    )
    above = hint_html(say("lab.misses_hint"))
    if len(fit.misses) > SHOWN:
        above += hint_html(say("lab.misses_first", count=SHOWN, total=len(fit.misses)))
    link = csv_link(data, "poolscope-misses.csv", say("table.download"))
    heads = "".join(f'<th scope="col">{escape(str(title))}</th>' for title in data.columns)
    body = "".join(_row_html(found, miss, say) for miss in fit.misses[:SHOWN])
    table = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(heading)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    return Shown(
        heading=heading,
        data=data,
        html=f"{link}{table}" if fit.misses else "",
        above=above,
        action=hint_html(say("lab.misses_open")) if fit.misses else "",
    )


MISSES = Exhibit("lab-misses", misses, style="numbers", where=UNLINKED)


def _row_html(found: Found, miss: Miss, say: Texts) -> str:
    """A row of the table; its text is a link where it is not too long for one."""
    said = escape(shorten(visible(_text(found, miss)), LONGEST))
    link = classify_link(_query(found, miss), say)
    if link:
        opened = 'target="_blank" rel="noopener"'  # here it would take the place of what was found
        said = f'<a href="{escape(link)}" {opened}>{said}</a>'
    sure = (percent(miss.given_probability), percent(miss.predicted_probability))
    given, predicted = (escape(visible(label)) for label in (miss.given, miss.predicted))
    return (
        f'<tr><td class="number">{miss.row + 1}</td><td class="said">{said}</td>'
        f'<td>{given}</td><td class="number">{escape(sure[0])}</td>'
        f'<td>{predicted}</td><td class="number">{escape(sure[1])}</td>'
        f"<td>{escape(_doubt(miss, say))}</td></tr>"
    )


def _query(found: Found, miss: Miss) -> Query:
    """What the link of a row asks: its text, by the best combination."""
    table, best = found.fit.table, found.best
    pair = table.pairs[miss.row] if table.pairs else ""
    layer = best.layer if found.fit.plan.all_layers else -1
    return Query(best.backbone, table.texts[miss.row], pair, best.pooling, pool_layer=layer)


def _text(found: Found, miss: Miss) -> str:
    """The text of a row, or both of a pair."""
    table = found.fit.table
    return " | ".join((table.texts[miss.row], *(table.pairs[miss.row : miss.row + 1])))


def _doubt(miss: Miss, say: Texts) -> str:
    return say("lab.doubt") if miss.suspicious else ""
