"""What is ordinary, against transformers and NumPy by hand, one sentence at a time."""

import tomllib
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import mannwhitneyu

from components.errors import PoolscopeError
from components.exhibits.view import View
from components.inference.engine import Engine
from components.menus import load_examples
from components.model import ordinary
from components.model.backbone import alike, batch_states, measured
from components.model.examine import forward
from components.model.internals import repeatable
from components.model.loading import load
from components.model.ordinary import Layer, Ordinary
from components.settings import ASSETS
from components.types import Centring, Query
from tests.checkpoints import Loaded
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


def beside(
    key: str, text: str, pair: str, reference: str | int, layer: int, way: Centring
) -> tuple[States, States, States]:
    """Cosines of a reference to all tokens, to all but itself, and to those of sentences but [CLS]."""
    hidden = load_plain(SPECS[key].location)(text, pair).hidden_states[layer][0].double().numpy()
    sentences = [states[layer] for states in by_hand(SPECS[key].location, bool(pair))]
    place, everything = -1 if key.startswith(LAST) else 0, np.concatenate(sentences)
    others = np.concatenate([np.delete(states, place % len(states), axis=0) for states in sentences])
    own = {"cls": place % len(hidden), "pooled": []}.get(str(reference), reference)
    target = hidden.mean(axis=0) if own == [] else hidden[own]
    one, mine, rest = (seen(way, states, everything) for states in (target, hidden, others))
    return cosines(one, mine), np.delete(cosines(one, mine), own), cosines(one, rest)


@pytest.mark.parametrize("reference", ["cls", "pooled", 2])
@pytest.mark.parametrize(("text", "pair"), [INPUTS[1], INPUTS[3], (load_examples()[0].text, "")])
@pytest.mark.parametrize("key", KEYS)
def test_what_is_asked_is_compared_with_all_tokens_and_held_against_those_of_other_sentences(
    engine: Engine, key: str, text: str, pair: str, reference: str | int
) -> None:
    given = engine.ask("analyze", Query(key, text, pair, pooling="mean", reference=reference))
    for layer, way in product(range(given.layers + 1), WAYS):
        every, mine, others = beside(key, text, pair, reference, layer, way)
        np.testing.assert_allclose(given.cosines(way)[layer], every, atol=1e-5)
        quantiles = np.quantile(others, (0.05, 0.5, 0.95))
        np.testing.assert_allclose(given.ordinary.of(way)[layer], quantiles, atol=1e-5)
        assert len(View(given, layer, way).above) == (mine > quantiles[2]).sum()
        area = mannwhitneyu(mine.round(6), others.round(6)).statistic / len(mine) / len(others)
        assert given.area.of(way)[layer] == pytest.approx(area, abs=2e-4), (way, layer)


def test_a_sentence_of_our_own_is_not_beside_itself(loaded: Loaded) -> None:
    backbone = loaded("bert-sentiment")
    passed = forward(backbone, SENTENCES[4], "")
    ids = passed.encoded.inputs["input_ids"][0].tolist()
    found = backbone.ordinary.others([layer[0] for layer in passed.hidden], ids)
    every = [len(states[0]) - 1 for states in by_hand(SPECS["bert-sentiment"].location)]
    assert found.shape[1] == sum(every) - every[4]
    said = {int(load_plain(backbone.spec.location)(one).logits.argmax()) for one in SENTENCES}
    assert said == {0, 1}  # they are taken whatever label they get


def test_half_precision_gives_nearly_the_same_and_typical_is_the_median_of_the_sentences_own(
    loaded: Loaded,
) -> None:
    whole, hidden = loaded("bert-sentiment").ordinary, by_hand(SPECS["bert-sentiment"].location)
    layers = (replace(one, states=one.states.astype(np.float16)) for one in whole.layers)
    half = replace(whole, layers=tuple(layers))
    np.testing.assert_allclose(half.typical(), whole.typical(), atol=1e-3)
    for layer, found in enumerate(whole.typical()):
        rest = [np.concatenate([two[layer][1:] for two in hidden if two is not one]) for one in hidden]
        own = [cosines(one[layer][0], others) for one, others in zip(hidden, rest, strict=True)]
        ends = [np.quantile(one, (0.05, 0.5, 0.95)) for one in own]
        np.testing.assert_allclose(found, np.median(ends, axis=0), atol=1e-5)


def test_many_numbers_are_kept_in_half_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [np.random.default_rng(0).normal(size=(2, 4, 8))] * 3, np.zeros(2, int), np.zeros((2, 4), int)
    for most, kind in ((3 * 2 * 4 * 8, np.float32), (3 * 2 * 4 * 8 - 1, np.float16)):
        monkeypatch.setattr(ordinary, "SINGLE", most)
        assert {layer.states.dtype for layer in Ordinary.of([batch]).layers} == {np.dtype(kind)}


def test_a_tokenizer_that_cannot_pad_gives_the_same(loaded: Loaded) -> None:
    backbone = load(SPECS["bert-sentiment"])
    backbone.tokenizer.pad_token = None
    assert alike(backbone, SENTENCES) == [[index] for index in range(len(SENTENCES))]
    together = loaded("bert-sentiment").ordinary
    assert loaded("bert-sentiment").ordinary is together  # measured once
    np.testing.assert_allclose(backbone.ordinary.typical(), together.typical(), atol=1e-5)


def test_a_dimension_that_never_changes_is_not_divided_by_nothing() -> None:
    states = np.array([[1.0, 5.0, 0.1], [3.0, 5.0, 0.1], [5.0, 5.0, 0.1 + 1e-12]])
    layer = Layer.of(states, np.float32)
    np.testing.assert_allclose(layer.deviation, [states[:, 0].std(), 1, 1])
    assert np.isfinite(layer.states).all()


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


def test_cosines_are_known_for_known_angles_and_never_outside_minus_one_and_one() -> None:
    states = np.array([[1.0, 0], [0, 2], [3, 3], [-5, 0], [0, 0]])
    layer = Layer.of(states, np.float32)
    for given in (layer.seen(states), (layer.states, layer.lengths)):
        found = layer.cosines(*given, states[0])
        np.testing.assert_allclose(found[:, 0], [1, 0, np.sqrt(0.5), -1, 0], atol=1e-6)
        assert not layer.cosines(*given, states[4])[:, 0].any()  # nothing is like a vector of length zero
    wild = np.random.default_rng(0).normal(size=(200, 64)) * 1e4
    layer = Layer.of(wild, np.float32)
    assert np.abs([layer.cosines(*layer.seen(wild), one) for one in (wild[0], -wild[0])]).max() <= 1
