"""Late interaction is what transformers' states give by hand, and what ColBERT's own library scores."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from torch.nn.functional import normalize

from components.analyses.maxsim import MaxSim
from components.analyses.measuring.maxsim import match
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.model.loading import load
from components.types import Query
from tests.model.test_ordinary import SENTENCES
from tests.plain import SPECS, load_plain
from tests.ui.fake_answers import fake_maxsim

TEXT, PAIR = "the acting is good", "the acting is bad, it is"
made_up = fake_maxsim


@pytest.mark.parametrize("key", ["bert-pretrained", "gpt2-pretrained"])
def test_it_is_what_transformers_states_give_by_hand(engine: Engine, key: str) -> None:
    """Matches of tokens, as public threads ask them of ColBERT."""
    plain = load_plain(SPECS[key].location)

    def vectors(text: str) -> Any:
        return normalize(plain(text).hidden_states[-1][0], dim=-1)

    cosines = vectors(TEXT) @ vectors(PAIR).T
    others = [vectors(one) for one in SENTENCES]
    ordinary = np.array([(vectors(TEXT) @ one.T).amax(dim=1).numpy() for one in others]).max(axis=0)
    found = engine.ask("maxsim", Query(key, TEXT, PAIR))
    np.testing.assert_allclose(found.similarity, cosines, atol=1e-5)
    np.testing.assert_allclose(found.ordinary, ordinary, atol=1e-4)
    assert found.best.tolist() == cosines.argmax(dim=1).tolist()
    assert found.to_json()["score"] == pytest.approx(float(cosines.amax(dim=1).sum()), abs=1e-4)
    assert found.others == sum(map(len, others))
    assert found.rate == pytest.approx(len(cosines[0]) / (len(cosines[0]) + found.others))
    assert [one.key for one in found.warnings] == ["maxsim.plain"]
    itself = engine.ask("maxsim", Query(key, SENTENCES[3], TEXT)).others
    assert itself == found.others - len(others[3])  # it is no other sentence


def test_it_takes_two_texts_and_a_state_for_each_token(engine: Engine) -> None:
    with pytest.raises(PoolscopeError, match="text_pair: '' was given; two texts are matched"):
        engine.ask("maxsim", Query("bert-sentiment", TEXT))
    states = replace(load(SPECS["bert-sentiment"]), per_token=False)
    with pytest.raises(PoolscopeError, match="no hidden state for each token"):
        match(states, Query("bert-sentiment", TEXT, PAIR))


@pytest.mark.parametrize(("matched", "total"), [(0, 3), (1, 3), (2, 3), (0, 12), (2, 12), (9, 12)])
def test_chance_is_binomial(matched: int, total: int) -> None:
    tokens: Any = type("Tokens", (), {"special": np.zeros(total, dtype=bool)})
    ordinary = np.where(np.arange(total) < matched, 0.25, 1)
    flat, best = np.full((total, 30), 0.5), np.zeros(total, dtype=int)
    found = MaxSim(Query("", "a", "b"), tokens, tokens, flat, best, flat[:, 0], ordinary, 380, 20 / 400, ())
    assert found.beyond_chance == (binom.sf(matched - 1, total, 20 / 400) <= 0.05)
