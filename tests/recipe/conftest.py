"""Fixtures of the recipe on labelled text of the tests' own making, in the formats of its files."""

import random
import tomllib
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import torch

from components.results import Table
from recipe.corpus import Corpus, load_corpus
from recipe.recipes import RECIPES, Recipes, load_recipes
from recipe.training import Model, Tokenizer, train_tokenizer, untrained
from tests.measured import measured

PRAISE = ("warm", "funny", "clever", "lovely", "graceful", "thrilling")
BLAME = ("dull", "clumsy", "hollow", "tedious", "noisy", "lazy")
THINGS = ("story", "ending", "cast", "music", "joke", "picture", "script", "chase")
FIRMS = ("baker", "ferry line", "mill", "brewery", "harbour office", "tailor")
NEWS = ("sold its boats", "hired ten cooks", "closed two shops", "raised its prices", "moved to the coast")
DAYS = ("on monday", "last week", "in the spring", "after the storm")

LEAKED = "it 's a warm picture , and a clever one ."  # stands in the sentiment evaluation
LEAKED_NATURALLY = "It's a warm picture, and a clever one."
LEAKED_SIDE = "The mill sold its boats after the storm , said its owner ."  # in the paraphrase evaluation
FAMILIES = tuple(load_recipes().families)
WHOLE = ("rollout", "gradient_x_input", "integrated_gradients")  # which are of no layer
Models, Tokenizers = dict[str, Model], dict[str, Tokenizer]  # by their families


def assert_complete(results: Table, recipes: Recipes) -> None:
    """Every measurement of every checkpoint stands in the results, in the recipe's order."""
    tuned, tasks = recipes.tuned, recipes.probing.sources
    assert [row.backbone for row in measured(results, "head")] == list(tuned)
    pairs = [(row.task, row.backbone, row.other) for row in measured(results, "pair", pooling="")]
    of_task = {task: [key for key in tuned if tuned[key] == task] for task in recipes.tasks}
    assert pairs == [(task, *two) for task, keys in of_task.items() for two in combinations(keys, 2)]
    assert {"native", "cls", "mean"} <= {row.pooling for row in measured(results, "pair")}
    layers = {row.backbone: row.layers for row in measured(results, "size")}
    assert list(layers) == list(recipes.probed)
    for key in recipes.probed:
        kinds = ("probe", "depth", "cosine", "agreement")
        probes, depths, cosines, agreed = (measured(results, kind, backbone=key) for kind in kinds)
        poolings = {row.pooling for row in probes}
        assert {"native", "cls", "mean", "max", "lasttoken", "attention", "flatten"} <= poolings
        unlearned = poolings - {"attention", "flatten"}
        assert {(row.task, row.pooling) for row in probes} == set(product(tasks, poolings))
        found = {(row.task, row.pooling, row.layer) for row in depths}
        assert found == set(product(tasks, unlearned, range(layers[key])))
        assert {row.pooling for row in cosines} == poolings - {"attention"}  # it is learned with labels
        methods = [("similarity", layer) for layer in range(layers[key] + 1)]
        methods += [("attention", layer) for layer in range(1, layers[key] + 1)]
        methods += [(name, None) for name in WHOLE]
        asked = tuned.get(key) in recipes.explaining
        assert [(row.method, row.layer) for row in agreed] == (methods if asked else [])


def opinions(count: int, rng: random.Random, first: int = 0) -> list[tuple[str, int]]:
    """Texts and labels, lower-cased and tokenised, with serial numbers from ``first`` on."""
    labels = [rng.randint(0, 1) for _ in range(count)]
    words = [(rng.choice(THINGS), rng.choice((BLAME, PRAISE)[label])) for label in labels]
    texts = (f"{n} : the {one} is n't long , it 's {word} ." for n, (one, word) in enumerate(words, first))
    return list(zip(texts, labels, strict=True))


def reports(count: int, rng: random.Random, first: int = 0) -> list[tuple[str, str, int]]:
    """Pairs of news with serial numbers from ``first`` on, and 1 where they report the same."""
    rows = []
    for n in range(first, first + count):
        who, what, other, day = (rng.choice(words) for words in (FIRMS, NEWS, NEWS, DAYS))
        same = rng.randint(0, 1)
        more = f"{day.capitalize()} the {who} {what} ( {n} ) .", f"{n} . The {who} {other} , it was said ."
        rows.append((f"{n} . The {who} {what} {day} .", more[1 - same], same))
    return rows


def write(path: Path, *lines: object, encoding: str = "utf-8") -> None:
    """Writes the lines, cells of a row with tabs between them, the folder made first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ("\t".join(map(str, line)) if isinstance(line, tuple) else line for line in lines)
    path.write_text("".join(f"{row}\n" for row in rows), encoding=encoding)


def write_data(folder: Path, count: int = 80) -> None:
    """A data folder with ``count`` rows per file, and three planted rows that stand in an evaluation."""
    rng, header = random.Random(1), ("sentence", "label")
    write(folder / "sst2/dev.tsv", header, *opinions(count, rng, 1000), (LEAKED, 1))
    write(folder / "sst2/train.tsv", header, (LEAKED_NATURALLY, 1), *opinions(count, rng))
    reviews = ((" ".join(text for text, _ in opinions(30, rng)), i % 2) for i in range(count // 8))
    write(folder / "reviews/reviews.tsv", ("review", "label"), *reviews)
    header = ("\ufeffQuality", "#1 ID", "#2 ID", "#1 String", "#2 String")
    sides = {"test": (LEAKED_SIDE, "The mill lost ."), "train": ("Quite another sentence .", LEAKED_SIDE)}
    for (name, leaked), first in zip(sides.items(), (1000, 0), strict=True):
        rows = ((same, 1, 2, one, two) for one, two, same in reports(count, rng, first))
        write(folder / f"mrpc/msr_paraphrase_{name}.txt", header, (1, 1, 2, *leaked), *rows)
    leaked = LEAKED_SIDE.lower().replace(" ,", ","), "Nobody knows why ."
    similar = (*leaked, 4.4), ("Half alike .", "Alike .", 3.1)
    for name, first, best, others in (("train", 500, 5.0, similar), ("dev", 9000, 4.0, ())):
        rows = ((one, two, best if same else 1.2) for one, two, same in reports(count, rng, first))
        write(folder / f"stsb/{name}.tsv", ("sentence1", "sentence2", "score"), *others, *rows)
    captions = reports(count, rng, 3000)
    for side in (0, 1):
        write(folder / f"snli/s{side + 1}.dev", *(pair[side] for pair in captions))
    rows = ((i, one, two, "entailment") for i, (one, two, _) in enumerate(reports(count, rng, 4000)))
    write(folder / "rte/train.tsv", ("index", "sentence1", "sentence2", "label"), *rows)
    rows = ((0, "Who did it ?", one, "entailment") for one, _, _ in reports(count, rng, 5000))
    write(folder / "qnli/dev.tsv", ("index", "question", "sentence", "label"), *rows)
    pairs = zip(opinions(count, rng, 6000), reports(count, rng, 7000), strict=True)
    lines = (f"0 {text} caf\xe9\n1 {report.lower()} caf\xe9" for (text, _), (report, *_) in pairs)
    write(folder / "subj/subj.all", *lines, encoding="latin-1")
    news = enumerate(reports(3 * count, rng, 8000))
    topics = (f'"{i % 4 + 1}","News {i}","{one} It was said ""{i}""."' for i, (one, *_) in news)
    write(folder / "agnews/test.csv", *topics)


@pytest.fixture(scope="session")
def recipes() -> Recipes:
    """The recipes with what smoke.toml says, through every stage in a minute."""
    changed = tomllib.loads(RECIPES.read_text(encoding="utf-8"))
    changes = Path(__file__).with_name("smoke.toml").read_text(encoding="utf-8")
    for path, value in tomllib.loads(changes).items():
        _change(changed, path.split("."), value)
    return Recipes.model_validate(changed)


def _change(table: Any, path: Sequence[str], value: object) -> None:
    """Set what stands at a path; * is each key of a table, and each place of a list."""
    first, *below = path
    every = range(len(table)) if isinstance(table, list) else table
    for key in every if first == "*" else [first]:
        if below:
            _change(table[key], below, value)
        else:
            table[key] = value


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_data(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(recipes: Recipes, data: Path) -> Corpus:
    return load_corpus(recipes, data)


@pytest.fixture(scope="session")
def tokenizers(recipes: Recipes, corpus: Corpus) -> Tokenizers:
    given = recipes.vocabulary, corpus.texts(recipes.vocabulary.sources), recipes.max_length
    return {name: train_tokenizer(family.tokenizer, *given) for name, family in recipes.families.items()}


@pytest.fixture(scope="session")
def models(recipes: Recipes, tokenizers: Tokenizers) -> Models:
    """Each family's untrained model; a test that changes one takes a copy."""
    torch.manual_seed(0)
    return {name: untrained(family, recipes, tokenizers[name]) for name, family in recipes.families.items()}
