"""Differences between backbones: the test is statsmodels', and no winner is named where none counts."""

import re
from itertools import combinations

import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from components.exhibits.evidence.differences import differing, proportions_p
from components.exhibits.evidence.evidence import Estimate
from components.exhibits.questions.answers import Answers
from components.exhibits.questions.question import read_questions
from components.results import read_results
from components.texts import languages, load_texts
from tests.exhibits.questions.asking import shipped
from tests.serving import ROOT

RESULTS = read_results(ROOT / "assets" / "results.json")


def estimate(right: int, examples: int) -> Estimate:
    return Estimate(right / examples, 0, 1, examples)


@pytest.mark.parametrize(
    ("one", "other"), [((746, 872), (757, 872)), ((10, 50), (600, 900)), ((5, 5), (5, 5)), ((1, 9), (1, 9))]
)
def test_the_test_is_the_textbook_s(one: tuple[int, int], other: tuple[int, int]) -> None:
    found = proportions_p(estimate(*one), estimate(*other))
    if one == other:
        assert found == 1
        return
    counts, totals = zip(one, other, strict=True)
    assert found == pytest.approx(proportions_ztest(counts, totals)[1], rel=1e-9)


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
@pytest.mark.parametrize("pooling", ["own", "cls", "mean"])
def test_pairs_are_counted_after_holm_s_correction(task: str, pooling: str) -> None:
    keys = [row.backbone for row in RESULTS.checkpoints if row.task == task]
    rows = [row for row in RESULTS.checkpoints if row.task == task]
    if pooling != "own":
        rows = [
            row
            for row in RESULTS.probes
            if (row.task, row.pooling) == (task, pooling) and row.backbone in keys
        ]
    pairs = list(combinations([(round(row.accuracy * row.measured), row.measured) for row in rows], 2))
    assert len(pairs) == 10
    ps = [proportions_ztest(*zip(*pair, strict=True))[1] for pair in pairs]
    expected = int(multipletests(ps, alpha=0.05, method="holm")[0].sum())
    given = {row.backbone: Estimate(row.accuracy, row.low, row.high, row.measured) for row in rows}
    assert differing(given) == expected == (1 if (task, pooling) == ("paraphrase", "mean") else 0)


@pytest.mark.parametrize("tag", languages())
def test_the_question_of_fairness_names_no_winner_where_no_difference_counts(tag: str) -> None:
    answers = Answers(shipped(), RESULTS, read_questions(), load_texts(tag))
    said = re.sub(r"<[^>]+>|\u200b", "", answers.answer("fair").card)
    assert {"en": "None of the 10 differences", "zh": "10 个差异都不显著"}[tag] in said
    assert not re.search(r"first in|comes first|居首", said)
    assert {"en": "choice of test examples only", "zh": "只反映测试样本的抽取"}[tag] in said
