from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from recipe.checkpoints import untrained
from recipe.corpus import Corpus, load_corpus
from recipe.recipes import Recipes, load_recipes, smoke
from recipe.vocabulary import train_tokenizer
from tests.recipe.labelled import write_data

FAMILIES = tuple(load_recipes().families)


@pytest.fixture(scope="session")
def recipes() -> Recipes:
    return smoke(load_recipes())


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_data(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(recipes: Recipes, data: Path) -> Corpus:
    return load_corpus(recipes, data)


@pytest.fixture(scope="session")
def tokenizers(recipes: Recipes, corpus: Corpus) -> dict[str, PreTrainedTokenizerFast]:
    return {
        name: train_tokenizer(
            family.tokenizer, recipes.vocabulary, corpus.texts(recipes.vocabulary.sources), recipes.max_length
        )
        for name, family in recipes.families.items()
    }


@pytest.fixture(scope="session")
def models(recipes: Recipes, tokenizers: dict[str, PreTrainedTokenizerFast]) -> dict[str, PreTrainedModel]:
    """Each family's untrained model; a test that changes one takes a copy."""
    torch.manual_seed(0)
    return {name: untrained(family, recipes, tokenizers[name]) for name, family in recipes.families.items()}
