"""Whether a tokenizer belongs to its model, and whether what it makes of a text is of a sane length."""

from __future__ import annotations

from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from components.model.internals.tokenizers_internals import normalizer_state
from components.model.safety.refusal import RefusalError
from components.model.safety.tokenizing import check_steps


def check_vocabulary(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> None:
    """Refuse a tokenizer with an id for which the model has no embedding."""
    rows = _embeddings(model)
    largest = max(tokenizer.get_vocab().values(), default=0)
    if rows is not None and largest >= rows:
        raise RefusalError("refusals.ids", largest=largest, last=rows - 1)


def check_growth(tokenizer: PreTrainedTokenizerFast) -> None:
    """The same of a tokenizer that was made of other files than tokenizer.json."""
    check_steps({"normalizer": normalizer_state(tokenizer)})


def _embeddings(model: PreTrainedModel) -> int | None:
    """How many ids the model has an embedding for, or None where it keeps no plain table of them."""
    try:
        table = model.get_input_embeddings()
    except NotImplementedError:  # transformers' way to say that it does not know where the table is
        return None
    return table.num_embeddings if isinstance(table, nn.Embedding) else None
