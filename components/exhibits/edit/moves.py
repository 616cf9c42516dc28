"""What an edit moves: the cell of each combination, words nearer to or farther from [CLS], what is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from components.exhibits.answer.verdict import output_text
from components.exhibits.comparison.cells import (
    LABEL,
    absent_html,
    cell_html,
    cell_name,
    label_style,
    labels_text,
    like_html,
    like_key,
    link_html,
    mark_html,
    notes_html,
    output_label,
    probabilities_text,
    reads_text,
    scrolled_table,
)
from components.exhibits.comparison.comparison import Comparison, grouped, predicts
from components.exhibits.control import State
from components.exhibits.draw.labels import shorten, token_labels, visible
from components.exhibits.draw.style import DIVERGING, diverging, ink
from components.exhibits.edit.versions import Move, Versions, align_versions, furthest, reads_same, versions
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    csv_link,
    hint_html,
    legend_html,
    titled_html,
    unseen_html,
)
from components.exhibits.view import number, percent, rounded_percent
from components.texts import Texts
from components.types import Analysis

VALUE = 2  # decimals of a regression's value


def moved_text(move: Move, say: Texts) -> str:
    """By how much the followed output moved, "−24 pp": what both values differ by as they are shown.

    "" where it cannot be said. Of a move that their rounding hides, it says below what it is.
    """
    if move.answers is None or move.output is None:
        return ""
    was, now = (float(analysis.probabilities[move.output]) for analysis in move.answers)
    if move.answers[0].problem_type == "regression":
        return signed(round(now, VALUE) - round(was, VALUE), VALUE)
    (before, fine), (after, finer) = rounded_percent(was), rounded_percent(now)
    digits = max(fine, finer)
    if before == after and was != now:
        return say("edit.tiny", least=f"{10**-digits:.{digits}f}")
    return say("edit.points", value=signed(after - before, digits))


def exact_text(move: Move, say: Texts) -> str:
    """The same with two decimals, from the values themselves; "" where it cannot be said."""
    if move.answers is None or move.moved is None:
        return ""
    if move.answers[0].problem_type == "regression":
        return signed(move.moved, 2 * VALUE)
    return say("edit.points", value=signed(100 * move.moved, VALUE))


def signed(value: float, digits: int) -> str:
    """A number with its sign; "±" for what is rounded to nothing."""
    rounded = round(value, digits)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else "±"
    return sign + number(abs(rounded), digits)


def move_cell(move: Move, both: Versions, comparison: Comparison, say: Texts) -> str:
    """The cell of a grid. Text first, so that colour and outline only repeat what stands there."""
    before, after = move.before.analysis, move.after.analysis
    if before is None or after is None:
        return absent_html(move.before if before is None else move.after, say)
    was = f"{unseen_html(say('edit.before'))}{_html(before, say)}"
    now = f"{unseen_html(say('edit.after'))}{_html(after, say)}"
    trained = not (before.random or after.random)
    notes = _notes(move, trained, say)
    by = escape(_followed(move, say)) if move.answers and trained else ""
    first = both.same[move][0]
    if first is not move:
        text = link_html(
            after, like_html(first.before, f"{was}; {now} {by}", say) + notes_html(notes, say), say
        )
    else:
        text = link_html(before, was, say, "was")
        text += link_html(after, f'<span class="label">{now}</span>{notes_html(notes, say)}', say)
        text += f'<span class="by">{by}</span>' if by else ""
        text += mark_html("⇄") if move.flips else ""
    told = trained and predicts(after)
    kinds = ["edit", "told" if told else "value" if trained else "untrained"]
    kinds += [kind for kind, holds in (("flip", move.flips), ("swap", move.swapped)) if holds]
    style = label_style(after, comparison.colours) if told else ""
    return cell_html(kinds, text, [*_hint(move, before, after, comparison, say), *notes], style)


def _notes(move: Move, trained: bool, say: Texts) -> list[str]:
    """What a reader must know of a cell beside its answers, not escaped."""
    notes = {"edit.flips": move.flips, "compare.random": not trained, "compare.swap": move.swapped}
    return [say(key) for key, holds in notes.items() if holds]


def move_marks(both: Versions, say: Texts) -> list[str]:
    """Entries of the legend: what marks and numbers mean, for those that occur."""
    items: list[str] = []
    if any(move.flips for move in both.moves):
        items.append(f"<li>{mark_html('⇄')}{escape(say('edit.key_flips'))}</li>")
    if any(move.predicts for move in both.moves):
        items.append(f"<li>{escape(say('edit.key_points'))}</li>")
    if len(both.distinct) < len(both.same):
        items.append(like_key(say))
    return items


def _text(analysis: Analysis, say: Texts) -> str:
    """What is said, not escaped."""
    if analysis.problem_type == "regression":
        return output_text(analysis, 0)
    return f"{labels_text(analysis.predicted, say, LABEL)} {probabilities_text(analysis)}".strip()


def _html(analysis: Analysis, say: Texts) -> str:
    """What is said, its number in one piece."""
    if analysis.problem_type == "regression" or not analysis.predicted:
        return escape(_text(analysis, say))
    probabilities = f'<span class="number">{escape(probabilities_text(analysis))}</span>'
    return f"{escape(labels_text(analysis.predicted, say, LABEL))} {probabilities}"


def _followed(move: Move, say: Texts) -> str:
    """The move, after the label's name where it is not the one that stands first."""
    moved = moved_text(move, say)
    if move.answers is None or move.output is None or move.answers[0].problem_type != "multi_label":
        return moved
    return f"{output_label(move.answers[0], move.output, LABEL)} {moved}"


def _hint(move: Move, before: Analysis, after: Analysis, comparison: Comparison, say: Texts) -> list[str]:
    """What is seen on hovering, line by line, not escaped."""
    lines = [cell_name(move.before, comparison, say)]
    for analysis, key in ((before, "edit.before"), (after, "edit.after")):
        lines.append(f"{say(key)}{_text(analysis, say)}; {reads_text(analysis, say)}")
    if move.answers is None:
        return [*lines, say("edit.incomparable")]
    if not before.random and move.output is not None:
        label = output_label(before, move.output)
        lines.append(say("edit.followed", label=label, moved=exact_text(move, say)))
    return lines


LEAST = 0.05  # the change of similarity that has the full colour, where none is larger
LEAST_SHARE = 0.001  # of what is read: a share that moved less did not move
READ = 3  # tokens that a row names; more are only counted
WORD, NAME = 18, 28  # characters of a word, and of a name
TITLES = (  # of the columns of the words
    "compare.column_backbone",
    *(f"edit.column_{name}" for name in ("word", "kind", "text", "similar", "similar_now", "change")),
)
READS_TITLES = (
    "compare.corner",
    "compare.poolings",
    "edit.reads_before",
    "edit.reads_after",
    "edit.reads_most",
)


def moves(comparison: Comparison, _: State, say: Texts) -> Shown:
    """Both tables; nothing before any backbone has answered both versions."""
    both = versions(comparison)
    found = None if both is None else align_versions(both)
    if both is None or found is None:
        return Shown()
    reads = [(*move.answers, found.reads(*move.answers)) for move in both.moves if move.answers]
    told = _reads(reads, comparison.names, say) if reads else ""
    if found.words is None:
        return Shown(html=titled_html("edit-words", say("edit.words_heading"), say("edit.unaligned")) + told)
    data = found.words.assign(
        kind=[say(f"edit.{kind}") for kind in found.words["kind"]], text=found.words["text"] + 1
    ).set_axis([say(key) for key in TITLES], axis=1)
    link = csv_link(data, "poolscope-versions-words.csv", say("table.download"))
    return Shown(data=data, html=_similarity(found.words, comparison.names, say) + link + told)


MOVES = Exhibit(
    "moves",
    moves,
    element="compare-moves",
    style="compare-moves",
    applies=lambda comparison: comparison.after is not None,
)


def _similarity(words: pd.DataFrame, names: Mapping[str, str], say: Texts) -> str:
    """How much nearer to [CLS] each word came: a column for each word, a row for each backbone."""
    rows = [(names[str(key)], own) for key, own in words.groupby("backbone", sort=False)]
    most = max(LEAST, words["moved"].abs().max())  # LEAST, too, where the other is NaN: nothing is in both
    title, ends = say("edit.words_heading"), [_most(name, own, say) for name, own in rows]
    told = say("edit.words_description", ends=say("list.semicolon").join(ends))
    _, first = rows[0]
    head = f'<th scope="col">{escape(say("compare.corner"))}</th>'
    for word, step in zip(first.itertuples(), first["text"].diff().fillna(0), strict=True):
        head += _word_head(word, step != 0, say)
    body = "".join(_word_row(name, own, most, say) for name, own in rows)
    table = scrolled_table(title, head, body, "nearness")
    heading = titled_html("edit-words", title, told) + hint_html(say("edit.words_hint"))
    return f"{heading}{table}{_legend(most, set(first['kind']), say)}"


def _word_head(word: Any, second: bool, say: Texts) -> str:
    """A word; struck through if it was dropped, underlined if it is new. ``second``: another text begins."""
    surface = escape(shorten(visible(word.word), WORD))
    cell = f'<th scope="col"{" class=second" if second else ""} title="{escape(visible(word.word))}">'
    if word.kind == "kept":
        return f"{cell}{surface}</th>"
    tag = "ins" if word.kind == "new" else "del"
    spoken = say(f"edit.{word.kind}")
    return f"{cell}<{tag}>{surface}</{tag}>{unseen_html(f' {spoken}')}</th>"


def _word_row(name: str, words: pd.DataFrame, most: float, say: Texts) -> str:
    best = furthest(words)
    marked = None if best is None else best.name
    cells = "".join(_word_cell(word, most, word.Index == marked, say) for word in words.itertuples())
    return f'<tr><th scope="row" title="{escape(name)}">{escape(shorten(name, NAME))}</th>{cells}</tr>'


def _word_cell(word: Any, most: float, marked: bool, say: Texts) -> str:
    """One word of one backbone: the change, and both values under it."""
    if pd.isna(word.moved):
        value = word.after if pd.isna(word.before) else word.before
        key = "edit.unseen" if pd.isna(value) else "edit.dropped" if word.kind == "dropped" else "edit.new"
        alone = "–" if pd.isna(value) else number(value)
        return f'<td class="alone">{unseen_html(f"{say(key)} ")}{alone}</td>'
    colour = diverging(word.moved / most)
    values = say("edit.values", before=number(word.before), after=number(word.after))
    mark = unseen_html(say("edit.furthest")) if marked else ""
    kind = ' class="furthest"' if marked else ""
    style = f"background: {colour}; color: {ink(colour)}"
    return f'<td{kind} style="{style}"><b>{signed(word.moved, 2)}</b><small>{values}</small>{mark}</td>'


def _most(name: str, words: pd.DataFrame, say: Texts) -> str:
    """The word that moved most under one backbone, not escaped."""
    best = furthest(words)
    if best is None:
        return say("edit.unmoved", backbone=name)
    word, before, after = shorten(visible(best["word"]), 40), number(best["before"]), number(best["after"])
    return say("edit.most", backbone=name, word=word, before=before, after=after)


def _legend(most: float, kinds: set[str], say: Texts) -> str:
    """What the colours and the marks of words mean."""
    colours = ", ".join(str(colour) for _, colour in DIVERGING)
    strip = f'<span class="strip" style="background: linear-gradient(90deg, {colours})"></span>'
    ends = f"<span>−{number(most)}</span>{strip}<span>+{number(most)}</span>"
    items = [f'<li class="scale">{escape(say("edit.key_change"))} {ends}</li>']
    items.append(f'<li><span class="key furthest"></span>{escape(say("edit.furthest"))}</li>')
    items += [f"<li><del>{escape(say('edit.dropped'))}</del></li>"] if "dropped" in kinds else []
    items += [f"<li><ins>{escape(say('edit.new'))}</ins></li>"] if "new" in kinds else []
    return legend_html(*items)


def _reads(
    reads: Sequence[tuple[Analysis, Analysis, pd.DataFrame]], names: Mapping[str, str], say: Texts
) -> str:
    """What each combination reads of both versions; combinations of a backbone that do alike together."""
    texts = [
        (_read_text(before, say), _read_text(after, say), _share(moved, say))
        for before, after, moved in reads
    ]
    asked = [before.query for before, _, _ in reads]
    groups = grouped((query.backbone, (one, query.pooling)) for query, one in zip(asked, texts, strict=True))
    head = "".join(f'<th scope="col">{escape(say(key))}</th>' for key in READS_TITLES)
    rows = "".join(_read_rows(names[backbone], grouped(own), say) for backbone, own in groups.items())
    same = sum(reads_same(moved) for _, _, moved in reads)
    title, told = say("edit.reads_heading"), say("edit.reads_same", count=same, total=len(reads))
    hint = f'<p class="hint" aria-hidden="true">{escape(told)}</p>'
    return titled_html("edit-reads", title, told) + hint + scrolled_table(title, head, rows, "reads")


def _read_rows(name: str, alike: Mapping[tuple[str, ...], list[str]], say: Texts) -> str:
    """The rows of one backbone, each for poolings that do alike; its name stands once before them."""
    head = f'<th scope="row" rowspan="{len(alike)}">{escape(shorten(name, NAME))}</th>'
    rows = [
        "".join(f"<td>{escape(text)}</td>" for text in (say.listed(map(visible, poolings)), *texts))
        for texts, poolings in alike.items()
    ]
    return "".join(f"<tr>{'' if place else head}{cells}</tr>" for place, cells in enumerate(rows))


def _read_text(analysis: Analysis, say: Texts) -> str:
    """Which tokens are read, not escaped: by name if they are few."""
    query, read = analysis.query, analysis.reads.positions
    count, total = int(read.sum()), len(read)
    if count == total > 1:
        return say("edit.read_all", total=total)
    if not 0 < count <= READ:
        return say("edit.read_some", read=count, total=total)
    labels = token_labels(analysis.tokens, (query.text, query.text_pair))
    return say.listed(shorten(label) for label, one in zip(labels, read, strict=True) if one)


def _share(reads: pd.DataFrame, say: Texts) -> str:
    """The word or token whose share of what is read moved most, not escaped."""
    best = furthest(reads, LEAST_SHARE)
    if best is None:
        return say("edit.reads_unmoved")
    before, after = (
        say("edit.absent") if pd.isna(share) else percent(share) for share in (best["before"], best["after"])
    )
    return say("edit.share", part=shorten(best["name"], NAME), before=before, after=after)
