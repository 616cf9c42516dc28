"""Every number equals what plain transformers and sentence-transformers give."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from sentence_transformers.sentence_transformer.modules import Pooling

from components.inference.engine import Engine
from components.model.backbone import Backbone
from components.model.pooling import POOLINGS
from components.model.states import batch_states
from components.types import Query
from tests.plain import FIRST, INPUTS, KEYS, SPECS, Plain, cosine, load_plain, overwritten

SHARED = ("max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
TEXTS = ("good", "The plot is thin, but the actors are a delight.", "not good, not good at all")
CLS_IN_THEIR_WORDS = {"xlnet": "lasttoken", "gpt2": "lasttoken"} | dict.fromkeys(FIRST, "cls")


def plain(key: str) -> Plain:
    return load_plain(SPECS[key].location)


@pytest.mark.parametrize(("text", "text_pair"), INPUTS)
@pytest.mark.parametrize("key", KEYS)
def test_logits_and_probabilities_are_those_of_transformers(
    engine: Engine, key: str, text: str, text_pair: str
) -> None:
    analysis = engine.ask("analyze", Query(key, text, text_pair))
    logits = plain(key)(text, text_pair).logits[0]
    np.testing.assert_allclose(analysis.logits, logits, atol=1e-6)
    np.testing.assert_allclose(analysis.probabilities, logits.softmax(0), atol=1e-6)


@pytest.mark.parametrize(("text", "text_pair"), INPUTS)
@pytest.mark.parametrize("key", KEYS)
def test_similarity_is_the_cosine_of_the_hidden_states(
    engine: Engine, key: str, text: str, text_pair: str
) -> None:
    analysis = engine.ask("analyze", Query(key, text, text_pair))
    hidden = torch.cat(plain(key)(text, text_pair).hidden_states).numpy()  # (L + 1, T, D)
    assert analysis.similarity.shape == hidden.shape[:2]
    for layer, states in enumerate(hidden):
        reference = states[analysis.tokens.cls]
        for index, state in enumerate(states):
            assert analysis.similarity[layer, index] == pytest.approx(cosine(state, reference), abs=1e-6)


@pytest.mark.parametrize("reference", ["pooled", 1])
@pytest.mark.parametrize("key", KEYS)
def test_similarity_to_the_pooled_vector_and_to_a_token(
    engine: Engine, key: str, reference: str | int
) -> None:
    analysis = engine.ask("analyze", Query(key, *INPUTS[0], pooling="mean", reference=reference))
    hidden = torch.cat(plain(key)(*INPUTS[0]).hidden_states).numpy()
    for layer, states in enumerate(hidden):
        vector = states.mean(axis=0) if reference == "pooled" else states[reference]
        for index, state in enumerate(states):
            assert analysis.similarity[layer, index] == pytest.approx(cosine(state, vector), abs=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("key", KEYS)
def test_poolings_are_those_of_sentence_transformers(
    key: str, side: str, loaded: Callable[[str], Backbone], monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone = loaded(key)
    monkeypatch.setattr(backbone.tokenizer, "padding_side", side)
    inputs = backbone.tokenizer(list(TEXTS), padding=True, return_tensors="pt")
    with torch.no_grad():
        final = plain(key).model(**inputs, output_hidden_states=True).hidden_states[-1]

    def theirs(mode: str) -> np.ndarray:
        features = {"token_embeddings": final, "attention_mask": inputs["attention_mask"]}
        return Pooling(final.shape[2], mode)(features)["sentence_embedding"].numpy()

    states = batch_states(backbone, TEXTS)
    ours = {mode: POOLINGS[mode](states) for mode in (*SHARED, "first", "cls")}
    for mode in SHARED:
        np.testing.assert_allclose(ours[mode], theirs(mode), atol=1e-6, err_msg=mode)
    np.testing.assert_allclose(ours["first"], theirs("cls"), atol=1e-6)  # theirs is the first attended token
    np.testing.assert_allclose(ours["cls"], theirs(CLS_IN_THEIR_WORDS[key.split("-")[0]]), atol=1e-6)


@pytest.mark.parametrize(("text", "text_pair"), INPUTS)
@pytest.mark.parametrize("key", [key for key in KEYS if key.split("-")[0] in FIRST])
def test_a_swap_with_cls_gives_back_the_own_logits(
    engine: Engine, key: str, text: str, text_pair: str
) -> None:
    swapped = engine.ask("analyze", Query(key, text, text_pair, pooling="cls"))
    np.testing.assert_allclose(swapped.logits, plain(key)(text, text_pair).logits[0], atol=1e-6)


@pytest.mark.parametrize("key", KEYS)
def test_a_swap_is_the_head_on_the_pooled_vector(engine: Engine, key: str) -> None:
    """By hand: an average put where the head reads, in a forward pass whose last layer is overwritten."""
    model, tokenizer = plain(key).model, plain(key).tokenizer
    inputs = tokenizer(INPUTS[0][0], return_tensors="pt")
    with torch.no_grad():
        mean = model(**inputs, output_hidden_states=True).hidden_states[-1].mean(dim=1, keepdim=True)
        with overwritten(model, lambda hidden: mean.expand_as(hidden)):
            expected = model(**inputs).logits[0]
    swapped = engine.ask("analyze", Query(key, INPUTS[0][0], pooling="mean"))
    np.testing.assert_allclose(swapped.logits, expected, atol=1e-6)


@pytest.mark.parametrize("key", KEYS)
def test_alone_and_among_others_agree(engine: Engine, key: str) -> None:
    lacking = ("pooler", "declared", "attention")
    poolings = [spec.key for spec in engine.poolings() if spec.key not in lacking]
    together = engine.features(key, TEXTS, poolings)
    for row, text in enumerate(TEXTS):
        alone = engine.features(key, [text], poolings)
        for pooling in poolings:
            one, other = together[pooling][row], alone[pooling][0]  # of numbers up to 30
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-5, err_msg=pooling)
        native = engine.ask("analyze", Query(key, text))
        np.testing.assert_allclose(together["native"][row], native.pooled, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("key", [key for key in KEYS if key.startswith("bert")])
def test_pooler_is_the_output_of_the_own_pooler(engine: Engine, key: str) -> None:
    model, tokenizer = plain(key).model, plain(key).tokenizer
    with torch.no_grad():
        expected = model.base_model(**tokenizer(INPUTS[0][0], return_tensors="pt")).pooler_output[0]
    np.testing.assert_allclose(
        engine.ask("analyze", Query(key, INPUTS[0][0], pooling="pooler")).pooled, expected, atol=1e-6
    )


@pytest.mark.parametrize("key", [key for key in KEYS if key.startswith("bert")])
def test_the_own_head_behind_its_own_pooler_is_the_own_head(engine: Engine, key: str) -> None:
    """By hand: the pooler's output, then dropout that does nothing, then the classifier."""
    model, tokenizer = plain(key).model, plain(key).tokenizer
    with torch.no_grad():
        body = model.base_model(**tokenizer(INPUTS[0][0], return_tensors="pt"))
        expected = model.classifier(body.pooler_output)[0]
    asked = {
        pooling: engine.ask("analyze", Query(key, INPUTS[0][0], pooling=pooling))
        for pooling in ("native", "pooler")
    }
    np.testing.assert_array_equal(asked["pooler"].logits, asked["native"].logits)
    np.testing.assert_allclose(asked["pooler"].logits, expected, atol=1e-6)
    assert asked["pooler"].warnings == asked["native"].warnings
