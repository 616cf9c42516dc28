"""Two versions of a text under the same combinations: what moved in their outputs, words and reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from html import escape
from itertools import count
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from components.analyses.compare import Cell
from components.exhibits.comparison import (
    LABEL,
    Comparison,
    Labels,
    absent_html,
    cell_html,
    cell_name,
    grouped,
    label_style,
    labels_text,
    like_html,
    like_key,
    link_html,
    mark_html,
    notes_html,
    output_label,
    predicts,
    probabilities_text,
    reads_text,
    scrolled_table,
)
from components.exhibits.control import State
from components.exhibits.draw import DIVERGING, diverging, ink
from components.exhibits.exhibit import (
    Exhibit,
    Shown,
    csv_link,
    data_frame,
    hint_html,
    legend_html,
    titled_html,
    unseen_html,
)
from components.exhibits.verdict import output_text
from components.exhibits.view import number, percent, rounded_percent, shorten, token_labels, visible
from components.exhibits.words import Alignment, align, holding, mean
from components.texts import Texts
from components.types import Analysis


@dataclass(frozen=True, eq=False)
class Move:
    """One combination asked about both versions."""

    before: Cell
    after: Cell

    @cached_property
    def answers(self) -> tuple[Analysis, Analysis] | None:
        """Both answers, if there are both and they choose among the same labels."""
        before, after = self.before.analysis, self.after.analysis
        if before is None or after is None:
            return None
        asked = (before.labels, before.query.task) == (after.labels, after.query.task)
        return (before, after) if asked else None

    @property
    def predicts(self) -> bool:
        """Whether both answers are predictions: of a trained head that chooses labels."""
        return self.answers is not None and all(map(predicts, self.answers))

    @property
    def swapped(self) -> bool:
        """Whether an own head was given another vector than it was trained on, in either version."""
        return any(one is not None and one.swapped for one in (self.before.analysis, self.after.analysis))

    @property
    def turn(self) -> tuple[Labels, ...]:
        """The labels that are predicted before and after, each sorted; () where these are no predictions."""
        return tuple(tuple(sorted(one.predicted)) for one in self.answers or () if self.predicts)

    @property
    def flips(self) -> bool:
        """Whether other labels are predicted than before; an untrained head never does that."""
        return len(set(self.turn)) > 1

    @cached_property
    def output(self) -> int | None:
        """Which output is followed: that of the label predicted before; else the one that moved most."""
        if self.answers is None:
            return None
        before, after = self.answers
        if before.problem_type == "single_label":
            return int(np.argmax(before.probabilities))
        return int(np.argmax(np.abs(after.probabilities - before.probabilities)))

    @property
    def moved(self) -> float | None:
        """By how much this output moved: a probability, in [-1, 1], or the value of a regression."""
        if self.answers is None or self.output is None:
            return None
        before, after = self.answers
        return float(after.probabilities[self.output]) - float(before.probabilities[self.output])


@dataclass(frozen=True, eq=False)
class Versions:
    """What came of both versions. ``before`` and ``after`` have the same backbones and poolings."""

    before: Comparison
    after: Comparison

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """A move for each combination of which both cells have come, row by row."""
        later = {(cell.query.backbone, cell.query.pooling): cell for cell in self.after.cells}
        keys = ((cell, (cell.query.backbone, cell.query.pooling)) for cell in self.before.cells)
        return tuple(Move(cell, later[key]) for cell, key in keys if key in later)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of both versions, those of a combination one after the other."""
        return tuple(cell for move in self.moves for cell in (move.before, move.after))

    @cached_property
    def same(self) -> Mapping[Move, tuple[Move, ...]]:
        """For each move that both versions answer those that are its vector in both, itself among them."""
        answered = (move for move in self.moves if move.before.analysis and move.after.analysis)
        vectors = grouped(
            ((self.before.first(move.before), self.after.first(move.after)), move) for move in answered
        )
        return {move: tuple(vector) for vector in vectors.values() for move in vector}

    @cached_property
    def distinct(self) -> tuple[Move, ...]:
        """Those that both versions answer; of those that are one and the same vector in both, the first."""
        return tuple(move for move, vector in self.same.items() if move is vector[0])

    @cached_property
    def predicting(self) -> tuple[Move, ...]:
        """Those of two predictions, no swaps."""
        return tuple(move for move in self.distinct if move.predicts and not move.swapped)

    @cached_property
    def swaps(self) -> tuple[Move, ...]:
        """Swaps of two predictions."""
        return tuple(move for move in self.distinct if move.predicts and move.swapped)

    @cached_property
    def flips(self) -> tuple[Move, ...]:
        """Those of two different predictions, no swaps."""
        return tuple(move for move in self.predicting if move.flips)

    @property
    def largest(self) -> Move | None:
        """The two predictions whose probability moved most; of several the first; None if none moved."""
        moved = [(abs(move.moved), move) for move in self.predicting if move.moved]
        return max(moved, key=lambda one: one[0])[1] if moved else None


def versions(comparison: Comparison) -> Versions | None:
    """Both versions of a comparison; None if it has only one."""
    if comparison.after is None:
        return None
    alone = replace(comparison, after=None)
    return Versions(alone, replace(alone, compared=comparison.after))


WHOLE_DEPTH = 100.0  # percent of the layers: what the head receives
NOT_THERE = (nan, False)  # no share, and not read

Place = tuple[int, int]  # a word of one version: the number of its text, and its own in there
Match = tuple[Place | None, Place | None]  # a word in both versions; None where it is not there
Unit = int | tuple[str, int]  # the number of a match; or a token of no word, and which of its kind it is


@dataclass(frozen=True, eq=False)
class AlignedVersions:
    """Both versions, their words aligned across all backbones and matched with each other."""

    before: Alignment
    after: Alignment

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """Every word of both, dropped ones where they stood."""
        return match_words(_surfaces(self.before), _surfaces(self.after))

    @cached_property
    def words(self) -> pd.DataFrame | None:
        """How near to [CLS] each word is at the last layer; None where no backbone can be aligned.

        A row for each backbone (its key) and word. ``kind``: kept, new or dropped. ``text``: the number of
        its text, in the second version if it is there. ``before``, ``after``: similarities in [-1, 1], NaN
        where it is not there or not seen; ``moved``: their difference.
        """
        names = ("backbone", "word", "kind", "text", "before", "after")
        keys = [key for key, one in self.before.backbones.items() if one.aligned]
        rows = [row for key in keys if key in self.after.backbones for row in self._nearness(key)]
        if not rows:
            return None
        found = data_frame(zip(names, zip(*rows, strict=True), strict=True))
        return found.assign(moved=found["after"] - found["before"])

    def reads(self, before: Analysis, after: Analysis) -> pd.DataFrame:
        """What one combination reads of each word, and of each token of no word, by name.

        ``before``, ``after``: the share of what the head reads, in [0, 1], NaN where it is not there.
        ``was``, ``now``: whether it is read. ``moved``: by how much its share moved; what is not there has
        none.
        """
        old = _shares(before, self.before, {place: at for at, (place, _) in enumerate(self.matches) if place})
        new = _shares(after, self.after, {place: at for at, (_, place) in enumerate(self.matches) if place})
        rows = [
            (self._name(unit), *old.get(unit, NOT_THERE), *new.get(unit, NOT_THERE))
            for unit in dict.fromkeys((*old, *new))
        ]
        names = ("name", "before", "was", "after", "now")
        found = data_frame(zip(names, zip(*rows, strict=True), strict=True))
        return found.assign(moved=found["after"].fillna(0.0) - found["before"].fillna(0.0))

    def _nearness(self, key: str) -> Iterator[tuple[str, str, str, int, float, float]]:
        """Each word's row for one backbone."""
        for match in self.matches:
            (text, _), surface = self._word(match)
            kind = "dropped" if match[1] is None else "kept" if match[0] else "new"
            before, after = _similarity(self.before, key, match[0]), _similarity(self.after, key, match[1])
            yield key, surface, kind, text, before, after

    def _name(self, unit: Unit) -> str:
        return visible(self._word(self.matches[unit])[1]) if isinstance(unit, int) else unit[0]

    def _word(self, match: Match) -> tuple[Place, str]:
        """Where a word stands, in the second version if it is there, and how it is written."""
        before, after = match
        if after is not None:
            return after, self.after.surface(*after)
        assert before is not None  # a match has one of both
        return before, self.before.surface(*before)


def align_versions(versions: Versions) -> AlignedVersions | None:
    """Both versions word by word, as far as they have come; None before both have any answer."""
    before, after = (align(one, WHOLE_DEPTH, "plain") for one in (versions.before, versions.after))
    return None if before is None or after is None else AlignedVersions(before, after)


def furthest(rows: pd.DataFrame, least: float = 0.0) -> pd.Series | None:
    """The row whose value moved most, of several the first; None if none moved by more than ``least``."""
    sizes = rows["moved"].abs()
    return rows.loc[sizes.idxmax()] if sizes.max() > least else None


def reads_same(reads: pd.DataFrame) -> bool:
    """Whether the same is read of what both versions have."""
    both = reads.dropna()
    return bool((both["was"] == both["now"]).all())


def match_words(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> tuple[Match, ...]:
    """Every word of both versions once, in the order of the second, dropped words where they stood.

    A version is the words of one text, or of both of a pair. Words are matched in the order in which they
    stand. Where two texts were swapped, each is matched with where it went.
    """
    crossed = len(before) == len(after) == 2 and _alike(before, after[::-1]) > _alike(before, after)
    found: list[Match] = []
    for text in range(max(len(before), len(after))):
        was = 1 - text if crossed else text
        old, new = (words[at] if at < len(words) else () for words, at in ((before, was), (after, text)))
        for kind, start, end, begin, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            gone, come = [(was, at) for at in range(start, end)], [(text, at) for at in range(begin, stop)]
            if kind == "equal":
                found += zip(gone, come, strict=True)
            else:
                found += [(place, None) for place in gone]
                found += [(None, place) for place in come]
    return tuple(found)


def _alike(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> float:
    """How much of both is the same, from 0 to 1 for each text."""
    return sum(
        SequenceMatcher(None, old, new, autojunk=False).ratio()
        for old, new in zip(before, after, strict=True)
    )


def _surfaces(aligned: Alignment) -> list[list[str]]:
    return [
        [aligned.surface(text, place) for place in range(len(words))]
        for text, words in enumerate(aligned.words)
    ]


def _similarity(aligned: Alignment, key: str, place: Place | None) -> float:
    value = None if place is None else mean(aligned.backbones[key].words[place[0]][place[1]])
    return nan if value is None else value


def _shares(
    analysis: Analysis, aligned: Alignment, numbers: Mapping[Place, int]
) -> dict[Unit, tuple[float, bool]]:
    """Which share is read of each word, and of each token that belongs to none, and whether any of it is."""
    tokens, query = analysis.tokens, analysis.query
    found: dict[Unit, tuple[float, bool]] = {}
    for index, label in enumerate(token_labels(tokens, (query.text, query.text_pair))):
        text, (start, end) = int(tokens.segment[index]), map(int, tokens.span[index])
        unit: Unit
        if text < 0 or tokens.special[index] or start == end or text >= len(aligned.words):
            unit = next((label, at) for at in count(1) if (label, at) not in found)
        else:
            unit = numbers[text, holding(aligned.words[text], (start, end))]
        share, read = found.get(unit, (0.0, False))
        read |= bool(analysis.reads.positions[index])
        found[unit] = share + float(analysis.reads.share[index]), read
    return found


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
        return Shown(
            html=f"{titled_html('edit-words', say('edit.words_heading'), say('edit.unaligned'))}{told}"
        )
    data = found.words.assign(
        kind=[say(f"edit.{kind}") for kind in found.words["kind"]], text=found.words["text"] + 1
    ).set_axis([say(key) for key in TITLES], axis=1)
    link = csv_link(data, "poolscope-versions-words.csv", say("table.download"))
    html = f"{_moves_similarity(found.words, comparison.names, say)}{link}{told}"
    return Shown(data=data, html=html)


MOVES = Exhibit(
    "moves",
    moves,
    element="compare-moves",
    style="compare-moves",
    applies=lambda comparison: comparison.after is not None,
)


def _moves_similarity(words: pd.DataFrame, names: Mapping[str, str], say: Texts) -> str:
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
    return f"{titled_html('edit-reads', title, told)}{hint}{scrolled_table(title, head, rows, 'reads')}"


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
