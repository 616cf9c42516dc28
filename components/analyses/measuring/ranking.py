"""The ways to make a vector, the nearest first, and which cannot be told from each other. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from components.analyses.detect import BAR, Candidate
from components.analyses.ways import Way

Doubles = NDArray[np.float64]
BEST = 10  # candidates that are told
SAME = 1e-5  # distance of two directions that are one: rounding stays below 3e-6
ALIKE = 0.01  # difference of the logarithms of two lengths: half precision moves one by less


@dataclass(frozen=True, eq=False)
class Made:
    """What a way gives of n texts: ``unit`` (n, N) are directions, ``length`` (n,) its own lengths.

    The layer counts from the end.
    """

    way: Way
    unit: Doubles
    length: Doubles


@dataclass(frozen=True, eq=False)
class Given:
    """The vectors that are asked about, one of each of n texts: ``unit`` (n, N), ``length`` (n,)."""

    unit: Doubles
    length: Doubles

    def normalised(self, made: Made) -> bool | None:
        """Whether all lengths were set to 1, or are those which a way gives (False), or neither (None)."""
        one, own = (float(np.abs(np.log(self.length / each)).max()) for each in (1.0, made.length))
        if min(one, own) > ALIKE:
            return None
        return bool(one <= max(own, SAME))

    def ratio(self, made: Made) -> float:
        """Its length over that of what a way gives: of several, the geometric mean."""
        own = 1.0 if self.normalised(made) else made.length
        return float(np.exp(np.log(self.length / own).mean()))


def together(texts: Sequence[Sequence[Made]]) -> list[Made]:
    """What each way gives of all texts: ways that one of them cannot be run in are left out.

    ``texts``: what all ways give of each. A text that is not as long as others are cut to stays whole.
    """
    first, *others = texts
    if not others:
        return list(first)
    known = [{one.way: one for one in made} for made in texts]
    ways = dict.fromkeys(one.way for made in texts for one in made)
    rows = ((way, [each.get(way) or each.get(_whole(way)) for each in known]) for way in ways)
    return [_stacked(way, [one for one in row if one is not None]) for way, row in rows if _one_width(row)]


def _whole(way: Way) -> Way:
    """The same of a text that is not cut."""
    return replace(way, truncated=None, kept="start")


def _one_width(row: Sequence[Made | None]) -> bool:
    return None not in row and len({one.unit.shape for one in row if one is not None}) == 1


def _stacked(way: Way, row: Sequence[Made]) -> Made:
    """What one way gives of each text, as one."""
    unit, length = (np.concatenate([getattr(one, name) for one in row]) for name in ("unit", "length"))
    return Made(way, unit, length)


def ranked(given: Given, made: Sequence[Made]) -> tuple[Candidate, ...]:
    """The nearest of what ways give, of which no two are the same vector.

    Whatever lies as near to a match as ``given`` does cannot be told from it. Of these, those come first, and
    are tied, whose length fits as well. Without a match nothing is tied.
    """
    far = distances(given.unit, made)
    order: list[int] = np.lexsort((np.arange(len(made)), np.round(far / SAME))).tolist()
    near = max(float(far.min()), SAME)
    close = distances(made[order[0]].unit, made) <= near
    tied = [index for index in order if close[index]] if near <= chord(BAR) else []
    fitting = [index for index in tied if given.normalised(made[index]) is not None]
    tied = fitting or tied
    first = set(tied)
    rest = [index for index in order if index not in first]
    rows: list[list[int]] = []
    for index in (*tied, *rest):
        row = next((row for row in rows if _one_vector(given, made[row[0]], made[index])), None)
        if row is not None:
            row.append(index)
        elif len(rows) < BEST:
            rows.append([index])
        elif far[index] > far[rows[-1][0]] + 2 * SAME:
            break
    return tuple(_candidate(given, [made[index] for index in row], row[0] in first) for row in rows)


def _candidate(given: Given, alike: Sequence[Made], tied: bool) -> Candidate:
    """All that give one vector."""
    ways = [replace(one.way, normalised=given.normalised(one)) for one in alike]
    best = alike[0]
    cosines = tuple(map(float, np.einsum("nd,nd->n", given.unit, best.unit)))
    return Candidate(ways[0], tuple(ways[1:]), cosines, given.ratio(best), tied)


def _one_vector(given: Given, first: Made, second: Made) -> bool:
    """Whether two ways give the same vector, where each is normalised as ``given`` is."""
    if float(np.linalg.norm(first.unit - second.unit, axis=1).max()) > SAME:
        return False
    both = given.normalised(first) and given.normalised(second)
    return bool(both) or _alike(first.length, second.length)


def distances(unit: Doubles, made: Sequence[Made]) -> Doubles:
    """How far the ends of directions lie from ``unit`` (n, N): exact where a cosine near 1 is not.

    Of n texts, the farthest counts.
    """
    found: Doubles = np.linalg.norm(np.stack([one.unit for one in made]) - unit, axis=2).max(axis=1)
    return found


def chord(cosine: float) -> float:
    """The same for a cosine."""
    return float(np.sqrt(2 - 2 * cosine))


def _alike(first: Doubles, second: Doubles) -> bool:
    return bool(np.abs(np.log(first / second)).max() <= ALIKE)
