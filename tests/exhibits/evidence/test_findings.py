"""The sentences of the evidence say what the numbers say."""

import pytest

from components.exhibits.evidence import Evidence, select
from components.exhibits.intervals import FINDINGS, PUBLISHED
from components.exhibits.view import number
from components.results import beside, read_results
from components.texts import ASSETS, load_texts
from tests.exhibits.showing import plain
from tests.measured import having, measured
from tests.ui.fake_results import BACKBONES, TASKS, fake_results

SAY = load_texts()
RESULTS = fake_results()


def evidence(backbone: str = BACKBONES[0], task: str = "sentiment") -> Evidence:
    return select(RESULTS, task, (backbone,), {})


def said(given: Evidence) -> str:
    return plain(FINDINGS.show(given, {}, SAY).html)


@pytest.mark.parametrize(("backbone", "task"), list(zip(BACKBONES[::4], TASKS, strict=True)))
def test_the_sentence_says_what_the_numbers_say(task: str, backbone: str) -> None:
    probes = sorted(measured(RESULTS, "probe", task=task, backbone=backbone), key=lambda row: row.value)
    rhos = sorted(measured(RESULTS, "cosine", backbone=backbone), key=lambda row: row.value)
    others = sorted(row.p for row in probes if row.pooling != "cls")
    differ = 0
    while differ < len(others) and others[differ] * (len(others) - differ) < 0.05:
        differ += 1
    (worst, *_, best), (low, *_, high) = probes, rhos
    spread = round(100 * best.value, 1) - round(100 * worst.value, 1)
    sentence = said(evidence(backbone, task))
    assert f"spans {spread:.1f} percentage points over {len(probes)} different vectors" in sentence
    assert f"from {100 * worst.value:.1f} % ({worst.pooling})" in sentence
    assert f"to {100 * best.value:.1f} % ({best.pooling})" in sentence
    assert f"{differ} of {len(others)} differ from cls" in sentence
    apart = round(high.value, 2) - round(low.value, 2)
    assert f"spans {apart:.2f} over {len(rhos)} different vectors" in sentence
    assert f"from {number(low.value)} ({low.pooling}) to {number(high.value)} ({high.pooling})" in sentence
    assert ("of these two do not overlap" in sentence) == (low.high < high.low)
    assert ("of these two overlap" in sentence) == (low.high >= high.low)


@pytest.mark.parametrize(
    ("ps", "better"),
    [((0.009, 0.009, 0.009, 0.009, 0.009), "5 of 5"), ((0.009, 0.02, 0.03, 0.03, 0.04), "1 of 5")],
)
def test_own_heads_are_held_against_what_needs_no_network(ps: tuple[float, ...], better: str) -> None:
    """The bars of Holm's method for five are 0.01, 0.0125, 0.0167, 0.025 and 0.05."""
    tuned = measured(RESULTS, "head", task="sentiment")
    rows = [beside(row, p=p) for row, p in zip(tuned, ps, strict=True)]
    sentence = said(select(having(RESULTS, head=rows), "sentiment", BACKBONES[:1], {}))
    reached = "always the most frequent label: 51.0 %, logistic regression on which words occur: 74.0 %"
    assert reached in sentence
    assert f"{better} are better than “logistic regression on which words occur” and 0 worse" in sentence
    worse = [beside(row, better=row.worse, worse=row.better) for row in rows]
    sentence = said(select(having(RESULTS, head=worse), "sentiment", BACKBONES[:1], {}))
    assert "“logistic regression on which words occur” is not beaten: of the 5 fine-tuned" in sentence
    assert f"none is better at p below 0.05, {better[0]} are worse" in sentence
    assert f"the highest reaches {100 * max(row.value for row in worse):.1f} %." in sentence


def test_what_is_shipped_does_not_beat_word_overlap_and_says_so() -> None:
    shipped = read_results(ASSETS / "results.csv")
    (overlap,) = measured(shipped, "baseline", method="overlap")
    assert max(row.value for row in measured(shipped, "head", task="paraphrase")) < overlap.value
    sentence = said(select(shipped, "paraphrase", ("bert-paraphrase",), {}))
    assert "“a threshold on the share of words that both texts have” is not beaten" in sentence
    readme = " ".join((ASSETS.parent / "README.md").read_text("utf-8").split())
    assert "On paraphrase (MRPC) [none of them beats]" in readme


def test_what_is_missing_is_said_or_left_out() -> None:
    assert "always the most frequent label: 51.0 %" in said(evidence(task="topic"))
    assert "own heads" not in said(evidence(task="topic"))
    assert "absent: not measured for this task." in said(evidence("absent"))
    assert "ρ" not in said(select(having(RESULTS, cosine=[]), "topic", BACKBONES[:1], {}))
    assert plain(PUBLISHED.show(evidence("absent"), {}, SAY).html) == SAY("evidence.published")
