"""Each self-supervised loss against transformers' own, computed on every position."""

from collections.abc import Callable
from copy import deepcopy
from unittest.mock import patch

import pytest
import torch
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

from recipe import pretraining
from recipe.pretraining import (
    DistilledMaskedWords,
    MaskedWords,
    MaskedWordsAndNextSentence,
    NextWords,
    PermutedWords,
    mask_words,
    outputs_at,
)

Tokenizers = dict[str, PreTrainedTokenizerFast]
Made = tuple[PreTrainedModel, PreTrainedTokenizerFast, BatchEncoding]
TEXTS = ["the story is long and the cast is warm", "a dull chase , and a joke of the mill"]


@pytest.fixture
def make(models: dict[str, PreTrainedModel], tokenizers: Tokenizers) -> Callable[[str], Made]:
    def made(family: str) -> Made:
        torch.manual_seed(0)
        tokenizer = tokenizers[family]
        model = deepcopy(models[family]).eval()
        return model, tokenizer, tokenizer(TEXTS, padding=True, return_tensors="pt")

    return made


def test_four_in_five_hidden_words_are_masked(tokenizers: Tokenizers) -> None:
    torch.manual_seed(0)
    tokenizer = tokenizers["bert"]
    special = torch.tensor(tokenizer.all_special_ids)
    ids = torch.randint(len(tokenizer), (200, 100))
    hidden, asked = mask_words(ids, tokenizer)
    assert not asked[torch.isin(ids, special)].any()
    assert torch.equal(hidden[~asked], ids[~asked])
    assert asked.float().mean().item() == pytest.approx(0.15, abs=0.01)
    became = hidden[asked]
    masked = (became == tokenizer.mask_token_id).float().mean().item()
    kept = (became == ids[asked]).float().mean().item()
    assert (masked, kept) == (pytest.approx(0.8, abs=0.03), pytest.approx(0.1, abs=0.03))


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "xlnet", "gpt2"])
def test_logits_at_some_positions_are_those_of_all(family: str, make: Callable[[str], Made]) -> None:
    model, _, inputs = make(family)
    asked = torch.rand(inputs["input_ids"].shape) < 0.4
    some, every = outputs_at(model, asked, inputs), model(**inputs)
    name = "prediction_logits" if "prediction_logits" in every else "logits"
    torch.testing.assert_close(some[name], every[name][asked])


def whole_mask(ids: torch.Tensor, tokenizer: PreTrainedTokenizerFast) -> tuple[torch.Tensor, torch.Tensor]:
    """Every second word hidden."""
    asked = (torch.arange(ids.shape[1]) % 2 == 1) & ~torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    return ids.masked_fill(asked, tokenizer.mask_token_id), asked


def test_masked_words_are_transformers_loss(make: Callable[[str], Made]) -> None:
    model, tokenizer, inputs = make("roberta")
    hidden, asked = whole_mask(inputs["input_ids"], tokenizer)
    labels = inputs["input_ids"].masked_fill(~asked, -100)
    theirs = model(input_ids=hidden, attention_mask=inputs["attention_mask"], labels=labels).loss
    with patch.object(pretraining, "mask_words", whole_mask):
        ours = MaskedWords(tokenizer)(model, inputs, torch.zeros(2))
    torch.testing.assert_close(ours, theirs)


def test_next_sentence_is_transformers_loss(make: Callable[[str], Made]) -> None:
    model, tokenizer, inputs = make("bert")
    hidden, asked = whole_mask(inputs["input_ids"], tokenizer)
    labels, answer = inputs["input_ids"].masked_fill(~asked, -100), torch.tensor([1, 0])
    theirs = model(**{**inputs, "input_ids": hidden}, labels=labels, next_sentence_label=answer).loss
    with patch.object(pretraining, "mask_words", whole_mask):
        ours = MaskedWordsAndNextSentence(tokenizer)(model, inputs, answer.float())
    torch.testing.assert_close(ours, theirs)


def test_next_words_are_transformers_loss(make: Callable[[str], Made]) -> None:
    model, _, inputs = make("gpt2")
    labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
    ours = NextWords()(model, inputs, torch.zeros(2))
    torch.testing.assert_close(ours, model(**inputs, labels=labels).loss)


def test_permuted_words_are_transformers_loss(make: Callable[[str], Made]) -> None:
    model, tokenizer, inputs = make("xlnet")
    objective = PermutedWords(tokenizer)
    ids, attended = inputs["input_ids"], inputs["attention_mask"]
    if ids.shape[1] % 2:  # as the collator wants it
        ids = torch.nn.functional.pad(ids, (1, 0), value=tokenizer.pad_token_id)
        attended = torch.nn.functional.pad(attended, (1, 0))
    torch.manual_seed(5)
    collated = objective.collate(list(ids))
    theirs = model(**collated, attention_mask=attended).loss
    torch.manual_seed(5)
    torch.testing.assert_close(objective(model, inputs, torch.zeros(2)), theirs)


def test_a_student_that_is_its_teacher_has_only_words_to_learn(make: Callable[[str], Made]) -> None:
    teacher, tokenizer, inputs = make("bert")
    hidden, asked = whole_mask(inputs["input_ids"], tokenizer)
    labels = inputs["input_ids"].masked_fill(~asked, -100)
    words = torch.nn.functional.cross_entropy(
        teacher(**{**inputs, "input_ids": hidden}).prediction_logits.flatten(0, 1), labels.flatten()
    )

    class Named(torch.nn.Module):  # the teacher under a student's name for its logits
        def forward(self, **given: torch.Tensor) -> object:
            outputs = teacher(**given)
            outputs["logits"] = outputs.prediction_logits
            return outputs

        def get_output_embeddings(self) -> torch.nn.Module:
            return teacher.get_output_embeddings()

    with patch.object(pretraining, "mask_words", whole_mask):
        loss = DistilledMaskedWords(tokenizer, teacher)(Named(), inputs, torch.zeros(2))
    torch.testing.assert_close(loss, 2 * words, atol=1e-4, rtol=1e-4)
