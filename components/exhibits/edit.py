"""Two versions of a text under the same combinations: what moved in words, and in what is read of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from math import nan
from typing import NamedTuple

import pandas as pd

from components.exhibits.comparison import Combination, Comparison
from components.exhibits.control import State
from components.exhibits.draw import DIVERGING, diverging
from components.exhibits.exhibit import Exhibit, Shown, csv_link, data_frame, heading_html
from components.exhibits.grid import signed
from components.exhibits.view import labels_of, number, percent, shorten, visible
from components.exhibits.words import Alignment, Place, align, mean, painted
from components.markup import render
from components.texts import Texts
from components.types import Analysis

WHOLE_DEPTH = 100.0  # percent of the layers: what the head receives
LEAST = 0.05  # the change of similarity that has the full colour, where none is larger
LEAST_SHARE = 0.001  # of what is read: a share that moved less did not move
READ = 3  # tokens that a row names; more are only counted
NAME = 28  # characters
TITLES = (  # of the columns of the words
    "compare.column_backbone",
    *(f"edit.column_{name}" for name in ("word", "kind", "text", "similar", "similar_now", "change")),
)


class Match(NamedTuple):
    """A word, and its place in either version; None where it is not there."""

    word: str
    before: Place | None
    after: Place | None


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
            if kind == "equal":
                places = zip(range(start, end), range(begin, stop), strict=True)
                found += [Match(old[gone], (was, gone), (text, come)) for gone, come in places]
            else:
                found += [Match(old[at], (was, at), None) for at in range(start, end)]
                found += [Match(new[at], None, (text, at)) for at in range(begin, stop)]
    return tuple(found)


def _alike(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> float:
    """Rate how much of both is the same, from 0 to 1 for each text."""
    return sum(
        SequenceMatcher(None, old, new, autojunk=False).ratio()
        for old, new in zip(before, after, strict=True)
    )


class Read(NamedTuple):
    """The share of what a head reads that a word or a token has in each version, and whether it is read.

    None where it is not there.
    """

    name: str
    before: tuple[float, bool] | None
    after: tuple[float, bool] | None

    @property
    def moved(self) -> float:
        """By how much its share moved; what is not there has none."""
        (was, _), (now, _) = self.before or (0.0, False), self.after or (0.0, False)
        return now - was


class Edit(NamedTuple):
    """Both versions word by word, aligned across all backbones, and their words matched with each other."""

    before: Alignment
    after: Alignment
    matches: tuple[Match, ...]

    def words(self) -> pd.DataFrame | None:
        """Nearness of each word to [CLS] at the last layer; None where no backbone can be aligned.

        A row for each backbone (its key) and word. ``kind``: kept, new or dropped. ``text``: the number of
        its text, in the second version if it is there. ``before``, ``after``: similarities in [-1, 1], NaN
        where it is not there or not seen; ``moved``: their difference.
        """
        rows = []
        for key, one in self.before.backbones.items():
            for match in self.matches if one.held and key in self.after.backbones else ():
                kind = "dropped" if match.after is None else "kept" if match.before else "new"
                text, _ = match.after or match.before or (0, 0)  # it has one of both
                places = zip((self.before, self.after), match[1:], strict=True)
                old, new = (_similarity(version, key, place) for version, place in places)
                rows.append((key, match.word, kind, text, old, new, new - old))
        names = ("backbone", "word", "kind", "text", "before", "after", "moved")
        return data_frame(zip(names, zip(*rows, strict=True), strict=True)) if rows else None

    def reads(self, before: Analysis, after: Analysis) -> list[Read]:
        """Shares that one combination reads of each word, and of each token of no word."""
        old = _shares(before, self.before, {match.before: match for match in self.matches})
        new = _shares(after, self.after, {match.after: match for match in self.matches})
        return [
            Read(visible(unit.word) if isinstance(unit, Match) else unit[0], old.get(unit), new.get(unit))
            for unit in dict.fromkeys((*old, *new))
        ]


def edit_of(comparison: Comparison) -> Edit | None:
    """Both versions word by word, as far as they have come; None before both have any answer."""
    before, after = (align(one, WHOLE_DEPTH, "plain") for one in comparison.versions)
    if before is None or after is None:
        return None
    return Edit(before, after, match_words(before.surfaces, after.surfaces))


def _similarity(aligned: Alignment, key: str, place: Place | None) -> float:
    value = None if place is None else mean(aligned.backbones[key].held.get(place, ()))
    return nan if value is None else value


def _shares(
    analysis: Analysis, aligned: Alignment, matches: Mapping[Place | None, Match]
) -> dict[Match | tuple[str, int], tuple[float, bool]]:
    """Shares that are read of each word, and whether any of it is read.

    Of a token of no word likewise, by its label and how many before it have this.
    """
    words = {
        token.index: matches[place]
        for place, tokens in aligned.backbones[analysis.query.backbone].held.items()
        for token in tokens
        if place in matches and token.span[0] < token.span[1]
    }
    found: dict[Match | tuple[str, int], tuple[float, bool]] = {}
    alone = Counter[str]()
    reads = zip(analysis.reads.share.tolist(), analysis.reads.positions.tolist(), strict=True)
    for index, (label, (more, is_read)) in enumerate(zip(labels_of(analysis), reads, strict=True)):
        unit = words.get(index, (label, alone[label]))
        alone[label] += index not in words
        share, read = found.get(unit, (0.0, False))
        found[unit] = share + more, read or is_read
    return found


def furthest(words: pd.DataFrame) -> pd.Series | None:
    """The word that moved most, of several the first; None if none moved."""
    sizes = words["moved"].abs()
    return words.loc[sizes.idxmax()] if sizes.max() > 0 else None


def reads_same(reads: Sequence[Read]) -> bool:
    """Tell whether the same is read of what both versions have."""
    return all(one.before[1] == one.after[1] for one in reads if one.before and one.after)


def moves(comparison: Comparison, _: State, say: Texts) -> Shown:
    """Both tables; nothing before any backbone has answered both versions."""
    found = edit_of(comparison)
    if found is None:
        return Shown()
    names, words, heading = comparison.names, found.words(), say("edit.words_heading")
    reads = _reads([one for one in comparison.combinations if one.comparable], found, names, say)
    if words is None:
        titled = heading_html(Shown(heading, say("edit.unaligned")), "edit-words", say)
        return Shown(html=render("moves", say, heading=titled, rows=None, reads=reads))
    kinds = [say(f"edit.{kind}") for kind in words["kind"]]
    data = words.assign(kind=kinds, text=words["text"] + 1).set_axis([say(key) for key in TITLES], axis=1)
    rows = [(names[str(key)], own, furthest(own)) for key, own in words.groupby("backbone", sort=False)]
    ends = say("list.semicolon").join(_most(name, best, say) for name, _, best in rows)
    html = render(
        "moves",
        say,
        heading=heading_html(Shown(heading, say("edit.words_description", ends=ends)), "edit-words", say),
        rows=[
            (name, list(own.itertuples()), None if best is None else best.name) for name, own, best in rows
        ],
        most=max(LEAST, *words["moved"].abs()),  # LEAST, too, where the other is NaN: nothing is in both
        colours=", ".join(str(colour) for _, colour in DIVERGING),
        link=csv_link(data, "poolscope-versions-words.csv", say("table.download")),
        reads=reads,
        **{
            "number": number,
            "painted": lambda value: painted(diverging(value)),
            "shorten": shorten,
            "signed": signed,
            "visible": visible,
        },
    )
    return Shown(data=data, html=html)


MOVES = Exhibit(
    "moves",
    moves,
    element="compare-moves",
    style="compare-moves",
    applies=lambda comparison: comparison.after is not None,
)


def _most(name: str, best: pd.Series | None, say: Texts) -> str:
    """The word that moved most under one backbone, not escaped."""
    if best is None:
        return say("edit.unmoved", backbone=name)
    word, before, after = shorten(visible(best["word"]), 40), number(best["before"]), number(best["after"])
    return say("edit.most", backbone=name, word=word, before=before, after=after)


def _reads(
    combinations: Sequence[Combination], edit: Edit, names: Mapping[str, str], say: Texts
) -> dict[str, object] | None:
    """Table of what each combination reads of both versions, by those of a backbone that do alike."""
    if not combinations:
        return None
    groups: defaultdict[str, defaultdict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    same = 0
    for one in combinations:
        (backbone, pooling), (before, after) = one.key, one.answers
        moved = edit.reads(before, after)
        same += reads_same(moved)
        texts = (_read_text(before, say), _read_text(after, say), _share(moved, say))
        groups[backbone][texts].append(visible(pooling))
    rows = [
        (shorten(names[key], NAME), [(say.listed(poolings), *texts) for texts, poolings in alike.items()])
        for key, alike in groups.items()
    ]
    said = say("edit.reads_same", count=same, total=len(combinations))
    return {
        "heading": heading_html(Shown(say("edit.reads_heading"), said), "edit-reads", say),
        "same": said,
        "rows": rows,
    }


def _read_text(analysis: Analysis, say: Texts) -> str:
    """Name the tokens that are read, not escaped, if they are few."""
    read = analysis.reads.indices
    total = len(analysis.reads.positions)
    if len(read) == total > 1:
        return say("edit.read_all", total=total)
    if not 0 < len(read) <= READ:
        return say("edit.read_some", read=len(read), total=total)
    labels = labels_of(analysis)
    return say.listed(shorten(labels[index]) for index in read)


def _share(reads: Sequence[Read], say: Texts) -> str:
    """The word or token whose share of what is read moved most, not escaped."""
    best = max(reads, key=lambda one: abs(one.moved))
    if abs(best.moved) <= LEAST_SHARE:
        return say("edit.reads_unmoved")
    before, after = (percent(one[0]) if one else say("edit.absent") for one in (best.before, best.after))
    return say("edit.share", part=shorten(best.name, NAME), before=before, after=after)
