from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exhibits.draw.labels import one_vector
from components.exhibits.evidence.evidence import Estimate, Evidence, select
from components.exhibits.evidence.findings import FINDINGS
from components.exhibits.evidence.intervals import ACCURACY
from components.exhibits.evidence.table import PROBES
from components.results import CosineResult, ProbeResult, Results, holm
from components.texts import load_texts
from tests.exhibits.compared_html import words
from tests.exhibits.showing import checked, records
from tests.ui.fake_results import BACKBONES, LEARNED, fake_results

RESULTS = fake_results()
SAY = load_texts()
Row = TypeVar("Row", ProbeResult, CosineResult)


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


def alike(pooling: str, backbone: str = "bert-pretrained") -> Results:
    """Results in which native, cls and ``pooling`` are one vector of a backbone, with one row's numbers."""

    def same(row: Row) -> Row:
        if row.backbone != backbone or row.pooling not in ("native", "cls", pooling):
            return row
        return replace(row, vector="native")

    return replace(
        RESULTS, probes=tuple(map(same, RESULTS.probes)), cosines=tuple(map(same, RESULTS.cosines))
    )


def test_one_vector_is_one_row_and_one_test() -> None:
    chosen = select(alike("first"), "sentiment", ("bert-pretrained",), {})
    others = [name for name in chosen.poolings if name not in ("native", "cls", "first")]
    assert chosen.rows == (("native", "cls", "first"), *((name,) for name in others))
    raw = {row.pooling: row.p for row in chosen.probes}
    assert chosen.corrected("bert-pretrained") == pytest.approx(
        dict(zip(others, holm([raw[name] for name in others]), strict=True))
    )
    accuracies = chosen.accuracies("bert-pretrained")
    named = chosen.distinct_accuracies("bert-pretrained")
    assert list(named) == ["native = cls = first", *others]
    assert named["native = cls = first"] == accuracies["native"]
    assert "native = cls = first" in chosen.distinct_rhos("bert-pretrained")
    assert set(accuracies) == set(chosen.poolings)  # each can still be looked up
    (first, poolings), *_ = chosen.vectors("bert-pretrained")
    assert (first.pooling, poolings) == ("native", ("native", "cls", "first"))


def test_backbones_share_a_row_where_it_is_one_vector_in_each() -> None:
    both = select(alike("first"), "sentiment", ("bert-pretrained", "gpt2-pretrained"), {})
    assert all(len(row) == 1 for row in both.rows)
    bert, gpt = alike("first").probes, alike("lasttoken", "gpt2-pretrained").probes
    mixed = tuple(b if b.backbone == "bert-pretrained" else g for b, g in zip(bert, gpt, strict=True))
    both = select(replace(RESULTS, probes=mixed), "sentiment", ("bert-pretrained", "gpt2-pretrained"), {})
    assert both.rows[0] == ("native", "cls")
    assert ("first",) in both.rows
    assert ("lasttoken",) in both.rows
    assert "native = cls = lasttoken" in both.distinct_accuracies("gpt2-pretrained")


def test_the_table_names_one_vector_together() -> None:
    chosen = select(alike("first"), "sentiment", ("bert-pretrained",), {})
    found = records(PROBES.show(chosen, {}, SAY))
    assert [row["pooling"] for row in found] == [one_vector(row) for row in chosen.rows]
    assert (found[0]["pooling"], found[0]["p"], found[0]["p, Holm"]) == ("native = cls = first", "", "")
    drawn = checked(ACCURACY.show(chosen, {}, SAY).figure)
    assert drawn.layout.yaxis.ticktext[0] == "<b>native = cls =<br>first</b>"
    assert len(drawn.data[0].x) == len(chosen.rows) == len(found)
    sentence = words(FINDINGS.show(chosen, {}, SAY).html)
    assert f"over {len(found)} different vectors" in sentence
    assert f"of {len(found) - 1} differ from cls" in sentence
