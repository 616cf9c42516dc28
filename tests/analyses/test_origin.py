"""The word that matters most, and where its difference is, are what transformers says by hand."""

from typing import Any

import numpy as np
import pytest
import torch

from components.analyses.trace import words_of
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.types import Progress, Query, Tokens
from tests.analyses.test_importance import eraser_of
from tests.analyses.test_lens import by_hand as replayed
from tests.analyses.test_trace import by_hand
from tests.families.cases import setting
from tests.plain import SPECS, load_plain

PLOT = "The plot is not bad, but the acting is not good at all."
CASES = [("bert-sentiment", PLOT, 0), ("xlnet-sentiment", PLOT, 16), ("gpt2-sentiment", PLOT, 14)]


def masked(key: str, text: str, word: tuple[int, ...]) -> Any:
    """Logits that transformers gives for the text with the stand-in's id in these places."""
    plain = load_plain(SPECS[key].location)
    inputs = plain.tokenizer(text, return_tensors="pt")
    inputs["input_ids"][0, list(word)] = eraser_of(key)
    with torch.no_grad():
        return plain.model(**inputs, output_hidden_states=True)


@pytest.mark.parametrize(("key", "text", "read"), CASES)
def test_words_are_masked_and_states_set_as_by_hand(engine: Engine, key: str, text: str, read: int) -> None:
    found, plain = engine.ask("origin", Query(key, text)), load_plain(SPECS[key].location)(text)
    sure = plain.logits.softmax(dim=-1)[0]
    label, total = int(sure.argmax()), found.shares.shape[1]
    falls = [float((sure - masked(key, text, one).logits.softmax(dim=-1))[0, label]) for one in found.words]
    np.testing.assert_allclose(found.falls, falls, atol=1e-5)
    word = found.words[int(np.argmax(falls))]
    assert [found.analysis.tokens.text[place].strip("Ġ▁") for place in word] == ["not"]
    other = masked(key, text, word)
    before, way = plain.logits[0], other.logits[0] - plain.logits[0]
    groups = [*([place] for place in range(total)), list(word), [read]]
    for layer, states in enumerate(other.hidden_states):
        shares = *found.shares[layer], found.in_word[layer], found.in_read[layer]
        for places, share in zip(groups, shares, strict=True):
            change = setting(places, states[0, places])
            last = layer == len(other.hidden_states) - 1
            above = None if last else by_hand(key, (text, ""), layer, change).logits[0]
            gone = (replayed(key, text, "", change) if above is None else above) - before
            assert share == pytest.approx(float(gone @ way / (way @ way)), abs=1e-4)
    assert found.after == pytest.approx(float(other.logits.softmax(dim=-1)[0, label]), abs=1e-5)


@pytest.mark.parametrize(("pooling", "pool_layer"), [("mean", -1), ("cls", 2)])
def test_all_that_is_read_carries_all_of_it_at_the_layer_that_is_pooled(
    engine: Engine, pooling: str, pool_layer: int
) -> None:
    found = engine.ask("origin", Query("bert-sentiment", PLOT, pooling=pooling, pool_layer=pool_layer))
    assert found.in_read[found.analysis.pool_layer] == pytest.approx(1, abs=1e-5)
    assert found.in_word[0] == pytest.approx(1, abs=1e-5)
    assert not found.shares[found.analysis.pool_layer + 1 :].any()


def test_pieces_of_one_word_are_masked_together_whoever_wrote_them() -> None:
    def pieces(text: str, *cuts: str) -> list[str]:
        """The words of a text that is cut so, marks before pieces left out."""
        ends, places = 0, []
        for cut in cuts:
            start = text.index(cut.strip(), ends)
            places.append((start - (cut[0] == " "), start + len(cut.strip())))
            ends = start + len(cut.strip())
        none = np.zeros(len(cuts), dtype=np.int64)
        tokens = Tokens(cuts, np.array(places), none, none.astype(bool), 0)
        return ["".join(cuts[place] for place in word) for word in words_of(tokens, Query("", text))]

    assert pieces("doesn't bore!", "doesn", "'", "t", " bo", "re", "!") == ["doesn't", " bore", "!"]
    assert pieces("'good'", "'", "good", "'") == ["'", "good", "'"]
    assert pieces("well-made 3D", "well", "-", "made", "3", "D") == ["well", "-", "made", "3D"]
    assert pieces("不好看", "不", "好", "看") == ["不", "好", "看"]


def test_where_no_word_matters_nothing_is_traced_and_a_long_text_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = engine.ask("origin", Query("bert-sentiment", "A wonderful film, I loved every minute."))
    assert 0 < quiet.falls.max() < 0.1
    assert (quiet.matters, len(quiet.shares)) == (False, 0)
    monkeypatch.setattr("components.analyses.measuring.trace.LONGEST", 10)
    with pytest.raises(PoolscopeError, match="texts of 10 tokens at most"):
        engine.ask("origin", Query("bert-sentiment", PLOT))


def test_layer_by_layer_it_comes_to_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = engine.ask("origin", Query("bert-sentiment", PLOT))
    monkeypatch.setattr("components.inference.engine.PART", 0)
    *steps, last = engine.ask_in_parts("origin", Query("bert-sentiment", PLOT))
    assert steps == [Progress(done, 5) for done in range(1, 5)]
    np.testing.assert_allclose(last.shares, whole.shares, atol=1e-5)
