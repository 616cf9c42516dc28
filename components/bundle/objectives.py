"""What a training stage minimises: a module that takes the model and a batch, and gives the loss.

An objective may hold parameters of its own, which are trained along and then thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

from components.bundle.pretraining import (
    DistilledMaskedWords,
    MaskedWords,
    MaskedWordsAndNextSentence,
    NextWords,
    PermutedWords,
)


class Labels(nn.Module):
    """Cross-entropy of the logits (B, 2) with the probabilities (B,) of label 1; a whole label is certain."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None
    ) -> None:
        del model, tokenizer, teacher  # every objective is made of these; this one needs none
        super().__init__()

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the batch."""
        return cross_entropy(model(**inputs).logits, torch.stack([1 - labels, labels], dim=-1))


def template_ids(tokenizer: PreTrainedTokenizerFast) -> Tensor:
    """The ids of the tokens that the tokenizer adds to a pair, padding included."""
    pair = tokenizer("a", "a", return_special_tokens_mask=True)
    added = torch.tensor(pair["input_ids"])[torch.tensor(pair["special_tokens_mask"]) == 1]
    return torch.cat([added, torch.tensor([tokenizer.pad_token_id])])


def occurs_opposite(ids: Tensor, template: Tensor) -> tuple[Tensor, Tensor]:
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
    """Cross-entropy of telling, of each token of a pair's second text, whether it occurs in the first too.

    Read off the hidden states above the embeddings, at every layer by the same linear map. From one answer
    per token, an encoder learns to compare two texts; from one per pair it hardly does. Only the second text
    is asked about, since not every encoder can look ahead.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None
    ) -> None:
        del teacher
        super().__init__()
        self.head = nn.Linear(model.config.hidden_size, 2)
        self.template = nn.Buffer(template_ids(tokenizer))

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the second text's tokens and the layers; the labels play no part."""
        del labels
        shared, _ = occurs_opposite(inputs["input_ids"], self.template)
        asked = second_text(inputs["input_ids"], self.template)
        layers = model.base_model(**inputs, output_hidden_states=True).hidden_states[1:]
        answers = self.head(torch.stack(layers)[:, asked])  # (L, asked tokens, 2)
        return cross_entropy(answers.flatten(0, 1), shared[asked].long().repeat(len(layers)))


Objective = Callable[[PreTrainedModel, PreTrainedTokenizerFast, PreTrainedModel | None], nn.Module]

OBJECTIVES: Mapping[str, Objective] = {
    "labels": Labels,
    "shared tokens": SharedTokens,
    "masked words": MaskedWords,
    "masked words and next sentence": MaskedWordsAndNextSentence,
    "distilled masked words": DistilledMaskedWords,
    "permuted words": PermutedWords,
    "next words": NextWords,
}
