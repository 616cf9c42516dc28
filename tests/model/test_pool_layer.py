"""A layer below the last, pooled as if it were the last: by hand with transformers and scikit-learn."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.probes import Probe, half, read_probe, write_probes
from components.settings import Settings
from components.types import Query
from tests.analyses.test_lens import TEXTS, TUNED, by_hand, layers_by_hand
from tests.plain import load_plain
from tests.tiny import checkpoint

WORDS = [
    f"the film is {word} at {other}" for word in ("good", "bad", "not", "a") for other in ("all", "!", "b")
]


@pytest.mark.parametrize("key", TUNED)
def test_the_own_head_on_a_lower_layer_is_what_a_hook_gives(engine: Engine, key: str) -> None:
    asked = key, *TEXTS[key.split("-")[1]]
    for index, layer in enumerate(layers_by_hand(*asked)):
        expected = by_hand(*asked, lambda _own, layer=layer: layer[None])
        found = engine.ask("analyze", Query(*asked, pool_layer=index))
        np.testing.assert_allclose(found.logits, expected, atol=1e-5)
        expected = by_hand(*asked, lambda own, layer=layer: layer.max(dim=0).values.expand_as(own))
        found = engine.ask("analyze", Query(*asked, pooling="max", pool_layer=index))
        np.testing.assert_allclose(found.logits, expected, atol=1e-5)
        np.testing.assert_allclose(found.pooled, layer.max(dim=0).values, atol=1e-5)


@pytest.mark.parametrize("key", ["bert-sentiment", "gpt2-sentiment"])
@pytest.mark.parametrize("pooling", ["native", "mean", "lasttoken"])
def test_it_is_what_the_lens_says_of_that_layer(engine: Engine, key: str, pooling: str) -> None:
    lens = engine.ask("lens", Query(key, "not good", pooling=pooling)).lens
    for layer, logits in enumerate(lens.pooled):
        found = engine.ask("analyze", Query(key, "not good", pooling=pooling, pool_layer=layer))
        np.testing.assert_allclose(found.logits, logits, atol=1e-6)


@pytest.mark.parametrize("key", ["bert-sentiment", "gpt2-sentiment"])
def test_what_is_read_of_a_lower_layer_is_what_moves_the_logits_there(engine: Engine, key: str) -> None:
    hidden = layers_by_hand(key, "not good", "")[1]
    before = by_hand(key, "not good", "", lambda _own: hidden[None])
    moved = []
    for place in range(len(hidden)):
        changed = hidden.clone()
        changed[place] += torch.linspace(-3, 3, hidden.shape[1])
        after = by_hand(key, "not good", "", lambda _own, changed=changed: changed[None])
        moved.append(not torch.allclose(before, after, atol=1e-4))
    found = engine.ask("analyze", Query(key, "not good", pool_layer=1)).reads
    assert found.positions.tolist() == moved
    assert engine.ask("analyze", Query(key, "not good", pooling="mean", pool_layer=1)).reads.positions.all()


def test_the_last_layer_by_its_number_is_the_same_answer(engine: Engine) -> None:
    for given in (-1, 4):
        found = engine.ask("analyze", Query("bert-sentiment", "not good", pooling="mean", pool_layer=given))
        assert (found.pool_layer, found.lower, found.query.pool_layer) == (4, False, -1)
        assert [warning.key for warning in found.warnings] == ["warnings.swap"]
        np.testing.assert_array_equal(
            found.logits, engine.ask("analyze", Query("bert-sentiment", "not good", pooling="mean")).logits
        )


@pytest.mark.parametrize(("key", "says"), [("bert-sentiment", []), ("gpt2-sentiment", ["transformer.ln_f"])])
def test_an_own_head_behind_a_lower_layer_is_a_swap_and_says_so(
    engine: Engine, key: str, says: list[str]
) -> None:
    found = engine.ask("analyze", Query(key, "not good", pool_layer=-2))
    assert (found.swapped, found.lower, found.pool_layer) == (True, True, found.layers - 1)
    assert found.query.pool_layer == found.layers - 1  # so that a link to it holds the very layer
    said, *norms = map(str, found.warnings)
    assert f"of the last layer, {found.layers}" in said
    assert f"of layer {found.layers - 1}." in said
    assert [norm in said for norm, said in zip(says, norms, strict=True)] == [True] * len(says)


def test_similarities_do_not_depend_on_what_is_pooled(engine: Engine) -> None:
    for reference in ("cls", "pooled", 1):
        one, other = (
            engine.ask(
                "analyze",
                Query("bert-sentiment", "not good", pooling="mean", reference=reference, pool_layer=at),
            )
            for at in (-1, 1)
        )
        np.testing.assert_array_equal(one.similarity, other.similarity)


def test_cells_of_one_pass_are_what_is_asked_alone(engine: Engine) -> None:
    queries = [
        Query("gpt2-sentiment", "not good", pooling=pooling, pool_layer=layer)
        for pooling in ("native", "mean", "concat_last4_cls")
        for layer in (-1, 0, 9)
    ]
    (compared,) = engine.compare(queries)
    for cell in compared.cells:
        if cell.analysis is not None:
            np.testing.assert_array_equal(cell.analysis.logits, engine.ask("analyze", cell.query).logits)
    assert [cell.analysis is None for cell in compared.cells] == [False, False, True] * 2 + [
        True,
        False,
        True,
    ]


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Probes on the mean of layers 0 and 1 of 2, and on the maximum of the last alone."""
    folder = tmp_path_factory.mktemp("lower")
    checkpoint(folder / "tiny")
    (folder / "backbones.toml").write_text(
        '[tiny]\ntitle = "tiny"\npath = "tiny"\ntask = "topic"\nprobes = "tiny.safetensors"\n',
        encoding="utf-8",
    )
    width = np.ones((2, 32), dtype=np.float32)
    probes = {("sentiment", pooling): Probe(width, width[:, 0]) for pooling in ("max", "mean")}
    for layer in (0, 1):
        line = fitted(folder / "tiny", layer)
        both = (
            half(np.concatenate([-line.coef_, line.coef_]) / 2),
            half(np.tile(line.intercept_, 2) * [-0.5, 0.5]),
        )
        probes["sentiment", "mean", str(layer)] = Probe(*both)
    write_probes(probes, folder / "tiny.safetensors")
    return Engine(Settings(catalogue=folder / "backbones.toml"))


def average(folder: Path, layer: int, text: str) -> np.ndarray:
    hidden: np.ndarray = load_plain(str(folder))(text).hidden_states[layer][0].numpy().mean(axis=0)
    return hidden


def fitted(folder: Path, layer: int) -> LogisticRegression:
    vectors = np.stack([average(folder, layer, text) for text in WORDS])
    return LogisticRegression(C=10.0, max_iter=1000).fit(vectors, np.arange(len(WORDS)) % 2)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_probe_of_a_lower_layer_is_the_classifier_that_was_fitted_there(probed: Engine, layer: int) -> None:
    folder = Path(probed.backbones()[0].location)
    line = fitted(folder, layer)
    for text in WORDS[:4]:
        query = Query("tiny", text, pooling="mean", head="probe", task="sentiment", pool_layer=layer)
        expected = line.predict_proba(average(folder, layer, text)[None])[0]
        found = probed.ask("analyze", query)
        np.testing.assert_allclose(found.probabilities, expected, atol=2e-3)  # it is stored in half precision
        assert (found.warnings, found.swapped, found.lower) == ((), False, True)
        assert found.reads.positions.all()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"pooling": "max", "pool_layer": 1},
            "a probe for sentiment on max of the last layer alone: choose -1",
        ),
        ({"pooling": "mean", "pool_layer": 3}, "allowed are -3 to 2"),
        ({"pooling": "cls", "pool_layer": 1}, "this backbone has probes for sentiment on max, mean"),
        ({"pool_layer": 1.5}, "pool_layer: 1.5 was given"),
    ],
)
def test_a_layer_that_cannot_be_had_is_refused_in_a_sentence(
    probed: Engine, fields: dict[str, object], message: str
) -> None:
    query = Query("tiny", "good", head="probe", task="sentiment", **fields)  # type: ignore[arg-type]
    with pytest.raises(PoolscopeError, match=message):
        probed.ask("analyze", query)


def test_layers_with_a_probe_are_named(tmp_path: Path) -> None:
    width = np.ones((2, 4), dtype=np.float32)
    places = [("topic", "cls"), ("topic", "cls", "0"), ("topic", "cls", "10"), ("topic", "cls", "2")]
    write_probes({place: Probe(width, width[:, 0]) for place in places}, tmp_path / "x.safetensors")
    with pytest.raises(PoolscopeError, match="on cls of the last layer and of layers 0, 2, 10"):
        read_probe(tmp_path / "x.safetensors", "topic", "cls", 1)


def test_the_head_taken_apart_begins_at_the_layer_that_is_pooled(engine: Engine) -> None:
    found = engine.ask("anatomy", Query("gpt2-sentiment", "not good", pooling="mean", pool_layer=1))
    np.testing.assert_allclose(
        found.steps[0].taken, layers_by_hand("gpt2-sentiment", "not good", "")[1], atol=1e-5
    )
    np.testing.assert_allclose(found.steps[-1].given.ravel(), found.analysis.logits, atol=1e-5)
    assert "points the head of the last layer at every layer" in str(found.lens)
    for code in (found.program, found.module):
        assert code == "# A layer below the last is pooled. There is no short program for this.\n"


def test_importance_is_told_behind_the_last_layer_alone(engine: Engine) -> None:
    query = Query("bert-sentiment", "not good", pooling="cls")
    assert (
        engine.ask("importance", replace(query, pool_layer=4), label="", integrated=False).analysis.layers
        == 4
    )
    with pytest.raises(PoolscopeError, match="behind the last layer alone"):
        engine.ask("importance", replace(query, pool_layer=1), label="", integrated=False)
