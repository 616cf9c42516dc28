"""Every number equals what transformers and sentence-transformers give, on every layer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sentence_transformers.sentence_transformer.modules import Pooling

from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.backbone import batch_states
from components.model.pooling import POOLINGS
from components.types import Query
from tests.analyses.test_lens import TEXTS as ASKED, TUNED, by_hand, layers_by_hand
from tests.checkpoints import Loaded
from tests.plain import FIRST, INPUTS, KEYS, SPECS, Plain, cosine, load_plain

SHARED = ("max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
SENTIMENT = [key for key in KEYS if key.endswith("-sentiment")]
TEXTS = ("good", "The plot is thin, but the actors are a delight.", "not good, not good at all")
CLS_IN_THEIR_WORDS = {"xlnet": "lasttoken", "gpt2": "lasttoken"} | dict.fromkeys(FIRST, "cls")


def plain(key: str) -> Plain:
    return load_plain(SPECS[key].location)


@pytest.mark.parametrize("key", KEYS)
def test_logits_and_similarities_are_those_of_transformers(engine: Engine, key: str) -> None:
    for text, text_pair in INPUTS if key in SENTIMENT else INPUTS[::3]:
        analysis = engine.ask("analyze", Query(key, text, text_pair))
        output = plain(key)(text, text_pair)
        np.testing.assert_allclose(analysis.logits, output.logits[0], atol=1e-6)
        np.testing.assert_allclose(analysis.probabilities, output.logits[0].softmax(0), atol=1e-6)
        hidden = torch.cat(output.hidden_states).numpy()  # (L + 1, T, D)
        assert analysis.similarity.shape == hidden.shape[:2]
        for layer, states in enumerate(hidden):
            expected = [cosine(state, states[analysis.tokens.cls]) for state in states]
            np.testing.assert_allclose(analysis.similarity[layer], expected, atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("key", SENTIMENT)
def test_poolings_are_those_of_sentence_transformers(
    key: str, side: str, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
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


@pytest.mark.parametrize("head", ["own", "probe"])
def test_each_dimension_is_won_by_the_token_with_its_largest_value(engine: Engine, head: str) -> None:
    key, text = "roberta-sentiment", "The plot is not bad, but the acting is not good at all."
    columns = plain(key)(text).hidden_states[-1][0].T.tolist()
    winners = [column.index(max(column)) for column in columns]
    reads = engine.ask("analyze", Query(key, text, pooling="max", head=head)).reads
    assert reads.wins.tolist() == [winners.count(token) for token in range(len(reads.positions))]
    silent = (reads.share == 0) & reads.positions
    assert not reads.wins[silent].any()  # who wins nothing has no slope, and may win when changed
    assert engine.ask("analyze", Query(key, text, pooling="mean", head=head)).reads.wins is None


@pytest.mark.parametrize("key", TUNED)
def test_the_own_head_on_a_lower_layer_is_what_a_hook_gives(engine: Engine, key: str) -> None:
    asked = key, *ASKED[key.split("-")[1]]
    for index, layer in enumerate(layers_by_hand(*asked)):
        expected = by_hand(*asked, lambda _own, layer=layer: layer[None])
        found = engine.ask("analyze", Query(*asked, pool_layer=index))
        np.testing.assert_allclose(found.logits, expected, atol=1e-5)
        expected = by_hand(*asked, lambda own, layer=layer: layer.max(dim=0).values.expand_as(own))
        found = engine.ask("analyze", Query(*asked, pooling="max", pool_layer=index))
        np.testing.assert_allclose(found.logits, expected, atol=1e-5)
        np.testing.assert_allclose(found.pooled, layer.max(dim=0).values, atol=1e-5)
        assert found.reads.positions.all()


def test_the_last_layer_by_its_number_is_the_same_answer(engine: Engine) -> None:
    for given in (-1, 4):
        found = engine.ask("analyze", Query("bert-sentiment", "not good", pooling="mean", pool_layer=given))
        assert (found.pool_layer, found.lower, found.query.pool_layer) == (4, False, -1)
        assert [warning.key for warning in found.warnings] == ["warnings.swap"]
        last = engine.ask("analyze", Query("bert-sentiment", "not good", pooling="mean"))
        np.testing.assert_array_equal(found.logits, last.logits)
        lower = engine.ask("analyze", replace(found.query, pool_layer=1))
        np.testing.assert_array_equal(found.similarity, lower.similarity)  # whatever is pooled


@pytest.mark.parametrize(
    ("key", "own", "says"),
    [("bert-sentiment", "[CLS]", []), ("gpt2-sentiment", "the last token", ["transformer.ln_f"])],
)
def test_an_own_head_behind_a_lower_layer_is_a_swap_and_says_so(
    engine: Engine, key: str, own: str, says: list[str]
) -> None:
    found = engine.ask("analyze", Query(key, "not good", pool_layer=-2))
    assert (found.swapped, found.lower, found.pool_layer) == (True, True, found.layers - 1)
    assert found.query.pool_layer == found.layers - 1  # so that a link to it holds the very layer
    said, *norms = map(str, found.warnings)
    assert f"{own} of the last layer, {found.layers}" in said
    assert f"of layer {found.layers - 1}." in said
    assert [norm in said for norm, said in zip(says, norms, strict=True)] == [True] * len(says)


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
    found = engine.ask("importance", replace(query, pool_layer=4), label="", integrated=False)
    assert found.analysis.layers == 4
    with pytest.raises(PoolscopeError, match="behind the last layer alone"):
        engine.ask("importance", replace(query, pool_layer=1), label="", integrated=False)
