"""The shipped checkpoints: what they weigh, how they load, how well they do."""

import os
from collections import Counter
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from components.bundle.checkpoints import load, load_tokenizer
from components.bundle.corpus import read
from components.bundle.recipes import PRETRAINED, load_book, parts
from components.bundle.training import accuracy

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "assets/models"
DATA = Path(os.environ.get("POOLSCOPE_DATA", ROOT / "../shared/data"))
BOOK = load_book()
KEYS = [key for key in BOOK.keys if parts(key)[1] != PRETRAINED]

with_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the labelled texts are not at {DATA}; POOLSCOPE_DATA names their folder"
)


@pytest.mark.parametrize("key", KEYS)
def test_it_loads_without_a_remainder(key: str) -> None:
    model, info = AutoModelForSequenceClassification.from_pretrained(
        MODELS / key, output_loading_info=True, use_safetensors=True, trust_remote_code=False
    )
    assert not any(info.values()), info
    assert model.config.architectures == [type(model).__name__]
    assert 1.3e6 < model.num_parameters() < 1.6e6


@pytest.mark.parametrize("key", KEYS)
def test_it_is_small_and_half_precision_on_disk(key: str) -> None:
    assert sum(file.stat().st_size for file in (MODELS / key).iterdir()) < 4e6
    with safe_open(MODELS / key / "model.safetensors", framework="pt") as weights:
        names = tuple(weights.keys())
        assert {weights.get_tensor(name).dtype for name in names} == {torch.float16}


@pytest.mark.parametrize("key", KEYS)
def test_it_takes_128_tokens_and_no_more(key: str) -> None:
    model, tokenizer = load(MODELS / key).eval(), load_tokenizer(MODELS / key)
    assert tokenizer.model_max_length == BOOK.longest == 128
    inputs = tokenizer("word " * 500, "word " * 300, truncation=True, return_tensors="pt")
    assert inputs["input_ids"].shape == (1, 128)
    with torch.inference_mode():
        assert model(**inputs).logits.isfinite().all()


@pytest.mark.parametrize("key", KEYS)
def test_its_vocabulary_is_the_recipe_s(key: str) -> None:
    family = BOOK.families[key.split("-")[0]]
    tokenizer = AutoTokenizer.from_pretrained(MODELS / key)
    assert type(tokenizer).__name__ == family.tokenizer.kind
    assert len(tokenizer) == BOOK.vocabulary.size == AutoConfig.from_pretrained(MODELS / key).vocab_size
    special = family.tokenizer.special
    assert tuple(tokenizer.convert_ids_to_tokens(range(len(special)))) == special


@with_data
@pytest.mark.parametrize("key", KEYS)
def test_it_reaches_its_bar(key: str) -> None:
    """80 % on SST-2's dev set; more than the most frequent label's share of MRPC's test set."""
    task = key.split("-")[1]
    examples = read(BOOK.evaluations[task], DATA)
    model, tokenizer = load(MODELS / key).eval(), load_tokenizer(MODELS / key)
    majority = max(Counter(e.label for e in examples).values()) / len(examples)
    bar = 0.80 if task == "sentiment" else majority
    assert accuracy(model, tokenizer, examples) > bar
