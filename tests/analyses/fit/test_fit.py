"""The lab's numbers against scikit-learn's own pipelines, and against data whose answer is known."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoTokenizer

from components.analyses.fit import rows as rows_of
from components.analyses.fit.classifier import STRENGTHS, divide, fit_with_held_out, fold
from components.analyses.fit.rows import (
    Rows,
    Split,
    equal_rows,
    first_alike,
    shared,
    splits_of,
)
from components.errors import PoolscopeError
from components.fitting import Fit, Plan, Stage, Table
from components.inference.engine import Engine
from components.settings import ASSETS
from components.types import Floats, Ints, Query
from tests.tables import reviews

LONG = "a long film " * 300
FOREIGN = "\u6211\u4eec\u5f88\u559c\u6b22"  # Chinese, which an English vocabulary lacks
MIXED = f"a fine film and a fine plot {FOREIGN[:1]}"


def all_of(found: Floats, rows: Rows, folds: int, repeats: int) -> rows_of.Tested:
    """All folds, one after the other."""
    splits = [split for parts in divide(rows, folds, repeats) for split in splits_of(parts, folds)]
    return rows_of.Tested.of(splits, [fold(found, rows.labels, split) for split in splits], rows.labels)


def by_scikit_learn(found: Floats, labels: Ints, split: Split, strength: float) -> tuple[Floats, float]:
    """Of one fold, in double precision: probabilities (n, K) with one strength, and how much is lost by it.

    That is the log loss of what is held out, beyond the least that any strength has there.
    """
    fitted = np.sort(np.concatenate([split.train, split.held_out]))
    search = GridSearchCV(
        LogisticRegression(max_iter=5000),
        {"C": STRENGTHS},
        scoring="neg_log_loss",
        cv=PredefinedSplit(np.where(np.isin(fitted, split.held_out), 0, -1)),
    )
    scaler = StandardScaler().fit(found[fitted].astype(np.float64))
    search.fit(scaler.transform(found[fitted]), labels[fitted])
    lost = search.best_score_ - search.cv_results_["mean_test_score"][STRENGTHS.index(strength)]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=5000))
    pipeline.fit(found[fitted].astype(np.float64), labels[fitted])
    return pipeline.predict_proba(found[split.test]), lost


@pytest.mark.parametrize(("classes", "width", "signal"), [(2, 12, 0.3), (4, 12, 2.0), (3, 300, 0.3)])
def test_scores_are_those_of_a_pipeline_of_scikit_learn(classes: int, width: int, signal: float) -> None:
    draw = np.random.default_rng(classes)
    labels = draw.integers(0, classes, 240)
    found = draw.normal(size=(240, width)) @ np.diag(0.99 ** np.arange(width))
    found = (found + signal * np.eye(classes, width)[labels]).astype(np.float32)
    rows = Rows(labels, draw.integers(0, 200, 240), seed=3)
    answer = all_of(found, rows, 5, 2)
    drawn = StratifiedGroupKFold(5, shuffle=True, random_state=rows.seed)
    tests = [test for _others, test in drawn.split(found, labels, rows.groups)]
    parts, again = divide(rows, 5, 2)
    for place, split in enumerate(splits_of(again, 5), start=5):
        right = fold(found, labels, split).argmax(axis=1) == labels[split.test]
        np.testing.assert_array_equal(answer.correct[1, split.test], right)
        assert answer.accuracies[place] == right.mean()
    for place, split in enumerate(splits_of(parts, 5)):
        np.testing.assert_array_equal(split.test, tests[place])
        np.testing.assert_array_equal(split.held_out, tests[(place + 1) % 5])
        strength = fit_with_held_out(found, labels, split.train, split.held_out)[1].C
        expected, lost = by_scikit_learn(found, labels, split, strength)
        assert lost < 0.003  # of two that are as good as equal it may be either
        np.testing.assert_allclose(answer.probabilities[split.test], expected, atol=0.005)
        right = expected.argmax(axis=1) == labels[split.test]
        assert abs(answer.accuracies[place] - right.mean()) <= 1 / len(split.test)


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_every_row_is_tested_once_and_about_a_quarter_of_the_others_is_held_out(folds: int) -> None:
    draw = np.random.default_rng(folds)
    labels, groups = np.arange(300) % 3, draw.integers(0, 200, 300)
    (parts,) = divide(Rows(labels, groups, 0), folds, 1)
    splits = list(splits_of(parts, folds))
    assert len(splits) == folds
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(300))
    for split in splits:
        sides = (split.train, split.held_out, split.test)
        assert sorted(np.concatenate(sides)) == list(range(300))
        seen = [set(groups[side]) for side in sides]
        assert sum(map(len, seen)) == len(set.union(*seen))
        assert len(split.test) == pytest.approx(300 / folds, rel=0.15)
        assert 0.15 < len(split.held_out) / (300 - len(split.test)) < 0.4
        for side in sides:
            assert np.bincount(labels[side]) == pytest.approx(len(side) / 3, rel=0.3)


def test_a_share_holds_the_smaller_ones_and_the_last_point_of_the_curve_is_the_whole_fold() -> None:
    draw = np.random.default_rng(1)
    rows = Rows(draw.integers(0, 2, 400), draw.integers(0, 300, 400), seed=0)
    split = next(splits_of(divide(rows, 5, 1)[0], 5))
    few, many, all_ = (shared(split, rows, share) for share in (0.1, 0.4, 1.0))
    assert [round(len(one.train), -1) for one in (few, many, all_)] == [30, 100, 240]
    assert set(few.train) < set(many.train) < set(all_.train)
    assert not set(rows.groups[many.train]) & set(rows.groups[np.setdiff1d(split.train, many.train)])
    np.testing.assert_array_equal(many.test, split.test)


@pytest.fixture(scope="module")
def answer(engine: Engine) -> tuple[list[Stage], Fit]:
    plan = Plan(("bert-sentiment",), ("cls", "mean", "native", "max"), all_layers=False, folds=3)
    *stages, fit = engine.fit(reviews(120), plan)
    assert isinstance(fit, Fit)
    return [stage for stage in stages if isinstance(stage, Stage)], fit


def test_every_combination_is_measured_and_equal_vectors_share_one(answer: tuple[list[Stage], Fit]) -> None:
    _stages, fit = answer
    rows = {(row.pooling, row.layer): row for row in fit.ranking}
    assert set(rows) == {(pooling, 4) for pooling in ("cls", "mean", "native", "max")}
    assert rows["native", 4].same_as == "cls"
    assert rows["native", 4].accuracy == rows["cls", 4].accuracy
    values = [row.accuracy.value for row in fit.ranking]
    assert values == sorted(values, reverse=True)
    assert (fit.ranking[0].p, fit.ranking[0].p_corrected) == (1, 1)


def test_the_best_one_is_described_by_its_own_predictions(answer: tuple[list[Stage], Fit]) -> None:
    _stages, fit = answer
    given = [fit.classes.index(label) for label in fit.table.labels]
    np.testing.assert_array_equal(fit.confusion, confusion_matrix(given, fit.predicted))
    best = fit.ranking[0]
    assert best.macro_f1 == pytest.approx(f1_score(given, fit.predicted, average="macro"))
    wrong = {row for row in range(120) if given[row] != fit.predicted[row]}
    assert wrong == {miss.row for miss in fit.misses if miss.given != miss.predicted}
    assert abs(best.accuracy.value - accuracy_score(given, fit.predicted)) < 0.05  # that is of both repeats
    assert best.accuracy.low <= best.accuracy.value <= best.accuracy.high
    assert fit.map.shape == (120, 2)
    assert fit.shuffled.value < 0.65 < best.accuracy.value
    assert fit.majority == max(fit.table.labels.count(label) for label in fit.classes) / 120


def test_the_vectors_are_those_that_the_engine_gives(engine: Engine) -> None:
    """A layer that is far from the last: what is fitted there is what a user of the library fits."""
    table, plan = reviews(90), Plan(("bert-sentiment",), ("mean",), all_layers=True, folds=3)
    *_stages, fit = engine.fit(table, plan)
    assert isinstance(fit, Fit)
    rows = {row.layer: row for row in fit.ranking}
    assert set(rows) == set(range(5))
    labels = np.array([fit.classes.index(label) for label in table.labels])
    found = engine.features("bert-sentiment", table.texts, ["mean"], 1)["mean"]
    expected = all_of(found, Rows(labels, equal_rows(table), 0), 3, 2)
    assert abs(rows[1].accuracy.value - expected.correct.mean()) <= 2 / 90


def test_stages_come_in_order_and_say_what_each_combination_reached(answer: tuple[list[Stage], Fit]) -> None:
    stages, fit = answer
    names = [stage.name for stage in stages]
    assert names == sorted(names, key=("embed", "fit", "check").index)
    for name, total in (("embed", 120), ("fit", 4), ("check", 6)):
        last = [stage for stage in stages if stage.name == name][-1]
        assert (last.done, last.total) == (total, total)
    fitted = [stage.reached for stage in stages if stage.name == "fit"]
    said = {(one.pooling, one.layer): one.accuracy for one in fitted if one is not None}
    assert said == {(row.pooling, row.layer): row.accuracy.value for row in fit.ranking if not row.same_as}
    assert not any(stage.reached for stage in stages if stage.name != "fit")


def test_numbers_as_labels_have_a_rho_and_a_pooling_without_a_vector_is_left_out(engine: Engine) -> None:
    table = reviews(80)
    labels = tuple("5" if label == "positive" else "10" for label in table.labels)
    plan = Plan(("bert-sentiment",), ("mean_content", "cls"), folds=2)
    *_stages, fit = engine.fit(Table(("", *table.texts[1:]), (), labels), plan)
    assert isinstance(fit, Fit)
    assert [row.pooling for row in fit.ranking] == ["cls"]
    assert "mean_content" in str(fit.warnings[0]) or "content" in str(fit.warnings[0])
    assert fit.classes == ("5", "10")
    rho = fit.ranking[0].rho
    assert rho is not None
    assert rho.low < rho.value < rho.high <= 1
    assert rho.value > 0.5


@pytest.mark.parametrize(
    ("labels", "plan", "field"),
    [
        ("a" * 40, {}, "label"),
        ("a" * 38 + "b" * 2, {}, "label"),
        ("ab" * 20, {"poolings": ("attention",)}, "poolings"),
        ("ab" * 20, {"poolings": ("none",)}, "poolings"),
        ("ab" * 20, {"folds": 11}, "folds"),
        ("ab" * 20, {"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_fitted_is_said(engine: Engine, labels: str, plan: dict[str, Any], field: str) -> None:
    table = Table(tuple(f"text {index}" for index in range(40)), (), tuple(labels))
    with pytest.raises(PoolscopeError, match=f"^{field}: "):
        next(engine.fit(table, Plan(("bert-sentiment",), **plan)))


def test_what_is_cut_off_and_what_is_unreadable_is_counted(engine: Engine) -> None:
    whole = reviews(80)
    texts = (LONG, FOREIGN, MIXED, *whole.texts[3:77], FOREIGN * 2, FOREIGN * 3, LONG + "!")
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "models" / "bert-sentiment")
    limit = len(engine.ask("analyze", Query("bert-sentiment", LONG)).tokens.text)
    cut = sum(len(tokenizer.tokenize(text)) + 2 > limit for text in texts)
    unread = sum(
        engine.ask("analyze", Query("bert-sentiment", text)).unreadable is not None for text in texts
    )
    assert (cut, unread) == (2, 3)
    title = next(spec.title for spec in engine.backbones() if spec.key == "bert-sentiment")
    expected = (
        f"{title}: 2 of 80 rows have more than the {limit} tokens that it takes. "
        "The rest of them is cut off.",
        f"{title}: it cannot read 3 of 80 rows, whose words are mostly unknown to its vocabulary.",
    )
    plan = Plan(("bert-sentiment",), ("cls",), folds=2)
    *stages, fit = engine.fit(Table(texts, (), whole.labels), plan)
    assert isinstance(fit, Fit)
    assert tuple(map(str, fit.warnings)) == expected
    early = [stage.notes for stage in stages if isinstance(stage, Stage) and stage.name == "embed"]
    assert tuple(map(str, early[-1])) == expected


def test_vectors_that_are_too_many_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.inference.desk.LARGEST", 70 * 128 * 4)
    with pytest.raises(PoolscopeError, match="layers"):
        list(engine.fit(reviews(80), Plan(("bert-sentiment",), ("cls",), folds=2)))


def test_vectors_are_alike_number_for_number() -> None:
    one = np.array([[0.0, 1.0]], np.float32)
    found = {"a": one, "b": -one, "c": np.array([[-0.0, 1.0]], np.float32), "d": one.T, "e": one + 1e-6}
    assert first_alike(found) == {"a": "a", "b": "b", "c": "a", "d": "d", "e": "e"}
