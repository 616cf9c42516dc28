"""What is looked at of the results, and whether backbones differ: no winner is named where none counts."""

import re
from itertools import combinations
from types import SimpleNamespace

import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from components.exhibits.evidence import (
    PROBES,
    Evidence,
    against_base,
    differing,
    proportions_p,
    select,
    vectors,
)
from components.exhibits.intervals import ACCURACY, FINDINGS
from components.exhibits.questions import Answers, read_questions
from components.exhibits.view import one_vector
from components.results import Table, beside, read_results
from components.texts import languages, load_texts
from tests.exhibits.compared_html import words
from tests.exhibits.questions.asking import shipped
from tests.exhibits.showing import checked, records
from tests.measured import having, measured
from tests.serving import ROOT
from tests.ui.fake_results import LEARNED, fake_results

RESULTS = fake_results()
SHIPPED = read_results(ROOT / "assets" / "results.csv")
SAY = load_texts()
BERT, GPT = "bert-pretrained", "gpt2-pretrained"


def evidence(task: str = "sentiment", *backbones: str, results: Table = RESULTS) -> Evidence:
    return select(results, task, backbones or (BERT,), {BERT: "BERT"})


def test_only_what_was_chosen_is_there_and_has_a_title() -> None:
    chosen = evidence("topic", BERT, "gpt2-sentiment")
    assert {row.task for row in chosen.every["probe"]} == {"topic"}
    for kind in ("probe", "cosine"):
        assert {row.backbone for row in chosen.every[kind]} == {BERT, "gpt2-sentiment"}
    assert (chosen.titles[BERT], chosen.titles["gpt2-sentiment"]) == ("BERT", "gpt2-sentiment")
    assert chosen.every["head"] == measured(RESULTS, "head")
    assert {row.backbone for row in chosen.every["head"]} <= chosen.titles.keys()
    assert chosen.of("probe", BERT) == measured(RESULTS, "probe", backbone=BERT, task="topic")


def test_rows_keep_the_order_of_the_results_and_cls_is_not_compared_with_itself() -> None:
    names = [name for (name,) in evidence().rows]
    assert (names[:2], tuple(names[-2:])) == (["native", "cls"], LEARNED)
    tested = against_base(vectors(evidence().of("probe", BERT)))
    assert {row.pooling for row in tested} == set(names) - {"cls"}


def alike(pooling: str, backbone: str = BERT, results: Table = RESULTS) -> Table:
    """Results in which native, cls and ``pooling`` are one vector of a backbone."""

    def same(kind: str) -> list[object]:
        return [
            beside(row, vector="native")
            if row.backbone == backbone and row.pooling in ("native", "cls", pooling)
            else row
            for row in measured(results, kind)
        ]

    return having(results, probe=same("probe"), cosine=same("cosine"))


def test_one_vector_is_one_row_and_one_test() -> None:
    chosen = evidence(results=alike("first"))
    others = [name for name in fake_names() if name not in ("native", "cls", "first")]
    assert chosen.rows == [("native", "cls", "first"), *((name,) for name in others)]
    raw = {row.pooling: row.p for row in chosen.of("probe", BERT)}
    tested = {row.pooling: row.corrected for row in against_base(vectors(chosen.of("probe", BERT)))}
    holm = multipletests([raw[name] for name in others], method="holm")[1]
    assert tested == pytest.approx(dict(zip(others, holm, strict=True)))
    for found in (chosen.of("probe", BERT), chosen.rhos(BERT)):
        assert vectors(found)[0].called == "native = cls = first"
    found = records(PROBES.show(chosen, {}, SAY))
    assert [row["pooling"] for row in found] == [one_vector(row) for row in chosen.rows]
    assert (found[0]["pooling"], found[0]["p"], found[0]["p, Holm"]) == ("native = cls = first", "", "")
    drawn = checked(ACCURACY.show(chosen, {}, SAY).figure)
    assert drawn.layout.yaxis.ticktext[0] == "<b>native = cls =<br>first</b>"
    assert len(drawn.data[0].x) == len(chosen.rows) == len(found)
    sentence = words(FINDINGS.show(chosen, {}, SAY).html)
    assert f"over {len(found)} different vectors" in sentence
    assert f"of {len(found) - 1} differ from cls" in sentence


def fake_names() -> list[str]:
    return [row.pooling for row in measured(RESULTS, "probe", backbone=BERT, task="sentiment")]


def test_backbones_share_a_row_where_it_is_one_vector_in_each() -> None:
    assert all(len(row) == 1 for row in evidence("sentiment", BERT, GPT, results=alike("first")).rows)
    both = evidence("sentiment", BERT, GPT, results=alike("lasttoken", GPT, alike("first")))
    assert both.rows[0] == ("native", "cls")
    assert {("first",), ("lasttoken",)} <= set(both.rows)
    assert vectors(both.of("probe", GPT))[0].called == "native = cls = lasttoken"


@pytest.mark.parametrize(
    ("one", "other"), [((746, 872), (757, 872)), ((10, 50), (600, 900)), ((5, 5), (5, 5)), ((1, 9), (1, 9))]
)
def test_the_test_is_the_textbook_s(one: tuple[int, int], other: tuple[int, int]) -> None:
    found = proportions_p(one[0] / one[1], one[1], other[0] / other[1], other[1])
    counts, totals = zip(one, other, strict=True)
    assert found == (1 if one == other else pytest.approx(proportions_ztest(counts, totals)[1], rel=1e-9))


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
@pytest.mark.parametrize("pooling", ["own", "cls", "mean"])
def test_pairs_are_counted_after_holm_s_correction(task: str, pooling: str) -> None:
    rows = measured(SHIPPED, "head", task=task)
    if pooling != "own":
        keys = {row.backbone for row in rows}
        rows = [r for r in measured(SHIPPED, "probe", task=task, pooling=pooling) if r.backbone in keys]
    pairs = list(combinations([(round(row.value * row.measured), row.measured) for row in rows], 2))
    ps = [proportions_ztest(*zip(*pair, strict=True))[1] for pair in pairs]
    expected = int(multipletests(ps, alpha=0.05, method="holm")[0].sum())
    given = [SimpleNamespace(value=row.value, measured=row.measured) for row in rows]
    assert len(pairs) == 10
    assert differing(given) == expected == (1 if (task, pooling) == ("paraphrase", "mean") else 0)


@pytest.mark.parametrize("tag", languages())
def test_the_question_of_fairness_names_no_winner_where_no_difference_counts(tag: str) -> None:
    answers = Answers(shipped(), SHIPPED, read_questions(), load_texts(tag))
    said = re.sub(r"<[^>]+>|\u200b", "", answers.answer("fair").card)
    assert {"en": "None of the 10 differences", "zh": "10 个差异都不显著"}[tag] in said
    assert not re.search(r"first in|comes first|居首", said)
    assert {"en": "choice of test examples only", "zh": "只反映测试样本的抽取"}[tag] in said
