"""Examples to batches of token ids, alike in length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch
from transformers import BatchEncoding, PreTrainedTokenizerFast

from components.bundle.corpus import Example

POOL = 32  # batches that are sorted by length together: little padding, still well mixed


def encode(tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example]) -> BatchEncoding:
    """Token ids, unpadded, cut at the tokenizer's longest input; a pair loses tokens of its longer text."""
    columns = zip(*(e.texts for e in examples), strict=True)
    encoded: BatchEncoding = tokenizer(*map(list, columns), truncation=True)
    return encoded


def batches(
    tokenizer: PreTrainedTokenizerFast, examples: Sequence[Example], size: int, rng: random.Random
) -> Iterator[tuple[BatchEncoding, torch.Tensor]]:
    """The examples once, in random order: inputs (B, T) each padded to its longest, and labels (B,)."""
    encoded = encode(tokenizer, examples)
    lengths = [len(ids) for ids in encoded["input_ids"]]
    order = rng.sample(range(len(examples)), len(examples))
    pools = (
        sorted(order[i : i + POOL * size], key=lengths.__getitem__) for i in range(0, len(order), POOL * size)
    )
    groups = [pool[i : i + size] for pool in pools for i in range(0, len(pool), size)]
    for group in rng.sample(groups, len(groups)):
        rows = {name: [column[i] for i in group] for name, column in encoded.items()}
        inputs = tokenizer.pad(rows, return_tensors="pt")
        yield inputs, torch.tensor([examples[i].label for i in group])
