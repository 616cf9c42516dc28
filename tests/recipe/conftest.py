from itertools import product
from pathlib import Path

import pytest
import torch

from components.results import Table
from recipe.corpus import Corpus, load_corpus
from recipe.recipes import Recipes, load_recipes
from recipe.training import Model, Tokenizer, train_tokenizer, untrained
from tests.measured import measured
from tests.recipe.labelled import write_data

FAMILIES = tuple(load_recipes().families)
STEPS = ("centred", "standardised", "whitened")
WHOLE = ("rollout", "gradient_x_input", "integrated_gradients")  # which are of no layer


def assert_complete(results: Table, recipes: Recipes) -> None:
    """Every measurement of every checkpoint stands in the results, in the recipe's order."""
    tuned, tasks = recipes.tuned, recipes.probing.sources
    assert [row.backbone for row in measured(results, "head")] == list(tuned)
    assert {row.backbone: row.task for row in measured(results, "swap")} == tuned
    layers = {row.backbone: row.layers for row in measured(results, "size")}
    assert list(layers) == list(recipes.probed)
    for key in recipes.probed:
        kinds = ("probe", "depth", "cosine", "postprocessed", "agreement")
        probes, depths, cosines, steps, agreed = (measured(results, kind, backbone=key) for kind in kinds)
        poolings = {row.pooling for row in probes}
        assert {"native", "cls", "mean", "max", "lasttoken", "attention", "flatten"} <= poolings
        unlearned = poolings - {"attention", "flatten"}
        assert {(row.task, row.pooling) for row in probes} == set(product(tasks, poolings))
        found = {(row.task, row.pooling, row.layer) for row in depths}
        assert found == set(product(tasks, unlearned, range(layers[key])))
        assert {row.pooling for row in cosines} == poolings - {"attention"}  # it is learned with labels
        assert {(row.pooling, row.step) for row in steps} == set(product(unlearned, STEPS))
        methods = [("similarity", layer) for layer in range(layers[key] + 1)]
        methods += [("attention", layer) for layer in range(1, layers[key] + 1)]
        methods += [(name, None) for name in WHOLE]
        asked = tuned.get(key) in recipes.explaining
        assert [(row.method, row.layer) for row in agreed] == (methods if asked else [])


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
