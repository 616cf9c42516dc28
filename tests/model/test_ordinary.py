"""What is ordinary, against transformers and NumPy by hand, one sentence at a time."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import Backbone, Spread, alike, batch_states, cosine_by_layer, measured
from components.model.backbone import cosines as between
from components.model.examine import forward
from components.model.internals import repeatable
from components.model.loading import load
from components.settings import ASSETS
from components.types import Centring, Query
from tests.families.cases import Family
from tests.plain import INPUTS, SPECS, load_plain
from tests.tiny import checkpoint

SENTENCES: list[str] = tomllib.loads((ASSETS / "ordinary.toml").read_text("utf-8"))["sentences"]
PAIRS = [*zip(SENTENCES[:11], SENTENCES[11:22], strict=True), *((twice, twice) for twice in SENTENCES[22:])]
LAST = ("xlnet", "gpt2")  # families whose token in the place of [CLS] is the last one
KEYS = ("bert-sentiment", "xlnet-sentiment")
WAYS: tuple[Centring, ...] = ("plain", "centred", "standardised")
States = np.ndarray  # (T, D)


@cache
def by_hand(folder: str, paired: bool = False) -> list[list[States]]:
    """The hidden states of each sentence, or pair, at each layer, by transformers alone."""
    plain, inputs = load_plain(folder), PAIRS if paired else zip(SENTENCES, strict=True)
    return [[layer[0].double().numpy() for layer in plain(*given).hidden_states] for given in inputs]


def seen(way: Centring, states: States, everything: States) -> States:
    """States as they are compared, where ``everything`` (N, D) is what the sentences give at this layer."""
    mean, deviation = everything.mean(axis=0), everything.std(axis=0)
    return {"plain": states, "centred": states - mean, "standardised": (states - mean) / deviation}[way]


def cosines(one: np.ndarray, others: States) -> np.ndarray:
    return others @ one / np.linalg.norm(others, axis=1) / np.linalg.norm(one)


@pytest.mark.parametrize("pair", ["", "another"])
@pytest.mark.parametrize("key", KEYS)
def test_bands_are_the_quantiles_of_cosines_to_tokens_of_other_sentences(
    engine: Engine, key: str, pair: str
) -> None:
    sentences = by_hand(SPECS[key].location, bool(pair))
    bands = engine.ask("analyze", Query(key, "any text", pair)).ordinary
    place = -1 if key.startswith(LAST) else 0
    for layer in range(len(sentences[0])):
        everything = np.concatenate([states[layer] for states in sentences])
        for way in WAYS:
            views = [seen(way, states[layer], everything) for states in sentences]
            found = [
                cosines(own[place], np.delete(other, place % len(other), axis=0))
                for own in views
                for other in views
                if other is not own
            ]
            expected = np.quantile(np.concatenate(found), (0.05, 0.5, 0.95))
            np.testing.assert_allclose(bands.of(way)[layer], expected, atol=1e-5, err_msg=f"{way} {layer}")


@pytest.mark.parametrize("reference", ["cls", "pooled", 2])
@pytest.mark.parametrize("key", KEYS)
def test_centred_and_standardised_are_by_the_mean_and_the_deviation_over_the_sentences(
    engine: Engine, key: str, reference: str | int
) -> None:
    folder = SPECS[key].location
    for text, pair in (INPUTS[0], INPUTS[3]):
        analysis = engine.ask("analyze", Query(key, text, pair, pooling="mean", reference=reference))
        for layer, hidden in enumerate(load_plain(folder)(text, pair).hidden_states):
            states = hidden[0].double().numpy()
            everything = np.concatenate([one[layer] for one in by_hand(folder, bool(pair))])
            place = analysis.tokens.cls if reference == "cls" else 2
            target = states.mean(axis=0) if reference == "pooled" else states[place]
            for way in WAYS:
                expected = cosines(seen(way, target, everything), seen(way, states, everything))
                np.testing.assert_allclose(analysis.cosines(way)[layer], expected, atol=1e-5)


def test_a_tokenizer_that_cannot_pad_gives_the_same(loaded: Callable[[str], Backbone]) -> None:
    backbone = load(SPECS["bert-sentiment"])
    backbone.tokenizer.pad_token = None
    assert alike(backbone, SENTENCES) == [[index] for index in range(len(SENTENCES))]
    together = loaded("bert-sentiment").ordinary
    assert loaded("bert-sentiment").ordinary is together  # measured once
    np.testing.assert_allclose(backbone.ordinary.bands.standardised, together.bands.standardised, atol=1e-5)


def test_a_dimension_that_never_changes_is_not_divided_by_nothing() -> None:
    states = np.array([[1.0, 5.0, 0.1], [3.0, 5.0, 0.1], [5.0, 5.0, 0.1 + 1e-12]])
    spread = Spread.of(states)
    np.testing.assert_allclose(spread.deviation, [states[:, 0].std(), 1, 1])
    assert np.isfinite(spread.seen("standardised", states)).all()


def test_a_model_that_fails_on_the_sentences_says_so(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "x"))
    with torch.no_grad():
        backbone.model.get_input_embeddings().weight[1] = 3e38  # of what its vocabulary does not know
    with pytest.raises(PoolscopeError, match="backbone: 'x' was given; the model's numbers grow beyond"):
        measured(backbone, SENTENCES)


@pytest.mark.families
def test_sentences_together_have_the_states_that_each_has_alone_in_every_family(family: Family) -> None:
    backbone = family.backbone
    rows = max(alike(backbone, SENTENCES), key=len)
    with repeatable(backbone.model):
        together = batch_states(backbone, [SENTENCES[row] for row in rows])
    assert len(rows) > 1
    for place in (0, -1):
        with repeatable(backbone.model):
            alone = forward(backbone, SENTENCES[rows[place]], "")
        assert int(together.cls[place]) == alone.tokens.cls
        layers = together.layers[-len(alone.hidden) :]
        for states, expected in zip(layers, alone.hidden, strict=True):
            np.testing.assert_allclose(states[place], expected, atol=1e-4 * np.abs(expected).max())
    analysis = family.analysis(SENTENCES[0])
    for band in map(analysis.ordinary.of, WAYS):
        assert band.shape == (analysis.layers + 1, 3)
        assert (np.diff(band, axis=1) >= 0).all()


def test_known_angles() -> None:
    hidden = np.array([[[1, 0], [0, 2], [3, 3], [-5, 0], [0, 0]], [[1, 0], [0, 1], [1, 0], [1, 0], [1, 0]]])
    cosine = cosine_by_layer(hidden.astype(np.float32), hidden[:, 0])
    assert cosine.dtype == np.float32
    assert cosine[0].tolist() == pytest.approx([1, 0, np.sqrt(0.5), -1, 0])
    assert cosine[1].tolist() == [1, 0, 1, 1, 1]
    assert not cosine_by_layer(hidden, hidden[:, 4] * 0).any()  # nothing is like a vector of length zero
    found = between(np.array([[1.0, 0], [0, 2], [3, 3]]), np.array([[4.0, 0], [0, -1]]))
    np.testing.assert_allclose(found, [[1, 0], [0, -1], [np.sqrt(0.5), -np.sqrt(0.5)]], atol=1e-12)


def test_never_outside_minus_one_and_one() -> None:
    hidden = np.random.default_rng(0).normal(size=(3, 200, 64)).astype(np.float32) * 1e4
    for reference in (hidden[:, 0], -hidden[:, 0]):
        assert np.abs(cosine_by_layer(hidden, reference)).max() <= 1
