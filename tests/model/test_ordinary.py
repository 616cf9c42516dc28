"""What is ordinary, against transformers and NumPy by hand, one sentence at a time."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.examine import forward
from components.model.loading import load
from components.model.ordinary import Spread, measured
from components.model.repeatable import repeatable
from components.model.states import alike, batch_states
from components.settings import ASSETS
from components.types import BackboneSpec, Centring, Query
from tests.families.cases import Family
from tests.plain import INPUTS, SPECS
from tests.tiny import checkpoint

SENTENCES: list[str] = tomllib.loads((ASSETS / "ordinary.toml").read_text("utf-8"))["sentences"]
LAST = ("xlnet", "gpt2")  # families whose token in the place of [CLS] is the last one
KEYS = ("bert-sentiment", "roberta-paraphrase", "distilbert-pretrained", "xlnet-sentiment", "gpt2-sentiment")
WAYS: tuple[Centring, ...] = ("plain", "centred", "standardised")
States = np.ndarray  # (T, D)


@cache
def by_hand(folder: str) -> list[list[States]]:
    """The hidden states of each sentence at each layer, from the body alone."""
    model, tokenizer = AutoModel.from_pretrained(folder, dtype=torch.float32).eval(), tokens_of(folder)
    found = []
    with torch.no_grad():
        for sentence in SENTENCES:
            output = model(**tokenizer(sentence, return_tensors="pt"), output_hidden_states=True)
            found.append([layer[0].double().numpy() for layer in output.hidden_states])
    return found


@cache
def tokens_of(folder: str):  # type: ignore[no-untyped-def]  # transformers gives it no type
    return AutoTokenizer.from_pretrained(folder)


def seen(way: Centring, states: States, everything: States) -> States:
    """States as they are compared, where ``everything`` (N, D) is what the sentences give at this layer."""
    mean, deviation = everything.mean(axis=0), everything.std(axis=0)
    return {"plain": states, "centred": states - mean, "standardised": (states - mean) / deviation}[way]


def cosines(one: np.ndarray, others: States) -> np.ndarray:
    return others @ one / np.linalg.norm(others, axis=1) / np.linalg.norm(one)


@pytest.mark.parametrize("key", KEYS)
def test_bands_are_the_quantiles_of_cosines_to_tokens_of_other_sentences(engine: Engine, key: str) -> None:
    sentences = by_hand(SPECS[key].location)
    bands = engine.ask("analyze", Query(key, "any text")).ordinary
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
        model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
        with torch.no_grad():
            inputs = tokens_of(folder)(text, pair or None, return_tensors="pt")
            output = model(**inputs, output_hidden_states=True)
        for layer, hidden in enumerate(output.hidden_states):
            states = hidden[0].double().numpy()
            everything = np.concatenate([one[layer] for one in by_hand(folder)])
            if reference == "pooled":
                target = states.mean(axis=0)
            else:
                target = states[analysis.tokens.cls if reference == "cls" else 2]
            for way in WAYS:
                expected = cosines(seen(way, target, everything), seen(way, states, everything))
                np.testing.assert_allclose(analysis.cosines(way)[layer], expected, atol=1e-5)


def test_a_random_checkpoint_and_two_trained_ones_have_different_bands(
    engine: Engine, tmp_path: Path
) -> None:
    """The same tokenizer and sizes: only the numbers in the weights differ."""
    folder = SPECS["bert-sentiment"].location
    config = AutoModelForSequenceClassification.from_pretrained(folder).config
    torch.manual_seed(1)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tokens_of(folder).save_pretrained(tmp_path)
    random = load(BackboneSpec("random", "r", "", "", "local", str(tmp_path))).ordinary.bands
    sentiment, pretrained = (
        engine.ask("analyze", Query(key, "any text")).ordinary
        for key in ("bert-sentiment", "bert-pretrained")
    )
    for way in WAYS:
        three = [bands.of(way) for bands in (random, sentiment, pretrained)]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            assert np.abs(three[one] - three[other]).max() > 0.1, way


def test_the_sentences_are_all_different_and_a_few_dozen() -> None:
    assert 24 <= len(set(SENTENCES)) == len(SENTENCES) <= 60
    lengths = [len(sentence.split()) for sentence in SENTENCES]
    assert min(lengths) <= 3
    assert max(lengths) >= 15


def test_it_is_measured_once(loaded: Callable[[str], Backbone]) -> None:
    backbone = loaded("bert-sentiment")
    first = backbone.ordinary
    assert backbone.ordinary is first
    again = measured(backbone)
    np.testing.assert_array_equal(again.bands.plain, first.bands.plain)


def test_a_tokenizer_that_cannot_pad_gives_the_same(loaded: Callable[[str], Backbone]) -> None:
    backbone = load(SPECS["bert-sentiment"])
    backbone.tokenizer.pad_token = None
    assert alike(backbone, SENTENCES) == [[index] for index in range(len(SENTENCES))]
    together = loaded("bert-sentiment").ordinary
    np.testing.assert_allclose(backbone.ordinary.bands.standardised, together.bands.standardised, atol=1e-5)


def test_a_dimension_that_never_changes_is_not_divided_by_nothing() -> None:
    states = np.array([[1.0, 5.0, 0.1], [3.0, 5.0, 0.1], [5.0, 5.0, 0.1 + 1e-12]])
    spread = Spread.of(states)
    np.testing.assert_allclose(spread.deviation, [states[:, 0].std(), 1, 1])
    assert np.isfinite(spread.standardised(states)).all()


def test_a_model_that_fails_on_the_sentences_says_so(tmp_path: Path) -> None:
    backbone = load(checkpoint(tmp_path / "x"))
    with torch.no_grad():
        backbone.model.get_input_embeddings().weight[1] = 3e38  # of what its vocabulary does not know
    with pytest.raises(PoolscopeError, match="backbone: 'x' was given; the model's numbers grow beyond"):
        measured(backbone)


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


@pytest.mark.families
def test_every_layer_of_every_family_has_a_band(family: Family) -> None:
    analysis = family.analysis(SENTENCES[0])
    for way in WAYS:
        band = analysis.ordinary.of(way)
        assert band.shape == (analysis.layers + 1, 3)
        assert (np.diff(band, axis=1) >= 0).all()
        assert np.abs(band).max() <= 1
