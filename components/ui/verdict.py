"""The verdict: one sentence on what the head reads and one on what it says, as escaped HTML."""

from __future__ import annotations

import re
from html import escape

from components.errors import PoolscopeError
from components.figures.labels import shorten, visible, word
from components.figures.outputs import output_text, ranked
from components.figures.view import Say, View
from components.texts import Sentence
from components.types import Analysis

NAMED = 4  # tokens that the sentence names; more are only counted


def verdict(view: View, say: Say) -> str:
    """The answer in words."""
    analysis = view.analysis
    read, total = int(analysis.reads.positions.sum()), len(view.labels)
    lines = [f'<p class="reads">{_reads(view, say)}</p>', f'<p class="says">{_says(analysis, say)}</p>']
    rest = "verdict.rest_none" if read == 0 else "verdict.rest_all" if read == total else "verdict.rest_one"
    lines.append(f'<p class="detail">{escape(say(rest))}</p>')
    return f'<div class="verdict">{"".join(lines)}</div>{_notices(analysis.warnings, say)}'


def mistake(error: PoolscopeError, say: Say) -> str:
    """What is shown in the place of the verdict where there is none."""
    heading, message = escape(say("verdict.mistake")), escape(visible(error.said(say)))
    return f'<div class="mistake" role="alert"><p class="reads">{heading}</p><p>{message}</p></div>'


def _reads(view: View, say: Say) -> str:
    reads = [int(index) for index in view.analysis.reads.positions.nonzero()[0]]
    unread = [int(index) for index in (~view.analysis.reads.positions).nonzero()[0]]
    total = len(view.labels)
    reader = _reader(view.analysis, say)
    count = _strong(say("verdict.count", read=len(reads), total=total))
    if not unread:
        every = _strong(say("verdict.count_all", total=total))
        return say("verdict.reads_all", reader=reader, count=every)
    if not reads:
        none = _strong(say("verdict.count_none", total=total))
        return say("verdict.reads_all", reader=reader, count=none)
    if len(reads) <= NAMED:
        tokens = say.listed(_token(view, index, say) for index in reads)
        return say("verdict.reads_some", reader=reader, count=count, tokens=tokens)
    if len(unread) <= NAMED:
        tokens = say.listed(_token(view, index, say) for index in unread)
        return say("verdict.reads_but", reader=reader, count=count, tokens=tokens)
    return say("verdict.reads_many", reader=reader, count=count)


def _reader(analysis: Analysis, say: Say) -> str:
    """Who reads: the checkpoint's class, with the vector it is given if that is not its own, or the probe."""
    query, architecture = analysis.query, _breakable(analysis.backbone.architecture)
    if query.head == "probe":
        return say("verdict.probe", pooling=_strong(query.pooling), task=_strong(say.name(query.task)))
    if query.pooling != "native":
        return say("verdict.fed", architecture=architecture, pooling=_strong(query.pooling))
    return architecture


def _says(analysis: Analysis, say: Say) -> str:
    if not analysis.head_trained:
        return f'<span class="untrained">{escape(say("verdict.untrained"))}</span>'
    chosen = [index for index in ranked(analysis) if _stands_out(analysis, index)]
    if not chosen:
        return escape(say("verdict.says_none", total=len(analysis.labels)))
    answers = (
        say(
            "verdict.answer",
            label=_strong(shorten(visible(analysis.labels[index]), 40)),
            value=escape(output_text(analysis, index)),
        )
        for index in chosen[:NAMED]
    )
    return say("verdict.says", answer=say.listed(answers))


def _stands_out(analysis: Analysis, index: int) -> bool:
    return analysis.problem_type == "regression" or analysis.labels[index] in analysis.predicted


def _token(view: View, index: int, say: Say) -> str:
    read = view.analysis.reads.positions[index]
    chip = (
        f'<span class="token{" read" if read else ""}">{escape(shorten(word(view.labels[index]), 24))}</span>'
    )
    last = len(view.labels) - 1
    if index == 0:
        return say("verdict.first", token=chip)
    return (
        say("verdict.last", token=chip) if index == last else say("verdict.nth", token=chip, number=index + 1)
    )


def _notices(warnings: tuple[Sentence, ...], say: Say) -> str:
    if not warnings:
        return ""
    items = "".join(f"<li>{escape(visible(warning.said(say)))}</li>" for warning in warnings)
    heading = _strong(say("verdict.notices"))
    return f'<div class="notices" role="status">{heading}<ul>{items}</ul></div>'


def _breakable(name: str) -> str:
    """A class name that may break before its capitals on a narrow screen."""
    words = re.split(r"(?<=[a-z0-9])(?=[A-Z])", visible(name))
    return f"<code>{'<wbr>'.join(escape(word) for word in words)}</code>"


def _strong(text: str) -> str:
    return f"<strong>{escape(text)}</strong>"
