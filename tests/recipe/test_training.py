import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    BatchEncoding,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from recipe.corpus import Example
from recipe.recipes import Recipes
from recipe.training import (
    Progress,
    accuracy,
    drop_tokens,
    predictions,
    train,
    training_batches,
)
from tests.recipe.labelled import BLAME, PRAISE, THINGS


@pytest.fixture(scope="module")
def tokenizer(tokenizers: dict[str, PreTrainedTokenizerFast]) -> PreTrainedTokenizerFast:
    return tokenizers["bert"]


def test_an_epoch_takes_every_example_once(tokenizer: PreTrainedTokenizerFast) -> None:
    examples = [Example(("story " * length,), length % 2) for length in range(1, 101)]
    seen: Counter[int] = Counter()
    for inputs, labels in training_batches(tokenizer, examples, 8, random.Random(0)):
        assert inputs["input_ids"].shape == inputs["attention_mask"].shape
        assert len(inputs["input_ids"]) == len(labels) <= 8
        lengths = inputs["attention_mask"].sum(-1) - 2  # the text's tokens
        assert (lengths % 2 == labels).all()
        seen.update(lengths.tolist())
    assert seen == Counter(range(1, 101))


def test_dropped_tokens_are_hidden_and_special_ones_never() -> None:
    ids = torch.arange(2000).reshape(2, 1000) % 10
    inputs = BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
    inputs["attention_mask"][:, :5] = 0
    hidden = drop_tokens(inputs, [0, 1], 0.25)["attention_mask"] == 0
    assert hidden[:, :5].all()
    assert not hidden[:, 5:][ids[:, 5:] < 2].any()
    assert 0.2 < hidden[:, 5:][ids[:, 5:] >= 2].float().mean() < 0.3
    assert (inputs["attention_mask"][:, 5:] == 1).all()  # the input itself stays as it was


def test_training_learns_what_one_word_says(
    recipes: Recipes, models: dict[str, PreTrainedModel], tokenizer: PreTrainedTokenizerFast
) -> None:
    torch.manual_seed(0)
    words = [(word, label) for label, words in enumerate((BLAME, PRAISE)) for word in words]
    rows = [Example((f"the {thing} is {word} .",), label) for thing in THINGS for word, label in words]
    seen, asked = rows[: -2 * len(words)], rows[-2 * len(words) :]  # the last two things are never seen
    stage = replace(recipes.tasks["sentiment"].stages[0], steps=80, batch=8)
    model = AutoModelForSequenceClassification.from_config(models["bert"].config)
    before = model.classifier.weight.clone()
    trained = train(model, tokenizer, seen, stage, recipes.training, random.Random(0), Progress("test"))
    assert accuracy(trained, tokenizer, asked) > 0.9
    assert not torch.equal(before, model.classifier.weight)
    assert not torch.equal(trained.classifier.weight, model.classifier.weight)  # an average, not the last


def test_predictions_come_in_the_examples_order(
    models: dict[str, PreTrainedModel], tokenizer: PreTrainedTokenizerFast
) -> None:
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(models["bert"].config).eval()
    examples = [Example((f"{thing} " * (i % 9 + 1),), 0) for i, thing in enumerate(THINGS * 12)]
    with torch.inference_mode():
        logits = torch.cat([model(**tokenizer(e.texts[0], return_tensors="pt")).logits for e in examples])
        model.classifier.bias -= logits.mean(dim=0)  # so that both labels are found
    alone = (logits - logits.mean(dim=0)).argmax(dim=1).tolist()
    assert set(alone) == {0, 1}
    assert predictions(model, tokenizer, examples) == alone
    assert accuracy(model, tokenizer, examples) == alone.count(0) / len(alone)
