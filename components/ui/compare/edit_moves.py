"""What an edit moves inside: words nearer to or farther from [CLS], and what is read, as escaped HTML."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from components.figures.colours import diverging, ink
from components.figures.labels import shorten, token_labels, visible
from components.figures.moves import Moved, Nearness, Part, Reading, Word, Words, moved
from components.figures.style import DIVERGING
from components.figures.versions import Move, Versions
from components.figures.view import Say, number, percent
from components.types import Analysis
from components.ui.captions import titled
from components.ui.compare.edit_grid import signed
from components.ui.compare.edit_table import words_csv
from components.ui.sheet import download

LEAST = 0.05  # the change of similarity that has the full colour, where none is larger
READ = 3  # tokens that a row names; more are only counted
WORD = 18  # characters of a word


def edit_moves(versions: Versions, say: Say) -> str:
    """Both tables; "" before any backbone has answered both versions."""
    found = moved(versions)
    if found is None:
        return ""
    return f"{_similarity(found, say)}{_reads(found, say)}"


def _similarity(found: Moved, say: Say) -> str:
    words, names = found.words, found.versions.before.names
    if not words.rows:
        return titled("edit-words", say("edit.words_heading"), say("edit.unaligned"))
    sizes = [abs(one.moved) for row in words.rows.values() for one in row if one.moved is not None]
    most = max([LEAST, *sizes])
    ends = say("list.semicolon").join(_most(names[key], words, key, say) for key in words.rows)
    heading = titled("edit-words", say("edit.words_heading"), say("edit.words_description", ends=ends))
    hint = f'<p class="hint">{escape(say("edit.words_hint"))}</p>'
    head = "".join(_head(word, index, words, say) for index, word in enumerate(words.words))
    rows = "".join(_words_row(names[key], key, words, most, say) for key in words.rows)
    label, corner = escape(say("edit.words_heading")), escape(say("compare.corner"))
    table = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="nearness">'
        f'<caption class="unseen">{label}</caption>'
        f'<thead><tr><th scope="col">{corner}</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
    link = download(words_csv(found, say), "poolscope-versions-words.csv", say("table.download"))
    return f"{heading}{hint}{table}{_scale(most, words, say)}{link}"


def _head(word: Word, index: int, words: Words, say: Say) -> str:
    """A word; struck through if it was dropped, underlined if it is new."""
    surface = escape(shorten(visible(word.surface), WORD))
    second = index > 0 and words.words[index - 1].text != word.text
    cell = f'<th scope="col"{" class=second" if second else ""} title="{escape(visible(word.surface))}">'
    if word.kind == "kept":
        return f"{cell}{surface}</th>"
    tag, key = ("ins", "edit.new") if word.kind == "new" else ("del", "edit.dropped")
    return f'{cell}<{tag}>{surface}</{tag}><span class="unseen"> {escape(say(key))}</span></th>'


def _words_row(name: str, key: str, words: Words, most: float, say: Say) -> str:
    furthest = words.furthest(key)
    cells = "".join(
        _near(one, word, most, index == furthest, say)
        for index, (word, one) in enumerate(zip(words.words, words.rows[key], strict=True))
    )
    return f'<tr><th scope="row" title="{escape(name)}">{escape(shorten(name, 28))}</th>{cells}</tr>'


def _near(one: Nearness, word: Word, most: float, furthest: bool, say: Say) -> str:
    """One word of one backbone: the change, and both values under it."""
    if one.moved is None:
        value = one.after if one.before is None else one.before
        alone = "–" if value is None else number(value)
        key = "edit.unseen" if value is None else "edit.dropped" if word.kind == "dropped" else "edit.new"
        return f'<td class="alone"><span class="unseen">{escape(say(key))} </span>{alone}</td>'
    colour = diverging(one.moved / most)
    values = say("edit.values", before=number(one.before or 0.0), after=number(one.after or 0.0))
    mark = f'<span class="unseen">{escape(say("edit.furthest"))}</span>' if furthest else ""
    kind = ' class="furthest"' if furthest else ""
    style = f"background: {colour}; color: {ink(colour)}"
    return f'<td{kind} style="{style}"><b>{signed(one.moved, 2)}</b><small>{values}</small>{mark}</td>'


def _most(name: str, words: Words, key: str, say: Say) -> str:
    """The word that moved most under one backbone, not escaped."""
    index = words.furthest(key)
    if index is None:
        return say("edit.unmoved", backbone=name)
    one, word = words.rows[key][index], visible(words.words[index].surface)
    before, after = number(one.before or 0.0), number(one.after or 0.0)
    return say("edit.most", backbone=name, word=shorten(word, 40), before=before, after=after)


def _scale(most: float, words: Words, say: Say) -> str:
    """What the colours and the marks of words mean."""
    colours = ", ".join(str(colour) for _, colour in DIVERGING)
    strip = f'<span class="strip" style="background: linear-gradient(90deg, {colours})"></span>'
    ends = f"<span>−{number(most)}</span>{strip}<span>+{number(most)}</span>"
    items = [f'<li class="scale">{escape(say("edit.key_change"))} {ends}</li>']
    items.append(f'<li><span class="key furthest"></span>{escape(say("edit.furthest"))}</li>')
    kinds = {word.kind for word in words.words}
    items += [f"<li><del>{escape(say('edit.dropped'))}</del></li>"] if "dropped" in kinds else []
    items += [f"<li><ins>{escape(say('edit.new'))}</ins></li>"] if "new" in kinds else []
    return f'<ul class="legend">{"".join(items)}</ul>'


def _reads(found: Moved, say: Say) -> str:
    """What each combination reads of both versions; combinations of a backbone that do alike together."""
    readings = [(move, found.reading(*move.answers)) for move in found.versions.moves if move.answers]
    if not readings:
        return ""
    groups: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for move, reading in readings:
        query, row = move.before.query, _row(move, reading, say)
        groups.setdefault(query.backbone, {}).setdefault(row, []).append(visible(query.pooling))
    titles = (
        "compare.corner",
        "compare.poolings",
        "edit.reads_before",
        "edit.reads_after",
        "edit.reads_most",
    )
    head = "".join(f'<th scope="col">{escape(say(key))}</th>' for key in titles)
    names = found.versions.before.names
    rows = "".join(_reads_rows(names[backbone], alike, say) for backbone, alike in groups.items())
    same = sum(reading.same for _, reading in readings)
    told = say("edit.reads_same", count=same, total=len(readings))
    heading = titled("edit-reads", say("edit.reads_heading"), told)
    label = escape(say("edit.reads_heading"))
    return (
        f'{heading}<p class="hint" aria-hidden="true">{escape(told)}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="reads">'
        f'<caption class="unseen">{label}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        f"</table></div>"
    )


def _reads_rows(name: str, alike: Mapping[tuple[str, ...], list[str]], say: Say) -> str:
    """The rows of one backbone, each for poolings that do alike; its name stands once before them."""
    head = f'<th scope="row" rowspan="{len(alike)}">{escape(shorten(name, 28))}</th>'
    rows = [
        "".join(f"<td>{escape(text)}</td>" for text in (say.listed(poolings), *texts))
        for texts, poolings in alike.items()
    ]
    return "".join(f"<tr>{'' if place else head}{cells}</tr>" for place, cells in enumerate(rows))


def _row(move: Move, reading: Reading, say: Say) -> tuple[str, ...]:
    """What is read before and after, and whose share moved most, not escaped."""
    if move.answers is None:
        return ("", "", "")
    before, after = move.answers
    part = reading.furthest
    moved = say("edit.reads_unmoved") if part is None else _part(part, say)
    return read_text(before, say), read_text(after, say), moved


def read_text(analysis: Analysis, say: Say) -> str:
    """Which tokens are read, not escaped: by name if they are few."""
    query, read = analysis.query, analysis.reads.positions
    count, total = int(read.sum()), len(read)
    if count == total > 1:
        return say("edit.read_all", total=total)
    if not 0 < count <= READ:
        return say("edit.read_some", read=count, total=total)
    labels = token_labels(analysis.tokens, (query.text, query.text_pair))
    return say.listed(shorten(label) for label, one in zip(labels, read, strict=True) if one)


def _part(part: Part, say: Say) -> str:
    before = say("edit.absent") if part.before is None else percent(part.before)
    after = say("edit.absent") if part.after is None else percent(part.after)
    return say("edit.share", part=shorten(part.name, 28), before=before, after=after)
