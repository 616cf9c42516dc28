"""What is measured of a backbone, against scikit-learn, SciPy, the engine, and labels that were planted."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, norm, spearmanr
from statsmodels.stats.descriptivestats import sign_test as other_sign_test

from components.analyses.fit.classifier import fold_scaler, standardiser
from components.inference.engine import Engine
from components.model.backbone import Backbone, available
from components.model.loading import load
from components.model.pooling import POOLINGS, States
from components.model.probes import place_of, read_probe, write_probes
from components.model.reads import Reading
from components.settings import ASSETS, Settings
from components.types import Query
from recipe import evidence
from recipe.corpus import Example, Examples
from recipe.steps import bundled
from tests.measured import made
from tests.recipe.plain_answers import rho_of_cosines, rhos_by_hand
from tests.tiny import checkpoint

RNG = np.random.default_rng(7)
FILLERS = ("the", "film", "is", "at", "all", "a", "b", "c", "man", "sleeps", "!", ",")
OPINIONS = [
    "The plot is not bad, but the acting is not good at all.",
    "good",  # one token: no order, so no evidence.rho
    "A dull and lifeless film that never finds its way.",
    "One of the finest films of the year, warm and funny.",
]
EXAMPLES = [Example((text,), 1) for text in OPINIONS]


def test_vectors_are_alike_number_for_number() -> None:
    one = np.array([[0.0, 1.0]], np.float32)
    found = {"a": one, "b": -one, "c": np.array([[-0.0, 1.0]], np.float32), "d": one.T, "e": one + 1e-6}
    assert evidence.first_alike(found) == {"a": "a", "b": "b", "c": "a", "d": "d", "e": "e"}


def salad(rng: random.Random, least: int, most: int) -> list[str]:
    return rng.choices(FILLERS, k=rng.randint(least, most))


def planted(count: int, seed: int, texts: int = 1) -> list[Example]:
    """Word salad in which one word gives the label away, in either side of a pair."""
    rng = random.Random(seed)
    examples = []
    for number in range(count):
        telling = ["good" if number % 2 else "bad"] * 4  # a random backbone blurs what stands there once
        sides = [salad(rng, 1, 4) + telling for _ in range(texts)]
        for side in sides:
            rng.shuffle(side)
        examples.append(Example(tuple(" ".join(side) for side in sides), number % 2))
    return examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="module")
def backbone(folder: Path) -> Backbone:
    return load(checkpoint(folder / "tiny"))


def test_the_sign_test_is_that_of_statsmodels() -> None:
    ours, theirs = RNG.normal(0.2, 1, 60), RNG.normal(0, 1, 60)
    ours[:5] = theirs[:5]  # ties
    found = evidence.sign_test(np.append(ours, np.nan), np.append(theirs, 1.0))
    assert found["better"] + found["worse"] == 55
    assert found["p"] == pytest.approx(other_sign_test(ours - theirs)[1])


def test_rhos_gains_and_their_intervals_are_those_of_pairs_resampled_by_hand() -> None:
    scores = RNG.integers(0, 6, 400).astype(np.float64)  # with many ties, as people's scores have
    before = scores + RNG.normal(scale=3, size=400)
    after = (scores + RNG.normal(scale=2, size=400)).round()  # ties here, too
    moved, same = evidence.rhos_against(scores, before, [after, before], seed=0)
    draws = RNG.integers(0, 400, (1500, 400))
    rhos = [[spearmanr(scores[draw], side[draw]).statistic for side in (before, after)] for draw in draws]
    old, new = np.array(rhos).T
    one, other = (spearmanr(scores, side).statistic for side in (before, after))
    assert (moved["value"], moved["gain"]) == pytest.approx((other, other - one))
    mean = evidence.estimate(scores, 0)
    assert mean["value"] == pytest.approx(scores.mean())
    means = [scores[draw].mean() for draw in draws]
    assert (mean["low"], mean["high"]) == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=0.02)
    for prefix, by_hand in (("", new), ("gain_", new - old)):
        ends = moved[f"{prefix}low"], moved[f"{prefix}high"]
        assert ends == pytest.approx(np.percentile(by_hand, [2.5, 97.5]), abs=0.012)
    assert moved["p"] == pytest.approx(2 * norm.sf((other - one) / (new - old).std()), rel=0.3)
    assert (same["gain"], same["gain_low"], same["gain_high"], same["p"]) == (0, 0, 0, 1)
    assert evidence.rhos_against(scores, before, [after, before], seed=0) == [moved, same]


def test_two_backbones_are_held_against_each_other_in_what_both_have() -> None:
    one = {"": np.array([1, 1, 0, 1]), "mean": np.array([0, 0, 1, 1])}
    two = {"": np.array([0, 0, 1, 1]), "max": np.ones(4)}
    (row,) = made(evidence.pair_results("topic", {"one": one, "two": two}))
    assert (row.backbone, row.other, row.task, row.pooling) == ("one", "two", "topic", "")
    assert (row.measured, row.better, row.worse, row.p) == (4, 2, 1, pytest.approx(binomtest(2, 3).pvalue))


@pytest.mark.parametrize(("count", "width"), [(2, 20), (3, 20), (3, 300)])
def test_a_folded_probe_is_the_pipeline(count: int, width: int) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(120) % count
    pooled = (rng.normal(size=(120, width)) * rng.uniform(0.1, 9, width) + labels[:, None]).astype(np.float32)
    scaler, regression = standardiser(pooled), evidence.logistic_regression(width > 120, seed=0)
    regression.fit(scaler.transform(pooled), labels)
    probe = fold_scaler(scaler, regression)
    logits = torch.from_numpy(pooled @ probe.weight.T + probe.bias)
    expected = regression.predict_proba(scaler.transform(pooled))
    np.testing.assert_allclose(logits.softmax(dim=1), expected, atol=1e-5)


def test_attention_learns_to_look_at_the_telling_token() -> None:
    """Of six random tokens the third carries the label, and a mark by which it can be found."""
    generator = torch.Generator().manual_seed(0)
    labels = np.arange(640) % 2
    batches = []
    for rows in np.split(np.arange(640), 10):
        hidden = torch.randn(64, 6, 8, generator=generator)
        hidden[:, 2, 0] += 4
        hidden[:, 2, 1] += torch.from_numpy(labels[rows]) * 6 - 3
        whole = torch.ones(64, 6, dtype=torch.bool)
        states = States((hidden,), whole, ~whole, torch.zeros(64), Reading(lambda h: h[:, 0], hidden), None)
        batches.append((rows, states))
    query = torch.from_numpy(evidence.learn_query(batches, labels, seed=0))
    weight = torch.cat([(states.hidden @ query).softmax(dim=1) for _, states in batches]).mean(dim=0)
    assert weight[2] > 2 / 6  # twice its part of an average
    pooled = evidence.vectors(batches, "attention", query.numpy())
    assert ((pooled[:, 1] > 0) == labels).mean() > 0.9


def test_planted_labels_are_found_and_shuffled_ones_are_not(backbone: Backbone) -> None:
    training, others = planted(300, seed=1), planted(100, seed=2)
    truth = np.array([example.label for example in others])
    labels = [example.label for example in training]
    random.Random(0).shuffle(labels)
    shuffled = [replace(example, label=label) for example, label in zip(training, labels, strict=True)]
    batches = evidence.embed(backbone, [example.texts for example in others])
    for examples, low, high in ((training, 0.95, 1.0), (shuffled, 0.3, 0.7)):
        probes = evidence.fit_probes(backbone, examples, 0, ("mean", "attention"))
        for (pooling, layer), (probe, _) in probes.items():
            pooled = evidence.vectors(evidence.at_layer(batches, layer), pooling, probe.query)
            logits = pooled @ probe.weight.T + probe.bias
            assert low <= (logits.argmax(axis=1) == truth).mean() <= high, pooling


def test_the_accuracies_are_those_of_the_engine_on_the_file(folder: Path, backbone: Backbone) -> None:
    """End to end: what the table says is what a visitor sees."""
    file, others = folder / "tiny.safetensors", planted(10, seed=3, texts=2)
    fitted = evidence.fit_probes(backbone, planted(40, seed=1, texts=2), 0)
    write_probes({place_of("paraphrase", *at): probe for at, (probe, _) in fitted.items()}, file)
    rows = made(evidence.probe_results(backbone, "paraphrase", fitted, 40, others, file, 0))
    catalogue = folder / "backbones.toml"
    entry = '[tiny]\ntitle = "tiny"\npath = "tiny"\ntask = "sentiment"\nprobes = "tiny.safetensors"\n'
    catalogue.write_text(entry, encoding="utf-8")
    engine = Engine(Settings(catalogue=catalogue))
    (labels,) = (task.labels for task in engine.tasks() if task.key == "paraphrase")
    probes = {row.pooling: row for row in rows if row.kind == "probe"}
    assert list(probes) == [key for key in POOLINGS if key != "declared"]
    right = {}
    for key, row in probes.items():
        given = {"pooling": key, "head": "probe", "task": "paraphrase"}
        said = [engine.ask("analyze", Query("tiny", *e.texts, **given)).predicted for e in others]
        right[key] = np.array([one == (labels[e.label],) for one, e in zip(said, others, strict=True)])
        assert row.value == pytest.approx(right[key].mean())
        assert row.low <= row.value <= row.high
        assert (row.backbone, row.trained, row.measured) == ("tiny", 40, 10)
        assert read_probe(file, "paraphrase", key).weight.shape == (2, row.width)
    again = evidence.last_answers(backbone, "paraphrase", others, file)
    assert {key: found.tolist() for key, found in again.items()} == {k: v.tolist() for k, v in right.items()}
    for key, row in probes.items():
        better, worse = right[key] & ~right["cls"], right["cls"] & ~right[key]
        assert (row.better, row.worse) == (better.sum(), worse.sum())
    lower = {(row.pooling, row.layer) for row in rows if row.kind == "depth"}
    assert lower == {(key, layer) for key in right if not POOLINGS[key].spec.learned for layer in (0, 1)}


def test_rhos_of_cosines_are_those_of_scipy(backbone: Backbone) -> None:
    rng = random.Random(4)
    sides = [[" ".join(salad(rng, 2, 7)) for _ in range(60)] for _ in range(2)]
    scores = [float(rng.randint(0, 5)) for _ in sides[0]]
    pairs: Examples = [Example(texts, score) for *texts, score in zip(*sides, scores, strict=True)]
    rows = {row.pooling: row for row in made(evidence.cosine_results(backbone, pairs, seed=0))}
    assert list(rows) == [key for key in available(backbone) if key != "attention"]
    by_hand = rho_of_cosines(backbone.spec.location, sides, scores)
    row = rows["mean"]
    assert row.value == pytest.approx(by_hand, abs=1e-3)
    assert row.low < by_hand < row.high
    assert row.measured == 60
    assert row.gain == pytest.approx(row.value - rows["cls"].value, abs=1e-12)
    assert row.gain_low <= row.gain <= row.gain_high


def test_agreement_with_erasure_is_the_mean_of_what_is_computed_by_hand() -> None:
    key = "distilbert-sentiment"
    backbone = load(bundled(key, ASSETS / "models" / key))
    found = made(evidence.agreement_results(backbone, "sentiment", EXAMPLES, seed=0))
    rows = {(row.method, row.layer): row for row in found}
    by_hand = rhos_by_hand(ASSETS / "models" / key, OPINIONS)
    whole = ("rollout", "gradient_x_input", "integrated_gradients")
    assert list(rows) == [*by_hand, *((name, None) for name in whole)]
    last = by_hand["similarity", max(layer for _, layer in by_hand)]
    for method, rhos in by_hand.items():
        row, better, worse = rows[method], int((rhos > last).sum()), int((rhos < last).sum())
        assert (row.measured, row.better, row.worse) == (len(OPINIONS) - 1, better, worse)
        assert row.value == pytest.approx(np.nanmean(rhos), abs=1e-6)
        assert row.p == pytest.approx(binomtest(better, better + worse).pvalue if better + worse else 1.0)
    assert all(-1 <= row.low <= row.value <= row.high <= 1 for row in found)


def test_a_bag_of_words_learns_which_words_matter() -> None:
    ends, words = ("film", "story", "cast", "end"), ("good", "bad", "dull")
    training = [Example((f"{word} {end}",), float(word == "good")) for end in ends for word in words]
    unseen = [Example(("a good joke",), 1), Example(("dull and bad",), 0)]
    answers = evidence.baseline_answers(training, unseen, seed=0)
    said = {name: right.tolist() for name, right in answers.items()}
    assert said == {"majority": [False, True], "words": [True, True]}


def test_pairs_have_a_baseline_of_their_own() -> None:
    same = [("A cat sat", "a CAT sat."), ("A cat sat", "a cat lay")]
    others = [("a cat sat", "the dog lay"), ("rain falls", "no word of it"), ("one two three", "one 4 5")]
    pairs = [Example(texts, int(texts in same)) for texts in (*same, *others)]
    answers = evidence.baseline_answers(pairs, pairs, seed=0)
    assert {name: np.mean(right) for name, right in answers.items()} == {"majority": 0.6, "overlap": 1}
