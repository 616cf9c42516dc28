"""Whether a tokenizer belongs to its model, and whether what it makes of a text is of a sane length."""

from __future__ import annotations

import math

from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from components.engine.internals.tokenizers_internals import normalizer_state
from components.engine.safety.refusal import RefusalError
from components.engine.safety.stated import walk

LONGER = 1_000  # times as long as it was a text may become: a blank becomes "▁", a line break "<|newline|>"


def check_vocabulary(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> None:
    """Refuse a tokenizer with an id for which the model has no embedding."""
    rows = _embeddings(model)
    largest = max(tokenizer.get_vocab().values(), default=0)
    if rows is not None and largest >= rows:
        raise RefusalError("refusals.ids", largest=largest, last=rows - 1)


def check_growth(tokenizer: PreTrainedTokenizerFast) -> None:
    """Refuse a tokenizer whose replacements, one after the other, could make gigabytes of a short text."""
    put = [
        len(value)
        for _, key, value in walk(normalizer_state(tokenizer))
        if key in ("content", "prepend") and isinstance(value, str)
    ]
    if math.prod(max(1, length) for length in put) > LONGER:
        raise RefusalError("refusals.growth", times=LONGER)


def _embeddings(model: PreTrainedModel) -> int | None:
    """How many ids the model has an embedding for, or None where it keeps no plain table of them."""
    try:
        table = model.get_input_embeddings()
    except NotImplementedError:  # transformers' way to say that it does not know where the table is
        return None
    return table.num_embeddings if isinstance(table, nn.Embedding) else None
