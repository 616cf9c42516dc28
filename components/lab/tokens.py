"""What the tokenizer of a backbone makes of a table: how many tokens, and which texts it does not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from components.model.backbone import Backbone
from components.model.encoding import encode
from components.texts import Named, Sentence
from components.types import UNREADABLE, Bools, Ints

AT_ONCE = 1000  # inputs, of which the tokens are in memory


@dataclass(frozen=True, eq=False)
class Reading:
    """N inputs as a backbone reads them. ``lengths``: (N,) tokens, without those that are cut off."""

    lengths: Ints
    warnings: tuple[Sentence, ...]


def read(backbone: Backbone, inputs: Sequence[tuple[str, ...]]) -> Reading:
    """Tokenise single texts, or pairs; the warnings count what is cut off and what is not read."""
    lengths = np.empty(len(inputs), np.int64)
    lost = np.zeros(len(inputs), bool)
    for start in range(0, len(inputs), AT_ONCE):
        part = inputs[start : start + AT_ONCE]
        sides = [list(side) for side in zip(*part, strict=True)]
        ids = backbone.tokenizer(*sides, verbose=False)["input_ids"]
        for row, (texts, of) in enumerate(zip(part, ids, strict=True), start=start):
            lengths[row] = len(of)
            lost[row] = _is_lost(backbone, texts, of)
    return Reading(np.minimum(lengths, backbone.limit), tuple(_said(backbone, lengths, lost)))


def _is_lost(backbone: Backbone, texts: tuple[str, ...], ids: Sequence[int]) -> bool:
    """Whether an input has no token at all, or mostly such as the vocabulary does not know."""
    tokenizer = backbone.tokenizer
    if not ids or tokenizer.unk_token_id not in ids:
        return not ids
    warnings = encode(tokenizer, backbone.limit, texts[0], "".join(texts[1:])).warnings
    return any(warning.key == UNREADABLE for warning in warnings)


def _said(backbone: Backbone, lengths: Ints, lost: Bools) -> Iterator[Sentence]:
    """``lengths``: (N,) tokens, all of them. ``lost``: (N,) what is not read."""
    title, total = Named(backbone.spec.title), len(lengths)
    if cut := int((lengths > backbone.limit).sum()):
        yield Sentence("lab.cut", backbone=title, count=cut, total=total, limit=backbone.limit)
    if lost.any():
        yield Sentence("lab.unread", backbone=title, count=int(lost.sum()), total=total)
