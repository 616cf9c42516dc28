"""Probes against scikit-learn's own answers, and on labels that were planted."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from components.analyses.fit.classifier import fold_scaler, standardiser
from components.analyses.fit.embedding import available
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.loading import load
from components.model.pooling import POOLINGS, States
from components.model.probes import read_probe
from components.model.reads import Reading
from components.results import Table
from components.settings import Settings
from components.types import Query
from recipe.corpus import Example
from recipe.cosines import Scored
from recipe.evidence import probe_backbone
from recipe.probes import Batch, at_layer, embed, fit_probes, learn_query, logistic_regression, vectors
from tests.measured import measured
from tests.tiny import checkpoint

MEASURED = [key for key in POOLINGS if key != "declared"]  # no checkpoint here declares anything

FILLERS = ("the", "film", "is", "at", "all", "a", "b", "c", "man", "sleeps", "!", ",")


def planted(count: int, seed: int, texts: int = 1) -> list[Example]:
    """Word salad in which one word gives the label away, in either side of a pair."""
    rng = random.Random(seed)
    examples = []
    for number in range(count):
        label = number % 2
        sides = [rng.choices(FILLERS, k=rng.randint(1, 4)) for _ in range(texts)]
        for side in sides:
            for _ in range(4):  # the tiny backbone is random, and blurs what stands there once
                side.insert(rng.randint(0, len(side)), "good" if label else "bad")
        examples.append(Example(tuple(" ".join(side) for side in sides), label))
    return examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="module")
def backbone(folder: Path) -> Backbone:
    return load(checkpoint(folder / "tiny"))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("count", [2, 3])
def test_a_folded_probe_is_the_pipeline(count: int, wide: bool) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(120) % count
    width = 300 if wide else 20
    pooled = (rng.normal(size=(120, width)) * rng.uniform(0.1, 9, width) + labels[:, None]).astype(np.float32)
    scaler, regression = standardiser(pooled), logistic_regression(wide, seed=0)
    regression.fit(scaler.transform(pooled), labels)
    probe = fold_scaler(scaler, regression)
    logits = torch.from_numpy(pooled @ probe.weight.T + probe.bias)
    expected = regression.predict_proba(scaler.transform(pooled))
    np.testing.assert_allclose(logits.softmax(dim=1), expected, atol=1e-5)
    decision = regression.decision_function(scaler.transform(pooled))
    ours = logits[:, 1] - logits[:, 0] if count == 2 else logits
    np.testing.assert_allclose(ours, decision, atol=1e-4)


@pytest.mark.parametrize("texts", [1, 2])
def test_vectors_keep_the_order_and_do_not_depend_on_the_batch(backbone: Backbone, texts: int) -> None:
    inputs = [example.texts for example in planted(70, seed=0, texts=texts)]
    together = {
        key: vectors(embed(backbone, inputs), key) for key in available(backbone) if key != "attention"
    }
    for row in (0, 41, 69):
        alone = embed(backbone, [inputs[row]])
        for key, pooled in together.items():
            np.testing.assert_allclose(vectors(alone, key)[0], pooled[row], atol=1e-5, err_msg=key)


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
        batches.append(Batch(rows, states))
    query = torch.from_numpy(learn_query(batches, labels, seed=0))
    weight = torch.cat([(batch.states.hidden @ query).softmax(dim=1) for batch in batches]).mean(dim=0)
    assert weight[2] > 2 / 6  # twice its part of an average
    pooled = vectors(batches, "attention", query.numpy())
    assert ((pooled[:, 1] > 0) == labels).mean() > 0.9


def test_planted_labels_are_found_and_shuffled_ones_are_not(backbone: Backbone) -> None:
    training, others = planted(300, seed=1), planted(100, seed=2)
    truth = np.array([example.label for example in others])
    labels = [example.label for example in training]
    random.Random(0).shuffle(labels)
    shuffled = [replace(example, label=label) for example, label in zip(training, labels, strict=True)]
    batches = embed(backbone, [example.texts for example in others])
    for examples, low, high in ((training, 0.95, 1.0), (shuffled, 0.3, 0.7)):
        for (pooling, layer), fitted in fit_probes(backbone, examples, 0, ("mean", "attention")).items():
            probe = fitted.probe
            states = batches if layer is None else at_layer(batches, layer)
            logits = vectors(states, pooling, probe.query) @ probe.weight.T + probe.bias
            assert low <= (logits.argmax(axis=1) == truth).mean() <= high, pooling


def scored() -> list[Scored]:
    rng = random.Random(4)
    sides = [[" ".join(rng.choices(FILLERS, k=rng.randint(2, 7))) for _ in range(60)] for _ in range(2)]
    return [(one, other, float(rng.randint(0, 5))) for one, other in zip(*sides, strict=True)]


@pytest.fixture(scope="module")
def evidence(backbone: Backbone) -> tuple:
    training = {"sentiment": planted(40, seed=1), "paraphrase": planted(40, seed=2, texts=2)}
    others = {"sentiment": planted(10, seed=3), "paraphrase": planted(10, seed=4, texts=2)}
    texts = [text for one, other, _score in scored()[20:] for text in (one, other)]
    return backbone.spec, training, others, scored()[:20], texts


@pytest.fixture(scope="module")
def found(folder: Path, evidence: tuple) -> Table:
    return probe_backbone(*evidence, folder, seed=0)


def served(folder: Path) -> Engine:
    catalogue = folder / "backbones.toml"
    entry = '[tiny]\ntitle = "tiny"\npath = "tiny"\ntask = "sentiment"\nprobes = "tiny.safetensors"\n'
    catalogue.write_text(entry, encoding="utf-8")
    return Engine(Settings(catalogue=catalogue))


def test_the_accuracies_are_those_of_the_engine_on_the_file(
    folder: Path, evidence: tuple, found: Table
) -> None:
    """End to end: what the table says is what a visitor sees."""
    rows, engine = measured(found, "probe"), served(folder)
    labels = {task.key: task.labels for task in engine.tasks()}
    _spec, training, others, *_ = evidence
    assert [(row.task, row.pooling) for row in rows] == [(task, key) for task in training for key in MEASURED]
    right = {
        (row.task, row.pooling): np.array(
            [
                engine.ask(
                    "analyze", Query("tiny", *e.texts, pooling=row.pooling, head="probe", task=row.task)
                ).predicted
                == (labels[row.task][e.label],)
                for e in others[row.task]
            ]
        )
        for row in rows
    }
    for row in rows:
        answers, baseline = right[row.task, row.pooling], right[row.task, "cls"]
        assert row.value == pytest.approx(answers.mean())
        assert row.low <= row.value <= row.high
        assert (row.better, row.worse) == ((answers & ~baseline).sum(), (baseline & ~answers).sum())
        assert (row.backbone, row.trained, row.measured) == ("tiny", 40, 10)
        stored = read_probe(folder / "tiny.safetensors", row.task, row.pooling)
        assert stored.weight.shape == (2, row.width)
