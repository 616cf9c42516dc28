"""Text or pair -> tokens and model inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from components.engine.rows import Row, rows
from components.errors import PoolscopeError
from components.types import Tokens


@dataclass(frozen=True, eq=False)
class Encoded:
    """One tokenised input: tokens (their ``cls`` is -1 where the input has no [CLS]), model inputs (1, T)."""

    tokens: Tokens
    inputs: dict[str, Tensor]
    warnings: tuple[str, ...]


def encode(tokenizer: PreTrainedTokenizerBase, limit: int, text: str, text_pair: str) -> Encoded:
    """Tokenise a text or a pair, up to ``limit`` tokens; what was left out or odd is said in the warnings."""
    pair = text_pair or None
    whole = tokenizer(text, pair, return_tensors="pt", verbose=False)
    length = whole["input_ids"].shape[1]
    if length == 0:
        raise PoolscopeError("text", text, "it gives no tokens: type at least one word")
    kept = whole
    if length > limit:
        kept = tokenizer(text, pair, return_tensors="pt", truncation=True, max_length=limit)
    (row,) = rows(tokenizer, kept)
    tokens = _tokens(tokenizer, row)
    warnings = _left_out(length, limit) + _oddities(tokenizer, row, tokens, (text, text_pair))
    return Encoded(tokens, dict(kept), tuple(warnings))


def numbered(encoded: Encoded, states: int) -> Encoded:
    """The input with its hidden states in the place of its tokens, where these have none of their own."""
    tokens = Tokens(
        text=tuple(f"state {index}" for index in range(states)),
        span=np.zeros((states, 2), dtype=np.int64),
        segment=np.full(states, -1, dtype=np.int64),
        special=np.zeros(states, dtype=bool),
        cls=-1,
    )
    says = (
        f"This model has {states} final hidden states for {len(encoded.tokens.text)} tokens, and none of "
        "them stands for one token: they are shown by their numbers, at the layers that have as many."
    )
    return Encoded(tokens, encoded.inputs, (*encoded.warnings, says))


def encode_batch(
    tokenizer: PreTrainedTokenizerBase, limit: int, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Tokenise B texts or pairs with padding: inputs (B, T), special (B, T), index of [CLS] (B,) or -1."""
    batch = tokenizer(
        texts, pairs, return_tensors="pt", padding=True, truncation=True, max_length=limit, verbose=False
    )
    made = rows(tokenizer, batch)
    special = torch.tensor(np.stack([row.special for row in made]))
    cls = torch.tensor([_cls_index(tokenizer, row) for row in made])
    return dict(batch), special, cls


def _tokens(tokenizer: PreTrainedTokenizerBase, row: Row) -> Tokens:
    return Tokens(
        text=tuple(tokenizer.convert_ids_to_tokens(row.ids.tolist())),
        span=row.span,
        segment=row.segment,
        special=row.special,
        cls=_cls_index(tokenizer, row),
    )


def _cls_index(tokenizer: PreTrainedTokenizerBase, row: Row) -> int:
    """Index of [CLS], the tokenizer's own before one that somebody typed; -1 where there is none."""
    typed = np.flatnonzero(row.ids == tokenizer.cls_token_id)
    own = [index for index in typed if row.special[index]]
    return int(next(iter([*own, *typed]), -1))


def _left_out(length: int, limit: int) -> list[str]:
    if length <= limit:
        return []
    return [f"The input has {length} tokens and {limit} are taken: the last {length - limit} were left out."]


def _oddities(
    tokenizer: PreTrainedTokenizerBase, row: Row, tokens: Tokens, texts: tuple[str, str]
) -> list[str]:
    """Warnings about special tokens that were typed and about words that the vocabulary does not know."""
    warnings = []
    if not row.placed:
        warnings.append("The tokenizer of this backbone does not tell where in the text its tokens stand.")
    special_ids = set(tokenizer.all_special_ids)
    typed: dict[str, None] = {}
    unknown = 0
    for index, token_id in enumerate(row.ids.tolist()):
        if tokens.special[index] or token_id not in special_ids:
            continue
        start, end = tokens.span[index]
        surface = texts[max(tokens.segment[index], 0)][start:end]
        if surface.strip() == tokens.text[index]:
            typed[tokens.text[index]] = None
        else:
            unknown += token_id == tokenizer.unk_token_id
    warnings += [
        f"“{token}” in the text was taken as the special token, as transformers does." for token in typed
    ]
    if unknown:
        stand_in = f"stand as {tokenizer.unk_token}"
        warnings.append(f"{unknown} of {len(row.ids)} tokens are unknown to this vocabulary and {stand_in}.")
    return warnings
