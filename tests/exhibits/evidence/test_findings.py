from dataclasses import replace
from html import escape

import pytest

from components.exhibits.evidence.evidence import Evidence, select
from components.exhibits.evidence.findings import FINDINGS, PUBLISHED
from components.exhibits.view import number
from components.results import read_results
from components.texts import ASSETS, load_texts
from tests.exhibits.showing import plain
from tests.ui.fake_results import BACKBONES, TASKS, fake_results

SAY = load_texts()
RESULTS = fake_results()


def evidence(backbone: str = BACKBONES[0], task: str = "sentiment") -> Evidence:
    return select(RESULTS, task, (backbone,), {})


def said(given: Evidence) -> str:
    return plain(FINDINGS.show(given, {}, SAY).html)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("backbone", BACKBONES[::4])
def test_the_sentence_says_what_the_numbers_say(task: str, backbone: str) -> None:
    probes = [row for row in RESULTS.probes if (row.task, row.backbone) == (task, backbone)]
    rhos = {row.pooling: row.rho for row in RESULTS.cosines if row.backbone == backbone}
    others = sorted(row.p for row in probes if row.pooling != "cls")
    differ = 0
    while differ < len(others) and others[differ] * (len(others) - differ) < 0.05:
        differ += 1
    best, worst = max(probes, key=lambda row: row.accuracy), min(probes, key=lambda row: row.accuracy)
    spread = round(100 * best.accuracy, 1) - round(100 * worst.accuracy, 1)
    sentence = said(evidence(backbone, task))
    assert f"spans {spread:.1f} percentage points over {len(probes)} different vectors" in sentence
    assert f"from {100 * worst.accuracy:.1f} % ({worst.pooling})" in sentence
    assert f"to {100 * best.accuracy:.1f} % ({best.pooling})" in sentence
    assert f"{differ} of {len(others)} differ from cls" in sentence
    low, high = min(rhos, key=rhos.__getitem__), max(rhos, key=rhos.__getitem__)
    assert (
        f"spans {round(rhos[high], 2) - round(rhos[low], 2):.2f} over {len(rhos)} different vectors"
        in sentence
    )
    assert f"from {number(rhos[low])} ({low}) to {number(rhos[high])} ({high})" in sentence


@pytest.mark.parametrize(
    ("ps", "better"),
    [((0.009, 0.009, 0.009, 0.009, 0.009), "5 of 5"), ((0.009, 0.02, 0.03, 0.03, 0.04), "1 of 5")],
)
def test_own_heads_are_held_against_what_needs_no_network(ps: tuple[float, ...], better: str) -> None:
    """The bars of Holm's method for five are 0.01, 0.0125, 0.0167, 0.025 and 0.05."""
    tuned = [row for row in RESULTS.checkpoints if row.task == "sentiment"]
    rows = tuple(replace(row, p=p) for row, p in zip(tuned, ps, strict=True))
    sentence = said(select(replace(RESULTS, checkpoints=rows), "sentiment", BACKBONES[:1], {}))
    assert (
        "always the most frequent label: 51.0 %, logistic regression on which words occur: 74.0 %" in sentence
    )
    assert f"{better} are better than “logistic regression on which words occur” and 0 worse" in sentence
    worse = tuple(replace(row, better=row.worse, worse=row.better) for row in rows)
    sentence = said(select(replace(RESULTS, checkpoints=worse), "sentiment", BACKBONES[:1], {}))
    best = max(row.accuracy for row in worse if row.task == "sentiment")
    assert "“logistic regression on which words occur” is not beaten: of the 5 fine-tuned" in sentence
    assert f"none is better at p below 0.05, {better[0]} are worse" in sentence
    assert f"the highest reaches {100 * best:.1f} %." in sentence


def test_what_is_shipped_does_not_beat_word_overlap_and_says_so() -> None:
    shipped = read_results(ASSETS / "results.json")
    heads = [row.accuracy for row in shipped.checkpoints if row.task == "paraphrase"]
    (overlap,) = (row.accuracy for row in shipped.baselines if row.kind == "overlap")
    assert max(heads) < overlap
    sentence = said(select(shipped, "paraphrase", ("bert-paraphrase",), {}))
    assert "“a threshold on the share of words that both texts have” is not beaten" in sentence
    readme = " ".join((ASSETS.parent / "README.md").read_text("utf-8").split())
    assert "On paraphrase (MRPC) [none of them beats]" in readme


def test_a_task_without_own_heads_has_baselines_all_the_same() -> None:
    assert "always the most frequent label: 51.0 %" in said(evidence(task="topic"))
    assert "own heads" not in said(evidence(task="topic"))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_ends_of_rho_are_said_to_differ_where_their_intervals_do(backbone: str) -> None:
    rows = sorted((row for row in RESULTS.cosines if row.backbone == backbone), key=lambda row: row.rho)
    sentence = said(evidence(backbone))
    assert ("of these two do not overlap" in sentence) == (rows[0].high < rows[-1].low)
    assert ("of these two overlap" in sentence) == (rows[0].high >= rows[-1].low)


def test_a_backbone_without_numbers_is_not_passed_over() -> None:
    assert "absent: not measured for this task." in said(evidence("absent"))
    without = select(replace(RESULTS, cosines=()), "topic", BACKBONES[:1], {})
    assert "ρ" not in said(without)


def test_what_others_found_does_not_depend_on_the_choice() -> None:
    html = PUBLISHED.show(evidence("absent"), {}, SAY).html
    assert html == f'<p class="published">{escape(SAY("evidence.published"))}</p>'
