"""The part of the results that is looked at and its tables: no winner is named where none counts."""

import re
from itertools import combinations

import pytest
from scipy.stats import binomtest

from components.exhibits.evidence import OWN_HEADS, PROBES, Evidence, against_base, vectors
from components.exhibits.exhibit import to_csv
from components.exhibits.facts import results_facts
from components.exhibits.intervals import ACCURACY
from components.exhibits.view import one_vector
from components.results import Table, beside, holm, read_results
from tests.exhibits.asking import answers
from tests.exhibits.showing import SAY, drawn, plain, records, saved
from tests.measured import by_holm, having, measured
from tests.serving import ROOT
from tests.ui.fake_results import BACKBONES, LEARNED, fake_results

RESULTS = fake_results()
SHIPPED = read_results(ROOT / "assets" / "results.csv")
BERT, GPT, TUNED = "bert-pretrained", "gpt2-pretrained", "bert-sentiment"


def evidence(task: str = "sentiment", *backbones: str, results: Table = RESULTS) -> Evidence:
    return Evidence(results, task, backbones or (BERT,), {BERT: "BERT", TUNED: "Tuned BERT"})


def test_only_what_was_chosen_is_there_and_has_a_title() -> None:
    chosen = evidence("topic", BERT, "gpt2-sentiment")
    assert {row.task for row in chosen.of("probe")} == {"topic"}
    for kind in ("probe", "cosine"):
        assert {row.backbone for row in chosen.of(kind)} == {BERT, "gpt2-sentiment"}
    assert (chosen.title(BERT), chosen.title("gpt2-sentiment")) == ("BERT", "gpt2-sentiment")
    assert chosen.every["head"] == measured(RESULTS, "head")
    assert chosen.of("probe", BERT) == measured(RESULTS, "probe", backbone=BERT, task="topic")
    names = [name for (name,) in chosen.rows]  # in the order of the results
    assert (names[:2], tuple(names[-2:])) == (["native", "cls"], LEARNED)
    assert {row.pooling for row in against_base(vectors(chosen.of("probe", BERT)))} == set(names) - {"cls"}


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
    raw = {row.pooling: row.p for row in chosen.of("probe", BERT)}
    others = [name for name in raw if name not in ("native", "cls", "first")]
    assert chosen.rows == [("native", "cls", "first"), *((name,) for name in others)]
    tested = {row.pooling: row.corrected for row in against_base(vectors(chosen.of("probe", BERT)))}
    assert tested == pytest.approx(dict(zip(others, by_holm([raw[name] for name in others]), strict=True)))
    found = records(PROBES.show(chosen, {}, SAY))
    assert [row["pooling"] for row in found] == [one_vector(row) for row in chosen.rows]
    assert (found[0]["pooling"], found[0]["p"], found[0]["p, Holm"]) == ("native = cls = first", "", "")
    figure = drawn(ACCURACY, chosen)
    assert figure.layout.yaxis.ticktext[0] == "<b>native = cls = first</b>"
    assert len(figure.data[0].x) == len(chosen.rows) == len(found)


def test_backbones_share_a_row_where_it_is_one_vector_in_each() -> None:
    assert all(len(row) == 1 for row in evidence("sentiment", BERT, GPT, results=alike("first")).rows)
    both = evidence("sentiment", BERT, GPT, results=alike("lasttoken", GPT, alike("first")))
    assert both.rows[0] == ("native", "cls")
    assert {("first",), ("lasttoken",)} <= set(both.rows)
    assert vectors(both.of("probe", GPT))[0].called == "native = cls = lasttoken"


@pytest.mark.parametrize(("task", "pooling"), [("sentiment", "native"), ("paraphrase", "mean")])
def test_two_backbones_are_held_against_each_other_on_the_same_examples(task: str, pooling: str) -> None:
    """McNemar's exact test, corrected for all pairs with both classifiers; what is shipped has both cases."""
    keys = [row.backbone for row in measured(SHIPPED, "head", task=task)]
    rows = measured(SHIPPED, "pair", task=task, pooling=["", pooling])
    assert sorted((row.backbone, row.other) for row in rows) == sorted([*combinations(keys, 2)] * 2)
    ps = [binomtest(row.better, row.better + row.worse).pvalue for row in rows]
    differ = by_holm(ps) < 0.05
    found = results_facts(Evidence(SHIPPED, task, keys, {}), pooling, SAY)
    counts = [
        sum(counts for row, counts in zip(rows, differ, strict=True) if row.pooling == asked)
        for asked in (pooling, "")
    ]
    assert (found["pairs"], found["tests"]) == ("10", "20")
    assert [found["probe_differ"], found["own_differ"]] == [str(count) for count in counts]
    assert (
        found["counts"] == ("some" if sum(counts) else "none") == {"native": "none", "mean": "some"}[pooling]
    )
    probes = {row.backbone: row.value for row in measured(SHIPPED, "probe", task=task, pooling=pooling)}
    for row in rows:
        gained = (row.better - row.worse) / row.measured
        assert not row.pooling or probes[row.backbone] - probes[row.other] == pytest.approx(gained)


@pytest.mark.parametrize(
    ("tag", "fair"),
    [("en", "No winner is shown: of the differences between two backbones (10) none"), ("zh", "分不出胜负")],
)
def test_the_question_of_fairness_names_no_winner_where_no_difference_counts(tag: str, fair: str) -> None:
    said = re.sub(r"<[^>]+>|\u200b", "", answers(results=SHIPPED, language=tag).answer("fair").card)
    assert fair in said
    assert not re.search(r"first in|comes first|居首", said)


def test_the_file_holds_every_number_of_the_selection() -> None:
    turned = tuple(reversed(BACKBONES[3:5]))
    chosen = evidence("sentiment", *turned)
    shown = PROBES.show(chosen, {}, SAY)
    rhos = {(row.backbone, row.pooling): row for row in measured(RESULTS, "cosine")}
    for row, probe in zip(records(shown), chosen.of("probe", *turned), strict=True):
        told = {"backbone": probe.backbone, "pooling": probe.pooling}
        ends = zip(("", ", lower end", ", upper end"), ("value", "low", "high"), strict=True)
        told |= {f"accuracy{end}": f"{getattr(probe, name):.7g}" for end, name in ends}
        counts = {name: name for name in ("better", "worse", "width")} | {"trained on": "trained"}
        told |= {title: str(getattr(probe, name)) for title, name in counts.items()}
        told["p"] = "" if probe.pooling == "cls" else f"{probe.p:.7g}"
        rho = rhos.get((probe.backbone, probe.pooling))
        found = (f"{rho.value:.7g}", f"{rho.high:.7g}", "1500") if rho else ("", "", "")
        told |= dict(zip(("ρ", "ρ, upper end", "pairs for ρ"), found, strict=True))
        assert told.items() <= row.items()
    assert saved(shown.html) == to_csv(shown.data)
    assert f"{100 * probe.value:.1f} % ({100 * probe.low:.1f} to {100 * probe.high:.1f})" in plain(shown.html)


def test_own_heads_are_shown_beside_baselines() -> None:
    heads = measured(RESULTS, "head", task="sentiment")
    shown = OWN_HEADS.show(evidence(TUNED), {}, SAY)
    most, words, *of_all, own = records(shown)[:5]
    assert [one["trained on"] for one in (most, words, *of_all)] == ["2000"] * 2 + ["66780"] * 2
    least = ["always the most frequent label", "0.51", ""]
    assert [most[name] for name in ("backbone", "accuracy", "p")] == least
    assert [words["backbone"], words["accuracy"]] == ["logistic regression on which words occur", "0.74"]
    told = ["Tuned BERT", f"{heads[0].value:.7g}", "60", "0.057"]
    assert [own[name] for name in ("backbone", "accuracy", "better", "p")] == told
    assert float(own["p, Holm"]) == pytest.approx(holm([row.p for row in heads])[0], rel=1e-6)
    assert saved(shown.html) == to_csv(shown.data)
    assert records(OWN_HEADS.show(evidence(results=having(RESULTS, head=[])), {}, SAY)) == []
