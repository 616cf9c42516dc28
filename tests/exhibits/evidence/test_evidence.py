import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exhibits.evidence.evidence import Estimate, Evidence, holm, select
from tests.ui.fake_results import BACKBONES, LEARNED, fake_results

RESULTS = fake_results()


def evidence(task: str = "sentiment", *backbones: str) -> Evidence:
    return select(RESULTS, task, backbones or ("bert-pretrained",), {"bert-pretrained": "BERT"})


def test_only_what_was_chosen_is_there() -> None:
    chosen = evidence("topic", "bert-pretrained", "gpt2-sentiment")
    assert {row.task for row in chosen.probes} == {"topic"}
    assert {row.backbone for row in (*chosen.probes, *chosen.cosines)} == {
        "bert-pretrained",
        "gpt2-sentiment",
    }
    assert chosen.titles["bert-pretrained"] == "BERT"
    assert chosen.titles["gpt2-sentiment"] == "gpt2-sentiment"


@pytest.mark.parametrize("backbone", BACKBONES)
def test_numbers_are_those_of_the_results(backbone: str) -> None:
    chosen = evidence("paraphrase", backbone)
    assert chosen.accuracies(backbone) == {
        row.pooling: Estimate(row.accuracy, row.low, row.high, row.measured)
        for row in RESULTS.probes
        if (row.backbone, row.task) == (backbone, "paraphrase")
    }
    assert list(chosen.rhos(backbone).values()) == [
        Estimate(row.rho, row.low, row.high, row.pairs) for row in RESULTS.cosines if row.backbone == backbone
    ]


def test_own_heads_are_those_of_every_task_and_have_titles() -> None:
    chosen = evidence("topic")
    assert chosen.own == RESULTS.checkpoints
    assert {row.backbone for row in chosen.own} <= chosen.titles.keys()


def test_rows_keep_the_order_of_the_results_and_cls_is_not_compared_with_itself() -> None:
    chosen = evidence()
    assert chosen.poolings[:2] == ("native", "cls")
    assert chosen.poolings[-2:] == LEARNED
    assert set(chosen.corrected("bert-pretrained")) == set(chosen.poolings) - {"cls"}


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_rejects_what_the_stepwise_procedure_rejects(ps: list[float]) -> None:
    corrected = np.array(holm(ps))
    assert (corrected >= ps).all()
    assert (corrected <= 1).all()
    for level in (0.01, 0.05, 0.5):
        rejected = set()
        for step, index in enumerate(np.argsort(ps, kind="stable")):
            if ps[index] * (len(ps) - step) >= level:
                break
            rejected.add(int(index))
        assert {index for index, p in enumerate(corrected) if p < level} == rejected
