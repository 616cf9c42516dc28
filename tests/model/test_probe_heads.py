"""A probe's answer is that of an independent scikit-learn pipeline on what plain transformers gives."""

import tomllib
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from components.analyses.fit.classifier import fold_scaler
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.probes import Probe, half, probed as tasks_in, read_probe, write_probes
from components.settings import Settings
from components.types import Query
from tests.model.test_pooling import BY_HAND as POOLED, attention
from tests.plain import load_plain
from tests.tiny import checkpoint

TABLES = tomllib.loads(Path(__file__).with_name("queries.toml").read_text(encoding="utf-8"))
FAMILIES = ("bert", "gpt2")
TEXTS = [
    f"the {a} is {b} {c}" for a, b, c in product(("film", "man"), ("not", "all"), ("good", "bad , !", "a"))
]
PAIR = ("the film is good", "a man sleeps at all !")
QUERY = half(np.random.default_rng(3).normal(size=32).astype(np.float32) * 0.3)
Numbers = np.ndarray
Texts = tuple[str, str]
Pipelines = dict[tuple[str, str, str], Pipeline]

BY_HAND: dict[str, Callable[[Numbers], Numbers]] = {  # (L + 1, T, D) -> (D',)
    **{key: POOLED[key] for key in ("lasttoken", "mean", "max", "first_last_avg", "flatten")},
    "attention": lambda layers: attention(layers[-1], QUERY),
    "mean/1": lambda layers: layers[1].mean(axis=0),  # of a layer below the last
}
ENTRY = '[{0}]\ntitle = "tiny"\npath = "{0}"\ntask = "topic"\nprobes = "probes/{0}.safetensors"\n'
LABELS = {"sentiment": 2, "topic": 4, "paraphrase": 2}


def hidden(folder: Path, text: str, text_pair: str = "") -> Numbers:
    return torch.cat(load_plain(str(folder))(text, text_pair).hidden_states).numpy()  # (L + 1, T, D)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probed")
    for family in FAMILIES:
        checkpoint(path / family, family, family)
    return path


@pytest.fixture(scope="module")
def pipelines(folder: Path) -> Pipelines:
    fitted = {}
    for family, (task, count), (pooling, function) in product(FAMILIES, LABELS.items(), BY_HAND.items()):
        vectors = np.stack([function(hidden(folder / family, text)) for text in TEXTS])
        vectors += np.random.default_rng(0).normal(scale=0.1, size=vectors.shape)  # no number is constant
        labels = np.arange(len(TEXTS)) % count
        pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=1000))
        fitted[family, task, pooling] = pipeline.fit(vectors, labels)
    return fitted


@pytest.fixture(scope="module")
def probed(folder: Path, pipelines: Pipelines) -> Engine:
    for family in FAMILIES:
        probes = {
            (task, p): fold_scaler(line[0], line[-1])
            for (f, task, p), line in pipelines.items()
            if f == family
        }
        for (task, pooling), probe in probes.items():
            if pooling == "attention":
                probes[task, pooling] = Probe(probe.weight, probe.bias, QUERY)
        places = {(task, *pooling.split("/")): probe for (task, pooling), probe in probes.items()}
        write_probes(places, folder / "probes" / f"{family}.safetensors")
    catalogue = folder / "backbones.toml"
    catalogue.write_text("".join(map(ENTRY.format, FAMILIES)), encoding="utf-8")
    return Engine(Settings(catalogue=catalogue))


@pytest.mark.parametrize("pooling", list(BY_HAND))
@pytest.mark.parametrize(
    ("family", "texts", "task"),
    [("bert", (TEXTS[1], ""), "sentiment"), ("gpt2", (TEXTS[4], ""), "topic"), ("bert", PAIR, "paraphrase")],
)
def test_probabilities_are_those_of_the_pipeline(
    folder: Path, pipelines: Pipelines, probed: Engine, family: str, texts: Texts, task: str, pooling: str
) -> None:
    name, _, layer = pooling.partition("/")
    asked = Query(family, *texts, name, "probe", task=task, pool_layer=int(layer or -1))
    analysis = probed.ask("analyze", asked)
    assert (analysis.warnings, analysis.swapped, analysis.lower) == ((), False, bool(layer))
    vector, pipeline = BY_HAND[pooling](hidden(folder / family, *texts)), pipelines[family, task, pooling]
    np.testing.assert_allclose(analysis.pooled, vector, atol=1e-5)
    np.testing.assert_allclose(analysis.probabilities, pipeline.predict_proba([vector])[0], atol=2e-3)
    stored = fold_scaler(pipeline[0], pipeline[-1])
    logits = half(stored.weight).astype(np.float64) @ vector + half(stored.bias)
    np.testing.assert_allclose(analysis.logits, logits, atol=2e-5)
    if LABELS[task] == 2:
        margin = analysis.logits[1] - analysis.logits[0]
        assert margin == pytest.approx(pipeline.decision_function([vector])[0], abs=1e-2)
    others = [pooling != "lasttoken"] * (len(analysis.tokens.text) - 1)
    assert analysis.reads.positions.tolist() == [*others, True]


def test_an_analysis_by_a_probe_says_what_it_is(probed: Engine) -> None:
    analysis = probed.ask("analyze", Query("bert", TEXTS[0], pooling="mean", head="probe"))
    labels = next(task.labels for task in probed.tasks() if task.key == "topic")
    assert (analysis.query.task, analysis.labels) == ("topic", labels)  # the backbone's own
    assert (analysis.problem_type, analysis.head_trained, analysis.warnings) == ("single_label", True, ())
    assert analysis.predicted == (labels[int(analysis.logits.argmax())],)
    long = probed.ask("analyze", Query("bert", "good " * 50, pooling="mean", head="probe"))
    assert ["gets 24 of them" in str(warning) for warning in long.warnings] == [True]


@pytest.mark.parametrize("case", TABLES["probes"])
def test_a_mistake_is_named(probed: Engine, case: dict[str, Any]) -> None:
    with pytest.raises(PoolscopeError) as caught:
        probed.ask("analyze", Query("bert", TEXTS[0], **case["fields"]))
    assert case["says"] in str(caught.value)


def test_what_is_written_comes_back_in_half_precision(tmp_path: Path) -> None:
    file, drawn = tmp_path / "new" / "folder" / "a.safetensors", np.random.default_rng(0)
    places = ["topic/cls", "topic/mean", "topic/cls/0", "topic/cls/2", "topic/cls/10", "mood/attention"]
    shapes = {place: ((3, 4), (3,), *([(4,)] if "attention" in place else [])) for place in places}
    made = {
        tuple(place.split("/")): Probe(*(drawn.normal(size=size).astype(np.float32) for size in sizes))
        for place, sizes in shapes.items()
    }
    write_probes(made, file)
    tensors = load_file(file)
    names = {f"{place}/{part}" for place in places for part in ("bias", "weight")}
    assert set(tensors) == {*names, "mood/attention/query"}
    assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float16)}
    assert tasks_in(file) == ("mood", "topic")
    for (task, pooling, *layer), probe in made.items():
        back = read_probe(file, task, pooling, *map(int, layer))
        assert (back.query is None) == (pooling != "attention")
        for name, values in vars(back).items():
            if values is not None:
                assert values.dtype == np.float32
                np.testing.assert_array_equal(values, half(getattr(probe, name)))
                np.testing.assert_allclose(values, getattr(probe, name), rtol=2**-11)
    with pytest.raises(PoolscopeError, match="'max' was given; this backbone has probes for topic on cls, m"):
        read_probe(file, "topic", "max")
    with pytest.raises(PoolscopeError, match="on cls of the last layer and of layers 0, 2, 10"):
        read_probe(file, "topic", "cls", 1)


def test_a_number_too_large_for_half_precision_is_not_written(tmp_path: Path) -> None:
    probe = Probe(np.full((2, 4), 1e6, dtype=np.float32), np.zeros(2, dtype=np.float32))
    with pytest.raises(FloatingPointError):
        write_probes({("topic", "cls"): probe}, tmp_path / "a.safetensors")
