"""The shipped checkpoints, probes and results: complete, small, and what other libraries say of the texts."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from components.inference.engine import Engine
from components.results import Row, read_results
from components.settings import Settings
from recipe.corpus import Corpus, Examples, load_corpus, read, subsample
from recipe.recipes import load_recipes, split_key
from recipe.training import checkpoint, correct, load, load_tokenizer
from tests.measured import measured
from tests.recipe.conftest import assert_complete
from tests.recipe.plain_answers import plain_means, rho_of_cosines, rhos_by_hand

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
MODELS = ASSETS / "models"
DATA = Path(os.environ.get("POOLSCOPE_DATA", ROOT / "../shared/data"))
RECIPES = load_recipes()
RESULTS = read_results(ASSETS / "results.csv")
TUNED = list(RECIPES.tuned)
(GROWN,) = RECIPES.measured

LACKING = f"the labelled texts are not at {DATA}; POOLSCOPE_DATA names their folder"
with_data = pytest.mark.skipif(not DATA.is_dir(), reason=LACKING)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(RECIPES, DATA)


def only(kind: str, backbone: str, **where: Any) -> Row:
    """The one row of a kind and backbone that has these values in these columns."""
    rows = measured(RESULTS, kind, backbone=backbone)
    (row,) = (row for row in rows if all(getattr(row, name) == value for name, value in where.items()))
    return row


def texts_of(examples: Examples) -> list[str]:
    return [example.texts[0] for example in examples]


def labels_of(examples: Examples) -> np.ndarray:
    return np.array([example.label for example in examples])


def test_all_of_it_is_small_and_in_the_catalogue() -> None:
    for folder, most in (("models", 70), ("probes", 10)):
        files = (ASSETS / folder).rglob("*")
        assert sum(file.stat().st_size for file in files if file.is_file()) / 1e6 < most  # MB
    listed = Engine(Settings()).backbones()
    probed = {spec.key: set(spec.probed) for spec in listed if spec.probes}
    assert probed == {key: set(RECIPES.probing.sources) for key in RECIPES.probed}
    assert {spec.key for spec in listed if spec.source == "bundled"} == set(RECIPES.keys)


def test_the_results_are_complete() -> None:
    assert_complete(RESULTS, RECIPES)


@pytest.mark.parametrize("key", RECIPES.probed)
def test_probes_are_equal_where_the_vectors_are(key: str) -> None:
    """One seed gives one probe: equal ones, number for number, were learned on equal vectors."""
    probes = measured(RESULTS, "probe", backbone=key)
    tensors, firsts = load_file(ASSETS / f"probes/{key}.safetensors"), dict[tuple[str, bytes], str]()
    numbers = {(row.task, row.pooling): (row.value, row.better, row.worse, row.p) for row in probes}
    for row in probes:
        weight = tensors[f"{row.task}/{row.pooling}/weight"].numpy().tobytes()
        assert row.vector == firsts.setdefault((row.task, weight), row.pooling)
        assert numbers[row.task, row.pooling] == numbers[row.task, row.vector]


@with_data
@pytest.mark.parametrize("key", TUNED)
def test_its_accuracy_is_that_of_the_results(key: str) -> None:
    examples, row = read(RECIPES.evaluations[split_key(key)[1]], DATA), only("head", key)
    right = correct(load(MODELS / key), load_tokenizer(MODELS / key), examples)
    assert (row.measured, row.value) == (len(examples), pytest.approx(right.double().mean().item(), abs=1e-9))


@with_data
def test_two_checkpoints_differ_on_as_many_examples_as_the_results_say() -> None:
    keys, examples = ("bert-paraphrase", "gpt2-paraphrase"), read(RECIPES.evaluations["paraphrase"], DATA)
    one, other = (correct(load(MODELS / key), load_tokenizer(MODELS / key), examples) for key in keys)
    row = only("pair", keys[0], other=keys[1], pooling="")
    assert (row.better, row.worse) == ((one & ~other).sum(), (other & ~one).sum())


@with_data
def test_baselines_are_what_the_results_say(corpus: Corpus) -> None:
    shown = {(row.task, row.method, row.trained): row.value for row in measured(RESULTS, "baseline")}
    every, held_out = corpus.training["paraphrases"], corpus.evaluation["paraphrase"]
    for pairs in (subsample(every, RECIPES.probing.rows), every):
        shares = [np.array([_shared(*pair.texts) for pair in rows]) for rows in (pairs, held_out)]
        labels, answers = labels_of(pairs), labels_of(held_out)
        bars = np.unique(shares[0])
        bar = bars[np.argmax([np.mean((shares[0] >= least) == labels) for least in bars])]
        found = np.mean((shares[1] >= bar) == answers), np.mean(answers == 1)
        told = [shown["paraphrase", method, len(pairs)] for method in ("overlap", "majority")]
        assert told == pytest.approx(found, abs=1e-9)


def _shared(*texts: str) -> float:
    one, other = (set(re.sub(r"\W+", " ", text.lower()).split()) for text in texts)
    return len(one & other) / len(one | other)


@with_data
def test_a_probe_below_the_last_layer_does_what_the_results_say() -> None:
    key, examples = "xlnet-pretrained", read(RECIPES.evaluations["sentiment"], DATA)
    vectors = plain_means(MODELS / key, texts_of(examples), 0)
    tensors = load_file(ASSETS / f"probes/{key}.safetensors")
    weight, bias = (tensors[f"sentiment/mean/0/{name}"].float().numpy() for name in ("weight", "bias"))
    right = (vectors @ weight.T + bias).argmax(axis=1) == labels_of(examples)
    row = only("depth", key, task="sentiment", pooling="mean", layer=0)
    assert (row.measured, row.value) == (len(examples), pytest.approx(right.mean(), abs=1.5 / len(examples)))


@with_data
def test_a_rho_of_cosines_is_what_the_results_say() -> None:
    key, pairs = "distilbert-pretrained", read(RECIPES.probing.scored, DATA)
    sides, row = (
        [[pair.texts[side] for pair in pairs] for side in (0, 1)],
        only("cosine", key, pooling="mean"),
    )
    by_hand = rho_of_cosines(MODELS / key, sides, labels_of(pairs))
    assert (row.measured, row.value) == (len(pairs), pytest.approx(by_hand, abs=2e-3))
    assert row.gain == pytest.approx(row.value - only("cosine", key, pooling="cls").value, abs=1e-9)


@with_data
def test_a_rho_with_erasure_is_what_the_results_say() -> None:
    key, texts = "distilbert-sentiment", texts_of(read(RECIPES.evaluations["sentiment"], DATA))
    for (method, layer), rhos in rhos_by_hand(MODELS / key, texts).items():
        row = only("agreement", key, method=method, layer=layer)
        assert row.measured == np.isfinite(rhos).sum()
        assert row.value == pytest.approx(np.nanmean(rhos), abs=1e-4)  # of near ties, one may turn


@with_data
def test_a_probe_of_the_full_grown_encoder_is_that_of_plain_scikit_learn(corpus: Corpus) -> None:
    """Fitted anew to the averages of the encoder's own library, at the strength that the results state."""
    grown = SentenceTransformer(str(checkpoint(RECIPES.measured[GROWN])), device="cpu")
    source, row = RECIPES.probing.sources["sentiment"], only("probe", GROWN, task="sentiment", pooling="mean")
    training = subsample(corpus.training[source], RECIPES.probing.rows)
    sides = training, corpus.evaluation["sentiment"]
    tokens = (grown.encode(texts_of(rows), output_value="token_embeddings") for rows in sides)
    learned, asked = (np.stack([hidden.mean(dim=0).numpy() for hidden in each]) for each in tokens)
    scaler = StandardScaler().fit(learned)
    varies = scaler.scale_ > 1e-4 * np.sqrt(np.square(learned).mean())  # what is constant is left out
    learned, asked = (scaler.transform(each)[:, varies] for each in (learned, asked))
    regression = LogisticRegression(C=row.strength, max_iter=5000)
    found = regression.fit(learned, labels_of(training)).score(asked, labels_of(sides[1]))
    assert found == pytest.approx(row.value, abs=1.5 / len(sides[1]))
