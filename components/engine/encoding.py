"""Text or pair -> tokens and model inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Encoding as Row
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from components.errors import PoolscopeError
from components.types import Bools, Ints, Tokens


@dataclass(frozen=True, eq=False)
class Encoded:
    """One tokenised input: tokens (their ``cls`` is -1 where the input has no [CLS]), model inputs (1, T)."""

    tokens: Tokens
    inputs: dict[str, Tensor]
    warnings: tuple[str, ...]


def encode(tokenizer: PreTrainedTokenizerFast, limit: int, text: str, text_pair: str) -> Encoded:
    """Tokenise a text or a pair, up to ``limit`` tokens; what was left out or odd is said in the warnings."""
    pair = text_pair or None
    whole = tokenizer(text, pair, return_tensors="pt", verbose=False)
    length = whole["input_ids"].shape[1]
    if length == 0:
        raise PoolscopeError("text", text, "it gives no tokens: type at least one word")
    kept = whole
    if length > limit:
        kept = tokenizer(text, pair, return_tensors="pt", truncation=True, max_length=limit)
    row = kept.encodings[0] if kept.encodings else Row()
    tokens = _tokens(tokenizer, row)
    warnings = _left_out(length, limit) + _oddities(tokenizer, row, tokens, (text, text_pair))
    return Encoded(tokens, dict(kept), tuple(warnings))


def encode_batch(
    tokenizer: PreTrainedTokenizerFast, limit: int, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Tokenise B texts or pairs with padding: inputs (B, T), special (B, T), index of [CLS] (B,) or -1."""
    batch = tokenizer(
        texts, pairs, return_tensors="pt", padding=True, truncation=True, max_length=limit, verbose=False
    )
    special = torch.tensor([encoding.special_tokens_mask for encoding in batch.encodings], dtype=torch.bool)
    cls = torch.tensor(
        [_cls_index(tokenizer, np.array(e.ids), np.array(e.special_tokens_mask)) for e in batch.encodings]
    )
    return dict(batch), special, cls


def _tokens(tokenizer: PreTrainedTokenizerFast, encoding: Row) -> Tokens:
    special = np.array(encoding.special_tokens_mask, dtype=bool)
    return Tokens(
        text=tuple(tokenizer.convert_ids_to_tokens(encoding.ids)),
        span=np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2),
        segment=np.array([-1 if s is None else s for s in encoding.sequence_ids], dtype=np.int64),
        special=special,
        cls=_cls_index(tokenizer, np.array(encoding.ids), special),
    )


def _cls_index(tokenizer: PreTrainedTokenizerFast, ids: Ints, special: Bools) -> int:
    """Index of [CLS], the tokenizer's own before one that somebody typed; -1 where there is none."""
    own = np.flatnonzero((ids == tokenizer.cls_token_id) & special)
    typed = np.flatnonzero(ids == tokenizer.cls_token_id)
    return int(next(iter([*own, *typed]), -1))


def _left_out(length: int, limit: int) -> list[str]:
    if length <= limit:
        return []
    return [
        f"The input has {length} tokens and the model takes {limit}: the last {length - limit} were left out."
    ]


def _oddities(
    tokenizer: PreTrainedTokenizerFast, row: Row, tokens: Tokens, texts: tuple[str, str]
) -> list[str]:
    """Warnings about special tokens that were typed and about words that the vocabulary does not know."""
    special_ids = set(tokenizer.all_special_ids)
    typed: dict[str, None] = {}
    unknown = 0
    for index, token_id in enumerate(row.ids):
        if tokens.special[index] or token_id not in special_ids:
            continue
        start, end = tokens.span[index]
        surface = texts[max(tokens.segment[index], 0)][start:end]
        if surface.strip() == tokens.text[index]:
            typed[tokens.text[index]] = None
        else:
            unknown += token_id == tokenizer.unk_token_id
    warnings = [
        f"“{token}” in the text was taken as the special token, as transformers does." for token in typed
    ]
    if unknown:
        stand_in = f"stand as {tokenizer.unk_token}"
        warnings.append(f"{unknown} of {len(row.ids)} tokens are unknown to this vocabulary and {stand_in}.")
    return warnings
