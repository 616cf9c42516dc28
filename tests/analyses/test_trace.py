"""What carries a change equals what transformers says by hand, with hooks on the families' own layers."""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.types import Progress, Query
from tests.analyses.test_lens import by_hand as replayed, norm_of
from tests.families.cases import run_changed, setting
from tests.plain import SPECS, load_plain

TEXTS, OTHERS = ("the film is good", "it is good"), ("the film is bad", "it is good")
REFUSED = tomllib.loads(Path(__file__).with_name("traces.toml").read_text("utf-8"))["refused"]
GOOD, BAD = "the acting is good", "the acting is bad"


def by_hand(key: str, texts: tuple[str, str], layer: int, change: Callable[[Tensor], Tensor]) -> Any:
    """All that transformers gives when what the layer above takes, (1, T, D), is changed."""
    plain = load_plain(SPECS[key].location)
    blocks = next(one for one in plain.model.modules() if isinstance(one, nn.ModuleList))
    inputs = plain.tokenizer(texts[0], texts[1] or None, return_tensors="pt")
    if not key.startswith("xlnet"):
        return run_changed(plain.model, blocks[layer], inputs, change)
    return run_changed(  # which has them as (T, B, D)
        plain.model, blocks[layer], inputs, lambda own: change(own.transpose(0, 1)).transpose(0, 1)
    )


def bad(engine: Engine, query: Query) -> Patched:
    return engine.ask("trace", query, other=BAD)


@pytest.mark.parametrize(
    ("key", "texts", "others"),
    [
        ("bert-paraphrase", TEXTS, OTHERS),
        ("xlnet-sentiment", (GOOD, ""), (BAD, "")),
        ("gpt2-sentiment", (GOOD, ""), (BAD, "")),
    ],
)
def test_one_hidden_state_at_a_time(
    engine: Engine, key: str, texts: tuple[str, str], others: tuple[str, str]
) -> None:
    patched = engine.ask("trace", Query(key, *texts), other=others[0], other_pair=others[1])
    first, second = (load_plain(SPECS[key].location)(*each) for each in (texts, others))
    before, after = (each.logits[0].numpy() for each in (first, second))
    *below, final = second.hidden_states
    assert patched.logits.shape == (len(below) + 1, len(patched.pairs), len(before))
    for place, (mine, theirs) in enumerate(patched.pairs):
        changes = [setting(mine, states[0, theirs]) for states in below]
        said = [by_hand(key, texts, layer, change).logits[0] for layer, change in enumerate(changes)]
        said.append(replayed(key, *texts, setting(mine, final[0, theirs])))
        np.testing.assert_allclose(patched.logits[:, place], torch.stack(said), atol=1e-5)
        way = after - before
        shares = (torch.stack(said).numpy() - before) @ way / (way @ way)
        np.testing.assert_allclose(patched.shares[:, place], shares, atol=1e-4)
        same = torch.equal(first.hidden_states[0][0, mine], below[0][0, theirs])
        assert (patched.shares[0, place] == 0) == same  # what is put there is what was, and nothing is run
    np.testing.assert_allclose(patched.whole, [after] * len(patched.whole), atol=1e-5)
    np.testing.assert_allclose(patched.first.logits, before, atol=1e-5)
    np.testing.assert_allclose(patched.second.logits, after, atol=1e-5)


@pytest.mark.parametrize(
    ("key", "pooling", "pooled"),
    [("bert-sentiment", "native", 2), ("gpt2-sentiment", "mean", 2), ("bert-sentiment", "mean", 0)],
)
def test_behind_a_lower_layer_what_is_pooled_there_is_read(
    engine: Engine, key: str, pooling: str, pooled: int
) -> None:
    texts = (GOOD, "")
    query = Query(key, GOOD, pooling=pooling, pool_layer=pooled)
    patched = bad(engine, query)

    def said(states: Tensor) -> np.ndarray:
        """What the head says where the layer that is pooled is these (T, D)."""
        taken = norm_of(key)(states).detach()
        given = taken if pooling == "native" else taken.mean(dim=0).expand_as(taken)
        return replayed(key, *texts, lambda _own: given[None]).numpy()

    own, others = (load_plain(SPECS[key].location)(text).hidden_states for text in (GOOD, BAD))
    for layer, states in enumerate(others[: pooled + 1]):
        for place, (mine, theirs) in enumerate(patched.pairs):
            change = setting(mine, states[0, theirs])
            if layer < pooled:
                carried = by_hand(key, texts, layer, change).hidden_states[pooled][0]
            else:
                carried = change(own[pooled])[0]
            np.testing.assert_allclose(patched.logits[layer, place], said(carried), atol=1e-5)
    after = engine.ask("analyze", replace(query, text=BAD)).logits
    np.testing.assert_allclose(patched.whole[: pooled + 1], [after] * (pooled + 1), atol=1e-5)
    np.testing.assert_array_equal(patched.shares[pooled + 1 :], 0)
    assert np.abs(patched.shares[pooled]).max() > 0.1


def test_layers_one_by_one_come_to_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Query("bert-sentiment", GOOD)
    whole = bad(engine, asked)
    monkeypatch.setattr("components.inference.engine.PART", 0)
    *steps, last = engine.ask_in_parts("trace", asked, other=BAD)
    assert steps == [Progress(done, 5) for done in range(1, 5)]
    for name in ("pairs", "logits", "whole", "shares"):
        np.testing.assert_allclose(getattr(last, name), getattr(whole, name), atol=1e-6)
    ran, run = [], engine._runner.run
    monkeypatch.setattr(engine._runner, "run", lambda job: ran.append(job) or run(job))
    parts = engine.ask_in_parts("trace", asked, other=BAD)
    next(parts)
    parts.close()  # what is cancelled is not run
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("pooling", "head"), [("mean", "own"), ("mean", "probe"), ("pooler", "probe"), ("attention", "probe")]
)
def test_other_poolings_and_heads(engine: Engine, pooling: str, head: str) -> None:
    """All states of a layer at once give the other answer, whatever stands on them."""
    query = Query("bert-sentiment", GOOD, pooling=pooling, head=head)
    expected = engine.ask("analyze", replace(query, text=BAD)).logits
    found = bad(engine, query).whole
    np.testing.assert_allclose(found, [expected] * len(found), atol=1e-5)


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


@pytest.mark.parametrize(("other", "other_pair", "said"), REFUSED)
def test_what_cannot_be_traced_says_why(engine: Engine, other: Any, other_pair: str, said: str) -> None:
    with pytest.raises(PoolscopeError) as refused:
        engine.ask("trace", Query("bert-sentiment", GOOD), other=other, other_pair=other_pair)
    assert said in str(refused.value)
