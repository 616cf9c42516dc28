"""Examples to batches of token ids, alike in length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch
from transformers import BatchEncoding, PreTrainedTokenizerFast

from components.bundle.corpus import Example

POOL = 32  # batches that are sorted by length together: little padding, still well mixed


def encode(tokenizer: PreTrainedTokenizerFast, rows: Sequence[tuple[str, ...]]) -> BatchEncoding:
    """Token ids, unpadded, cut at the tokenizer's longest input; a pair loses tokens of its longer text."""
    columns = zip(*rows, strict=True)
    encoded: BatchEncoding = tokenizer(*map(list, columns), truncation=True)
    return encoded


def _padded(
    tokenizer: PreTrainedTokenizerFast, encoded: BatchEncoding, group: Sequence[int]
) -> BatchEncoding:
    return tokenizer.pad(
        {name: [column[i] for i in group] for name, column in encoded.items()}, return_tensors="pt"
    )


def in_order(
    tokenizer: PreTrainedTokenizerFast, rows: Sequence[tuple[str, ...]], size: int
) -> Iterator[tuple[list[int], BatchEncoding]]:
    """The texts or pairs from the shortest to the longest: their indices (B,) and inputs (B, T)."""
    encoded = encode(tokenizer, rows)
    order = sorted(range(len(rows)), key=lambda i: len(encoded["input_ids"][i]))
    for start in range(0, len(order), size):
        group = order[start : start + size]
        yield group, _padded(tokenizer, encoded, group)


def batches(
    tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example], size: int, rng: random.Random
) -> Iterator[tuple[BatchEncoding, torch.Tensor]]:
    """The examples once, in random order: inputs (B, T) padded to the longest, and labels (B,) float32."""
    encoded = encode(tokenizer, [example.texts for example in examples])
    lengths = [len(ids) for ids in encoded["input_ids"]]
    order = rng.sample(range(len(examples)), len(examples))
    pools = (
        sorted(order[i : i + POOL * size], key=lengths.__getitem__) for i in range(0, len(order), POOL * size)
    )
    groups = [pool[i : i + size] for pool in pools for i in range(0, len(pool), size)]
    for group in rng.sample(groups, len(groups)):
        labels = torch.tensor([examples[i].label for i in group], dtype=torch.float32)
        yield _padded(tokenizer, encoded, group), labels
