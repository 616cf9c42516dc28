"""What a lens says equals what transformers says by hand, one hidden state after the other."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from components.analyses.measuring.anatomy import look
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.examine import examine
from components.model.loading import load
from components.types import Query
from tests.checkpoints import Made
from tests.families import cases
from tests.plain import KEYS, SPECS, load_plain, overwritten

TUNED = [key for key in KEYS if not key.endswith("-pretrained")]
TEXTS = {"sentiment": ("not good", ""), "paraphrase": ("good", "not bad")}  # by what they were tuned for


def norm_of(key: str) -> Callable[[Tensor], Tensor]:
    """GPT-2 has a norm behind its last layer; the others of the bundled families have none."""
    model = load_plain(SPECS[key].location).model
    return model.transformer.ln_f if key.startswith("gpt2") else lambda hidden: hidden


def layers_by_hand(key: str, text: str, text_pair: str) -> list[Tensor]:
    *below, final = load_plain(SPECS[key].location)(text, text_pair).hidden_states
    with torch.no_grad():
        return [*(norm_of(key)(layer)[0] for layer in below), final[0]]


def by_hand(key: str, text: str, text_pair: str, hidden: Callable[[Tensor], Tensor]) -> Tensor:
    """The logits (K,) if the last layer had handed out other hidden states."""
    plain = load_plain(SPECS[key].location)
    with overwritten(plain.model, hidden):
        return plain(text, text_pair).logits[0]


@pytest.mark.parametrize("key", ["roberta-paraphrase", "gpt2-sentiment"])
def test_every_token_of_every_layer_in_the_place_of_the_heads_vector(engine: Engine, key: str) -> None:
    asked = key, *TEXTS[key.split("-")[1]]
    looked, averaged = (engine.ask("lens", Query(*asked, pooling=pooling)) for pooling in ("native", "mean"))
    for index, layer in enumerate(layers_by_hand(*asked)):
        rows = [by_hand(*asked, lambda own, state=state: state.expand_as(own)) for state in layer]
        np.testing.assert_allclose(looked.lens.logits[index], torch.stack(rows), atol=1e-5)
        whole = by_hand(*asked, lambda _own, layer=layer: layer[None])
        np.testing.assert_allclose(looked.lens.pooled[index], whole, atol=1e-5)
        mean = by_hand(*asked, lambda own, layer=layer: layer.mean(dim=0).expand_as(own))
        np.testing.assert_allclose(averaged.lens.pooled[index], mean, atol=1e-5)
    np.testing.assert_array_equal(averaged.lens.logits, looked.lens.logits)
    np.testing.assert_array_equal(looked.lens.pooled[-1], looked.analysis.logits)
    np.testing.assert_allclose(
        looked.lens.probabilities, torch.tensor(looked.lens.logits).softmax(dim=-1), atol=1e-6
    )
    np.testing.assert_allclose(looked.lens.pooled_probabilities[-1], looked.analysis.probabilities, atol=1e-6)


@pytest.mark.parametrize("key", TUNED)
def test_each_final_state_in_the_place_that_is_read(engine: Engine, key: str) -> None:
    """The others stay where they are: the head reads none of them."""
    asked = key, *TEXTS[key.split("-")[1]]
    found = engine.ask("analyze", Query(*asked))
    (read,) = found.reads.indices
    place = torch.arange(len(found.tokens.text))[None, :, None] == read
    rows = [
        by_hand(*asked, lambda own, state=state: torch.where(place, state, own))
        for state in layers_by_hand(*asked)[-1]
    ]
    np.testing.assert_allclose(found.alone, torch.stack(rows).softmax(dim=-1), atol=1e-5)
    np.testing.assert_allclose(found.alone[read], found.probabilities, atol=1e-6)
    np.testing.assert_array_equal(engine.ask("anatomy", Query(*asked)).analysis.alone, found.alone)


@pytest.mark.parametrize(
    "query",
    [
        Query("bert-sentiment", "not good", pooling="mean"),
        Query("bert-sentiment", "not good", pool_layer=2),
        Query("bert-pretrained", "not good"),
        Query("bert-sentiment", "not good", pooling="concat_last4_cls", head="probe"),
    ],
)
def test_where_no_state_stands_alone_for_the_vector_or_all_is_random_nothing_is_said(
    engine: Engine, query: Query
) -> None:
    assert engine.ask("analyze", query).alone is None


@pytest.mark.parametrize(
    ("key", "pooling"),
    [("bert-sentiment", "native"), ("gpt2-sentiment", "attention"), ("bert-sentiment", "pooler")],
)
def test_a_probe_is_linear_on_every_hidden_state(engine: Engine, key: str, pooling: str) -> None:
    """On the pooler's output where it was trained on that: there a hidden state goes through the pooler."""
    looked = engine.ask("lens", Query(key, "not good", pooling=pooling, head="probe"))
    tensors = load_file(str(SPECS[key].probes))
    weight, bias = (tensors[f"sentiment/{pooling}/{part}"].astype(np.float32) for part in ("weight", "bias"))
    for layer, logits in zip(layers_by_hand(key, "not good", ""), looked.lens.logits, strict=True):
        vectors = layer
        if pooling == "pooler":
            with torch.no_grad():
                vectors = load_plain(SPECS[key].location).model.bert.pooler.dense(layer).tanh()
        np.testing.assert_allclose(logits, vectors.numpy() @ weight.T + bias, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(looked.lens.pooled[-1], looked.analysis.logits, atol=1e-6)


def test_a_probe_that_takes_more_than_a_hidden_state_says_so(engine: Engine) -> None:
    query = Query("bert-sentiment", "not good", pooling="concat_last4_cls", head="probe")
    with pytest.raises(PoolscopeError, match="no hidden state can stand in its place") as refused:
        engine.ask("lens", query)
    assert engine.ask("anatomy", query).lens == refused.value.sentence


@pytest.mark.parametrize("name", ["xmod", "roberta-prelayernorm", "megatron-bert"])
def test_a_norm_is_applied_where_it_belongs_to_no_layer(name: str, tiny_family: Made, tmp_path: Path) -> None:
    """With weights of their own, so that a norm of what one has made is something else."""
    folder, spec = tmp_path / name, tiny_family(name)
    shutil.copytree(spec.location, folder)
    tensors, noise = load_file(folder / "model.safetensors"), np.random.default_rng(0)
    norms = {key: one + noise.random(one.shape, one.dtype) for key, one in tensors.items() if one.ndim == 1}
    save_file(tensors | norms, folder / "model.safetensors", {"format": "pt"})
    backbone = load(replace(spec, location=str(folder)))
    plain = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    family = cases.Family(name, {}, backbone, cases.ByHand(plain, cases.FACTS["bodies"].get(name, "")))
    found = look(examine(backbone, Query(name, "not good")))
    by_hand = cases.layers_by_hand(family, "not good")
    for layer, logits, pooled in zip(by_hand, found.logits, found.pooled, strict=True):
        expected = cases.logits_by_hand(family, "not good", layer)
        np.testing.assert_allclose(logits, expected[0], atol=1e-5)
        np.testing.assert_allclose(pooled, expected[1], atol=1e-5)
