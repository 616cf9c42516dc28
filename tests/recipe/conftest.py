from pathlib import Path

import pytest
import torch

from recipe.checkpoints import train_tokenizer, untrained
from recipe.corpus import Corpus, load_corpus
from recipe.recipes import Recipes, load_recipes
from recipe.training import Model, Tokenizer
from tests.recipe.labelled import write_data

FAMILIES = tuple(load_recipes().families)


@pytest.fixture(scope="session")
def recipes() -> Recipes:
    return load_recipes(smoke=True)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_data(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(recipes: Recipes, data: Path) -> Corpus:
    return load_corpus(recipes, data)


@pytest.fixture(scope="session")
def tokenizers(recipes: Recipes, corpus: Corpus) -> dict[str, Tokenizer]:
    size, longest = recipes.vocabulary, recipes.max_length
    texts = corpus.texts(size.sources)
    return {
        name: train_tokenizer(family.tokenizer, size, texts, longest)
        for name, family in recipes.families.items()
    }


@pytest.fixture(scope="session")
def models(recipes: Recipes, tokenizers: dict[str, Tokenizer]) -> dict[str, Model]:
    """Each family's untrained model; a test that changes one takes a copy."""
    torch.manual_seed(0)
    return {name: untrained(family, recipes, tokenizers[name]) for name, family in recipes.families.items()}
