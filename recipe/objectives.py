"""Training objectives: modules that compute the loss of a model on a batch.

An objective may have parameters of its own, which are trained with the model and then thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

from recipe.pretraining import (
    DistilledMaskedWords,
    MaskedWords,
    MaskedWordsAndNextSentence,
    NextWords,
    PermutedWords,
)


class Labels(nn.Module):
    """Cross-entropy of the logits (B, 2) with the labels (B,): probabilities of class 1, hard ones 0 or 1."""

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the batch."""
        return cross_entropy(model(**inputs).logits, torch.stack([1 - labels, labels], dim=-1))


def template_ids(tokenizer: PreTrainedTokenizerFast) -> Tensor:
    """The ids of the tokens that the tokenizer adds to a pair, padding included."""
    pair = tokenizer("a", "a", return_special_tokens_mask=True)
    added = torch.tensor(pair["input_ids"])[torch.tensor(pair["special_tokens_mask"]) == 1]
    return torch.cat([added, torch.tensor([tokenizer.pad_token_id])])


def shared_tokens(ids: Tensor, template: Tensor) -> tuple[Tensor, Tensor]:
    """Which tokens of a pair occur in the other text too, and which belong to a text at all: (B, T) each.

    ``ids``: (B, T) token ids. ``template``: the ids of tokens that the tokenizer adds; between two tokens of
    different texts there is at least one.
    """
    added = torch.isin(ids, template)  # (B, T)
    before = added.cumsum(-1)  # (B, T) added tokens up to here
    opposite = (before[:, :, None] != before[:, None, :]) & ~added[:, None, :]  # (B, T, T)
    same = ids[:, :, None] == ids[:, None, :]  # (B, T, T)
    return (same & opposite).any(-1) & ~added, ~added


def second_text(ids: Tensor, template: Tensor) -> Tensor:
    """Which tokens belong to the second text of a pair: (B, T)."""
    asked = ~torch.isin(ids, template)  # (B, T)
    first = asked & (asked.cumsum(-1) == 1)  # the first token of the first text
    starts = asked & ~torch.cat([torch.zeros_like(asked[:, :1]), asked[:, :-1]], dim=1)  # of every text
    return asked & ((starts & ~first).cumsum(-1) > 0)


class SharedTokens(nn.Module):
    """Classifies each token of a pair's second text: whether it occurs in the first text too.

    One linear classifier on the hidden states of every layer above the embeddings. With one label per token
    an encoder learns to compare two texts; with one per pair it hardly does. Only the second text is
    classified, since causal encoders cannot look ahead.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self.head = nn.Linear(model.config.hidden_size, 2)
        self.template = nn.Buffer(template_ids(tokenizer))

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean cross-entropy over the second text's tokens and the layers; the labels are not used."""
        del labels
        shared, _ = shared_tokens(inputs["input_ids"], self.template)
        asked = second_text(inputs["input_ids"], self.template)
        layers = model.base_model(**inputs, output_hidden_states=True).hidden_states[1:]
        answers = self.head(torch.stack(layers)[:, asked])  # (L, asked tokens, 2)
        return cross_entropy(answers.flatten(0, 1), shared[asked].long().repeat(len(layers)))


Objective = Callable[[PreTrainedModel, PreTrainedTokenizerFast, PreTrainedModel | None], nn.Module]

# By the name that a stage of the recipe gives.
OBJECTIVES: Mapping[str, Objective] = {
    "labels": lambda *_: Labels(),
    "shared tokens": lambda model, tokenizer, _: SharedTokens(model, tokenizer),
    "masked words": lambda _, tokenizer, __: MaskedWords(tokenizer),
    "masked words and next sentence": lambda _, tokenizer, __: MaskedWordsAndNextSentence(tokenizer),
    "distilled masked words": lambda _, tokenizer, teacher: DistilledMaskedWords(tokenizer, teacher),
    "permuted words": lambda _, tokenizer, __: PermutedWords(tokenizer),
    "next words": lambda *_: NextWords(),
}
