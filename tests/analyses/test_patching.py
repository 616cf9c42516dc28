"""What carries a change equals what transformers says by hand, with hooks on the families' own layers."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.types import Progress, Query
from tests.analyses.test_lens import by_hand as replayed
from tests.analyses.test_lens import norm_of
from tests.plain import KEYS, SPECS, load_plain

SAMPLE = [*(key for key in KEYS if key.endswith("-paraphrase")), "xlnet-sentiment"]
TEXTS = {
    "sentiment": ("the acting is good", "", "the acting is bad", ""),
    "paraphrase": ("the film is good", "it is good", "the film is bad", "it is good"),
}  # by what they were tuned for
LAYERS = {  # where the layers stand, as the families' own code has it
    "bert": "bert.encoder.layer",
    "distilbert": "distilbert.transformer.layer",
    "roberta": "roberta.encoder.layer",
    "xlnet": "transformer.layer",
    "gpt2": "transformer.h",
}


def by_hand(key: str, texts: tuple[str, str], layer: int, change: Any) -> Any:
    """All that transformers gives when what the layer above takes, (1, T, D), is changed.

    Above the last layer is the head.
    """
    plain = load_plain(SPECS[key].location)
    kind = plain.model.config.model_type
    blocks = plain.model.get_submodule(LAYERS[kind])

    def turned(states: torch.Tensor) -> torch.Tensor:
        return states.transpose(0, 1) if kind == "xlnet" else states

    def before(_module: Any, args: Any, named: Any) -> Any:
        if args:
            return (turned(change(turned(args[0]))), *args[1:]), named
        return args, {**named, "hidden_states": change(named["hidden_states"])}

    def after(_module: Any, _args: Any, output: Any) -> Any:
        if isinstance(output, torch.Tensor):
            return turned(change(turned(output)))
        return turned(change(turned(output[0]))), *output[1:]

    hook = (
        blocks[layer].register_forward_pre_hook(before, with_kwargs=True)
        if layer < len(blocks)
        else blocks[-1].register_forward_hook(after)
    )
    try:
        return plain(*texts)
    finally:
        hook.remove()


def layers_by_hand(key: str, texts: tuple[str, str]) -> list[torch.Tensor]:
    """What each layer hands to the next (T, D), the last to the head or to the norm before it."""
    taken: list[torch.Tensor] = []

    def kept(own: torch.Tensor) -> torch.Tensor:
        taken.append(own[0].clone())
        return own

    for layer in range(load_plain(SPECS[key].location).model.config.num_hidden_layers + 1):
        by_hand(key, texts, layer, kept)
    return taken


def setting(place: int, state: torch.Tensor) -> Any:
    """What sets one hidden state of (1, T, D)."""

    def change(own: torch.Tensor) -> torch.Tensor:
        new = own.clone()
        new[0, place] = state
        return new

    return change


def bad(engine: Engine, query: Query) -> Patched:
    return engine.ask("trace", query, other="the acting is bad")


@pytest.mark.parametrize("key", SAMPLE)
def test_one_hidden_state_at_a_time(engine: Engine, key: str) -> None:
    text, pair, other, other_pair = TEXTS[key.split("-")[1]]
    patched = engine.ask("trace", Query(key, text, pair), other=other, other_pair=other_pair)
    plain = load_plain(SPECS[key].location)
    before, after = (plain(*each).logits[0].numpy() for each in ((text, pair), (other, other_pair)))
    layers = layers_by_hand(key, (other, other_pair))
    assert patched.logits.shape == (len(layers), len(patched.pairs), len(before))
    for layer, states in enumerate(layers):
        for place, (mine, theirs) in enumerate(patched.pairs):
            expected = by_hand(key, (text, pair), layer, setting(mine, states[theirs])).logits[0].numpy()
            np.testing.assert_allclose(patched.logits[layer, place], expected, atol=1e-5)
            share = float((expected - before) @ (after - before) / ((after - before) @ (after - before)))
            assert patched.shares[layer, place] == pytest.approx(share, abs=1e-4)
        np.testing.assert_allclose(patched.whole[layer], after, atol=1e-5)
    np.testing.assert_allclose(patched.first.logits, before, atol=1e-5)
    np.testing.assert_allclose(patched.second.logits, after, atol=1e-5)


@pytest.mark.parametrize("pooling", ["native", "mean"])
@pytest.mark.parametrize("key", ["bert-sentiment", "gpt2-sentiment"])
def test_behind_a_lower_layer_what_is_pooled_there_is_read(engine: Engine, key: str, pooling: str) -> None:
    texts, other, pooled = ("the acting is good", ""), "the acting is bad", 2
    query = Query(key, texts[0], pooling=pooling, pool_layer=pooled)
    patched = bad(engine, query)

    def said(states: torch.Tensor) -> np.ndarray:
        """What the head says where the layer that is pooled is these (T, D)."""
        taken = norm_of(key)(states).detach()
        given = taken if pooling == "native" else taken.mean(dim=0).expand_as(taken)
        return replayed(key, *texts, lambda _own: given[None]).numpy()

    own = load_plain(SPECS[key].location)(*texts).hidden_states[pooled][0]
    for layer, states in enumerate(layers_by_hand(key, (other, ""))[: pooled + 1]):
        for place, (mine, theirs) in enumerate(patched.pairs):
            change = setting(mine, states[theirs])
            if layer < pooled:
                carried = by_hand(key, texts, layer, change).hidden_states[pooled][0]
            else:
                carried = change(own[None])[0]
            np.testing.assert_allclose(patched.logits[layer, place], said(carried), atol=1e-5)
    after = engine.ask("analyze", replace(query, text=other)).logits
    np.testing.assert_allclose(patched.whole[: pooled + 1], [after] * (pooled + 1), atol=1e-5)
    np.testing.assert_array_equal(patched.shares[pooled + 1 :], 0)
    assert np.abs(patched.shares[pooled]).max() > 0.1


def test_layers_one_by_one_come_to_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Query("bert-sentiment", "the acting is good")
    whole = bad(engine, asked)
    monkeypatch.setattr("components.inference.engine.PART", 0)
    *steps, last = engine.ask_in_parts("trace", asked, other="the acting is bad")
    assert steps == [Progress(done, whole.layers) for done in range(1, whole.layers)]
    for name in ("pairs", "logits", "whole", "shares"):
        np.testing.assert_allclose(getattr(last, name), getattr(whole, name), atol=1e-6)
    ran, run = [], engine._runner.run
    monkeypatch.setattr(engine._runner, "run", lambda job: ran.append(job) or run(job))
    parts = engine.ask_in_parts("trace", asked, other="the acting is bad")
    next(parts)
    parts.close()  # what is cancelled is not run
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("pooling", "head"),
    [*product(("mean", "pooler"), ("own", "probe")), ("attention", "probe")],
)
def test_other_poolings_and_heads(engine: Engine, pooling: str, head: str) -> None:
    """All states of a layer at once give the other answer, whatever stands on them."""
    query = Query("bert-sentiment", "the acting is good", pooling=pooling, head=head)
    patched = bad(engine, query)
    expected = engine.ask("analyze", replace(query, text="the acting is bad")).logits
    np.testing.assert_allclose(patched.whole, [expected] * len(patched.whole), atol=1e-5)


def test_versions_of_different_length_are_paired_where_they_align(engine: Engine) -> None:
    query = Query("bert-sentiment", "the plot is not bad at all")
    patched = engine.ask("trace", query, other="the plot is bad at all")
    ours, theirs = patched.first.tokens.text, patched.second.tokens.text
    assert [ours[mine] for mine, _ in patched.pairs] == [theirs[other] for _, other in patched.pairs]
    assert len(patched.pairs) == len(theirs) == len(ours) - 1
    assert patched.whole is None
    (said,) = patched.warnings
    assert said.key == "warnings.unpaired"
    assert dict(said.values)["tokens"] == ("not",)


@pytest.mark.parametrize(
    ("other", "other_pair", "said"),
    [
        ("", "", "other: '' was given; type at least one word"),
        ("the acting is good", "", "both versions are answered alike"),
        ("the acting is bad", "a pair", "other_pair: 'a pair' was given; either both"),
        (5, "", "other: 5 was given; a text is expected"),
    ],
)
def test_what_cannot_be_traced_says_why(engine: Engine, other: Any, other_pair: str, said: str) -> None:
    with pytest.raises(PoolscopeError) as refused:
        engine.ask("trace", Query("bert-sentiment", "the acting is good"), other=other, other_pair=other_pair)
    assert said in str(refused.value)
