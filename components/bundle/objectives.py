"""What a training stage minimises: a module that takes the model and a batch, and gives the loss.

An objective may hold parameters of its own, which are trained along and then thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast


class Labels(nn.Module):
    """Cross-entropy of the classifier's logits (B, K) with the labels (B,)."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
        del model, tokenizer  # every objective is made of both; this one needs neither
        super().__init__()

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the batch."""
        return cross_entropy(model(**inputs).logits, labels)


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


class SharedTokens(nn.Module):
    """Cross-entropy of telling, of each token of a pair, whether it occurs in the other text too.

    Read off the hidden states above the embeddings, at every layer by the same linear map. From one answer
    per token, an encoder of random weights learns to compare two texts; from one per pair it hardly does.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self.head = nn.Linear(model.config.hidden_size, 2)
        self.template = nn.Buffer(template_ids(tokenizer))

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the texts' tokens and the layers; the labels play no part."""
        del labels
        shared, asked = occurs_opposite(inputs["input_ids"], self.template)
        layers = model.base_model(**inputs, output_hidden_states=True).hidden_states[1:]
        answers = self.head(torch.stack(layers)[:, asked])  # (L, asked tokens, 2)
        return cross_entropy(answers.flatten(0, 1), shared[asked].long().repeat(len(layers)))


OBJECTIVES: Mapping[str, Callable[[PreTrainedModel, PreTrainedTokenizerFast], nn.Module]] = {
    "labels": Labels,
    "shared tokens": SharedTokens,
}
