"""The report of the command: what the Lab tab shows of a fit, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from components.exhibits.lab.found import Found
from components.exhibits.panels import LAB
from components.exhibits.report.document import Made, report
from components.fitting import Fit
from components.tables import Columns
from components.texts import Sentence, Texts


def reported(
    fit: Fit,
    titles: Mapping[str, str],
    name: str,
    columns: Columns,
    notes: tuple[Sentence, ...],
    say: Texts,
) -> str:
    """The report as HTML. ``titles``: of backbones by their keys; ``name``: that of the table."""
    facts = {
        say("lab.fact_table"): name,
        say("lab.column_of_text"): columns.text,
        say("lab.column_of_pair"): columns.text_pair,
        say("lab.column_of_label"): columns.label,
        say("lab.fact_folds"): str(fit.plan.folds),
        say("lab.fact_seed"): str(fit.plan.seed),
        say("lab.fact_notes"): say.together(note.said(say) for note in notes),
    }
    known = {fact: value for fact, value in facts.items() if value}
    return "".join(report([LAB], Found(fit, titles), {}, known, Made(datetime.now(UTC)), say))
