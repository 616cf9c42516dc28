"""The two plots of the evidence and its sentences: dots, boxes, lines, axes and words are the results."""

import numpy as np
import plotly.graph_objects as go
import pytest

from components.exhibits.evidence import PROBES, Evidence, accuracy_text, select
from components.exhibits.exhibit import to_csv
from components.exhibits.intervals import ACCURACY, FINDINGS, LEGEND, PUBLISHED, RHO
from components.exhibits.view import number
from components.results import Row, Table, beside, read_results
from components.texts import ASSETS, load_texts
from tests.exhibits.showing import checked, plain, rows
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, TASKS, fake_results

SAY = load_texts()
RESULTS = fake_results()
TUNED = "bert-sentiment"
MARK = "own head under a swap"


def evidence(*backbones: str, task: str = "topic", results: Table = RESULTS) -> Evidence:
    return select(results, task, backbones or BACKBONES[:1], {})


def accuracy(chosen: Evidence) -> go.Figure:
    return checked(ACCURACY.show(chosen, {}, SAY).figure)


def rho(chosen: Evidence) -> go.Figure:
    return checked(RHO.show(chosen, {}, SAY).figure)


def said(given: Evidence) -> str:
    return plain(FINDINGS.show(given, {}, SAY).html)


def drawn(figure: go.Figure, chosen: Evidence) -> list[dict[str, tuple[float, float, float]]]:
    """For each backbone the estimates that a reader sees, by pooling: value, low, high."""
    return [
        {
            chosen.rows[round(y)][0]: (x, x - below, x + above)
            for x, y, below, above in zip(
                dots.x, dots.y, dots.error_x.arrayminus, dots.error_x.array, strict=True
            )
        }
        for dots in figure.data
        if dots.mode == "markers"
    ]


def expected(found: list[Row]) -> dict[str, object]:
    return {row.pooling: pytest.approx((row.value, row.low, row.high), abs=2e-4) for row in found}


@pytest.mark.parametrize("total", [1, 5])
def test_dots_and_intervals_are_the_results_on_the_same_rows_and_scale(total: int) -> None:
    chosen = evidence(*BACKBONES[:total])
    figures = accuracy(chosen), rho(chosen)
    found = [
        [measured(RESULTS, "probe", backbone=key, task="topic") for key in chosen.backbones],
        [measured(RESULTS, "cosine", backbone=key) for key in chosen.backbones],
    ]
    for figure, results in zip(figures, found, strict=True):
        assert drawn(figure, chosen) == list(map(expected, results))
        start, end = figure.layout.xaxis.range
        every = [value for row in drawn(figure, chosen) for estimate in row.values() for value in estimate]
        assert start - 1e-6 <= min(every) < max(every) <= end + 1e-6
    left, right = (figure.layout for figure in figures)
    (low, high), (lowest, highest) = left.xaxis.range, right.xaxis.range
    assert high - low == pytest.approx(highest - lowest)
    assert high - low < 1
    assert np.diff(left.xaxis.tickvals) == pytest.approx(np.diff(right.xaxis.tickvals))
    assert (left.yaxis.ticktext, left.height) == (right.yaxis.ticktext, right.height)
    lines = [[line.x0 for line in one.shapes if line.line.dash != "dot"] for one in (left, right)]
    assert lines == [[0.51, 0.74], []]  # at what needs no network


def test_one_backbone_has_its_numbers_beside_it_and_a_line_at_cls() -> None:
    chosen, left, right = evidence(), accuracy(evidence()), rho(evidence())
    probes, rhos = ({row.pooling: row.value for row in chosen.every[kind]} for kind in ("probe", "cosine"))
    assert list(left.data[1].text) == [accuracy_text(probes[name]) for (name,) in chosen.rows]
    assert list(right.data[1].text)[-2:] == ["–", "–"]
    assert (left.layout.shapes[0].x0, right.layout.shapes[0].x0) == (probes["cls"], rhos["cls"])


@pytest.mark.parametrize(
    ("low", "high", "title"), [(-0.3, 0.1, "axis from −0.30 to 0.10"), (0.01, 0.99, "")], ids=["below", "all"]
)
def test_an_axis_holds_what_is_drawn_and_says_where_it_does_not_go_from_0_to_1(
    low: float, high: float, title: str
) -> None:
    cosine = beside(measured(RESULTS, "cosine")[0], value=(low + high) / 2, low=low, high=high)
    layout = rho(evidence(results=having(RESULTS, cosine=[cosine]))).layout
    assert layout.xaxis.range[0] <= low
    assert layout.xaxis.title.text.partition("<br>")[2] == title


def test_the_legend_names_every_backbone_its_size_and_what_needs_no_network() -> None:
    alone, several = (LEGEND.show(evidence(*BACKBONES[:total]), {}, SAY).html for total in (1, 5))
    assert "Dotted line: cls." in alone
    assert "Dotted line" not in several
    assert all(key in several for key in BACKBONES[:5])
    assert "always the most frequent label: 51.0 %" in several
    assert f"{BACKBONES[0]}: 2 layers of width 128, 1.6 million parameters" in alone
    without = LEGEND.show(evidence(results=having(RESULTS, size=[])), {}, SAY).html
    assert "million" not in without


def test_both_say_their_ends_and_have_the_numbers_of_the_table() -> None:
    chosen = evidence(*BACKBONES[:3])
    for exhibit, kind in ((ACCURACY, "probe"), (RHO, "cosine")):
        shown = exhibit.show(chosen, {}, SAY)
        for key in chosen.backbones:
            found = sorted(chosen.of(kind, key), key=lambda row: row.value)
            assert f"{key}: lowest {found[0].pooling} with " in shown.words
            assert f"highest {found[-1].pooling} with " in shown.words
        assert len(rows(shown)) == 1 + len(chosen.every["probe"])
        assert exhibit.show(evidence("absent"), {}, SAY).words == "Nothing was measured of these backbones."
        about = exhibit.show(evidence(), {}, load_texts("zh")).about
        assert about.startswith("新闻主题 · ● bert-pretrained")


@pytest.mark.parametrize("keys", [(TUNED,), (TUNED, "gpt2-sentiment", "roberta-pretrained")])
def test_boxes_are_the_intervals_of_own_heads_hatched_under_a_swap(keys: tuple[str, ...]) -> None:
    chosen = evidence(*keys, task="sentiment")
    bars = [bar for bar in accuracy(chosen).data if bar.type == "bar"]
    for swapped, kind in ((True, "swap"), (False, "head")):
        found = [measured(RESULTS, kind, backbone=key) for key in keys if "sentiment" in key]
        boxes = [bar for bar in bars if bool(bar.marker.pattern.shape) == swapped]
        for rows_of, bar in zip(found, boxes, strict=True):
            spans = zip(bar.base, bar.x, bar.y, strict=True)
            places = {chosen.rows[round(y)][0]: (low, low + x) for low, x, y in spans}
            ends = {getattr(row, "pooling", "native"): (row.low, row.high) for row in rows_of}
            assert places == {name: pytest.approx(each, abs=2e-4) for name, each in ends.items()}
            assert all(said.startswith(MARK) == swapped for said in bar.hovertext)


def test_probes_are_ranked_as_if_there_were_no_swap() -> None:
    chosen, without = (
        evidence(TUNED, task="sentiment", results=one) for one in (RESULTS, having(RESULTS, swap=[]))
    )
    for exhibit in (RHO, PROBES):
        one, other = (exhibit.show(given, {}, SAY) for given in (chosen, without))
        assert (one.words, to_csv(one.data)) == (other.words, to_csv(other.data))
    assert ACCURACY.show(chosen, {}, SAY).words == ACCURACY.show(without, {}, SAY).words
    told = (
        "given 3 others in its place, which it never saw (a swap), from 58.0 % (max) to 70.0 % (lasttoken)."
    )
    assert told in said(chosen)
    assert "swap" not in said(without)


@pytest.mark.parametrize(("backbone", "task"), list(zip(BACKBONES[::12], TASKS, strict=False)))
def test_the_sentence_says_what_the_numbers_say(task: str, backbone: str) -> None:
    probes = sorted(measured(RESULTS, "probe", task=task, backbone=backbone), key=lambda row: row.value)
    rhos = sorted(measured(RESULTS, "cosine", backbone=backbone), key=lambda row: row.value)
    others = sorted(row.p for row in probes if row.pooling != "cls")
    differ = 0
    while differ < len(others) and others[differ] * (len(others) - differ) < 0.05:
        differ += 1
    (worst, *_, best), (low, *_, high) = probes, rhos
    spread = round(100 * best.value, 1) - round(100 * worst.value, 1)
    sentence = said(evidence(backbone, task=task))
    assert f"spans {spread:.1f} percentage points over {len(probes)} different vectors" in sentence
    assert (
        f"from {100 * worst.value:.1f} % ({worst.pooling}) to {100 * best.value:.1f} % ({best.pooling})"
        in sentence
    )
    assert f"{differ} of {len(others)} differ from cls" in sentence
    apart = round(high.value, 2) - round(low.value, 2)
    assert f"spans {apart:.2f} over {len(rhos)} different vectors" in sentence
    assert f"from {number(low.value)} ({low.pooling}) to {number(high.value)} ({high.pooling})" in sentence
    assert ("of these two do not overlap" in sentence) == (low.high < high.low)


@pytest.mark.parametrize(
    ("ps", "better"),
    [((0.009, 0.009, 0.009, 0.009, 0.009), "5 of 5"), ((0.009, 0.02, 0.03, 0.03, 0.04), "1 of 5")],
)
def test_own_heads_are_held_against_what_needs_no_network(ps: tuple[float, ...], better: str) -> None:
    """The bars of Holm's method for five are 0.01, 0.0125, 0.0167, 0.025 and 0.05."""
    tuned = measured(RESULTS, "head", task="sentiment")
    heads = [beside(row, p=p) for row, p in zip(tuned, ps, strict=True)]
    sentence = said(evidence(task="sentiment", results=having(RESULTS, head=heads)))
    reached = "always the most frequent label: 51.0 %, logistic regression on which words occur: 74.0 %"
    assert reached in sentence
    assert f"{better} are better than “logistic regression on which words occur” and 0 worse" in sentence
    worse = [beside(row, better=row.worse, worse=row.better) for row in heads]
    sentence = said(evidence(task="sentiment", results=having(RESULTS, head=worse)))
    assert "“logistic regression on which words occur” is not beaten: of the 5 fine-tuned" in sentence
    assert f"none is better at p below 0.05, {better[0]} are worse" in sentence
    assert f"the highest reaches {100 * max(row.value for row in worse):.1f} %." in sentence


def test_what_is_shipped_does_not_beat_word_overlap_and_says_so() -> None:
    shipped = read_results(ASSETS / "results.csv")
    (overlap,) = measured(shipped, "baseline", method="overlap")
    assert max(row.value for row in measured(shipped, "head", task="paraphrase")) < overlap.value
    sentence = said(evidence("bert-paraphrase", task="paraphrase", results=shipped))
    assert "“a threshold on the share of words that both texts have” is not beaten" in sentence
    readme = " ".join((ASSETS.parent / "README.md").read_text("utf-8").split())
    assert "On paraphrase (MRPC) [none of them beats]" in readme


def test_what_is_missing_is_said_or_left_out() -> None:
    assert "own heads" not in said(evidence())
    assert "absent: not measured for this task." in said(evidence("absent"))
    assert "ρ" not in said(evidence(results=having(RESULTS, cosine=[])))
    assert plain(PUBLISHED.show(evidence("absent"), {}, SAY).html) == SAY("evidence.published")
