"""What is called importance is what transformers, captum and scipy give of it, used by hand."""

import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients
from scipy.stats import spearmanr
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from components.analyses.importance import STEPS, Importance, spearman
from components.analyses.measuring import importance as measuring
from components.analyses.measuring.importance import attention, integrate, weigh
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import Progress, Query
from tests.checkpoints import Loaded, Made
from tests.plain import SPECS, Plain, load_plain
from tests.tiny import WORDS, change, checkpoint

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
    np.testing.assert_allclose(given.to_json()["attention"], layers[:, :, cls].mean(axis=1), atol=1e-5)
    flow = np.eye(layers.shape[-1])
    for layer in layers.mean(axis=1):
        flow = (0.5 * layer + 0.5 * np.eye(len(layer))) @ flow
    np.testing.assert_allclose(given.rollout, flow[cls], atol=1e-5)
    np.testing.assert_allclose(given.rollout.sum(), 1, atol=1e-5)
    assert not any(warning.key == "warnings.eager" for warning in given.warnings)


def assert_integrated(
    given: Importance, plain: Plain, logits: Callable[..., torch.Tensor], *ids: torch.Tensor, **asked: Any
) -> None:
    """Integrated gradients are captum's, of ids (1, T) and those of the erased text."""
    layer = LayerIntegratedGradients(logits, plain.model.get_input_embeddings())
    whole, delta = layer.attribute(*ids, n_steps=50, return_convergence_delta=True, **asked)
    assert given.integrated.delta == pytest.approx(float(delta), abs=1e-5)
    np.testing.assert_allclose(given.integrated.values, whole[0].sum(dim=-1).detach(), atol=1e-5)


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
        assert_integrated(given, plain, logits, ids, erased, **asked)


def test_steps_one_by_one_come_to_the_same(
    engine: Engine, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert integrate(examine(loaded(query.backbone), query), "positive").stop == STEPS  # with time for all


def eraser_of(key: str) -> int:
    tokenizer = load_plain(SPECS[key].location).tokenizer
    return tokenizer.unk_token_id if tokenizer.mask_token_id is None else tokenizer.mask_token_id


@pytest.mark.parametrize("key", ["bert-sentiment", "gpt2-paraphrase"])
def test_agreement_is_that_of_scipy(found: dict[str, Importance], key: str) -> None:
    """Similarity's without the token in the place of [CLS], which is one of the text's own in GPT-2."""
    given = found[key]
    own = ~given.analysis.tokens.special
    others = own & (np.arange(len(own)) != given.analysis.tokens.cls)
    every = {
        "similarity": given.analysis.similarity[-1],
        "attention": given.attention[-1].mean(axis=0),
        "rollout": given.rollout,
        "gradient_x_input": given.gradient_x_input,
        "integrated_gradients": given.integrated.values,
    }
    rho = {name: spearmanr(values[own], given.erasure[own]).statistic for name, values in every.items()}
    rho["similarity"] = spearmanr(every["similarity"][others], given.erasure[others]).statistic
    assert given.agreement == pytest.approx(rho, abs=1e-9)


def test_equal_values_share_their_rank_and_what_does_not_vary_has_no_rho() -> None:
    one, other = np.float32([3, 1, 1, 2, 2, 2]), np.float32([0, 1, 5, 5, 2, 0])
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert spearman(one, np.zeros(6, dtype=np.float32)) is None
    assert spearman(np.float32([1]), np.float32([2])) is None


@pytest.mark.parametrize(("pad", "eraser"), [("<|pad|>", "<|endoftext|>"), ("<|endoftext|>", "Ġ")])
def test_erasure_is_captums_whatever_the_model_pads_with(tmp_path: Path, pad: str, eraser: str) -> None:
    """This model reads the last token that is no padding: to erase with what it pads shortens the text."""
    folder, spec = tmp_path / "gpt2", replace(SPECS["gpt2-sentiment"], location=str(tmp_path / "gpt2"))
    shutil.copytree(SPECS["gpt2-sentiment"].location, folder)
    change(folder / "tokenizer_config.json", pad_token=pad)
    number = AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(pad)
    change(folder / "config.json", pad_token_id=number)
    backbone, plain = load(spec), load_plain(spec.location)
    with repeatable(backbone.model):
        examined = examine(backbone, Query(spec.key, "the acting is not good"))
    given = weigh(examined, "").with_integral([integrate(examined, "")])
    assert given.eraser == eraser
    ids = plain.tokenizer("the acting is not good", return_tensors="pt")["input_ids"]
    erased = torch.full_like(ids, plain.tokenizer.convert_tokens_to_ids(eraser))
    asked = {"target": given.label}
    ablated = FeatureAblation(lambda ids: plain.model(ids).logits.softmax(dim=-1))
    expected = ablated.attribute(ids, baselines=erased, **asked)
    np.testing.assert_allclose(given.erasure, expected[0], atol=1e-6)
    assert_integrated(given, plain, lambda ids: plain.model(ids).logits, ids, erased, **asked)


def test_without_a_stand_in_nothing_is_erased(loaded: Loaded) -> None:
    backbone = loaded("bert-sentiment")
    tokenizer = deepcopy(backbone.tokenizer)
    tokenizer.mask_token, tokenizer.unk_token = None, tokenizer.pad_token
    with pytest.raises(PoolscopeError, match="is not its padding"):
        weigh(examine(replace(backbone, tokenizer=tokenizer), Query("bert-sentiment", "good")), "")


@pytest.mark.parametrize("settings", [{}, {"alibi": True}, {"multi_query": False}], ids=str)
def test_attention_of_another_computation_is_not_shown(tiny_family: Made, settings: dict[str, bool]) -> None:
    """Asked to hand it out, transformers itself has other hidden states than those of the answer."""
    spec = tiny_family("falcon", **settings)
    model = AutoModelForSequenceClassification.from_pretrained(spec.location, dtype=torch.float32).eval()
    ids = torch.tensor([[4, 5, 6, 7]])
    with torch.no_grad():
        first = model(ids, output_hidden_states=True).hidden_states[-1]
        model.set_attn_implementation("eager")
        again = model(ids, output_hidden_states=True, output_attentions=True).hidden_states[-1]
    assert not torch.allclose(first, again, atol=1e-2)
    seen, rolled, warnings = attention(examine(load(spec), Query("falcon", "not good")))
    assert (seen, rolled) == (None, None)
    assert [warning.key for warning in warnings] == ["warnings.eager"]


def test_a_typed_end_is_erased_and_of_labels_with_one_name_the_likeliest_is_meant(tmp_path: Path) -> None:
    """This model takes inputs together that have as many ends, so the text without one of its two alone."""
    spec = checkpoint(tmp_path / "odd", "bart", "bart", id2label={0: "y", 1: "x", 2: "x"})
    text, backbone, plain = "good [SEP] film", load(spec), load_plain(spec.location)
    ids = plain.tokenizer(text, return_tensors="pt")["input_ids"]
    with repeatable(backbone.model):
        given = weigh(examine(backbone, Query("odd", text)), "x")
    erased = [ids.index_fill(1, torch.tensor([place]), WORDS.index("[UNK]")) for place in (1, 2, 3)]
    before, *after = (plain.model(one).logits.softmax(dim=-1)[0].detach() for one in (ids, *erased))
    assert given.label == 2
    assert before[2] > before[1]
    expected = [float(before[2] - one[2]) for one in after]
    np.testing.assert_allclose(given.erasure[1:4], expected, atol=1e-6)


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
