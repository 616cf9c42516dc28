"""What a tokenizer made of one text or pair, whatever kind of tokenizer it is.

Those of the tokenizers library tell where in the text each token stands. Those written in Python do not: of
their tokens only what follows from the ids is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from transformers import BatchEncoding, PreTrainedTokenizerBase

from components.types import Bools, Ints


@dataclass(frozen=True, eq=False)
class Row:
    """T tokens of one input.

    ``ids``: (T,). ``special``: (T,). ``span``: (T, 2) characters, (0, 0) where not known.
    ``segment``: (T,) 0, 1 or -1. ``placed``: whether the tokenizer tells where tokens stand.
    """

    ids: Ints
    special: Bools
    span: Ints
    segment: Ints
    placed: bool


def rows(tokenizer: PreTrainedTokenizerBase, batch: BatchEncoding) -> list[Row]:
    """One row for each of the B inputs of ``batch``, in their order; without a token there is none."""
    if tokenizer.is_fast:
        return [_placed(encoding) for encoding in batch.encodings or ()]
    return [_unplaced(tokenizer, np.array(ids, dtype=np.int64)) for ids in batch["input_ids"].tolist()]


def _placed(encoding: object) -> Row:
    """A row of the tokenizers library's own ``Encoding``."""
    known: dict[str, list[object]] = {
        name: getattr(encoding, name) for name in ("ids", "special_tokens_mask", "offsets", "sequence_ids")
    }
    return Row(
        ids=np.array(known["ids"], dtype=np.int64),
        special=np.array(known["special_tokens_mask"], dtype=bool),
        span=np.array(known["offsets"], dtype=np.int64).reshape(-1, 2),
        segment=np.array([-1 if s is None else s for s in known["sequence_ids"]], dtype=np.int64),
        placed=True,
    )


def _unplaced(tokenizer: PreTrainedTokenizerBase, ids: Ints) -> Row:
    """A row of ids alone: special tokens by their ids, and the second text behind those in the middle."""
    special = np.isin(ids, tokenizer.all_special_ids) & (ids != tokenizer.unk_token_id)
    words = np.flatnonzero(~special)
    gaps = np.flatnonzero(np.diff(words) > 1)  # a run of special tokens between two of the texts' own
    segment = np.where(special, -1, 0)
    if len(gaps):
        segment[words[gaps[0] + 1 :]] = 1
    return Row(ids, special, np.zeros((len(ids), 2), dtype=np.int64), segment, placed=False)
