"""The lab's numbers against other libraries and data whose answer is known; groups of rows; and its head."""

import json
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr, t, ttest_rel
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.proportion import proportion_confint
from transformers import AutoTokenizer

from components.analyses import fit as fits
from components.analyses.fit import classifier, headlines
from components.errors import PoolscopeError
from components.fitting import Fit, Held, Plan, Stage, Table
from components.inference.engine import Engine
from components.inference.jobs import Job
from components.model.query import Asked
from components.own_head import MINE, OwnHead, packed, read_head, write_head
from components.settings import ASSETS
from components.texts import read_toml
from components.types import Bools, Floats, Ints, Query
from tests.benchmarks.headlines import NOTHING, Kind, all_of, fitted as simulated, said
from tests.measured import by_holm
from tests.tables import reviews
from tests.vectors import features

KEY = "bert-sentiment"
HEADS, FITS = (read_toml(Path(__file__).with_name(f"{name}.toml")) for name in ("heads", "fits"))
LONG = "a long film " * 300
FOREIGN = "\u6211\u4eec\u5f88\u559c\u6b22"  # Chinese, which an English vocabulary lacks
MIXED = f"a fine film and a fine plot {FOREIGN[:1]}"


def fitted(engine: Engine, table: Table, plan: Plan) -> Fit:
    *_, fit = engine.fit(table, plan)
    assert isinstance(fit, Fit)
    return fit


def searched(rows: Ints, held_out: Ints) -> GridSearchCV:
    """Scikit-learn's search of a strength for ``rows``, by those that are held out."""
    return GridSearchCV(
        LogisticRegression(max_iter=5000),
        {"C": classifier.STRENGTHS},
        scoring="neg_log_loss",
        cv=PredefinedSplit(np.where(np.isin(rows, held_out), 0, -1)),
    )


def by_scikit_learn(found: Floats, labels: Ints, split: fits.Split, strength: float) -> tuple[Floats, float]:
    """Of one fold, in double precision: probabilities (n, K) with one strength, and how much is lost by it.

    That is the log loss of what is held out, beyond the least that any strength has there.
    """
    fitted = np.sort(np.concatenate([split.train, split.held_out]))
    scaler = StandardScaler().fit(found[fitted].astype(np.float64))
    search = searched(fitted, split.held_out).fit(scaler.transform(found[fitted]), labels[fitted])
    lost = search.best_score_ - search.cv_results_["mean_test_score"][classifier.STRENGTHS.index(strength)]
    regression = LogisticRegression(C=strength, max_iter=5000)
    regression.fit(scaler.transform(found[fitted]), labels[fitted])
    return regression.predict_proba(scaler.transform(found[split.test])), lost


@pytest.mark.parametrize(("classes", "width", "signal"), [(2, 12, 0.3), (4, 12, 2.0), (3, 300, 0.3)])
def test_scores_are_those_of_a_pipeline_of_scikit_learn(classes: int, width: int, signal: float) -> None:
    draw = np.random.default_rng(classes)
    labels = draw.integers(0, classes, 240)
    found = draw.normal(size=(240, width)) @ np.diag(0.99 ** np.arange(width))
    found = (found + signal * np.eye(classes, width)[labels]).astype(np.float32)
    rows = fits.Rows(labels, draw.integers(0, 200, 240), seed=3)
    answer = all_of(found, rows, 5, 2)
    drawn = StratifiedGroupKFold(5, shuffle=True, random_state=rows.seed)
    tests = [test for _others, test in drawn.split(found, labels, rows.groups)]
    splits = classifier.divide(rows, 5, 2).splits
    for place, split in enumerate(splits[5:], start=5):
        right = classifier.fold(found, labels, split).argmax(axis=1) == labels[split.test]
        assert answer.accuracies[place] == right.mean()
    once = all_of(found, rows, 5, 1)
    for place, split in enumerate(splits[:5]):
        np.testing.assert_array_equal(split.test, tests[place])
        np.testing.assert_array_equal(split.held_out, tests[(place + 1) % 5])
        strength = classifier.fit_with_held_out(found, labels, split)[1].C
        expected, lost = by_scikit_learn(found, labels, split, strength)
        assert lost < 0.003  # of two that are as good as equal it may be either
        np.testing.assert_allclose(once.probabilities[split.test], expected, atol=0.005)
        right = expected.argmax(axis=1) == labels[split.test]
        assert abs(answer.accuracies[place] - right.mean()) <= 1 / len(split.test)


def test_words_alone_are_tf_idf_of_the_same_folds(answer: tuple[list[Stage], Fit]) -> None:
    _stages, fit = answer
    labels = np.array([fit.classes.index(label) for label in fit.table.labels])
    rows = fits.Rows(labels, fits.groups_of(fit.table, 3)[0], 0)
    found = np.zeros((120, 2))
    texts = np.array(fit.table.texts, dtype=object)
    for split in classifier.divide(rows, 3, fits.REPEATS).splits:
        known = np.concatenate([split.train, split.held_out])
        counts = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]").fit(texts[known])
        search = searched(known, split.held_out).fit(counts.transform(texts[known]), labels[known])
        said = search.predict_proba(counts.transform(texts[split.test]))
        np.testing.assert_allclose(classifier.words(fit.table.texts, labels, split), said, atol=1e-3)
        found[split.test] += said
    right = found.argmax(axis=1) == labels
    assert fit.words.accuracy.value == right.mean()
    assert fit.words.macro_f1 == pytest.approx(f1_score(labels, found.argmax(axis=1), average="macro"))


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_every_row_is_tested_once_and_about_a_quarter_of_the_others_is_held_out(folds: int) -> None:
    draw = np.random.default_rng(folds)
    labels, groups = np.arange(300) % 3, draw.integers(0, 200, 300)
    splits = classifier.divide(fits.Rows(labels, groups, 0), folds, 1).splits
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
    rows = fits.Rows(draw.integers(0, 2, 400), draw.integers(0, 300, 400), seed=0)
    split, *_ = classifier.divide(rows, 5, 1).splits
    few, many, all_ = (fits.shared(split, rows, share) for share in (0.1, 0.4, 1.0))
    assert [round(len(one.train), -1) for one in (few, many, all_)] == [30, 100, 240]
    assert set(few.train) < set(many.train) < set(all_.train)
    assert not set(rows.groups[many.train]) & set(rows.groups[np.setdiff1d(split.train, many.train)])
    np.testing.assert_array_equal(many.test, split.test)


@pytest.fixture(scope="module")
def answer(engine: Engine) -> tuple[list[Stage], Fit]:
    plan = Plan((KEY,), ("cls", "mean", "native", "max"), all_layers=False, folds=3)
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
    assert wrong == {miss.row for miss in fit.misses}
    assert (best.accuracy.value, [*fit.curve.values()][-1]) == (1 - len(wrong) / 120, best.accuracy)
    assert best.accuracy.low <= best.accuracy.value <= best.accuracy.high
    assert fit.shuffled.low < fit.shuffled.value < fit.shuffled.high < best.accuracy.value
    assert fit.learned == Held("macro_f1", best.macro_f1, fit.learned.chance, True)
    assert fit.learned.chance == pytest.approx(0.5, abs=0.1)
    assert fit.majority == max(fit.table.labels.count(label) for label in fit.classes) / 120


def test_stages_come_in_order_and_say_what_each_combination_reached(answer: tuple[list[Stage], Fit]) -> None:
    stages, fit = answer
    names = [stage.name for stage in stages]
    assert names == sorted(names, key=("embed", "fit", "check").index)
    for name, total in (("embed", 120), ("fit", 4), ("check", 20)):
        last = [stage for stage in stages if stage.name == name][-1]
        assert (last.done, last.total) == (total, total)
    fitted = [stage.reached for stage in stages if stage.name == "fit"]
    said = {(one.pooling, one.layer): one.accuracy for one in fitted if one is not None}
    assert said == {(row.pooling, row.layer): row.accuracy.value for row in fit.ranking if not row.same_as}
    assert not any(stage.reached for stage in stages if stage.name != "fit")


def test_numbers_as_labels_have_a_rho_and_a_text_without_a_vector_costs_that_row(engine: Engine) -> None:
    table = reviews(80)
    labels = tuple("5" if label == "positive" else "10" for label in table.labels)
    odd = Table(("", *table.texts[1:]), (), labels)
    fit = fitted(engine, odd, Plan((KEY,), ("mean_content", "cls"), folds=2))
    assert {row.pooling for row in fit.ranking} == {"cls", "mean_content"}
    (note,) = map(str, fit.warnings)
    assert "1 of 80 rows has no vector (pooling: 'mean_content' was given; it needs a text" in note
    assert fit.classes == ("5", "10")
    rho = next(row.rho for row in fit.ranking if row.pooling == "cls")
    assert rho is not None
    assert rho.value > 0.5
    assert rho.low < rho.value < rho.high <= 1


@pytest.mark.parametrize(("labels", "plan", "field"), FITS["refused"])
def test_what_cannot_be_fitted_is_said(engine: Engine, labels: str, plan: dict[str, Any], field: str) -> None:
    table = Table(tuple(f"text {index}" for index in range(40)), (), tuple(labels))
    with pytest.raises(PoolscopeError, match=f"^{field}"):
        next(engine.fit(table, Plan((KEY,), **plan)))


def test_what_is_cut_off_and_what_is_unreadable_is_counted(engine: Engine) -> None:
    whole = reviews(80)
    texts = (LONG, FOREIGN, MIXED, *whole.texts[3:77], FOREIGN * 2, FOREIGN * 3, LONG + "!")
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "models" / KEY)
    limit = len(engine.ask("analyze", Query(KEY, LONG)).tokens.text)
    cut = sum(len(tokenizer.tokenize(text)) + 2 > limit for text in texts)
    unread = sum(engine.ask("analyze", Query(KEY, text)).unreadable is not None for text in texts)
    assert (cut, unread) == (2, 3)
    title = next(spec.title for spec in engine.backbones() if spec.key == KEY)
    expected = (
        f"{title}: 2 of 80 rows have more than the {limit} tokens that it takes. "
        "The rest of them is cut off.",
        f"{title}: it cannot read 3 of 80 rows, whose words are mostly unknown to its vocabulary.",
    )
    *stages, fit = engine.fit(Table(texts, (), whole.labels), Plan((KEY,), ("cls",), folds=2))
    assert isinstance(fit, Fit)
    assert tuple(map(str, fit.warnings)) == expected
    early = [stage.notes for stage in stages if isinstance(stage, Stage) and stage.name == "embed"]
    assert tuple(map(str, early[-1])) == expected


def test_vectors_that_are_too_many_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.inference.engine.LARGEST", 70 * 128 * 4)
    with pytest.raises(PoolscopeError, match="layers"):
        list(engine.fit(reviews(80), Plan((KEY,), ("cls",), folds=2)))


def table_of(pairs: list[tuple[str, str]]) -> Table:
    texts, others = zip(*pairs, strict=True)
    return Table(texts, others, tuple("xy"[row % 2] for row in range(len(pairs))))


def together(groups: Ints) -> Bools:
    """(N, N) which rows are in one group."""
    same: Bools = groups[:, None] == groups[None]
    return same


def test_rows_that_share_a_text_hang_together_directly_or_by_way_of_others() -> None:
    pairs = [("a", "b"), ("C ", "B"), ("c", "d"), ("e", "f"), (" F", "g"), ("h", "h"), ("a", " b")]
    equal, linked = fits.alike_rows(table_of(pairs))
    np.testing.assert_array_equal(together(equal), together(np.array([0, 1, 2, 3, 4, 5, 0])))
    np.testing.assert_array_equal(together(linked), together(np.array([0, 0, 0, 1, 1, 2, 0])))


def questions(answers: int, count: int = 40) -> Table:
    """So many questions, each with so many answers of its own, which fit it in turns."""
    return table_of([(f"question {row // answers}", f"answer {row}") for row in range(count * answers)])


FEW = table_of([(f"question {row // 10}", f"answer {row}") for row in range(60)])  # six groups of ten
LARGE = table_of([(f"question {max(row, 12)}", f"answer {row}") for row in range(60)])  # folds have 12 rows


@pytest.mark.parametrize(
    ("table", "expected", "said"),
    [
        (questions(3), np.arange(120) // 3, ("lab.together", {"count": 120, "groups": 40})),
        (questions(2, 10), np.arange(20) // 2, ("lab.together", {"count": 20, "groups": 10})),
        (FEW, np.arange(60), ("lab.shared", {"count": 60})),  # no folds can be made of the groups:
        (LARGE, np.arange(60), ("lab.shared", {"count": 13})),  # equal pairs alone are one
        (questions(1), np.arange(40), None),
        (Table(("a", "A ", "b"), (), ("x", "y", "x")), np.array([0, 0, 1]), None),
    ],
    ids=["shared", "just enough groups", "few groups", "a large group", "pairs of their own", "single texts"],
)
def test_rows_of_equal_texts_are_one_group_and_pairs_that_share_one_where_it_can_be(
    table: Table, expected: Ints, said: tuple[str, dict[str, int]] | None
) -> None:
    groups, notes = fits.groups_of(table, 5)
    np.testing.assert_array_equal(together(groups), together(expected))
    assert [(note.key, dict(note.values)) for note in notes] == ([said] if said else [])


def test_the_interval_is_wilsons() -> None:
    said = np.eye(2)[np.repeat([0, 1], [83, 17])]
    score = headlines.accuracy_score(fits.Tested(np.zeros(100, np.int64), np.zeros(0), said, 80))
    low, high = proportion_confint(83, 100, method="wilson")
    assert (score.value, score.low, score.high) == pytest.approx((0.83, low, high))


def test_the_corrected_test_is_that_of_nadeau_and_bengio() -> None:
    """By hand: mean 0.02, variance 0.0002 / 3, four folds of which each tests a third of what it fits."""
    differences, test = np.array([0.01, 0.02, 0.02, 0.03]), headlines.corrected_t_test
    statistic = 0.02 / np.sqrt((1 / 4 + 1 / 3) * (0.0002 / 3))
    assert test(differences, 1 / 3) == pytest.approx(2 * (1 - t.cdf(statistic, 3)))
    assert test(differences, 0) == pytest.approx(ttest_rel(differences, np.zeros(4)).pvalue)
    assert test(np.zeros(5), 0.25) == 1  # all folds say the same
    assert test(np.full(5, 0.1), 0.25) == 0


def test_words_shuffled_labels_and_fewer_rows_are_tested_as_by_hand() -> None:
    """Of a best combination beside one more and a third that equals it, in two repeats of three folds."""
    draw, labels = np.random.default_rng(5), np.arange(90) % 3
    rows = classifier.divide(fits.Rows(labels, np.arange(90), 0), 3, 2)

    def tested(skill: float, fitted: int) -> fits.Tested:
        said = draw.random((90, 3)) + skill * np.eye(3)[labels]
        return fits.Tested(labels, draw.normal(skill, 0.1, 6), said, fitted)

    best, words, *curve = (tested(skill, int(80 * skill)) for skill in (0.75, 0.7, 0.1, 0.2, 0.5))
    control, second = [tested(0, 60) for _ in range(4)], tested(0.6, 60)
    each = (("cls", best, ""), ("mean", second, ""), ("native", best, "cls"))
    grid = [fits.Measured(KEY, (name, 4), one, same_as) for name, one, same_as in each]
    asked = fits.Setup(Table(("a",) * 90, (), ()), Plan((KEY,), folds=3), ("x", "y", "z"), rows)
    fit = classifier.conclude(asked, grid, draw.normal(size=(90, 4)), [words, *curve, *control])
    beyond, gain = (best.accuracies - one.accuracies for one in (words, curve[-1]))
    error = [np.sqrt((1 / 6 + 1 / 2) * np.var(one, ddof=1)) for one in (beyond, gain)]
    p = 2 * (1 - t.cdf(abs(beyond.mean()) / error[0], 5))
    assert (fit.words.p, fit.words.p_corrected) == pytest.approx((p, min(1, 2 * p)))
    assert astuple(fit.gain)[1:] == pytest.approx(t.interval(0.9, 5, gain.mean(), error[1]))
    by_chance = [one.accuracy for one in control]
    next_one = t.interval(0.95, 3, np.mean(by_chance), np.std(by_chance, ddof=1) * np.sqrt(1 + 1 / 4))
    assert astuple(fit.shuffled)[1:] == pytest.approx(next_one)
    points = {count: one.value for count, one in fit.curve.items()}
    assert points == {one.fitted: one.accuracy for one in (*curve, best)}


def test_p_is_corrected_over_all_pairs() -> None:
    accuracies = np.random.default_rng(1).normal(0.8, 0.02, (5, 10)) - 0.01 * np.arange(5)[:, None]
    found = headlines.against_first(accuracies, 0.25)
    pairs = [(one, other) for one in range(5) for other in range(one + 1, 5)]
    raw = [headlines.corrected_t_test(accuracies[one] - accuracies[other], 0.25) for one, other in pairs]
    expected = dict(zip(pairs, zip(raw, by_holm(raw), strict=True), strict=True))
    for other in range(1, 5):
        assert found[other] == pytest.approx(expected[0, other])
    assert (found[0], len(found)) == ((1, 1), 5)


def test_rho_is_that_of_ranks_and_lies_in_its_interval() -> None:
    draw, numbers = np.random.default_rng(2), (1.0, 2.0, 4.0)
    labels = draw.integers(0, 3, 400)
    said = np.eye(3)[labels] + draw.normal(size=(400, 3))
    score = headlines.rho_score(fits.Tested(labels, np.zeros(0), said, 300), numbers)
    assert score is not None
    assert score.low < score.value < score.high
    assert score.value == pytest.approx(spearmanr(said @ numbers, np.array(numbers)[labels]).statistic)
    assert headlines.rho_score(fits.Tested(np.ones(400, int), np.zeros(0), said, 300), numbers) is None


def test_what_was_learned_may_show_in_the_order_of_numbers_alone() -> None:
    """All rows are said to be of the label in the middle, by probabilities that lean the right way."""
    labels, draw = np.repeat([0, 1, 2], 30), np.random.default_rng(0)
    drawn = [*(draw.permutation(labels) for _ in range(4)), np.ones(90)]
    lean = [np.outer(one - 1, [-0.1, 0, 0.1]) + np.array([0.2, 0.6, 0.2]) for one in (labels, *drawn)]
    best, *control = (fits.Tested(labels, np.zeros(0), one, 80) for one in lean)
    found = headlines.learned(best, control, (1.0, 2.0, 3.0), 1)
    chance = [*(spearmanr(one, labels).statistic for one in drawn[:-1]), 0]  # the last does not vary
    assert (found.name, found.beyond) == ("rho", True)
    assert (found.value, found.chance) == pytest.approx((1, np.mean(chance)))


@pytest.mark.parametrize("changed", [0, 12])
def test_of_the_labels_that_are_doubted_few_are_right(changed: int) -> None:
    """Of made-up classifiers that are unsure of what they should be."""
    found, false = 0, 0.0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        true = draw.integers(0, 3, 300)
        said = np.exp(2 * (3 * np.eye(3)[true] + draw.normal(size=(300, 3))))
        labels = np.where(np.arange(300) < changed, (true + 1) % 3, true)
        doubted = np.flatnonzero(headlines.suspicious(said / said.sum(axis=1, keepdims=True), labels))
        found += (doubted < changed).sum()
        false += (doubted >= changed).mean() if len(doubted) else 0
    assert false <= 20 * 0.2 * bool(changed)
    assert found >= 0.7 * 20 * changed


def test_labels_are_shuffled_by_groups() -> None:
    each = [3, 1, 3, 2, 3]
    rows = fits.Rows(np.repeat([0, 0, 1, 2, 1], each), np.repeat([4, 1, 0, 2, 3], each), 0)
    drawn = [fits.shuffled(rows, seed).labels for seed in range(20)]
    for labels in drawn:
        kinds = [set(labels[rows.groups == group]) for group in range(5)]
        assert sorted(map(min, kinds)) == [0, 0, 1, 1, 2]
        assert all(len(kind) == 1 for kind in kinds)
    assert len({tuple(labels) for labels in drawn}) > 5


HONEST = ("two labels", "each text three times", "a label in a tenth of the rows")


@pytest.mark.parametrize("kind", HONEST)
def test_no_headline_claims_anything_where_labels_say_nothing(kind: str) -> None:
    """Of three tables; the benchmark counts more."""
    claims = [said(simulated(NOTHING[kind], seed)) for seed in range(3)]
    assert sum(map(bool, claims)) <= 1


def test_headlines_claim_what_is_there() -> None:
    assert "best" in said(simulated(Kind(200, (0.6, 0.4), poolings=2, signal=3.0), 0))


def query_of(head: OwnHead, text: str, pair: str = "") -> Query:
    return Query(head.backbone, text, pair, head.pooling, MINE, pool_layer=head.layer, mine=write_head(head))


def test_it_answers_as_the_best_combination_was_fitted(engine: Engine) -> None:
    """The vectors of every layer are those that the engine gives, and the fit is scikit-learn's."""
    table = reviews(90)
    fit = fitted(engine, table, Plan((KEY,), ("mean", "cls"), all_layers=True, folds=2))
    head, best = read_head(fit.head), fit.ranking[0]
    labels, groups = np.array([fit.classes.index(label) for label in table.labels]), fits.alike_rows(table)[0]
    (lower,) = (row for row in fit.ranking if (row.pooling, row.layer) == ("mean", 1))
    vectors = features(engine, KEY, table.texts, ["mean"], 1)["mean"]
    expected = all_of(vectors, fits.Rows(labels, groups, 0), 2, 2).accuracy
    assert abs(lower.accuracy.value - expected) <= 2 / 90
    assert (head.backbone, head.pooling, head.labels, head.texts) == (KEY, best.pooling, fit.classes, 1)
    assert head.layer == (-1 if best.layer == 4 else best.layer)
    found = features(engine, KEY, table.texts, [best.pooling], best.layer)[best.pooling]
    folds = StratifiedGroupKFold(6, shuffle=True, random_state=0)
    held_out = [test for _others, test in folds.split(found, labels, groups)][1]  # the first one is tested
    pipeline = make_pipeline(StandardScaler(), searched(np.arange(90), held_out))
    expected = pipeline.fit(found, labels).decision_function(found)
    right = 0
    for row, text in enumerate(table.texts[:12]):
        answer = engine.ask("analyze", query_of(head, text))
        np.testing.assert_allclose(np.diff(answer.logits), expected[row], rtol=0.02, atol=0.02)  # not padded
        right += answer.predicted == (table.labels[row],)
    assert right >= 11


@pytest.fixture(scope="module")
def head(engine: Engine) -> OwnHead:
    return read_head(fitted(engine, reviews(60), Plan((KEY,), ("mean",), folds=2)).head)


def test_everything_can_be_asked_of_it(engine: Engine, head: OwnHead) -> None:
    query = query_of(head, "a fine film")
    anatomy = engine.ask("anatomy", query)
    assert [weight.origin for weight in anatomy.weights] == ["probe", "probe"]
    assert "poolscope lab" in anatomy.program
    looked = engine.ask("lens", query)
    np.testing.assert_allclose(looked.lens.pooled[-1], anatomy.analysis.logits, atol=1e-4)
    assert engine.ask("trace", query, other="a dull film", other_pair="").first.labels == head.labels
    assert engine.ask("importance", query, label="", integrated=False).analysis.labels == head.labels
    others = [query, replace(query, pooling="cls"), replace(query, backbone="gpt2-sentiment")]
    one, refused, elsewhere = [cell for found in engine.compare(others) for cell in found.cells]
    assert one.analysis is not None
    assert "fitted for mean" in str(refused.refusal)
    assert f"fitted for {KEY}" in str(elsewhere.refusal)


def test_a_head_of_pairs_takes_pairs(engine: Engine, head: OwnHead) -> None:
    fit = fitted(engine, questions(2), Plan((KEY,), ("cls",), folds=2))
    assert [note.key for note in fit.warnings] == ["lab.together"]
    pairs = read_head(fit.head)
    assert engine.ask("analyze", query_of(pairs, "a fine film", "a good one")).labels == ("x", "y")
    with pytest.raises(PoolscopeError, match="two texts"):
        engine.ask("analyze", query_of(pairs, "a fine film"))
    with pytest.raises(PoolscopeError, match="one text"):
        engine.ask("analyze", query_of(head, "a fine film", "a good one"))


def with_values(**values: object) -> str:
    numbers = packed(np.eye(2, dtype=np.float32), np.zeros(2, np.float32))
    return json.dumps({**asdict(OwnHead(KEY, "mean", -1, 1, ("a", "b"), numbers)), **values})


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        ("", "no link and in no other session"),
        ("{", "it is none that the Lab"),
        ("[" * 100_000, "it is none that the Lab"),
        (with_values(numbers="A" * 2_000_001), "it is none that the Lab"),
        *((with_values(**values), said) for said, each in HEADS.items() for values in each),
    ],
)
def test_what_is_no_head_for_the_question_gets_a_sentence(engine: Engine, mine: object, said: str) -> None:
    query = Query(KEY, "a fine film", pooling="mean", head=MINE, mine=mine)  # type: ignore[arg-type]  # as sent
    with pytest.raises(PoolscopeError, match=said):
        engine.ask("analyze", query)


def test_no_answer_of_it_is_kept(engine: Engine, head: OwnHead) -> None:
    spec = engine.backbones()[0]
    mine, own = Asked(query_of(head, "a"), None), Asked(Query(KEY, "a"), None)
    for asked, kept in ((mine, False), (own, True)):
        assert Job("analyze", spec, (), (asked,)).kept is kept
        assert Job("compare", spec, (), (own, asked)).kept is kept
