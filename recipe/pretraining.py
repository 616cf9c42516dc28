"""Self-supervised objectives of the papers: masked, next and permuted language modelling, distillation.

Random numbers are torch's. Logits are computed only at the predicted positions, since the output embedding is
by far the widest matrix.
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

MASKED = 0.15  # share of the tokens that are predicted
TEMPERATURE = 2.0  # of the distillation


def outputs_at(model: PreTrainedModel, asked: Tensor, inputs: Mapping[str, Any]) -> Any:
    """The model's outputs, whose logits are (N, V), for the N true positions of ``asked`` (B, T) alone."""
    words: nn.Module = cast(Any, model).get_output_embeddings()
    hook = words.register_forward_pre_hook(lambda _, hidden: (hidden[0][asked],))
    try:
        return model(**inputs)
    finally:
        hook.remove()


def mask_words(ids: Tensor, tokenizer: PreTrainedTokenizerFast) -> tuple[Tensor, Tensor]:
    """Ids (B, T) with 15 % of the ordinary tokens chosen for prediction, and which these are (B, T).

    Of the chosen ones 80 % become the mask token, 10 % a random token, 10 % stay (Devlin et al. 2019).
    """
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids, device=ids.device))
    asked = (torch.rand(ids.shape, device=ids.device) < MASKED) & ~special
    chance = torch.rand(ids.shape, device=ids.device)
    hidden = ids.masked_fill(asked & (chance < 0.8), cast(int, tokenizer.mask_token_id))
    anything = torch.randint(len(tokenizer), ids.shape, device=ids.device)
    return torch.where(asked & (chance >= 0.9), anything, hidden), asked


class MaskedWords(nn.Module):
    """Masked language modelling with dynamic masking (RoBERTa: Liu et al. 2019)."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self.tokenizer = tokenizer

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean cross-entropy over the masked words; the labels are not used."""
        del labels
        hidden, asked = mask_words(inputs["input_ids"], self.tokenizer)
        logits = outputs_at(model, asked, {**inputs, "input_ids": hidden}).logits
        return cross_entropy(logits, inputs["input_ids"][asked])


class MaskedWordsAndNextSentence(nn.Module):
    """The same plus next-sentence prediction (BERT: Devlin et al. 2019)."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self.tokenizer = tokenizer

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The sum of the two means; labels (B,): 0 where the second text followed the first, 1 where not."""
        hidden, asked = mask_words(inputs["input_ids"], self.tokenizer)
        outputs = outputs_at(model, asked, {**inputs, "input_ids": hidden})
        words = cross_entropy(outputs.prediction_logits, inputs["input_ids"][asked])
        return words + cross_entropy(outputs.seq_relationship_logits, labels.long())


class DistilledMaskedWords(nn.Module):
    """The masked words, the teacher's predictions of them, and the teacher's final hidden states.

    The three losses and their weights are those of DistilBERT (Sanh et al. 2019): 2, 5 and 1.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, teacher: PreTrainedModel | None) -> None:
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
        student = log_softmax(ours.logits / TEMPERATURE, dim=-1)
        goal = softmax(theirs.prediction_logits / TEMPERATURE, dim=-1)
        imitation = kl_div(student, goal, reduction="batchmean") * TEMPERATURE**2
        attended = inputs["attention_mask"].bool()
        states, targets = (o.hidden_states[-1][attended] for o in (ours, theirs))  # (N, D)
        alignment = cosine_embedding_loss(states, targets, torch.ones(len(states), device=states.device))
        return 5 * imitation + 2 * cross_entropy(ours.logits, inputs["input_ids"][asked]) + alignment


class NextWords(nn.Module):
    """Causal language modelling: each word from those before it (GPT-2: Radford et al. 2019)."""

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean cross-entropy over the words; the labels are not used."""
        del labels
        asked = pad(inputs["attention_mask"][:, 1:], (0, 1)).bool()  # (B, T) where a word follows
        logits = outputs_at(model, asked, inputs).logits
        return cross_entropy(logits, inputs["input_ids"][:, 1:][asked[:, :-1]])


class PermutedWords(nn.Module):
    """Permutation language modelling: spans in a random order (XLNet: Yang et al. 2019)."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__()
        self.collate = DataCollatorForPermutationLanguageModeling(tokenizer)
        self.blank = tokenizer.pad_token_id

    def forward(self, model: PreTrainedModel, inputs: BatchEncoding, labels: Tensor) -> Tensor:
        """The mean cross-entropy over the predicted words; the labels are not used."""
        del labels
        ids, attended = inputs["input_ids"], inputs["attention_mask"]  # (B, T)
        odd = (ids.shape[1] % 2, 0)  # the collator wants an even T
        ids, attended = pad(ids, odd, value=self.blank), pad(attended, odd)
        collated = self.collate(list(ids.cpu()))
        wanted = collated.pop("labels").to(ids.device)  # (B, T), -100 where nothing is asked for
        masks = {name: tensor.to(ids.device) for name, tensor in collated.items()}
        logits = outputs_at(model, wanted >= 0, {**masks, "attention_mask": attended}).logits
        return cross_entropy(logits, wanted[wanted >= 0])
