"""Self-supervised objectives of the papers: masked, next and permuted language modelling, distillation.

Random numbers are torch's. Logits are computed only at the predicted positions, since the output embedding is
by far the widest matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
