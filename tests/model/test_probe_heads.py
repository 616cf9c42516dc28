"""A probe's answer is that of an independent scikit-learn pipeline on what plain transformers gives."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.probes import Probe, half, write_probes
from components.settings import Settings
from components.types import Query
from tests.plain import load_plain
from tests.tiny import checkpoint

FAMILIES = ("bert", "gpt2")
TEXTS = [
    f"the {a} is {b} {c}" for a, b, c in product(("film", "man"), ("not", "all"), ("good", "bad , !", "a"))
]
PAIR = ("the film is good", "a man sleeps at all !")
QUERY = half(np.random.default_rng(3).normal(size=32).astype(np.float32) * 0.3)
LENGTH = 64
Numbers = np.ndarray


def attention(layers: Numbers) -> Numbers:
    weight = np.exp(layers[-1] @ QUERY)
    return (weight / weight.sum()) @ layers[-1]


def flatten(layers: Numbers) -> Numbers:
    vector = np.zeros(LENGTH * layers.shape[2])
    vector[: layers[-1].size] = layers[-1].ravel()
    return vector


BY_HAND: dict[str, Callable[[Numbers], Numbers]] = {  # (L + 1, T, D) -> (D',)
    "lasttoken": lambda layers: layers[-1][-1],
    "mean": lambda layers: layers[-1].mean(axis=0),
    "max": lambda layers: layers[-1].max(axis=0),
    "first_last_avg": lambda layers: (layers[1] + layers[-1]).mean(axis=0) / 2,
    "attention": attention,
    "flatten": flatten,
}
LABELS = {"sentiment": 2, "topic": 4, "paraphrase": 2}


def hidden(folder: Path, text: str, text_pair: str = "") -> Numbers:
    return torch.cat(load_plain(str(folder))(text, text_pair).hidden_states).numpy()  # (L + 1, T, D)


def folded(pipeline: Pipeline) -> Probe:
    weight = pipeline[-1].coef_ / pipeline[0].scale_
    bias = pipeline[-1].intercept_ - weight @ pipeline[0].mean_
    if len(weight) == 1:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Probe(weight.astype(np.float32), bias.astype(np.float32))


def entry(family: str, lines: str) -> str:
    return f'[{family}]\ntitle = "tiny"\npath = "{family}"\ntask = "topic"\n{lines}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probed")
    for family in (*FAMILIES, "bare"):
        checkpoint(
            path / family, "bert" if family == "bare" else family, "gpt2" if family == "gpt2" else "bert"
        )
    return path


@pytest.fixture(scope="module")
def pipelines(folder: Path) -> dict[tuple[str, str, str], Pipeline]:
    fitted = {}
    for family, (task, count), (pooling, function) in product(FAMILIES, LABELS.items(), BY_HAND.items()):
        vectors = np.stack([function(hidden(folder / family, text)) for text in TEXTS])
        vectors += np.random.default_rng(0).normal(scale=0.1, size=vectors.shape)  # no number is constant
        labels = np.arange(len(TEXTS)) % count
        pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=1000))
        fitted[family, task, pooling] = pipeline.fit(vectors, labels)
    return fitted


@pytest.fixture(scope="module")
def probed(folder: Path, pipelines: dict[tuple[str, str, str], Pipeline]) -> Engine:
    for family in FAMILIES:
        probes = {(task, p): folded(line) for (f, task, p), line in pipelines.items() if f == family}
        for (task, pooling), probe in probes.items():
            if pooling == "attention":
                probes[task, pooling] = Probe(probe.weight, probe.bias, QUERY)
        for task, count in LABELS.items():  # for poolings that are not computed by hand here
            for pooling, width in {"native": 32, "pooler": 32, "concat_last4_cls": 64}.items():
                ramp = np.tile(np.arange(width, dtype=np.float32), (count, 1))
                probes[task, pooling] = Probe(ramp, ramp[:, 0])
        write_probes(probes, folder / "probes" / f"{family}.safetensors")
    entries = [entry(family, f'probes = "probes/{family}.safetensors"') for family in FAMILIES]
    catalogue = folder / "backbones.toml"
    catalogue.write_text("\n".join([*entries, entry("bare", "")]), encoding="utf-8")
    return Engine(Settings(catalogue=catalogue))


@pytest.mark.parametrize("pooling", list(BY_HAND))
@pytest.mark.parametrize(
    ("text", "text_pair", "task"),
    [(TEXTS[1], "", "sentiment"), (TEXTS[4], "", "topic"), (*PAIR, "paraphrase")],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_are_those_of_the_pipeline(
    folder: Path,
    pipelines: dict[tuple[str, str, str], Pipeline],
    probed: Engine,
    family: str,
    text: str,
    text_pair: str,
    task: str,
    pooling: str,
) -> None:
    analysis = probed.ask("analyze", Query(family, text, text_pair, pooling, "probe", task=task))
    vector, pipeline = (
        BY_HAND[pooling](hidden(folder / family, text, text_pair)),
        pipelines[family, task, pooling],
    )
    np.testing.assert_allclose(analysis.pooled, vector, atol=1e-5)
    np.testing.assert_allclose(analysis.probabilities, pipeline.predict_proba([vector])[0], atol=2e-3)
    stored = folded(pipeline)
    logits = half(stored.weight).astype(np.float64) @ vector + half(stored.bias)
    np.testing.assert_allclose(analysis.logits, logits, atol=2e-5)
    if LABELS[task] == 2:
        margin = analysis.logits[1] - analysis.logits[0]
        assert margin == pytest.approx(pipeline.decision_function([vector])[0], abs=1e-2)


@pytest.mark.parametrize(
    ("pooling", "task"), [*product(["native", "pooler", "concat_last4_cls"], ["sentiment", "topic"])]
)
def test_every_other_pooling_works_where_it_has_a_probe(probed: Engine, pooling: str, task: str) -> None:
    analysis = probed.ask("analyze", Query("bert", TEXTS[0], pooling=pooling, head="probe", task=task))
    expected = analysis.pooled.astype(np.float64) @ np.arange(len(analysis.pooled))
    np.testing.assert_allclose(analysis.logits, expected, rtol=1e-4, atol=1e-4)


def test_an_analysis_by_a_probe_says_what_it_is(probed: Engine) -> None:
    analysis = probed.ask("analyze", Query("bert", TEXTS[0], pooling="mean", head="probe"))
    labels = next(task.labels for task in probed.tasks() if task.key == "topic")
    assert (analysis.query.task, analysis.labels) == (
        "topic",
        labels,
    )  # the backbone's own, untouched by order
    assert (analysis.problem_type, analysis.head_trained, analysis.warnings) == ("single_label", True, ())
    assert analysis.predicted == (labels[int(analysis.logits.argmax())],)
    long = probed.ask("analyze", Query("bert", "good " * 50, pooling="mean", head="probe"))
    assert ["24 are taken" in str(warning) for warning in long.warnings] == [True]


@pytest.mark.parametrize(
    ("pooling", "read"),
    [
        ("lasttoken", [-1]),
        ("mean", "all"),
        ("max", "all"),
        ("first_last_avg", "all"),
        ("attention", "all"),
        ("flatten", "all"),
    ],
)
def test_what_a_probe_reads_is_measured(probed: Engine, pooling: str, read: str | list[int]) -> None:
    analysis = probed.ask("analyze", Query("bert", TEXTS[0], pooling=pooling, head="probe", task="sentiment"))
    count = len(analysis.tokens.text)
    expected = range(count) if read == "all" else [index % count for index in read]
    assert np.flatnonzero(analysis.reads.positions).tolist() == list(expected)
    assert analysis.reads.share.sum() == pytest.approx(1, abs=1e-5)


def test_similarity_to_what_attention_pooled(folder: Path, probed: Engine) -> None:
    query = Query("bert", TEXTS[0], pooling="attention", head="probe", reference="pooled")
    vectors = [attention(layer[None]) for layer in hidden(folder / "bert", TEXTS[0])]
    states = hidden(folder / "bert", TEXTS[0])
    lengths = np.linalg.norm(states, axis=2) * np.linalg.norm(vectors, axis=1)[:, None]
    expected = np.einsum("ltd,ld->lt", states, np.stack(vectors)) / lengths
    np.testing.assert_allclose(probed.ask("analyze", query).similarity, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"pooling": "attention"},
            "pooling: 'attention' was given; it is learned with a probe: choose head probe.",
        ),
        (
            {"pooling": "flatten"},
            "it gives 2048 numbers and the own head takes 32: choose a pooling of width 32",
        ),
        (
            {"pooling": "first", "head": "probe"},
            "this backbone has probes for topic on attention, concat_last4_cls,",
        ),
        (
            {"backbone": "bare", "head": "probe"},
            "head: 'probe' was given; this backbone has no probes: choose own.",
        ),
        (
            {"head": "probe", "task": "weather"},
            "task: 'weather' was given; allowed are sentiment, subjectivity, ",
        ),
        (
            {"head": "probe", "task": "subjectivity"},
            "task: 'subjectivity' was given; this backbone has probes for sentiment, topic, paraphrase.",
        ),
        (
            {"head": "probe", "task": "paraphrase"},
            "task: 'paraphrase' was given; it takes two texts, and one was given.",
        ),
        ({"head": "probe", "task": 3}, "task: 3 was given; a text is expected."),
        ({"head": "linear"}, "head: 'linear' was given; allowed are own, probe, mine."),
        (
            {"head": "probe", "pooling": "flatten", "reference": "pooled"},
            "the vector of flatten is not as wide as a hidden state",
        ),
    ],
)
def test_a_mistake_is_named(probed: Engine, fields: dict[str, str], message: str) -> None:
    with pytest.raises(PoolscopeError) as caught:
        probed.ask("analyze", Query(**{"backbone": "bert", "text": TEXTS[0], **fields}))  # type: ignore[arg-type]  # on purpose
    assert message in str(caught.value)


def test_a_task_with_the_own_head_is_kept_and_changes_nothing(probed: Engine) -> None:
    plain, asked = (probed.ask("analyze", Query("bert", TEXTS[0], task=task)) for task in ("", "paraphrase"))
    assert asked.query.task == "paraphrase"
    np.testing.assert_array_equal(plain.logits, asked.logits)


def test_features_of_the_learned_poolings(folder: Path, probed: Engine) -> None:
    flat = probed.features("gpt2", TEXTS[:3], ["flatten"])["flatten"]
    for row, text in zip(flat, TEXTS, strict=False):
        np.testing.assert_allclose(row, flatten(hidden(folder / "gpt2", text)), atol=1e-5)
    with pytest.raises(PoolscopeError, match="choose head probe"):
        probed.features("gpt2", TEXTS[:2], ["attention"])


def test_the_tasks_are_those_of_the_menu(probed: Engine) -> None:
    assert [task.key for task in probed.tasks()] == ["sentiment", "subjectivity", "topic", "paraphrase"]
    assert {task.key: (len(task.labels), task.texts) for task in probed.tasks()}["topic"] == (4, 1)
    assert [spec.probed for spec in probed.backbones()] == [("paraphrase", "sentiment", "topic")] * 2 + [()]
