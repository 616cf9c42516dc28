"""The verdict: one sentence on what the head reads and one on what it says, as escaped HTML."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape

from components.errors import PoolscopeError
from components.exhibits.answer.outputs import chosen_labels, output_text
from components.exhibits.answer.similarity import flat_count, largest_share, won_dimensions
from components.exhibits.control import State
from components.exhibits.draw.labels import CAPITALS, breakable_html, shorten, visible, word
from components.exhibits.exhibit import Exhibit, Shown, strong_html, token_html
from components.exhibits.view import View, indices
from components.texts import Sentence, Texts
from components.types import Analysis

UNTRAINED = "reading_untrained"
READING = (
    *(f"reading_{key}" for key in ("reads", "similarity", "ordinary", "centred", "share")),
    UNTRAINED,
)
NAMED = 4  # tokens that the sentence names; more are only counted


def verdict(analysis: Analysis, state: State, say: Texts) -> Shown:
    """The answer in words."""
    view = View.of(analysis, state)
    read, total = int(analysis.reads.positions.sum()), len(view.labels)
    lines = [f'<p class="reads">{_reads(view, say)}</p>', f'<p class="says">{_says(analysis, say)}</p>']
    if analysis.unreadable is not None:  # first, before anything that sounds like an answer
        lines.insert(0, f'<p class="reads unreadable">{escape(visible(analysis.unreadable.said(say)))}</p>')
    rest = "rest_none" if read == 0 else "rest_all" if read == total else "rest_one"
    reads, quoted = analysis.reads, partial(_quoted, view, say=say)
    details = (_of_layer(rest, analysis, say), flat_count(reads, say), won_dimensions(reads, quoted, say))
    lines.append(f'<p class="detail">{escape(say.together(filter(None, details)))}</p>')
    notices = _notices([one for one in analysis.warnings if one is not analysis.unreadable], say)
    return Shown(html=f'<div class="verdict">{"".join(lines)}</div>{notices}')


VERDICT = Exhibit("reads", verdict, element="verdict", frame="bare", title="verdict.title")


def how_to_read(analysis: Analysis, _: State, say: Texts) -> Shown:
    """How to read the figures, in a few sentences, for who has no page to try them on."""
    known = not analysis.backbone.live  # whether it shows which weights were drawn at random
    items = "".join(f"<li>{escape(say(f'away.{key}'))}</li>" for key in READING if known or key != UNTRAINED)
    return Shown(html=f"<h2>{escape(say('away.reading'))}</h2><ul>{items}</ul>")


HOW_TO_READ = Exhibit("reading", how_to_read, where=frozenset({"report"}))


def mistake(error: PoolscopeError, say: Texts) -> str:
    """What is shown in the place of the verdict where there is none."""
    heading, message = escape(say("verdict.mistake")), escape(visible(error.plainly(say)))
    return f'<div class="mistake" role="alert"><p class="reads">{heading}</p><p>{message}</p></div>'


def _reads(view: View, say: Texts) -> str:
    """What is read and, of several tokens, which is most of it."""

    def name(index: int) -> str:
        return token_html(view.labels[index], read=True)

    return say.together(filter(None, (_read(view, say), largest_share(view.analysis.reads, name, say))))


def _read(view: View, say: Texts) -> str:
    reads, unread = indices(view.analysis.reads.positions), indices(~view.analysis.reads.positions)
    total, reader = len(view.labels), _reader(view.analysis, say)
    if not reads or not unread:
        every = strong_html(say("verdict.count_all" if reads else "verdict.count_none", total=total))
        return say("verdict.reads_all", reader=reader, count=every)
    count = strong_html(say("verdict.count", read=len(reads), total=total))
    for key, few in (("verdict.reads_some", reads), ("verdict.reads_but", unread)):
        if len(few) <= NAMED:
            tokens = say.listed(_token(view, index, say) for index in few)
            return say(key, reader=reader, count=count, tokens=tokens)
    return say("verdict.reads_many", reader=reader, count=count)


def _reader(analysis: Analysis, say: Texts) -> str:
    """Who reads: the checkpoint's class, with the vector it is given if that is not its own, or the probe."""
    query, name = analysis.query, visible(analysis.backbone.architecture)
    architecture = f"<code>{breakable_html(name, CAPITALS)}</code>"
    pooling = strong_html(query.pooling)
    if query.head != "own":
        return _of_layer("probe", analysis, say, pooling=pooling, task=strong_html(say.name(query.task)))
    if query.pooling != "native" or analysis.lower:
        return _of_layer("fed", analysis, say, architecture=architecture, pooling=pooling)
    return architecture


def _of_layer(key: str, analysis: Analysis, say: Texts, **values: str) -> str:
    """What is said of the last layer, or of a lower one that is pooled in its place."""
    if not analysis.lower:
        return say(f"verdict.{key}", **values)
    return say(f"verdict.{key}_lower", layer=analysis.pool_layer, **values)


def _says(analysis: Analysis, say: Texts) -> str:
    if analysis.random:
        why = "verdict.untrained_body" if analysis.head_trained else "verdict.untrained"
        return f'<span class="untrained">{escape(say(why))}</span>'
    chosen = chosen_labels(analysis)
    if not chosen:
        return escape(say("verdict.says_none", total=len(analysis.labels)))
    answers = (
        say(
            "verdict.answer",
            label=strong_html(shorten(visible(analysis.labels[index]), 40)),
            value=escape(output_text(analysis, index)),
        )
        for index in chosen[:NAMED]
    )
    key = "verdict.says" if analysis.unreadable is None else "verdict.says_unread"
    return say(key, answer=say.listed(answers))


def _quoted(view: View, index: int, say: Texts) -> str:
    """A token by its name, not escaped: a word of the text in quotes, for it may be a full stop."""
    name = shorten(word(view.labels[index]), 24)
    return name if view.analysis.tokens.special[index] else say("similarity.stand_in", token=name)


def _token(view: View, index: int, say: Texts) -> str:
    chip = token_html(view.labels[index], bool(view.analysis.reads.positions[index]))
    if len(view.labels) == 1:
        return say("verdict.alone", token=chip)
    if index == 0:
        return say("verdict.first", token=chip)
    if index == len(view.labels) - 1:
        return say("verdict.last", token=chip)
    return say("verdict.nth", token=chip, number=index + 1)


def _notices(warnings: Sequence[Sentence], say: Texts) -> str:
    if not warnings:
        return ""
    items = "".join(f"<li>{escape(visible(warning.said(say)))}</li>" for warning in warnings)
    heading = strong_html(say("verdict.notices"))
    return f'<div class="notices" role="status">{heading}<ul>{items}</ul></div>'
