"""Tokenizers, losses, and the training loop: against the papers, transformers' own losses, and one word."""

import random
import tomllib
from collections import Counter
from copy import deepcopy
from itertools import product
from pathlib import Path

import pytest
import torch
import transformers
from transformers import AutoModelForSequenceClassification, BatchEncoding

from recipe import training
from recipe.corpus import Example
from recipe.recipes import Recipes
from recipe.training import OBJECTIVES, Model, Tokenizer, correct, logits_of, shared_tokens, train
from tests.recipe.conftest import BLAME, FAMILIES, PRAISE, THINGS, Models, Tokenizers

TEXTS = ["the story is long and the cast is warm", "a dull chase , and a joke of the mill"]
TABLES = tomllib.loads(Path(__file__).with_name("training.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", FAMILIES)
def test_templates_segments_and_padding(family: str, tokenizers: Tokenizers) -> None:
    tokenizer = tokenizers[family]
    found = (tokenizer.convert_ids_to_tokens(tokenizer(*texts)["input_ids"]) for texts in ("a", "ab"))
    assert [" ".join(tokens).replace("▁ ", "▁") for tokens in found] == TABLES["templates"][family]
    pairs = ["a", "the story is long"], ["b", "the cast is lazy"]
    batch = tokenizer(*pairs, padding=True, return_tensors="pt")
    mask = batch["attention_mask"][0].tolist()
    assert mask == sorted(mask, reverse=family != "xlnet")
    assert 0 in mask
    segments = {"bert": {0, 1}, "xlnet": {0, 1, 2}}  # the paper of xlnet has one for the last token
    assert set(batch.get("token_type_ids", torch.empty(1, 0))[-1].tolist()) == segments.get(family, set())
    _, second = shared_tokens(batch["input_ids"], training.template_ids(tokenizer))
    assert second.tolist() == [[i == 1 for i in encoding.sequence_ids] for encoding in batch.encodings]


def test_tokens_are_looked_up_in_the_other_text_only() -> None:
    rows = ("178728920", "005265521", "178228920")  # a digit is the id of a token
    ids = torch.tensor([[*map(int, row)] for row in rows])
    shared, second = shared_tokens(ids, torch.tensor([0, 1, 2]))
    assert shared.nonzero().tolist() == [[0, 2], [0, 5], [1, 2], [1, 5], [1, 6], [2, 2], [2, 5]]
    assert second.nonzero().tolist() == [[0, 5], [0, 6], [1, 4], [1, 5], [1, 6], [2, 5], [2, 6]]


@pytest.mark.parametrize(("name", "family"), [*product(["labels"], FAMILIES), ("shared tokens", "bert")])
def test_losses_reach_the_embeddings(name: str, family: str, models: Models, tokenizers: Tokenizers) -> None:
    tokenizer = tokenizers[family]
    torch.manual_seed(0)
    batch = tokenizer(["the story", "a"], ["a story", "b"], padding=True, return_tensors="pt")
    model = AutoModelForSequenceClassification.from_config(models[family].config)
    loss = OBJECTIVES[name](model, tokenizer, None)(model, batch, torch.tensor([1.0, 0.3]))
    loss.backward()
    assert 0.3 < loss.item() < 1.5
    assert model.get_input_embeddings().weight.grad.abs().sum() > 0


def test_four_in_five_hidden_words_are_masked(tokenizers: Tokenizers) -> None:
    torch.manual_seed(0)
    tokenizer = tokenizers["bert"]
    ids = torch.randint(len(tokenizer), (200, 100))
    hidden, asked = training.mask_words(ids, tokenizer)
    assert not asked[torch.isin(ids, torch.tensor(tokenizer.all_special_ids))].any()
    assert torch.equal(hidden[~asked], ids[~asked])
    assert asked.float().mean().item() == pytest.approx(0.15, abs=0.01)
    masked, kept = ((hidden == same)[asked].float().mean() for same in (tokenizer.mask_token_id, ids))
    assert (masked.item(), kept.item()) == (pytest.approx(0.8, abs=0.03), pytest.approx(0.1, abs=0.03))


def whole_mask(ids: torch.Tensor, tokenizer: Tokenizer) -> tuple[torch.Tensor, torch.Tensor]:
    """Every second word hidden."""
    asked = (torch.arange(ids.shape[1]) % 2 == 1) & ~torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    return ids.masked_fill(asked, tokenizer.mask_token_id), asked


def their_loss(name: str, model: Model, tokenizer: Tokenizer, inputs: BatchEncoding) -> torch.Tensor:
    """The loss of ``name`` by transformers' own model, computed on every position."""
    ids, attended = inputs["input_ids"], inputs["attention_mask"]
    if name == "next words":
        return model(**inputs, labels=ids.masked_fill(attended == 0, -100)).loss
    if name == "permuted words":
        odd = (ids.shape[1] % 2, 0)  # as the collator wants it
        ids = torch.nn.functional.pad(ids, odd, value=tokenizer.pad_token_id)
        collated = transformers.DataCollatorForPermutationLanguageModeling(tokenizer)(list(ids))
        return model(**collated, attention_mask=torch.nn.functional.pad(attended, odd)).loss
    hidden, asked = whole_mask(ids, tokenizer)
    labels, given = ids.masked_fill(~asked, -100), {**inputs, "input_ids": hidden}
    if name == "distilled masked words":  # a student that is its teacher has only words to learn
        answers = model(**given).prediction_logits.flatten(0, 1)
        return 2 * torch.nn.functional.cross_entropy(answers, labels.flatten())
    following = {"next_sentence_label": torch.tensor([1, 0])} if "next" in name else {}
    return model(**given, labels=labels, **following).loss


@pytest.mark.parametrize("name", TABLES["losses"])
def test_a_loss_is_transformers_own(
    name: str, models: Models, tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "mask_words", whole_mask)
    family = TABLES["losses"][name]
    model, tokenizer = deepcopy(models[family]).eval(), tokenizers[family]
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
    torch.manual_seed(5)
    theirs = their_loss(name, model, tokenizer, inputs)
    torch.manual_seed(5)
    student = deepcopy(model)
    if name == "distilled masked words":  # a student has another name for the logits
        student.register_forward_hook(lambda *ran: ran[-1].__setitem__("logits", ran[-1].prediction_logits))
    ours = OBJECTIVES[name](student, tokenizer, model)(student, inputs, torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_an_epoch_takes_every_example_once(tokenizers: Tokenizers) -> None:
    examples = [Example(("story " * length,), length % 2) for length in range(1, 101)]
    seen: Counter[int] = Counter()
    for inputs, labels in training.training_batches(tokenizers["bert"], examples, 8, random.Random(0)):
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
    hidden = training.drop_tokens(inputs, [0, 1], 0.25)["attention_mask"] == 0
    assert hidden[:, :5].all()
    assert not hidden[:, 5:][ids[:, 5:] < 2].any()
    assert 0.2 < hidden[:, 5:][ids[:, 5:] >= 2].float().mean() < 0.3
    assert (inputs["attention_mask"][:, 5:] == 1).all()  # the input itself stays as it was


def test_training_learns_what_one_word_says(recipes: Recipes, models: Models, tokenizers: Tokenizers) -> None:
    torch.manual_seed(0)
    words = [(word, label) for label, words in enumerate((BLAME, PRAISE)) for word in words]
    rows = [Example((f"the {thing} is {word} .",), label) for thing in THINGS for word, label in words]
    seen, asked = rows[: -2 * len(words)], rows[-2 * len(words) :]  # the last two things are never seen
    stage = recipes.tasks["sentiment"].stages[0].model_copy(update={"steps": 80, "batch": 8})
    model = AutoModelForSequenceClassification.from_config(models["bert"].config)
    before, said = model.classifier.weight.clone(), []
    trained = train(model, tokenizers["bert"], seen, stage, recipes.training, random.Random(0), said.append)
    assert correct(trained, tokenizers["bert"], asked).double().mean() > 0.9
    assert not torch.equal(before, model.classifier.weight)
    assert not torch.equal(trained.classifier.weight, model.classifier.weight)  # an average, not the last
    assert "step 80 of 80" in said[-1]


def test_answers_come_in_order(models: Models, tokenizers: Tokenizers) -> None:
    torch.manual_seed(0)
    tokenizer = tokenizers["bert"]
    model = AutoModelForSequenceClassification.from_config(models["bert"].config).eval()
    examples = [Example((f"{thing} " * (i % 9 + 1),), 0) for i, thing in enumerate(THINGS * 12)]
    with torch.inference_mode():
        alone = torch.cat([model(**tokenizer(e.texts[0], return_tensors="pt")).logits for e in examples])
    torch.testing.assert_close(logits_of(model, tokenizer, examples), alone)
