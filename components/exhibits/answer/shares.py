"""How much of what a head reads is which token, in words. Nothing is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from components.exhibits.view import indices, percent
from components.texts import Texts
from components.types import Reads

NAMED = 3  # tokens whose dimensions are counted by name

Name = Callable[[int], str]  # index of a token -> what it is called


def largest_share(reads: Reads, name: Name, say: Texts) -> str:
    """Which token is most of what is read; "" where only one is read, or none."""
    read = indices(reads.positions)
    if len(read) < 2:
        return ""
    shares = {percent(reads.share[index]) for index in read}
    if len(shares) == 1:
        return say("reads.equal", share=shares.pop())
    most = max(read, key=lambda index: float(reads.share[index]))
    return say("reads.largest", token=name(most), share=percent(reads.share[most]))


def flat_count(reads: Reads, say: Texts) -> str:
    """How many tokens are read though the logits have no slope there; "" where there are none."""
    count = len(flat_tokens(reads))
    return say("reads.flat" if count > 1 else "reads.flat_one", count=count) if count else ""


def won_dimensions(reads: Reads, name: Name, say: Texts) -> str:
    """Which tokens the largest values are of, under a maximum over several; else ""."""
    if reads.wins is None or len(reads.wins) < 2:
        return ""
    order = [int(index) for index in np.argsort(-reads.wins, kind="stable") if reads.wins[index]]
    named, rest = order[:NAMED], order[NAMED:]
    parts = [say("reads.wins", token=name(index), count=int(reads.wins[index])) for index in named]
    if rest:
        parts.append(say("reads.wins_rest", count=int(reads.wins[rest].sum())))
    return say("reads.maximum", total=int(reads.wins.sum()), tokens=say.listed(parts))


def share_text(reads: Reads, index: int, say: Texts) -> str:
    """The share of one token, and why it is nothing where the token is read all the same."""
    share = percent(reads.share[index])
    if index in flat_tokens(reads):
        share = say("reads.share_flat", share=share)
    if reads.wins is None:
        return share
    return say("reads.share_wins", share=share, count=int(reads.wins[index]), total=int(reads.wins.sum()))


def beside_bars(reads: Reads) -> list[str]:
    """For each token, how much of what is read it is; or, under a maximum, how many dimensions it wins.

    Empty where only one is read or all are read alike: then the verdict says it all.
    """
    if reads.wins is not None:
        return [str(int(count)) for count in reads.wins] if len(reads.wins) > 1 else []
    shares = [percent(share) if share else "" for share in reads.share]
    return shares if len({share for share in shares if share}) > 1 else []


def flat_tokens(reads: Reads) -> Sequence[int]:
    """Indices of the tokens that are read though the logits have no slope there."""
    return indices(reads.positions & (reads.share == 0))
