"""How far a comparison is, and what its curves show, as escaped HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from components.errors import PoolscopeError
from components.figures.curves import Curve
from components.figures.grid import Comparison
from components.figures.labels import shorten, visible
from components.figures.view import Say, number
from components.ui.away import TEXT, away
from components.ui.captions import titled
from components.ui.plot_csv import curves_csv

LEAST_WIDTH = 440  # pixels below which the curves scroll in their box


def progress(comparison: Comparison, say: Say) -> str:
    """How many backbones have answered."""
    done, total = len(comparison.compared), len(comparison.backbones)
    key = "compare.progress" if comparison.after is None else "edit.progress"
    line, label = escape(say(key, done=done, total=total)), escape(say("compare.bar"))
    bar = f'<progress max="{total}" value="{done}" aria-label="{label}"></progress>'
    return f'<div class="progress" role="status"><p>{line}</p>{bar}</div>'


def result(comparison: Comparison, say: Say) -> str:
    """What has come in the end."""
    done, total = len(comparison.compared), len(comparison.backbones)
    if comparison.state == "stopped":
        line = say("compare.stopped", done=done, total=total)
    else:
        line = say(_whole(comparison), count=len(comparison.cells), total=total)
    return f'<p class="progress" role="status">{escape(line)}</p>'


def _whole(comparison: Comparison) -> str:
    """The key of what a whole comparison took."""
    if comparison.after is not None:
        return "edit.done" if len(comparison.backbones) > 1 else "edit.done_one"
    return "compare.done" if len(comparison.backbones) > 1 else "compare.done_one"


def failure(error: PoolscopeError, say: Say) -> str:
    """Why nothing is compared; what is shown stays."""
    lead, message = escape(say("compare.refused")), escape(visible(error.said(say)))
    return f'<div class="mistake" role="alert"><p class="reads">{lead}</p><p>{message}</p></div>'


def curves_heading(lines: Sequence[Curve], comparison: Comparison, say: Say, name: str = "curves") -> str:
    """What the curves ask, and where each begins and ends."""
    ends = say.listed(
        say(
            "compare.curves_end",
            backbone=line.name,
            first=number(line.values[0]),
            last=number(line.values[-1]),
        )
        for line in lines
    )
    described = (
        say("compare.curves_description", count=len(lines), ends=ends)
        if lines
        else say("compare.curves_none")
    )
    hint = say("compare.curves_hint") if lines else say("compare.curves_none")
    room = f"<style>#{name}-plot .js-plotly-plot {{ min-width: {LEAST_WIDTH}px }}</style>"
    row = away(name, curves_csv(comparison, say), _about(comparison, say), say) if lines else ""
    heading = titled(name, say("compare.curves_heading"), described, row)
    return f'{heading}<p class="hint">{escape(hint)}</p>{room}'


def _about(comparison: Comparison, say: Say) -> str:
    """The text or the pair that was compared, not escaped."""
    query = comparison.cells[0].query
    key = "away.about_curves_pair" if query.text_pair else "away.about_curves"
    texts = (shorten(visible(text), TEXT) for text in (query.text, query.text_pair))
    return say(key, **dict(zip(("text", "text_pair"), texts, strict=True)))
