"""What is called importance is what transformers, captum and scipy give of it, used by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from captum.attr import LayerGradientXActivation, LayerIntegratedGradients
from scipy.stats import spearmanr
from transformers import AutoModelForSequenceClassification

from components.analyses.importance import STEPS, Importance, spearman
from components.analyses.measuring import importance as measuring
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.types import Progress, Query
from tests.plain import SPECS, load_plain

TUNED = {"bert-sentiment": ("the acting is not good", "")} | dict.fromkeys(
    ("distilbert-paraphrase", "xlnet-paraphrase", "gpt2-paraphrase"), ("the film is good", "it is not good")
)


def inputs_of(key: str) -> dict[str, torch.Tensor]:
    text, pair = TUNED[key]
    return dict(load_plain(SPECS[key].location).tokenizer(text, pair or None, return_tensors="pt"))


@pytest.fixture(scope="module")
def found(engine: Engine) -> dict[str, Importance]:
    return {key: engine.ask("importance", Query(key, *TUNED[key]), label="") for key in TUNED}


@pytest.mark.parametrize("key", TUNED)
def test_attention_is_that_of_transformers(found: dict[str, Importance], key: str) -> None:
    given, options = found[key], {"dtype": torch.float32, "attn_implementation": "eager"}
    model = AutoModelForSequenceClassification.from_pretrained(SPECS[key].location, **options).eval()
    with torch.no_grad():
        output = model(**inputs_of(key), output_attentions=True)
    cls = given.analysis.tokens.cls
    layers = np.stack([layer[0].numpy() for layer in output.attentions])  # (L, H, T, T)
    np.testing.assert_allclose(given.attention, layers[:, :, cls], atol=1e-5)
    flow = np.eye(layers.shape[-1])
    for layer in layers.mean(axis=1):
        flow = (0.5 * layer + 0.5 * np.eye(len(layer))) @ flow
    np.testing.assert_allclose(given.rollout, flow[cls], atol=1e-5)
    np.testing.assert_allclose(given.rollout.sum(), 1, atol=1e-5)
    assert not any(warning.key == "warnings.eager" for warning in given.warnings)


@pytest.mark.parametrize("key", TUNED)
def test_gradients_are_those_of_captum(found: dict[str, Importance], key: str) -> None:
    given, plain, inputs = found[key], load_plain(SPECS[key].location), inputs_of(key)
    ids, names = inputs["input_ids"], [name for name in inputs if name != "input_ids"]
    others = tuple(inputs[name] for name in names)

    def logits(ids: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        return plain.model(input_ids=ids, **dict(zip(names, others, strict=True))).logits

    layer = plain.model.get_input_embeddings()
    asked = {"target": given.label, "additional_forward_args": others}
    slopes = LayerGradientXActivation(logits, layer).attribute(ids, **asked)
    expected = slopes.sum(dim=-1).flatten().detach()
    np.testing.assert_allclose(given.gradient_x_input, expected, atol=1e-5)
    erased = torch.where(torch.from_numpy(given.analysis.tokens.special), ids, eraser_of(key))
    with torch.no_grad():
        change = float((logits(ids, *others) - logits(erased, *others))[0, given.label])
    assert given.integrated.values.sum() - change == pytest.approx(given.integrated.delta, abs=1e-5)
    if not key.startswith("xlnet"):  # which computes on (T, B, D)
        whole, delta = LayerIntegratedGradients(logits, layer).attribute(
            ids, baselines=erased, n_steps=50, return_convergence_delta=True, **asked
        )
        assert given.integrated.delta == pytest.approx(float(delta), abs=1e-5)
        np.testing.assert_allclose(given.integrated.values, whole[0].sum(dim=-1).detach(), atol=1e-5)


def test_steps_one_by_one_come_to_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part begins one pass; those that are run together here are fewer, too."""
    query = Query("bert-sentiment", "the acting is good but the plot is bad")
    whole = engine.ask("importance", query, label="positive", integrated=True)
    monkeypatch.setattr("components.inference.engine.PART", 0)
    monkeypatch.setattr(measuring, "THERE_AND_BACK", 3 * len(whole.analysis.tokens.text))
    quick, *steps, last = engine.ask_in_parts("importance", query, label="positive")
    assert quick.integrated is None
    assert steps == [Progress(done, STEPS) for done in range(0, STEPS, 3)]
    np.testing.assert_allclose(last.integrated.values, whole.integrated.values, atol=1e-5)
    assert last.integrated.delta == pytest.approx(whole.integrated.delta, abs=1e-5)
    assert last.agreement == pytest.approx(whole.agreement)
    np.testing.assert_array_equal(quick.erasure, last.erasure)


def eraser_of(key: str) -> int:
    tokenizer = load_plain(SPECS[key].location).tokenizer
    return tokenizer.unk_token_id if tokenizer.mask_token_id is None else tokenizer.mask_token_id


def test_agreement_is_that_of_scipy(found: dict[str, Importance]) -> None:
    given = found["bert-sentiment"]
    own = ~given.analysis.tokens.special
    every = {
        "similarity": given.analysis.similarity[-1],
        "attention": given.attention[-1].mean(axis=0),
        "rollout": given.rollout,
        "gradient_x_input": given.gradient_x_input,
        "integrated_gradients": given.integrated.values,
    }
    rho = {name: spearmanr(values[own], given.erasure[own]).statistic for name, values in every.items()}
    assert given.agreement == pytest.approx(rho, abs=1e-9)


def test_equal_values_share_their_rank_and_what_does_not_vary_has_no_rho() -> None:
    one, other = np.float32([3, 1, 1, 2, 2, 2]), np.float32([0, 1, 5, 5, 2, 0])
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert spearman(one, np.zeros(6, dtype=np.float32)) is None
    assert spearman(np.float32([1]), np.float32([2])) is None


def test_a_label_is_explained_that_is_asked_for(engine: Engine) -> None:
    query = Query("bert-sentiment", "the acting is not good")
    labels = ("negative", "positive")
    both = [engine.ask("importance", query, label=label, integrated=False) for label in labels]
    assert [given.label for given in both] == [0, 1]
    np.testing.assert_allclose(both[0].erasure, -both[1].erasure, atol=1e-6)  # probabilities sum to 1
    assert both[0].integrated is None
    with pytest.raises(PoolscopeError, match="label: 'neutral' was given"):
        engine.ask("importance", query, label="neutral", integrated=False)


@pytest.mark.parametrize(("pooling", "head"), [("mean", "probe"), ("max", "own")])
def test_behind_a_pooling_an_erased_token_is_what_the_query_says_of_that_text(
    engine: Engine, pooling: str, head: str
) -> None:
    """A text in which the word is the mask itself, asked as any other."""
    query = Query("bert-sentiment", "the acting is not good", pooling=pooling, head=head)
    given = engine.ask("importance", query, label="")
    place = given.analysis.tokens.text.index("not")
    other = engine.ask("analyze", replace(query, text="the acting is [MASK] good"))
    before, after = (answer.probabilities[given.label] for answer in (given.analysis, other))
    assert given.erasure[place] == pytest.approx(float(before - after), abs=1e-6)
    assert abs(given.integrated.delta) < 0.05 * max(1, float(np.abs(given.integrated.values).sum()))
