"""Two versions of a text under the same combinations: what moved in their outputs, words and reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
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
    absent,
    cell_name,
    grid_cell,
    grouped,
    labels_text,
    output_label,
    predicts,
    probabilities_text,
    reads_text,
)
from components.exhibits.control import State
from components.exhibits.draw import DIVERGING, diverging, ink
from components.exhibits.exhibit import Exhibit, Shown, csv_link, data_frame, titled_html
from components.exhibits.verdict import output_text
from components.exhibits.view import (
    classify_link,
    labels_of,
    number,
    percent,
    rounded_percent,
    shorten,
    visible,
)
from components.exhibits.words import Alignment, align, holding, mean
from components.markup import render
from components.texts import Texts
from components.types import Analysis


@dataclass(frozen=True, eq=False)
class Move:
    """A combination that is asked about both versions.

    ``swapped``: whether an own head was given another vector than it was trained on, in either. ``answers``:
    both, if there are both and they choose among the same labels; ``predicts``: whether both are of a trained
    head that chooses labels. ``output``: which is followed, that of the label predicted before, else the one
    that moved most; ``moved``: by how much, a probability in [-1, 1], or the value of a regression.
    """

    before: Cell
    after: Cell
    swapped: bool
    answers: tuple[Analysis, Analysis] | None = None
    predicts: bool = False
    output: int | None = None
    moved: float | None = None

    @property
    def turn(self) -> tuple[Labels, ...]:
        """The labels that are predicted before and after, each sorted; () where these are no predictions."""
        return tuple(tuple(sorted(one.predicted)) for one in self.answers or () if self.predicts)

    @property
    def flips(self) -> bool:
        """Tell whether other labels are predicted than before; an untrained head never does that."""
        return len(set(self.turn)) > 1


def _move(before: Cell, after: Cell) -> Move:
    was, now = before.analysis, after.analysis
    swapped = any(one is not None and one.swapped for one in (was, now))
    if was is None or now is None or (was.labels, was.query.task) != (now.labels, now.query.task):
        return Move(before, after, swapped)
    single = was.problem_type == "single_label"
    output = int(np.argmax(was.probabilities if single else np.abs(now.probabilities - was.probabilities)))
    moved = float(now.probabilities[output]) - float(was.probabilities[output])
    return Move(before, after, swapped, (was, now), predicts(was) and predicts(now), output, moved)


@dataclass(frozen=True, eq=False)
class Versions:
    """Answers to both versions. ``before`` and ``after`` have the same backbones and poolings."""

    before: Comparison
    after: Comparison

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """A move for each combination of which both cells have come, row by row."""
        later = {(cell.query.backbone, cell.query.pooling): cell for cell in self.after.cells}
        keys = ((cell, (cell.query.backbone, cell.query.pooling)) for cell in self.before.cells)
        return tuple(_move(cell, later[key]) for cell, key in keys if key in later)

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
        """Moves that both versions answer; of those that are one and the same vector in both, the first."""
        return tuple(move for move, vector in self.same.items() if move is vector[0])

    @cached_property
    def predicting(self) -> tuple[Move, ...]:
        """Moves of two predictions, no swaps."""
        return tuple(move for move in self.distinct if move.predicts and not move.swapped)

    @cached_property
    def swaps(self) -> tuple[Move, ...]:
        """Swaps of two predictions."""
        return tuple(move for move in self.distinct if move.predicts and move.swapped)

    @cached_property
    def flips(self) -> tuple[Move, ...]:
        """Moves of two different predictions, no swaps."""
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
        """Nearness of each word to [CLS] at the last layer; None where no backbone can be aligned.

        A row for each backbone (its key) and word. ``kind``: kept, new or dropped. ``text``: the number of
        its text, in the second version if it is there. ``before``, ``after``: similarities in [-1, 1], NaN
        where it is not there or not seen; ``moved``: their difference.
        """
        rows = []
        for key, one in self.before.backbones.items():
            for match in self.matches if one.aligned and key in self.after.backbones else ():
                (text, _), surface = self._word(match)
                kind = "dropped" if match[1] is None else "kept" if match[0] else "new"
                old, new = (_similarity(self.before, key, match[0]), _similarity(self.after, key, match[1]))
                rows.append((key, surface, kind, text, old, new, new - old))
        names = ("backbone", "word", "kind", "text", "before", "after", "moved")
        return data_frame(zip(names, zip(*rows, strict=True), strict=True)) if rows else None

    def reads(self, before: Analysis, after: Analysis) -> pd.DataFrame:
        """Shares that one combination reads of each word, and of each token of no word, by name.

        ``before``, ``after``: the share of what the head reads, in [0, 1], NaN where it is not there.
        ``was``, ``now``: whether it is read. ``moved``: by how much its share moved; what is not there has
        none.
        """
        old = _shares(before, self.before, {place: at for at, (place, _) in enumerate(self.matches) if place})
        new = _shares(after, self.after, {place: at for at, (_, place) in enumerate(self.matches) if place})
        rows = []
        for unit in dict.fromkeys((*old, *new)):
            name = visible(self._word(self.matches[unit])[1]) if isinstance(unit, int) else unit[0]
            rows.append((name, *old.get(unit, NOT_THERE), *new.get(unit, NOT_THERE)))
        names = ("name", "before", "was", "after", "now")
        found = data_frame(zip(names, zip(*rows, strict=True), strict=True))
        return found.assign(moved=found["after"].fillna(0.0) - found["before"].fillna(0.0))

    def _word(self, match: Match) -> tuple[Place, str]:
        """Find where a word stands, in the second version if it is there, and how it is written."""
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
    """Tell whether the same is read of what both versions have."""
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
    """Rate how much of both is the same, from 0 to 1 for each text."""
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
    """Shares that are read of each word and of each token of none, and whether any of it is read."""
    tokens = analysis.tokens
    found: dict[Unit, tuple[float, bool]] = {}
    for index, label in enumerate(labels_of(analysis)):
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


def signed(value: float, digits: int) -> str:
    """A number with its sign; "±" for what is rounded to nothing."""
    rounded = round(value, digits)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else "±"
    return sign + number(abs(rounded), digits)


def move_cell(move: Move, both: Versions, comparison: Comparison, say: Texts) -> dict[str, Any]:
    """The cell of a grid, as its template draws it."""
    before, after = move.before.analysis, move.after.analysis
    if before is None or after is None:
        return absent(move.before if before is None else move.after, say)
    trained, first = not (before.random or after.random), both.same[move][0]
    return grid_cell(
        after,
        comparison,
        say,
        trained=trained,
        like=None if first is move else first.before,
        kinds={"flip": move.flips, "swap": move.swapped},
        notes={"edit.flips": move.flips, "compare.random": not trained, "compare.swap": move.swapped},
        hint=_hint(move, before, after, comparison, say),
        was={**_said(before, say), "address": classify_link(before.query, say)},
        now=_said(after, say),
        by=_followed(move, say) if move.answers and trained else "",
        mark="⇄" if move.flips else "",
    )


def move_marks(both: Versions) -> list[tuple[str, str]]:
    """Marks and numbers that occur: sign and key of what it means."""
    marks = {
        ("⇄", "edit.key_flips"): any(move.flips for move in both.moves),
        ("", "edit.key_points"): any(move.predicts for move in both.moves),
        ("", "compare.key_like"): len(both.distinct) < len(both.same),
    }
    return [mark for mark, occurs in marks.items() if occurs]


def _said(analysis: Analysis, say: Texts) -> dict[str, str]:
    """Say the answer, not escaped, and its number, which stays in one piece."""
    if analysis.problem_type == "regression":
        return {"text": output_text(analysis, 0), "number": ""}
    text = labels_text(analysis.predicted, say, LABEL)
    return {"text": text, "number": probabilities_text(analysis)}


def _followed(move: Move, say: Texts) -> str:
    """The move, after the label's name where it is not the one that stands first."""
    moved = moved_text(move, say)
    if move.answers is None or move.output is None or move.answers[0].problem_type != "multi_label":
        return moved
    return f"{output_label(move.answers[0], move.output, LABEL)} {moved}"


def _hint(move: Move, before: Analysis, after: Analysis, comparison: Comparison, say: Texts) -> list[str]:
    """Lines that are seen on hovering, not escaped."""
    lines = [cell_name(move.before, comparison, say)]
    for analysis, key in ((before, "edit.before"), (after, "edit.after")):
        told = " ".join(filter(None, _said(analysis, say).values()))
        lines.append(f"{say(key)}{told}; {reads_text(analysis, say)}")
    if move.answers is None:
        return [*lines, say("edit.incomparable")]
    if not before.random and move.output is not None and move.moved is not None:
        label, regression = output_label(before, move.output), before.problem_type == "regression"
        points = say("edit.points", value=signed(100 * move.moved, VALUE))
        moved = signed(move.moved, 2 * VALUE) if regression else points
        lines.append(say("edit.followed", label=label, moved=moved))
    return lines


LEAST = 0.05  # the change of similarity that has the full colour, where none is larger
LEAST_SHARE = 0.001  # of what is read: a share that moved less did not move
READ = 3  # tokens that a row names; more are only counted
WORD, NAME = 18, 28  # characters of a word, and of a name
TITLES = (  # of the columns of the words
    "compare.column_backbone",
    *(f"edit.column_{name}" for name in ("word", "kind", "text", "similar", "similar_now", "change")),
)


def moves(comparison: Comparison, _: State, say: Texts) -> Shown:
    """Both tables; nothing before any backbone has answered both versions."""
    both = versions(comparison)
    found = None if both is None else align_versions(both)
    if both is None or found is None:
        return Shown()
    names, words, heading = comparison.names, found.words, say("edit.words_heading")
    moved = [(*move.answers, found.reads(*move.answers)) for move in both.moves if move.answers]
    reads = _reads(moved, names, say) if moved else None
    if words is None:
        titled = titled_html("edit-words", heading, say("edit.unaligned"))
        return Shown(html=render("moves", say, heading=titled, words=None, reads=reads))
    kinds = [say(f"edit.{kind}") for kind in words["kind"]]
    data = words.assign(kind=kinds, text=words["text"] + 1).set_axis([say(key) for key in TITLES], axis=1)
    link = csv_link(data, "poolscope-versions-words.csv", say("table.download"))
    rows = [(names[str(key)], own) for key, own in words.groupby("backbone", sort=False)]
    ends = say("list.semicolon").join(_most(name, own, say) for name, own in rows)
    titled = titled_html("edit-words", heading, say("edit.words_description", ends=ends))
    told = _words(rows, say)
    return Shown(data=data, html=render("moves", say, heading=titled, words=told, link=link, reads=reads))


MOVES = Exhibit(
    "moves",
    moves,
    element="compare-moves",
    style="compare-moves",
    applies=lambda comparison: comparison.after is not None,
)


def _words(rows: Sequence[tuple[str, pd.DataFrame]], say: Texts) -> dict[str, object]:
    """Table of how much nearer to [CLS] each word came: a column for each word, a row for each backbone."""
    # LEAST, too, where the other is NaN: nothing is in both.
    most = max(LEAST, *(moved for _, own in rows for moved in own["moved"].abs()))
    first = rows[0][1]
    head = [
        {"text": text, "short": shorten(text, WORD), "kind": kind, "second": step != 0}  # another text begins
        for text, kind, step in zip(
            map(visible, first["word"]), first["kind"], first["text"].diff().fillna(0), strict=True
        )
    ]
    cells = [(name, shorten(name, NAME), _word_cells(own, most, say)) for name, own in rows]
    colours = ", ".join(str(colour) for _, colour in DIVERGING)
    kinds = set(first["kind"])
    return {"head": head, "rows": cells, "most": number(most), "colours": colours, "kinds": kinds}


def _word_cells(words: pd.DataFrame, most: float, say: Texts) -> list[dict[str, object]]:
    """Each word of one backbone: the change, and both values under it; or why there is none."""
    best, cells = furthest(words), list[dict[str, object]]()
    for word in words.itertuples():
        if pd.isna(word.moved):
            value = word.after if pd.isna(word.before) else word.before
            key = "unseen" if pd.isna(value) else "dropped" if word.kind == "dropped" else "new"
            alone = "–" if pd.isna(value) else number(value)
            cells.append({"alone": alone, "spoken": say(f"edit.{key}")})
        else:
            colour = diverging(word.moved / most)
            ends = say("edit.values", before=number(word.before), after=number(word.after))
            marked = best is not None and word.Index == best.name
            told = {"moved": signed(word.moved, 2), "ends": ends, "furthest": marked}
            cells.append({"colour": colour, "ink": ink(colour), "alone": "", **told})
    return cells


def _most(name: str, words: pd.DataFrame, say: Texts) -> str:
    """The word that moved most under one backbone, not escaped."""
    best = furthest(words)
    if best is None:
        return say("edit.unmoved", backbone=name)
    word, before, after = shorten(visible(best["word"]), 40), number(best["before"]), number(best["after"])
    return say("edit.most", backbone=name, word=word, before=before, after=after)


def _reads(
    reads: Sequence[tuple[Analysis, Analysis, pd.DataFrame]], names: Mapping[str, str], say: Texts
) -> dict[str, object]:
    """Table of what each combination reads of both versions, by those of a backbone that do alike."""
    groups: defaultdict[str, defaultdict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for before, after, moved in reads:
        texts = (_read_text(before, say), _read_text(after, say), _share(moved, say))
        groups[before.query.backbone][texts].append(visible(before.query.pooling))
    rows = [
        (shorten(names[key], NAME), [(say.listed(poolings), *texts) for texts, poolings in alike.items()])
        for key, alike in groups.items()
    ]
    same = say("edit.reads_same", count=sum(reads_same(moved) for *_, moved in reads), total=len(reads))
    return {"heading": titled_html("edit-reads", say("edit.reads_heading"), same), "same": same, "rows": rows}


def _read_text(analysis: Analysis, say: Texts) -> str:
    """Name the tokens that are read, not escaped, if they are few."""
    read = analysis.reads.positions
    count, total = int(read.sum()), len(read)
    if count == total > 1:
        return say("edit.read_all", total=total)
    if not 0 < count <= READ:
        return say("edit.read_some", read=count, total=total)
    return say.listed(shorten(label) for label, one in zip(labels_of(analysis), read, strict=True) if one)


def _share(reads: pd.DataFrame, say: Texts) -> str:
    """The word or token whose share of what is read moved most, not escaped."""
    best = furthest(reads, LEAST_SHARE)
    if best is None:
        return say("edit.reads_unmoved")
    before, after = (
        say("edit.absent") if pd.isna(share) else percent(share) for share in (best["before"], best["after"])
    )
    return say("edit.share", part=shorten(best["name"], NAME), before=before, after=after)
