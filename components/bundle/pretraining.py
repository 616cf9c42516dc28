"""Self-supervised objectives: what the papers' encoders were pre-trained with. Chance is torch's.

The output embedding is by far the widest matrix, so logits are computed only where a word is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_embedding_loss, cross_entropy, kl_div, log_softmax, pad, softmax
from transformers import (
    BatchEncoding,
    DataCollatorForPermutationLanguageModeling,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

MASKED = 0.15  # share of the tokens that are asked for
TEMPERATURE = 2.0


def outputs_at(model: PreTrainedModel, asked: Tensor, inputs: Mapping[str, Any]) -> Any:
    """The model's outputs, whose logits are (N, V), for the N true positions of ``asked`` (B, T) alone."""
    words: nn.Module = cast(Any, model).get_output_embeddings()
    hook = words.register_forward_pre_hook(lambda _, hidden: (hidden[0][asked],))
    try:
        return model(**inputs)
    finally:
        hook.remove()


def mask_words(ids: Tensor, tokenizer: PreTrainedTokenizerFast) -> tuple[Tensor, Tensor]:
    """Ids (B, T) with 15 % of the ordinary tokens hidden, and which these are (B, T).

    Of the hidden ones 80 % become the mask token, 10 % any token, 10 % stay (Devlin et al. 2019).
    """
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids, device=ids.device))
    asked = (torch.rand(ids.shape, device=ids.device) < MASKED) & ~special
    chance = torch.rand(ids.shape, device=ids.device)
    hidden = ids.masked_fill(asked & (chance < 0.8), cast(int, tokenizer.mask_token_id))
    anything = torch.randint(len(tokenizer), ids.shape, device=ids.device)
    return torch.where(asked & (chance >= 0.9), anything, hidden), asked


class MaskedWords(nn.Module):
    """Cross-entropy of the hidden words, other ones in every epoch (RoBERTa: Liu et al. 2019)."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None
    ) -> None:
        del model, teacher
        super().__init__()
        self.tokenizer = tokenizer

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the hidden words; the labels play no part."""
        del labels
        hidden, asked = mask_words(inputs["input_ids"], self.tokenizer)
        logits = outputs_at(model, asked, {**inputs, "input_ids": hidden}).logits
        return cross_entropy(logits, inputs["input_ids"][asked])


class MaskedWordsAndNextSentence(MaskedWords):
    """The same, and whether the second text followed the first (BERT: Devlin et al. 2019)."""

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The sum of the two means; labels (B,) are 0 where it did, 1 where chance chose it."""
        hidden, asked = mask_words(inputs["input_ids"], self.tokenizer)
        outputs = outputs_at(model, asked, {**inputs, "input_ids": hidden})
        words = cross_entropy(outputs.prediction_logits, inputs["input_ids"][asked])
        return words + cross_entropy(outputs.seq_relationship_logits, labels.long())


class DistilledMaskedWords(nn.Module):
    """The hidden words, as they are and as a teacher guesses them, and the teacher's final hidden states.

    The three losses and their weights are those of DistilBERT (Sanh et al. 2019): 2, 5 and 1.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None
    ) -> None:
        del model
        super().__init__()
        if teacher is None:
            raise ValueError("a student needs a teacher")
        self.tokenizer = tokenizer
        self.teacher = teacher
        cast(nn.Module, teacher).eval().requires_grad_(False)

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The weighted sum of the three means."""
        del labels
        hidden, asked = mask_words(inputs["input_ids"], self.tokenizer)
        seen = {**inputs, "input_ids": hidden, "output_hidden_states": True}
        ours, theirs = outputs_at(model, asked, seen), outputs_at(self.teacher, asked, seen)
        guesses = log_softmax(ours.logits / TEMPERATURE, dim=-1)
        wanted = softmax(theirs.prediction_logits / TEMPERATURE, dim=-1)
        imitation = kl_div(guesses, wanted, reduction="batchmean") * TEMPERATURE**2
        attended = inputs["attention_mask"].bool()
        states, goals = (o.hidden_states[-1][attended] for o in (ours, theirs))  # (N, D)
        alignment = cosine_embedding_loss(states, goals, torch.ones(len(states), device=states.device))
        return 5 * imitation + 2 * cross_entropy(ours.logits, inputs["input_ids"][asked]) + alignment


class NextWords(nn.Module):
    """Cross-entropy of every word after the first, given those before it (GPT-2: Radford et al. 2019)."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None
    ) -> None:
        del model, tokenizer, teacher
        super().__init__()

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the words; the labels play no part."""
        del labels
        asked = pad(inputs["attention_mask"][:, 1:], (0, 1)).bool()  # (B, T) where a word follows
        logits = outputs_at(model, asked, inputs).logits
        return cross_entropy(logits, inputs["input_ids"][:, 1:][asked[:, :-1]])


class PermutedWords(nn.Module):
    """Cross-entropy of spans of words in a random order of prediction (XLNet: Yang et al. 2019)."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None
    ) -> None:
        del model, teacher
        super().__init__()
        self.collate = DataCollatorForPermutationLanguageModeling(tokenizer)
        self.blank = tokenizer.pad_token_id

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean over the words asked for; the labels play no part."""
        del labels
        ids, attended = inputs["input_ids"], inputs["attention_mask"]  # (B, T)
        odd = (ids.shape[1] % 2, 0)  # the collator wants an even T
        ids, attended = pad(ids, odd, value=self.blank), pad(attended, odd)
        collated = self.collate(list(ids.cpu()))
        wanted = collated.pop("labels").to(ids.device)  # (B, T), -100 where nothing is asked for
        masks = {name: tensor.to(ids.device) for name, tensor in collated.items()}
        logits = outputs_at(model, wanted >= 0, {**masks, "attention_mask": attended}).logits
        return cross_entropy(logits, wanted[wanted >= 0])
