"""The shipped checkpoints: what they weigh, how they load, how well they do."""

import os
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from components.inference.engine import Engine
from components.model.loading import load as load_backbone
from components.results import read_results
from components.settings import Settings
from recipe.checkpoints import load, load_tokenizer
from recipe.corpus import load_corpus, read, read_scored
from recipe.cosines import unscored_texts
from recipe.recipes import PRETRAINED, load_recipes, split_key
from recipe.steps import bundled
from recipe.swaps import swap_answers
from recipe.training import accuracy
from tests.measured import measured
from tests.plain import cosine

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
MODELS = ASSETS / "models"
DATA = Path(os.environ.get("POOLSCOPE_DATA", ROOT / "../shared/data"))
RECIPES = load_recipes()
RESULTS = read_results(ASSETS / "results.csv")
TUNED = [key for key in RECIPES.keys if split_key(key)[1] != PRETRAINED]

with_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the labelled texts are not at {DATA}; POOLSCOPE_DATA names their folder"
)


@pytest.mark.parametrize("key", TUNED)
def test_a_classifier_loads_without_a_remainder(key: str) -> None:
    model, info = AutoModelForSequenceClassification.from_pretrained(
        MODELS / key, output_loading_info=True, use_safetensors=True, trust_remote_code=False
    )
    assert not any(info.values()), info
    assert model.config.architectures == [type(model).__name__]
    assert model.num_parameters() <= 2.2e6  # half of BERT-Tiny's


def test_all_of_it_is_small() -> None:
    def megabytes(folder: Path) -> float:
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6

    assert megabytes(MODELS) < 70
    assert megabytes(ASSETS / "probes") < 10


def test_every_backbone_of_the_recipe_is_in_the_catalogue_with_its_probes() -> None:
    listed = Engine(Settings()).backbones()
    probed = {spec.key: set(spec.probed) for spec in listed if spec.probes}
    assert probed == {key: set(RECIPES.probing.sources) for key in RECIPES.probed}
    assert {spec.key for spec in listed if spec.source == "bundled"} == set(RECIPES.keys)


def test_the_results_are_complete() -> None:
    assert [row.backbone for row in measured(RESULTS, "head")] == TUNED
    assert {row.backbone: row.task for row in measured(RESULTS, "swap")} == {
        key: split_key(key)[1] for key in TUNED
    }
    assert [row.backbone for row in measured(RESULTS, "size")] == list(RECIPES.probed)
    layers = {row.backbone: row.layers for row in measured(RESULTS, "size")}
    for key in RECIPES.keys:
        assert layers[key] == AutoConfig.from_pretrained(MODELS / key).num_hidden_layers
    for key in RECIPES.probed:
        found = {(row.task, row.pooling) for row in measured(RESULTS, "probe") if row.backbone == key}
        poolings = {pooling for _, pooling in found}
        assert {"native", "cls", "mean", "max", "lasttoken", "attention", "flatten"} <= poolings
        assert found == {(task, pooling) for task in RECIPES.probing.sources for pooling in poolings}
        unlearned = poolings - {"attention", "flatten"}
        lower = {
            (row.task, row.pooling, row.layer) for row in measured(RESULTS, "depth") if row.backbone == key
        }
        assert lower == set(product(RECIPES.probing.sources, unlearned, range(layers[key])))
        cosines = {row.pooling for row in measured(RESULTS, "cosine") if row.backbone == key}
        assert cosines == poolings - {"attention"}  # its query is learned with a probe's labels
        steps = {(row.pooling, row.step) for row in measured(RESULTS, "postprocessed") if row.backbone == key}
        assert steps == set(product(unlearned, ("centred", "standardised", "whitened")))


@with_data
@pytest.mark.parametrize("key", TUNED)
def test_its_accuracy_is_that_of_the_results(key: str) -> None:
    examples = read(RECIPES.evaluations[split_key(key)[1]], DATA)
    found = accuracy(load(MODELS / key).eval(), load_tokenizer(MODELS / key), examples)
    (row,) = (row for row in measured(RESULTS, "head") if row.backbone == key)
    assert (row.measured, row.value) == (len(examples), pytest.approx(found, abs=1e-9))


@with_data
def test_baselines_are_what_the_results_say() -> None:
    """By other means: a loop over pairs, and scikit-learn's plain logistic regression at every strength."""
    shown = {(row.task, row.method): row for row in measured(RESULTS, "baseline")}
    corpus = load_corpus(RECIPES, DATA)
    pairs, held_out = corpus.training["paraphrases"], corpus.evaluation["paraphrase"]
    shared = [_shared(example.texts) for example in pairs]
    right = {
        bar: sum((s >= bar) == e.label for s, e in zip(shared, pairs, strict=True)) for bar in set(shared)
    }
    bar = min(bar for bar, count in right.items() if count == max(right.values()))
    found = sum((_shared(e.texts) >= bar) == e.label for e in held_out) / len(held_out)
    assert shown["paraphrase", "overlap"].value == pytest.approx(found, abs=1e-9)
    often = sum(e.label == 1 for e in held_out) / len(held_out)
    assert shown["paraphrase", "majority"].value == pytest.approx(often, abs=1e-9)
    training, held_out = corpus.training["topics"], corpus.evaluation["topic"]
    counts = CountVectorizer(binary=True)
    words = counts.fit_transform([example.texts[0] for example in training])
    asked = counts.transform([example.texts[0] for example in held_out])
    found = [
        LogisticRegression(C=strength, max_iter=1000)
        .fit(words, [example.label for example in training])
        .score(asked, [example.label for example in held_out])
        for strength in (0.001, 0.01, 0.1, 1.0)
    ]
    assert shown["topic", "words"].value in [pytest.approx(value, abs=2e-3) for value in found]


def _shared(texts: tuple[str, ...]) -> float:
    one, other = (set(re.sub(r"\W+", " ", text.lower()).split()) for text in texts)
    return len(one & other) / len(one | other)


def plain_means(key: str, texts: list[str], layer: int = -1) -> np.ndarray:
    """The average of all hidden states of a layer of each text, with transformers alone: (N, D)."""
    tokenizer = AutoTokenizer.from_pretrained(MODELS / key)
    model = AutoModelForSequenceClassification.from_pretrained(MODELS / key, dtype=torch.float32).eval()
    lengths = np.array([len(ids) for ids in tokenizer(texts, truncation=True, max_length=128)["input_ids"]])
    found = np.empty((len(texts), model.config.hidden_size), dtype=np.float32)
    for length in set(lengths.tolist()):  # texts of one length need no padding
        rows = np.flatnonzero(lengths == length)
        inputs = tokenizer([texts[row] for row in rows], truncation=True, max_length=128, return_tensors="pt")
        with torch.inference_mode():
            states = model.base_model(**inputs, output_hidden_states=True).hidden_states[layer]
        found[rows] = states.mean(dim=1).numpy()
    return found


@with_data
@pytest.mark.parametrize(("layer", "place"), [(-1, "mean"), (1, "mean/1"), (0, "mean/0")])
def test_a_probe_does_what_the_results_say(layer: int, place: str) -> None:
    examples = read(RECIPES.evaluations["sentiment"], DATA)
    vectors = plain_means("xlnet-pretrained", [example.texts[0] for example in examples], layer)
    tensors = load_file(ASSETS / "probes/xlnet-pretrained.safetensors")
    weight, bias = (tensors[f"sentiment/{place}/{name}"].float().numpy() for name in ("weight", "bias"))
    right = (vectors @ weight.T + bias).argmax(axis=1) == [example.label for example in examples]
    (row,) = (
        row
        for row in (measured(RESULTS, "probe") if layer < 0 else measured(RESULTS, "depth"))
        if (row.backbone, row.task, row.pooling) == ("xlnet-pretrained", "sentiment", "mean")
        and getattr(row, "layer", layer) == layer
    )
    assert row.measured == len(examples)
    assert right.mean() == pytest.approx(row.value, abs=1.5 / len(examples))  # padding moves a last digit


HEADS: dict[
    str, Callable[[Any, Tensor], Tensor]
] = {  # each family's head, as its class in transformers runs it
    "distilbert-sentiment": lambda model, vector: model.classifier(model.pre_classifier(vector).relu()),
    "gpt2-sentiment": lambda model, vector: model.score(vector),
    "xlnet-sentiment": lambda model, vector: model.logits_proj(model.sequence_summary.summary(vector).tanh()),
}


@with_data
@pytest.mark.parametrize("key", HEADS)
def test_a_swap_does_what_the_results_say(key: str) -> None:
    """The average goes into the layers of the head, which are called by hand, text by text of one length."""
    examples = read(RECIPES.evaluations["sentiment"], DATA)
    labels = np.array([example.label for example in examples])
    model = AutoModelForSequenceClassification.from_pretrained(MODELS / key, dtype=torch.float32).eval()
    means = torch.from_numpy(plain_means(key, [example.texts[0] for example in examples]))
    with torch.inference_mode():
        found = HEADS[key](model, means).argmax(dim=1).numpy()
    (row,) = (row for row in measured(RESULTS, "swap") if (row.backbone, row.pooling) == (key, "mean"))
    (own,) = (row for row in measured(RESULTS, "head") if row.backbone == key)
    assert row.measured == own.measured == len(examples)
    assert np.mean(found == labels) == pytest.approx(row.value, abs=1.5 / len(examples))
    gained = round((row.value - own.value) * len(examples))
    assert row.better - row.worse == pytest.approx(gained, abs=1)  # padding moves a last digit
    answers, _first = swap_answers(load_backbone(bundled(key, MODELS / key)), examples[:100])
    assert answers["mean"].tolist() == found[:100].tolist()


@with_data
def test_a_rho_is_what_the_results_say() -> None:
    pairs = read_scored(RECIPES.probing.scored, DATA)
    first, second = (plain_means("gpt2-pretrained", [pair[side] for pair in pairs]) for side in (0, 1))
    cosines = [cosine(a, b) for a, b in zip(first, second, strict=True)]
    found = spearmanr(cosines, [score for _, _, score in pairs]).statistic
    (row,) = (
        row
        for row in measured(RESULTS, "cosine")
        if (row.backbone, row.pooling) == ("gpt2-pretrained", "mean")
    )
    assert (row.measured, row.value) == (len(pairs), pytest.approx(found, abs=2e-3))


@with_data
def test_rhos_after_each_step_are_what_the_results_say() -> None:
    """The steps are scikit-learn's own, fitted to the texts of STS-B's training pairs alone."""
    key, pairs = "distilbert-pretrained", read_scored(RECIPES.probing.scored, DATA)
    texts = unscored_texts(read(RECIPES.probing.unscored, DATA), pairs)
    fitted = plain_means(key, texts).astype(np.float64)
    sides = [plain_means(key, [pair[side] for pair in pairs]).astype(np.float64) for side in (0, 1)]
    scores = [score for _, _, score in pairs]
    rows = {r.step: r for r in measured(RESULTS, "postprocessed") if (r.backbone, r.pooling) == (key, "mean")}
    before = spearmanr([cosine(a, b) for a, b in zip(*sides, strict=True)], scores).statistic
    for step, fit in {
        "centred": StandardScaler(with_std=False),
        "standardised": StandardScaler(),
        "whitened": PCA(n_components=127, whiten=True, svd_solver="full"),  # the last norm takes one away
    }.items():
        turned = map(fit.fit(fitted).transform, sides)
        found = spearmanr([cosine(a, b) for a, b in zip(*turned, strict=True)], scores).statistic
        assert (rows[step].measured, rows[step].fitted) == (len(pairs), len(texts))
        assert rows[step].value == pytest.approx(found, abs=2e-3)
        assert rows[step].gain == pytest.approx(found - before, abs=2e-3)
        assert rows[step].gain_low < rows[step].gain < rows[step].gain_high
