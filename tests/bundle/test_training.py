import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    BatchEncoding,
    PreTrainedTokenizerFast,
)

from components.bundle.batches import batches
from components.bundle.checkpoints import untrained
from components.bundle.corpus import Example
from components.bundle.progress import Progress
from components.bundle.recipes import Book
from components.bundle.training import accuracy, drop_tokens, predictions, train
from tests.bundle.labelled import BLAME, PRAISE, THINGS


@pytest.fixture(scope="module")
def tokenizer(tokenizers: dict[str, PreTrainedTokenizerFast]) -> PreTrainedTokenizerFast:
    return tokenizers["bert"]


def test_an_epoch_takes_every_example_once(tokenizer: PreTrainedTokenizerFast) -> None:
    examples = [Example(("story " * length,), length % 2) for length in range(1, 101)]
    seen: Counter[int] = Counter()
    for inputs, labels in batches(tokenizer, examples, 8, random.Random(0)):
        assert inputs["input_ids"].shape == inputs["attention_mask"].shape
        assert len(inputs["input_ids"]) == len(labels) <= 8
        lengths = inputs["attention_mask"].sum(-1) - 2  # the text's tokens
        assert (lengths % 2 == labels).all()
        seen.update(lengths.tolist())
    assert seen == Counter(range(1, 101))


def test_long_inputs_are_cut(tokenizer: PreTrainedTokenizerFast) -> None:
    examples = [Example(("story " * 500, "cast " * 500), 1)]
    ((inputs, _),) = batches(tokenizer, examples, 8, random.Random(0))
    assert inputs["input_ids"].shape == (1, 128)


def test_dropped_tokens_are_hidden_and_special_ones_never() -> None:
    ids = torch.arange(2000).reshape(2, 1000) % 10
    inputs = BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
    inputs["attention_mask"][:, :5] = 0
    hidden = drop_tokens(inputs, [0, 1], 0.25)["attention_mask"] == 0
    assert hidden[:, :5].all()
    assert not hidden[:, 5:][ids[:, 5:] < 2].any()
    assert 0.2 < hidden[:, 5:][ids[:, 5:] >= 2].float().mean() < 0.3
    assert (inputs["attention_mask"][:, 5:] == 1).all()  # the input itself stays as it was


def test_training_learns_what_one_word_says(book: Book, tokenizer: PreTrainedTokenizerFast) -> None:
    torch.manual_seed(0)
    words = [(word, label) for label, words in enumerate((BLAME, PRAISE)) for word in words]
    rows = [Example((f"the {thing} is {word} .",), label) for thing in THINGS for word, label in words]
    seen, asked = rows[: -2 * len(words)], rows[-2 * len(words) :]  # the last two things are never seen
    stage = replace(book.tasks["sentiment"].stages[0], steps=80, batch=8)
    config = untrained(book.families["bert"], book, tokenizer).config
    model = AutoModelForSequenceClassification.from_config(config)
    before = model.classifier.weight.clone()
    trained = train(model, tokenizer, seen, stage, book.training, random.Random(0), Progress("test"))
    assert accuracy(trained, tokenizer, asked) > 0.9
    assert not torch.equal(before, model.classifier.weight)
    assert not torch.equal(trained.classifier.weight, model.classifier.weight)  # an average, not the last


def test_predictions_come_in_the_examples_order(book: Book, tokenizer: PreTrainedTokenizerFast) -> None:
    torch.manual_seed(0)
    config = untrained(book.families["bert"], book, tokenizer).config
    model = AutoModelForSequenceClassification.from_config(config).eval()
    examples = [Example((f"{thing} " * (i % 9 + 1),), 0) for i, thing in enumerate(THINGS * 12)]
    alone = [model(**tokenizer(e.texts[0], return_tensors="pt")).logits.argmax().item() for e in examples]
    assert set(alone) == {0, 1}
    assert predictions(model, tokenizer, examples) == alone
    assert accuracy(model, tokenizer, examples) == alone.count(0) / len(alone)
