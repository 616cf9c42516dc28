"""What is said before a fit: how long it takes, and which texts a backbone does not read."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from components.fitting import Fit, Plan, Table
from components.inference import measurer
from components.inference.engine import Engine
from components.lab import gauge, validation
from components.lab.gauge import borrowed, middle
from components.lab.rows import Rows
from components.lab.validation import Split
from components.settings import ASSETS, Settings
from components.types import Query
from tests.lab.test_lab import reviews

MODEL = ASSETS / "models" / "bert-sentiment"
LONG = "a long film " * 300
FOREIGN = (
    "\u6211\u4eec\u5f88\u559c\u6b22\u8fd9\u90e8\u7535\u5f71"  # Chinese, which an English vocabulary lacks
)
MIXED = f"a fine film and a fine plot {FOREIGN[:1]}"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Settings())


def odd_table() -> Table:
    """80 rows, of which two are too long and three are in another language."""
    whole = reviews(80)
    return Table(
        (LONG, FOREIGN, MIXED, *whole.texts[3:77], FOREIGN * 2, FOREIGN * 3, LONG + "!"), (), whole.labels
    )


def test_what_is_cut_off_and_what_is_unreadable_is_counted_before_and_after(engine: Engine) -> None:
    table, plan = odd_table(), Plan(("bert-sentiment",), ("cls",), folds=2)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    limit = engine.analyze(Query("bert-sentiment", LONG)).tokens.text
    cut = sum(len(tokenizer.tokenize(text)) + 2 > len(limit) for text in table.texts)
    unread = sum(engine.analyze(Query("bert-sentiment", text)).unreadable is not None for text in table.texts)
    assert (cut, unread) == (2, 3)
    title = next(spec.title for spec in engine.backbones() if spec.key == "bert-sentiment")
    expected = (
        f"{title}: 2 of 80 rows have more than the {len(limit)} tokens that it takes. "
        "The rest of them is cut off.",
        f"{title}: it cannot read 3 of 80 rows, whose words are mostly unknown to its vocabulary.",
    )
    assert tuple(map(str, engine.forecast(table, plan).warnings)) == expected
    *_stages, fit = engine.fit(table, plan)
    assert isinstance(fit, Fit)
    assert tuple(map(str, fit.warnings)) == expected


def test_a_table_that_is_read_whole_has_nothing_to_say(engine: Engine) -> None:
    assert engine.forecast(reviews(40), Plan(("bert-sentiment",), ("cls",), folds=2)).warnings == ()


@dataclass(eq=False)
class Clock:
    """On which a token takes a thousandth of a second to embed, and so does a row to be fitted on."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("all_layers", [False, True])
def test_it_foresees_what_a_fit_takes(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, all_layers: bool
) -> None:
    clock, tokenizer = Clock(), AutoTokenizer.from_pretrained(MODEL)
    embed, fold = gauge.pool_part, validation.probabilities_on

    def embedding(backbone: Any, inputs: Any, *more: Any) -> Any:
        clock.now += sum(len(tokenizer.tokenize(text)) + 2 for (text,) in inputs) / 1000
        return embed(backbone, inputs, *more)

    def fitting(vectors: Any, labels: Any, split: Split) -> Any:
        clock.now += (len(split.train) + len(split.held_out)) / 1000
        return fold(vectors, labels, split)

    monkeypatch.setattr(gauge, "perf_counter", clock)
    for room in (gauge, measurer):
        monkeypatch.setattr(room, "pool_part", embedding)
    for room in (gauge, validation):
        monkeypatch.setattr(room, "probabilities_on", fitting)
    table = reviews(150)
    plan = Plan(("bert-sentiment",), ("cls", "native", "mean", "mean_max"), all_layers, folds=3)
    foreseen = engine.forecast(table, plan).seconds
    clock.now = 0
    for _step in engine.fit(table, plan):
        pass
    assert foreseen == pytest.approx(clock.now, rel=0.02)


def test_folds_are_drawn_once_for_backbones_with_vectors_as_wide(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    divide = gauge.divide

    def dividing(rows: Rows, folds: int, repeats: int) -> Any:
        drawn.append(repeats)
        return divide(rows, folds, repeats)

    monkeypatch.setattr(gauge, "divide", dividing)
    plan = Plan(("bert-sentiment", "bert-paraphrase"), ("cls", "mean"), folds=2)
    assert engine.forecast(reviews(60), plan).seconds > 0
    assert drawn == [1]


@given(lengths=st.lists(st.integers(1, 500), min_size=1, max_size=300))
def test_half_of_all_tokens_come_before_the_middle(lengths: list[int]) -> None:
    given = np.array(lengths)
    rows = middle(given)
    assert len(set(rows.tolist())) == len(rows) == min(gauge.BATCH, len(lengths))
    low, high = given[rows].min(), given[rows].max()
    others = np.delete(given, rows)
    assert not ((others > low) & (others < high)).any()
    shorter, longer = others[others <= low].sum(), others[others >= high].sum()
    assert max(shorter, longer) <= given.sum() / 2 or len(rows) == len(lengths) or low == high


def test_rows_borrow_vectors_of_their_own_label() -> None:
    labels = np.arange(90) % 3
    rows = Rows(labels, np.arange(90), seed=0)
    known = np.array([0, 1, 3, 4])  # none of the last label
    vectors = np.array([[0, 1], [100, 3], [0, 5], [100, 7]], np.float32)
    found = borrowed(vectors, known, rows)
    assert found.shape == (90, 2)
    assert found[labels == 0, 0].mean() < 50
    assert found[labels == 1, 0].mean() > 50
    assert len(np.unique(found, axis=0)) == 90


def test_what_cannot_be_fitted_has_no_forecast(engine: Engine) -> None:
    with pytest.raises(ValueError, match="1 to 5 different ones"):
        engine.forecast(reviews(40), Plan(()))


def test_wide_vectors_are_not_timed_once_narrow_ones_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def seconds(vectors: Any, *_more: Any) -> float:
        asked.append(vectors.shape[1])
        return float(vectors.shape[1]) / 10

    monkeypatch.setattr(gauge, "_seconds", seconds)
    rows = Rows(np.arange(8) % 2, np.arange(8), seed=0)
    split = Split(np.arange(4), np.arange(4, 6), np.arange(6, 8))
    vectors = {width: np.ones((4, width), np.float32) for width in (12, 3, 6)}
    found = gauge._folds(rows, split, np.arange(4), vectors)
    assert asked == [3, 6]
    assert found == {3: 0.3, 6: 0.6, 12: 1.2}


def test_a_width_is_timed_with_the_first_backbone_that_has_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[int] = []

    def seconds(vectors: Any, *_more: Any) -> float:
        timed.append(vectors.shape[1])
        return 0.1

    monkeypatch.setattr(gauge, "_seconds", seconds)
    keys = ("bert-sentiment", "distilbert-sentiment")
    both = engine.forecast(reviews(60), Plan(keys, ("mean", "mean_max"), folds=2)).seconds
    assert timed == [128, 256]
    assert both > 2 * 2 * 2 * 2 * 0.1  # backbones, combinations, repeats and folds
