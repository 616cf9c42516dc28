"""The small plots of the evidence and their sentences, against the numbers that they were given."""

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from components.exhibits.evidence import Evidence, select
from components.exhibits.small_plots import DEPTHS, EXPLANATIONS, WHITENING, profiles
from components.exhibits.view import number, shorten
from components.results import Row, Table, beside
from components.texts import load_texts
from tests.exhibits.showing import checked, plain, records, same_intervals
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, DEEP, FAMILIES, LOWER, POOLED, TASKS, fake_results

SAY = load_texts()
RESULTS = fake_results()
CHOSEN = ("bert-pretrained", "roberta-sentiment")
STEPS = ("centred", "standardised", "whitened")
TUNED = [f"{family}-sentiment" for family in FAMILIES]


def evidence(*keys: str, task: str = "topic", results: Table = RESULTS) -> Evidence:
    return select(results, task, keys or CHOSEN, {"bert-pretrained": "BERT", "roberta-sentiment": "RoBERTa"})


def said(exhibit: Any, given: Evidence) -> str:
    return plain(exhibit.show(given, {}, SAY).above)


def below(key: str, task: str = "topic") -> list[Row]:
    return measured(RESULTS, "depth", backbone=key, task=task)


@pytest.mark.parametrize(("key", "task"), list(zip(BACKBONES[:2], TASKS, strict=False)))
def test_the_sentence_of_layers_says_what_the_numbers_say(key: str, task: str) -> None:
    found = below(key, task)
    last = {row.pooling: row.value for row in measured(RESULTS, "probe", backbone=key, task=task)}
    counts = multipletests([row.p for row in found], method="holm")[1] < 0.05
    better = [row.pooling for row, real in zip(found, counts, strict=True) if real and row.better > row.worse]
    highest = {pooling: max(row.value for row in found if row.pooling == pooling) for pooling in DEEP}
    sentence = said(DEPTHS, evidence(key, task=task))
    reach = sum(highest[pooling] > last[pooling] for pooling in DEEP)
    assert f"{reach} of {len(DEEP)} poolings are most accurate below the last layer" in sentence
    worse = sum(counts) - len(better)
    told = f"{len(better)} of {len(found)} are better than the last one by more than chance and {worse}"
    assert told in sentence
    top = max(max(highest.values()), max(last[pooling] for pooling in DEEP))
    assert f"Highest of all: {100 * top:.1f} % with" in sentence
    verdict = "So here a layer below the last is better than the last one, for"
    assert (verdict in sentence) == bool(better)
    assert all(pooling in sentence.split(verdict)[1].split(".")[0] for pooling in better)


def test_a_layer_that_is_worse_by_far_is_not_called_better() -> None:
    worse = [beside(row, better=1, worse=90, p=1e-9) for row in measured(RESULTS, "depth")]
    sentence, total = said(DEPTHS, evidence(results=having(RESULTS, depth=worse))), LOWER * len(DEEP)
    assert f"0 of {total} are better than the last one by more than chance and {total} are worse" in sentence
    assert "So here no layer below the last" in sentence


def test_poolings_that_are_one_vector_at_every_layer_are_tested_once() -> None:
    """Those that are one at some layers alone are two."""

    def same(pooling: str, layers: range) -> Table:
        rows = {
            kind: [
                beside(row, vector="cls")
                if row.pooling == pooling and (kind == "probe" or row.layer in layers)
                else row
                for row in measured(RESULTS, kind)
            ]
            for kind in ("probe", "depth")
        }
        return having(RESULTS, **rows)

    whole = profiles(evidence(results=same("mean", range(LOWER))), CHOSEN[0])
    assert [one[0].poolings for one in whole] == [("cls", "mean"), ("max",)]
    raw = [row.p for row in below(CHOSEN[0]) if row.pooling != "mean"]
    corrected = sorted(row.corrected for one in whole for row in one[:-1])
    np.testing.assert_allclose(corrected, sorted(multipletests(raw, method="holm")[1]))
    assert len(profiles(evidence(results=same("mean", range(1))), CHOSEN[0])) == 3


def test_every_layer_is_drawn_with_its_interval() -> None:
    figure = checked(DEPTHS.show(evidence(), {}, SAY).figure)
    assert len(figure.data) == len(CHOSEN) * len(DEEP)
    for place, line in enumerate(figure.data):
        pooling, key = DEEP[place // len(CHOSEN)], CHOSEN[place % len(CHOSEN)]
        expected = [row for row in below(key) if row.pooling == pooling]
        (last,) = measured(RESULTS, "probe", backbone=key, task="topic", pooling=pooling)
        assert list(line.x) == list(range(LOWER + 1))
        same_intervals([*expected, last], line.y, line.error_y)
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>cls</b>", "mean", "max", "layer (0: the embeddings)"]


def of(key: str, step: str) -> list[Row]:
    return measured(RESULTS, "postprocessed", backbone=key, step=step)


def test_the_sentence_of_whitening_says_what_the_numbers_say() -> None:
    text = said(WHITENING, evidence())
    for key, title in zip(CHOSEN, ("BERT", "RoBERTa"), strict=True):
        own = text.split(f"{title}, ")[1]
        for step in STEPS:
            raised = sum(row.gain_low > 0 for row in of(key, step))
            lowered = sum(row.gain_high < 0 for row in of(key, step))
            assert f"{step}, higher for {raised} and lower for {lowered}" in own
        highest = max((row for step in STEPS for row in of(key, step)), key=lambda row: row.value)
        before = max(measured(RESULTS, "cosine", backbone=key), key=lambda row: row.value)
        assert f"of plain cosines is {before.value:.2f} ({before.pooling})" in own
        assert f"it is {highest.value:.2f} ({highest.pooling}, {highest.step})" in own


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ({}, "helps raw cosines in every backbone."),
        ({"bert-pretrained": -0.1}, "helps raw cosines in 14 backbones, but not in BERT."),
        ({"roberta-sentiment": 0.005}, "helps raw cosines in 14 backbones, but not in RoBERTa."),  # by chance
        (dict.fromkeys(BACKBONES, -0.1), "helps raw cosines in none of the backbones."),
    ],
)
def test_the_verdict_names_where_whitening_does_not_help(gains: dict[str, float], verdict: str) -> None:
    rows = (
        beside(row, gain=gain, gain_low=gain - 0.01, gain_high=gain + 0.01)
        for row in measured(RESULTS, "postprocessed")
        for gain in [gains.get(row.backbone, 0.1) if row.step == "whitened" else row.gain]
    )
    assert f"So here it {verdict}" in said(WHITENING, evidence(results=having(RESULTS, postprocessed=rows)))


def test_every_rho_is_drawn_with_its_interval_in_the_row_of_its_name() -> None:
    shown = WHITENING.show(evidence(), {}, SAY)
    figure = checked(shown.figure)
    names = [name.replace("<br>", "") for name in figure.layout.yaxis.ticktext]
    given = [
        rows
        for key in CHOSEN
        for rows in (measured(RESULTS, "cosine", backbone=key), *(of(key, s) for s in STEPS))
    ]
    assert len(figure.data) == len(given) == 8
    for dots, rows in zip(figure.data, given, strict=True):
        called = {shorten(row.pooling): row for row in rows}
        drawn = [called[names[round(place)].removeprefix("<b>").removesuffix("</b>")] for place in dots.y]
        assert len(drawn) == len(rows)
        same_intervals(drawn, dots.x, dots.error_x)
    assert [note.text for note in figure.layout.annotations] == ["<b>BERT</b>", "<b>RoBERTa</b>"]
    whole = [row for row in records(shown) if (row["backbone"], row["pooling"]) == ("BERT", "mean")]
    assert [row["step before the cosine"] for row in whole] == ["plain", *STEPS]
    gains = [row["ρ less that of plain cosines"] for row in whole]
    expected = [row.gain for step in STEPS for row in of(CHOSEN[0], step) if row.pooling == "mean"]
    assert gains[0] == ""
    np.testing.assert_allclose(list(map(float, gains[1:])), expected, atol=1e-6)


def test_poolings_that_are_one_vector_before_the_cosine_count_once() -> None:
    same = {"cls": "native", "first": "native"}
    rows = [
        beside(row, vector=same.get(row.pooling, row.vector)) for row in measured(RESULTS, "postprocessed")
    ]
    shown = WHITENING.show(evidence(results=having(RESULTS, postprocessed=rows)), {}, SAY)
    assert f"BERT, {len(POOLED) - 2} different vectors" in plain(shown.above)
    assert "native = cls = first" in checked(shown.figure).layout.yaxis.ticktext[0].replace("<br>", " ")


@pytest.mark.parametrize(("least", "end"), [(0.05, "STS-B"), (0.41, "(the axis starts at 0.4)")])
def test_the_axis_says_where_it_starts(least: float, end: str) -> None:
    high = [beside(row, value=0.6, low=least, high=0.65) for row in measured(RESULTS, "postprocessed")]
    plain_ones = [beside(row, value=0.6, low=0.5, high=0.65) for row in measured(RESULTS, "cosine")]
    given = evidence(results=having(RESULTS, postprocessed=high, cosine=plain_ones))
    figure = checked(WHITENING.show(given, {}, SAY).figure)
    assert figure.layout.xaxis.title.text.endswith(end)
    np.testing.assert_allclose(figure.layout.xaxis2.range, [int(10 * least) / 10, 0.7])


def answered(key: str) -> dict[tuple[str, int | None], Row]:
    return {(row.method, row.layer): row for row in measured(RESULTS, "agreement", backbone=key)}


def test_the_sentence_of_explanations_says_what_the_numbers_say() -> None:
    text, beaten = said(EXPLANATIONS, select(RESULTS, "topic", TUNED, {})), 0
    for key in TUNED:
        rows = answered(key)
        last = rows["similarity", LOWER]
        others = [row for (method, at), row in rows.items() if method != "similarity" and at in (None, LOWER)]
        holds = multipletests([row.p for row in others], method="holm")[1] < 0.05
        closer = [row for row, real in zip(others, holds, strict=True) if real and row.better > row.worse]
        beaten += bool(closer)
        own = text.split(f"{key}: ")[1].split("-sentiment: ")[0]
        assert own.startswith(f"ρ = {number(last.value)} (95 %")
        best = max(row.value for (method, _), row in rows.items() if method == "similarity")
        assert f"with {number(best)}" in own
        assert ("Nothing else is closer" in own) == (not closer)
        for row in closer:
            assert f"({number(row.value)})" in own.split("closer to erasure than that")[1]
    assert 0 < beaten < len(TUNED)
    assert f"is not the best answer to which token matters for {beaten} of {len(TUNED)} checkpoints" in text
    worse = [beside(row, better=1, worse=90, p=1e-9) for row in measured(RESULTS, "agreement")]
    text = said(EXPLANATIONS, evidence(results=having(RESULTS, agreement=worse)))  # further from erasure
    assert text.count("Nothing else is closer to erasure") == len(TUNED)
    assert "So nothing that was tried comes closer to erasure" in text


def test_every_answer_is_drawn_with_its_interval_in_the_row_of_its_name() -> None:
    figure = checked(EXPLANATIONS.show(evidence(), {}, SAY).figure)
    names = figure.layout.yaxis.ticktext
    for key, dots in zip(TUNED, figure.data, strict=True):
        rows = list(answered(key).values())
        same_intervals(rows, dots.x, dots.error_x)
        for place, row in zip(dots.y, rows, strict=True):
            assert (f"layer {row.layer}" in names[place]) == (row.layer is not None)
            assert row.method.split("_")[0][:5] in names[place] or row.method == "rollout"
        low, high = figure.layout.xaxis.range
        assert low < min(row.low for row in rows) < max(row.high for row in rows) < high
    short = [
        row for row in measured(RESULTS, "agreement") if row.backbone != TUNED[0] or row.layer in (0, 1, None)
    ]
    fewer = checked(EXPLANATIONS.show(evidence(results=having(RESULTS, agreement=short)), {}, SAY).figure)
    assert (
        fewer.layout.yaxis.ticktext == names
    )  # a checkpoint with fewer layers keeps to the rows of the others
    assert len(fewer.data[0].y) == len(figure.data[0].y) - 2
    assert list(fewer.data[1].y) == list(figure.data[1].y)
