"""What the exhibit of whitening says and draws, against the numbers that it was given."""

import numpy as np
import pytest

from components.exhibits.evidence import Evidence, select
from components.exhibits.small_plots import WHITENING
from components.exhibits.view import shorten
from components.results import Row, Table, beside
from components.texts import load_texts
from tests.exhibits.showing import checked, plain, records, same_intervals
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, POOLED, fake_results

SAY = load_texts()
RESULTS = fake_results()
CHOSEN = ("bert-pretrained", "roberta-sentiment")
TITLES = {"bert-pretrained": "BERT", "roberta-sentiment": "RoBERTa"}
STEPS = ("centred", "standardised", "whitened")


def evidence(results: Table = RESULTS) -> Evidence:
    return select(results, "topic", CHOSEN, TITLES)


def said(results: Table = RESULTS) -> str:
    return plain(WHITENING.show(evidence(results), {}, SAY).above)


def of(key: str, step: str) -> list[Row]:
    return measured(RESULTS, "postprocessed", backbone=key, step=step)


def gaining(gains: dict[str, float]) -> Table:
    """The results with the gain of whitening that each backbone is given, the same for all its vectors."""
    rows = (
        beside(row, gain=gain, gain_low=gain - 0.01, gain_high=gain + 0.01)
        for row in measured(RESULTS, "postprocessed")
        for gain in [gains.get(row.backbone, 0.1) if row.step == "whitened" else row.gain]
    )
    return having(RESULTS, postprocessed=rows)


def test_the_sentence_says_what_the_numbers_say() -> None:
    text = said()
    for key in CHOSEN:
        own = text.split(f"{TITLES[key]}, ")[1]
        for step in STEPS:
            raised = sum(row.gain_low > 0 for row in of(key, step))
            lowered = sum(row.gain_high < 0 for row in of(key, step))
            assert f"{step}, higher for {raised} and lower for {lowered}" in own
        highest = max((row for step in STEPS for row in of(key, step)), key=lambda row: row.value)
        before = max(measured(RESULTS, "cosine", backbone=key), key=lambda row: row.value)
        assert f"of plain cosines is {before.value:.2f} ({before.pooling})" in own
        assert f"it is {highest.value:.2f} ({highest.pooling}, {highest.step})" in own
    rows = measured(RESULTS, "postprocessed", step="whitened")
    assert (
        f"Of the {len(rows)} vectors of all 15 backbones that were measured, whitening raises ρ for"
        f" {sum(row.gain_low > 0 for row in rows)} and lowers it for {sum(row.gain_high < 0 for row in rows)}"
    ) in text


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
    assert f"So here it {verdict}" in said(gaining(gains))


def test_poolings_that_are_one_vector_count_once() -> None:
    same = {"cls": "native", "first": "native"}
    rows = [
        beside(row, vector=same.get(row.pooling, row.vector)) for row in measured(RESULTS, "postprocessed")
    ]
    shown = WHITENING.show(evidence(having(RESULTS, postprocessed=rows)), {}, SAY)
    assert f"BERT, {len(POOLED) - 2} different vectors" in plain(shown.above)
    assert "native = cls = first" in checked(shown.figure).layout.yaxis.ticktext[0].replace("<br>", " ")
    assert {row["pooling"] for row in records(shown)} >= {"native = cls = first", "mean"}


def test_every_rho_is_drawn_with_its_interval_in_the_row_of_its_name() -> None:
    figure = checked(WHITENING.show(evidence(), {}, SAY).figure)
    names = [name.replace("<br>", "") for name in figure.layout.yaxis.ticktext]
    plain_rows = [{row.pooling: row for row in measured(RESULTS, "cosine", backbone=key)} for key in CHOSEN]
    given = [
        rows
        for key, first in zip(CHOSEN, plain_rows, strict=True)
        for rows in (first, *({row.pooling: row for row in of(key, step)} for step in STEPS))
    ]
    assert len(figure.data) == len(given) == 8
    for dots, rows in zip(figure.data, given, strict=True):
        called = {shorten(pooling): row for pooling, row in rows.items()}
        drawn = [called[names[round(place)].removeprefix("<b>").removesuffix("</b>")] for place in dots.y]
        assert len(drawn) == len(rows)
        same_intervals(drawn, dots.x, dots.error_x)
    assert [note.text for note in figure.layout.annotations] == ["<b>BERT</b>", "<b>RoBERTa</b>"]


@pytest.mark.parametrize(("least", "said"), [(0.05, "STS-B"), (0.41, "(the axis starts at 0.4)")])
def test_the_axis_says_where_it_starts(least: float, said: str) -> None:
    high = [beside(row, value=0.6, low=least, high=0.65) for row in measured(RESULTS, "postprocessed")]
    plain_ones = [beside(row, value=0.6, low=0.5, high=0.65) for row in measured(RESULTS, "cosine")]
    given = evidence(having(RESULTS, postprocessed=high, cosine=plain_ones))
    figure = checked(WHITENING.show(given, {}, SAY).figure)
    assert figure.layout.xaxis.title.text.endswith(said)
    np.testing.assert_allclose(figure.layout.xaxis2.range, [int(10 * least) / 10, 0.7])


def test_its_numbers_hold_the_gain_of_each_step() -> None:
    found = [row for row in records(WHITENING.show(evidence(), {}, SAY)) if row["backbone"] == "BERT"]
    whole = [row for row in found if row["pooling"] == "mean"]
    assert [row["step before the cosine"] for row in whole] == ["plain", *STEPS]
    assert whole[0]["ρ less that of plain cosines"] == ""
    gains = [float(row["ρ less that of plain cosines"]) for row in whole[1:]]
    expected = [row.gain for step in STEPS for row in of(CHOSEN[0], step) if row.pooling == "mean"]
    np.testing.assert_allclose(gains, expected, atol=1e-6)
