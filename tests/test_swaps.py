"""A swap, an own head given another vector than it was trained on, is never stated without its mark."""

from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest

from components.exhibits.comparison import Comparison, answered
from components.exhibits.exhibit import Shown
from components.exhibits.grid import COMPARISON_TABLE, GRID
from components.exhibits.panels import COMPARISON
from components.exhibits.report import Made, report
from components.exhibits.verdict import OUTPUTS, VERDICT
from components.inference.engine import Engine
from components.texts import languages, load_texts
from components.types import Query
from tests.exhibits.compared import Table
from tests.exhibits.showing import plain, records
from tests.plain import FIRST, INPUTS, SPECS, load_plain

SAY = load_texts()
TEXT, PAIR = INPUTS[3]
SOME = ("bert-sentiment", "gpt2-paraphrase", "distilbert-pretrained")

WHEN = datetime(2026, 11, 22, tzinfo=UTC)


@cache
def compared(engine: Engine, key: str, head: str) -> Comparison:
    """Every pooling of a bundled backbone."""
    poolings = tuple(spec.key for spec in engine.poolings())
    asked = [Query(key, TEXT, PAIR, pooling, head) for pooling in poolings]
    answers = tuple(engine.compare(asked))
    return Comparison((answers[0].backbone,), poolings, answers, "done")


def native(key: str) -> np.ndarray:
    """The final hidden state that the own head was trained on, by transformers alone, as the papers say."""
    (states,) = load_plain(SPECS[key].location)(TEXT, PAIR).hidden_states[-1]
    vector: np.ndarray = states[0 if key.split("-")[0] in FIRST else -1].numpy()
    return vector


@pytest.mark.parametrize("head", ["own", "probe"])
@pytest.mark.parametrize("key", SOME)
def test_a_swap_is_an_own_head_with_another_vector(engine: Engine, key: str, head: str) -> None:
    vector = native(key)
    found = answered(compared(engine, key, head).cells)
    for cell, analysis in found:
        if cell.query.pooling == "pooler" and head == "own":
            continue  # of the head itself: no other vector of hidden states
        same = vector.shape == analysis.pooled.shape and np.allclose(analysis.pooled, vector, atol=1e-5)
        assert analysis.swapped == (head == "own" and not same), cell.query.pooling
    assert sum(analysis.swapped for _, analysis in found) > 3 * (head == "own") - 1


@pytest.mark.parametrize("head", ["own", "probe"])
@pytest.mark.parametrize("key", SOME)
def test_it_is_marked_wherever_it_is_told(engine: Engine, key: str, head: str) -> None:
    given = compared(engine, key, head)
    grid, numbers = GRID.show(given, {}, SAY), records(COMPARISON_TABLE.show(given, {}, SAY))
    whole = "".join(report([COMPARISON], given, {}, {"text": TEXT}, Made(WHEN), SAY))
    (_, marks), (_, kinds) = Table(grid.html).classes, Table(whole).classes[:2]
    said = SAY("compare.swap")
    rows = {pooling: row for row in numbers for pooling in row["pooling"].split(" = ")}
    assert len(numbers) == len(given.distinct) + sum(cell.analysis is None for cell in given.cells)
    texts, sentence = Table(grid.html).rows[1][1:], "A swap: this model's own code"
    for cell, mark, kind, text_of in zip(given.cells, marks[1:], kinds[1:], texts, strict=True):
        row = rows[cell.query.pooling]
        swapped = cell.analysis is not None and cell.analysis.swapped
        assert ("swap" in mark.split(), "swap" in kind.split(), said in text_of) == (swapped,) * 3
        assert row["swap"] == ("" if cell.analysis is None else "yes" if swapped else "no")
        assert any(sentence in warning for warning in cell.to_json()["warnings"]) == swapped
        if cell.analysis is not None:
            for exhibit in (VERDICT, OUTPUTS):  # Classify, and what a talk shows of it
                shown: Shown = exhibit.show(cell.analysis, {}, SAY)
                assert (sentence in plain(shown.above + shown.html)) == swapped
    for tag in languages():
        legend = GRID.show(given, {}, load_texts(tag)).legend
        assert ('class="key swap"' in legend) == any(one.swapped for _, one in answered(given.cells))
