"""Dimensions that tokens win under a maximum, counted again on plain transformers' hidden states."""

import pytest

from components.inference.engine import Engine
from components.types import Query
from tests.plain import KEYS, SPECS, load_plain

TEXT = "The plot is not bad, but the acting is not good at all."
SENTIMENT = [key for key in KEYS if key.endswith("-sentiment")]


@pytest.mark.parametrize("head", ["own", "probe"])
@pytest.mark.parametrize("key", SENTIMENT)
def test_each_dimension_is_won_by_the_token_with_its_largest_value(
    engine: Engine, key: str, head: str
) -> None:
    columns = load_plain(SPECS[key].location)(TEXT).hidden_states[-1][0].T.tolist()
    winners = [column.index(max(column)) for column in columns]
    analysis = engine.ask("analyze", Query(key, TEXT, pooling="max", head=head))
    assert analysis.reads.wins is not None
    assert analysis.reads.wins.tolist() == [
        winners.count(token) for token in range(len(analysis.tokens.text))
    ]
    silent = (analysis.reads.share == 0) & analysis.reads.positions
    assert not analysis.reads.wins[silent].any()  # who wins nothing has no slope, and may win when changed


@pytest.mark.parametrize("pooling", ["native", "cls", "lasttoken", "mean", "weightedmean"])
def test_nothing_is_won_under_another_pooling(engine: Engine, pooling: str) -> None:
    assert engine.ask("analyze", Query("bert-sentiment", TEXT, pooling=pooling)).reads.wins is None
