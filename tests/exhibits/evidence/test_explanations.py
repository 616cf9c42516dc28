"""What the exhibit of explanations says and draws, against the numbers that it was given."""

from statsmodels.stats.multitest import multipletests

from components.exhibits.evidence import Evidence, select
from components.exhibits.small_plots import EXPLANATIONS
from components.results import Row, Table, beside
from components.texts import load_texts
from tests.exhibits.showing import checked, plain, same_intervals
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, FAMILIES, LOWER, fake_results

SAY = load_texts()
RESULTS = fake_results()
KEYS = [f"{family}-sentiment" for family in FAMILIES]


def evidence(results: Table = RESULTS) -> Evidence:
    return select(results, "topic", BACKBONES[:1], {key: key.title() for key in KEYS})


def of(key: str) -> dict[tuple[str, int | None], Row]:
    return {(row.method, row.layer): row for row in measured(RESULTS, "agreement", backbone=key)}


def text(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def test_the_sentence_says_what_the_numbers_say() -> None:
    said = plain(EXPLANATIONS.show(evidence(), {}, SAY).above)
    beaten = 0
    for key in KEYS:
        rows = of(key)
        last = rows["similarity", LOWER]
        others = [
            row for (method, layer), row in rows.items() if method != "similarity" and layer in (None, LOWER)
        ]
        holds = multipletests([row.p for row in others], method="holm")[1] < 0.05
        closer = [row for row, real in zip(others, holds, strict=True) if real and row.better > row.worse]
        beaten += bool(closer)
        own = said.split(key.title())[1].split("-Sentiment")[0]
        assert f": ρ = {text(last.value)} (95 %" in own
        best = max(row.value for (method, _), row in rows.items() if method == "similarity")
        assert f"with {text(best)}" in own
        assert ("Nothing else is closer" in own) == (not closer)
        for row in closer:
            assert f"({text(row.value)})" in own.split("closer to erasure than that")[1]
    assert 0 < beaten < len(KEYS)
    assert f"is not the best answer to which token matters for {beaten} of {len(KEYS)} checkpoints" in said


def test_an_answer_that_is_further_from_erasure_is_not_called_closer() -> None:
    worse = [beside(row, better=1, worse=90, p=1e-9) for row in measured(RESULTS, "agreement")]
    said = plain(EXPLANATIONS.show(evidence(having(RESULTS, agreement=worse)), {}, SAY).above)
    assert said.count("Nothing else is closer to erasure") == len(KEYS)
    assert "So nothing that was tried comes closer to erasure" in said


def test_every_answer_is_drawn_with_its_interval_in_the_row_of_its_name() -> None:
    figure = checked(EXPLANATIONS.show(evidence(), {}, SAY).figure)
    names = figure.layout.yaxis.ticktext
    assert len(figure.data) == len(KEYS)
    for key, dots in zip(KEYS, figure.data, strict=True):
        rows = list(of(key).values())
        same_intervals(rows, dots.x, dots.error_x)
        for place, row in zip(dots.y, rows, strict=True):
            assert (f"layer {row.layer}" in names[place]) == (row.layer is not None)
            assert row.method.split("_")[0][:5] in names[place] or row.method == "rollout"
        low, high = figure.layout.xaxis.range
        assert low < min(row.low for row in rows)
        assert high > max(row.high for row in rows)
    assert [note.text for note in figure.layout.annotations] == [f"<b>{key.title()}</b>" for key in KEYS]


def test_a_checkpoint_with_fewer_layers_keeps_to_the_rows_of_the_others() -> None:
    rows = measured(RESULTS, "agreement")
    short = [row for row in rows if row.backbone != KEYS[0] or row.layer in (0, 1, None)]
    full = checked(EXPLANATIONS.show(evidence(), {}, SAY).figure)
    figure = checked(EXPLANATIONS.show(evidence(having(RESULTS, agreement=short)), {}, SAY).figure)
    assert figure.layout.yaxis.ticktext == full.layout.yaxis.ticktext
    assert len(figure.data[0].y) == len(full.data[0].y) - 2
    assert list(figure.data[1].y) == list(full.data[1].y)
