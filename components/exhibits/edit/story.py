"""What a trace says in a sentence: which token carries most of the change, layer by layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from components.exhibits.draw.labels import shorten, visible, word
from components.exhibits.view import indices, labels_of, number
from components.patching import Patched
from components.texts import Texts

MOST = 0.5  # of the change: who carries less does not carry most of it
WORD = 24  # characters of a token in a sentence


@dataclass(frozen=True)
class Stay:
    """Layers one after the other in which the same ``token`` carries more of the change than any other.

    ``most``: whether it carries most of it. ``shares``: one for each layer from ``first`` on.
    """

    token: int
    first: int
    shares: tuple[float, ...]
    most: bool

    @property
    def last(self) -> int:
        """The last of the layers."""
        return self.first + len(self.shares) - 1


def sentence(given: Patched, say: Texts, mark: Callable[[str], str]) -> str:
    """Where the change is, from the embeddings up; ``mark`` makes what stands out of a token."""
    parts = say("list.semicolon").join(_part(given, stay, say, mark) for stay in stays(given))
    return say("trace.story", backbone=mark(visible(given.first.backbone.title)), parts=parts)


def stays(given: Patched) -> list[Stay]:
    """Where the change is, from the embeddings up to the layer that is pooled."""
    below = given.shares[: given.first.pool_layer + 1]
    peaks = [(int(row.argmax()), bool(row.max() >= MOST)) for row in below]
    found: list[Stay] = []
    for (pair, most), group in groupby(range(len(peaks)), key=lambda layer: peaks[layer]):
        layers = list(group)
        shares = tuple(float(given.shares[layer, pair]) for layer in layers)
        found.append(Stay(int(given.pairs[pair, 0]), layers[0], shares, most))
    return found


def settled(given: Patched) -> Stay | None:
    """The layers up to the one that is pooled in which the one token that is read carries most of the change.

    None where the head reads several tokens, or one that has no counterpart.
    """
    last = stays(given)[-1]
    return last if last.most and indices(given.first.reads.positions) == [last.token] else None


def token_name(given: Patched, token: int, say: Texts) -> str:
    """A token of the first version in a sentence, not escaped; which one, where several are called so."""
    names = named(given)
    name = shorten(word(names[token]), WORD)
    if names.count(names[token]) == 1:
        return name
    return say("trace.nth", token=name, place=names[: token + 1].count(names[token]))


def named(given: Patched) -> tuple[str, ...]:
    """A label for each token of the first version, not escaped; "good → bad" where they differ."""
    own, others = labels_of(given.first), labels_of(given.second)
    names = list(own)
    for mine, theirs in given.pairs.tolist():
        if own[mine] != others[theirs]:
            names[mine] = f"{own[mine]} → {word(others[theirs])}"
    return tuple(names)


def share_text(share: float) -> str:
    """A share of a change in percent, which may be less than none of it or more than all."""
    return f"{number(100 * share, 0)} %"


def _part(given: Patched, stay: Stay, say: Texts, mark: Callable[[str], str]) -> str:
    key = "trace.in" if stay.most else "trace.spread"
    low, high = (share_text(share) for share in (min(stay.shares), max(stay.shares)))
    shares = low if low == high else say("trace.shares", low=low, high=high)
    return say(key, token=mark(token_name(given, stay.token, say)), where=_where(stay, say), shares=shares)


def _where(stay: Stay, say: Texts) -> str:
    if stay.last == 0:
        return say("trace.at_start")
    if stay.first == 0:
        return say("trace.from_start", last=stay.last)
    if stay.first == stay.last:
        return say("trace.after", layer=stay.first)
    return say("trace.between", first=stay.first, last=stay.last)
