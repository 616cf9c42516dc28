"""The plots and the tables of the evidence: dots, lines, axes, cells and words are the results given."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from components.exhibits.evidence import OWN_HEADS, PROBES, Evidence, accuracy_text
from components.exhibits.exhibit import Exhibit, Shown, to_csv
from components.exhibits.intervals import ACCURACY, DEPTHS, EXPLANATIONS, LEGEND, RHO, profiles
from components.exhibits.view import number, shorten
from components.results import Row, Table, beside, read_results
from components.texts import ASSETS, load_texts
from tests.exhibits.showing import SAY, drawn, plain, records
from tests.measured import by_holm, counting, having, measured
from tests.ui.fake_results import BACKBONES, DEEP, FAMILIES, LOWER, fake_results

RESULTS = fake_results()
BARE = "bert-pretrained"
CHOSEN = (BARE, "roberta-sentiment")
OWN = [f"{family}-sentiment" for family in FAMILIES]


def evidence(*backbones: str, task: str = "topic", results: Table = RESULTS) -> Evidence:
    return Evidence(results, task, backbones or (BARE,), {BARE: "BERT"})


def said(exhibit: Exhibit[Evidence], given: Evidence) -> str:
    shown = exhibit.show(given, {}, SAY)
    return plain(f"{shown.above}{shown.html}")


def found(kind: str, key: str, **where: str) -> list[Row]:
    return measured(RESULTS, kind, backbone=key, **where)


def in_rows(names: Iterable[str], given: Iterable[Row], dots: Any, unit: int) -> None:
    """Check that dots and bars are the results of the rows that they lie in, and that all are there."""
    names, called = list(names), {shorten(row.pooling): row for row in given}
    rows, bars = [called[names[round(place)]] for place in dots.y], dots.error_x
    ends = [dots.x, np.subtract(dots.x, bars.arrayminus), np.add(dots.x, bars.array)]
    results = np.transpose([(row.value, row.low, row.high) for row in rows])
    np.testing.assert_allclose(ends, unit * results, atol=2e-4)
    assert len(dots.y) == len(called)


@pytest.mark.parametrize("total", [1, 5])
def test_dots_are_the_results_on_the_same_rows(total: int) -> None:
    chosen = evidence(*BACKBONES[:total])
    figures = [drawn(exhibit, chosen) for exhibit in (ACCURACY, RHO)]
    names = [shorten(name) for (name,) in chosen.rows]
    for figure, kind, unit in zip(figures, ("probe", "cosine"), (100, 1), strict=True):
        dots = [one for one in figure.data if one.mode == "markers"]
        for key, one in zip(chosen.backbones, dots, strict=True):
            in_rows(names, found(kind, key, **({"task": "topic"} if kind == "probe" else {})), one, unit)
        assert figure.layout.xaxis.range is None  # which holds all that is drawn
    left, right = (figure.layout for figure in figures)
    assert (left.yaxis.ticktext, left.height) == (right.yaxis.ticktext, right.height)
    lines = [[line.x0 for line in one.shapes if line.line.dash != "dot"] for one in (left, right)]
    assert lines == [[51, 74], []]  # at what needs no network
    assert [one.xaxis.ticksuffix for one in (left, right)] == [" %", None]  # as percent is written everywhere


def test_one_backbone_has_its_numbers_beside_it_and_a_line_at_cls() -> None:
    chosen = evidence()
    left, right = drawn(ACCURACY, chosen), drawn(RHO, chosen)
    probes, rhos = ({row.pooling: row.value for row in chosen.of(kind)} for kind in ("probe", "cosine"))
    for figure, values, shown in ((left, probes, accuracy_text), (right, rhos, number)):
        told = [note.text for note in figure.layout.annotations]
        assert told == [shown(values[name]) for (name,) in chosen.rows if name in values]
    assert (left.layout.shapes[0].x0, right.layout.shapes[0].x0) == (100 * probes["cls"], rhos["cls"])


def test_the_legend_names_every_backbone_its_size_and_what_needs_no_network() -> None:
    alone, several = (LEGEND.show(evidence(*BACKBONES[:total]), {}, SAY).html for total in (1, 5))
    assert ("Dotted line: cls." in alone, "Dotted line" in several) == (True, False)
    assert all(key in several for key in BACKBONES[1:5])
    assert "always the most frequent label, fitted to the same 2000 rows: 51.0 %" in plain(several)
    assert "BERT: 2 layers of width 128, 1.6 million parameters" in alone
    assert "million" not in LEGEND.show(evidence(results=having(RESULTS, size=[])), {}, SAY).html


@pytest.mark.parametrize("exhibit", [ACCURACY, RHO])
def test_it_has_the_numbers_of_the_table(exhibit: Exhibit[Evidence]) -> None:
    chosen = evidence(*BACKBONES[1:4])
    assert to_csv(exhibit.show(chosen, {}, SAY).data) == to_csv(PROBES.show(chosen, {}, SAY).data)
    assert exhibit.show(evidence(), {}, load_texts("zh")).about.startswith("新闻主题 · ● BERT")


def test_own_heads_are_held_against_what_needs_no_network() -> None:
    """The bars of Holm's method for five are 0.01, 0.0125, 0.0167, 0.025 and 0.05."""
    tuned, ps = measured(RESULTS, "head", task="sentiment"), (0.009, 0.02, 0.03, 0.03, 0.04)
    heads = [beside(row, p=p) for row, p in zip(tuned, ps, strict=True)]
    sentence = said(OWN_HEADS, evidence(results=having(RESULTS, head=heads)))
    told = "than “logistic regression on which words occur”: 1; worse: 0; not to be told apart from it: 4"
    assert told in sentence


def test_what_is_shipped_does_not_beat_word_overlap_and_says_so() -> None:
    shipped = read_results(ASSETS / "results.csv")
    overlap = min(row.value for row in measured(shipped, "baseline", method="overlap"))
    assert max(row.value for row in measured(shipped, "head", task="paraphrase")) < overlap
    sentence = said(OWN_HEADS, evidence(results=shipped))
    assert "is shown to beat “a threshold on the share of words that both texts have”" in sentence
    readme = " ".join((ASSETS.parent / "README.md").read_text("utf-8").split())
    assert "On paraphrase (MRPC) [none of them beats]" in readme


def test_poolings_that_are_one_vector_at_every_layer_are_tested_once() -> None:
    """Those that are one at some layers alone are two."""

    def same(layers: range) -> list[list[Row]]:
        alike = {
            kind: [
                beside(row, vector="cls")
                if row.pooling == "mean" and (kind == "probe" or row.layer in layers)
                else row
                for row in measured(RESULTS, kind)
            ]
            for kind in ("probe", "depth")
        }
        return profiles(evidence(results=having(RESULTS, **alike)), BARE)

    whole = same(range(LOWER))
    assert [one[0].poolings for one in whole] == [("cls", "mean"), ("max",)]
    raw = [row.p for row in found("depth", BARE, task="topic") if row.pooling != "mean"]
    corrected = sorted(row.corrected for one in whole for row in one[:-1])
    np.testing.assert_allclose(corrected, sorted(by_holm(raw)))
    assert len(same(range(1))) == 3


def rows_of(shown: Shown) -> dict[str, list[str]]:
    """The rows of a table as they are read, by the names in their first cells."""
    rows = re.findall(r"<tr><td>(.*?)</tr>", shown.html.replace("\u00a0", " "))
    cells = (re.split(r"</td><td[^>]*>", row.removesuffix("</td>")) for row in rows)
    return {"|".join(one for one in row if one[0].isalpha()): row for row in cells}


def sides(every: Sequence[Row]) -> tuple[list[Row], ...]:
    """Those of ``every`` that are above what they are held against and those below, as statsmodels has it."""
    return tuple(counting(every, side) for side in (True, False))


def marked(
    rows: Iterable[Row], signs: tuple[list[Row], ...], shown: Callable[[float], str] = number
) -> list[str]:
    """Values, each with its sign if it is on one of the `sides`."""
    above, below = signs
    return [f"{shown(row.value)}{' ▲' * (row in above)}{' ▼' * (row in below)}" for row in rows]


def test_layers_are_a_row_for_each_pooling() -> None:
    shown = DEPTHS.show(evidence(*CHOSEN), {}, SAY)
    table = rows_of(shown)
    for key, title in zip(CHOSEN, ("BERT", "roberta-sentiment"), strict=True):
        every = found("depth", key, task="topic")
        signs = sides(every)
        for pooling in DEEP:
            below = [row for row in every if row.pooling == pooling]
            (last,) = found("probe", key, task="topic", pooling=pooling)
            told = [*marked(below, signs, accuracy_text), accuracy_text(last.value)]
            assert table[f"{title}|{pooling}"] == [title, pooling, *told]
    assert len(table) == len(CHOSEN) * len(DEEP)
    assert len(records(shown)) == len(table) * (LOWER + 1)


def test_explanations_are_a_row_for_each_checkpoint() -> None:
    shown = EXPLANATIONS.show(evidence(*OWN), {}, SAY)
    last = [row for row in measured(RESULTS, "agreement") if row.layer in (None, LOWER)]
    tested = [row for row in last if row.method != "similarity"]  # of all checkpoints, corrected together
    assert f"Holm's correction over all checkpoints; tests: {len(tested)})" in plain(shown.above)
    signs = sides(tested)
    for key in OWN:
        own, *others = (row for row in last if row.backbone == key)
        assert rows_of(shown)[key] == [key, number(own.value), *marked(others, signs)]
    beaten = len({row.backbone for row in counting(tested)})
    assert 0 < beaten < len(OWN)
    assert f"token matters for {beaten} of {len(OWN)} checkpoints" in plain(shown.above)
    assert len(records(shown)) == len(measured(RESULTS, "agreement"))  # the file has every layer
