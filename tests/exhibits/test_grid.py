"""A comparison of one version of a text or of two: in words, as a table and as a file."""

import re
from dataclasses import replace

import numpy as np
import pytest

from components.analyses.analyze import Cell
from components.analyses.sees import Sees
from components.exhibits.comparison import Comparison
from components.exhibits.grid import agreement, grid
from components.texts import Sentence
from components.types import SWAP, Analysis, Query
from tests.exhibits.compared import HIGH, LESS, LOW, NO, YES, Table, answer, comparison, swap
from tests.exhibits.showing import CASES, SAY, plain

OLD, NEW = answer([0.9, 0.1], trained=False), answer([0.1, 0.9], trained=False)
TOPIC = answer([0.125, 0.25, 0.625], ("=x", "y", "@z"))
NONE = answer([0.1, 0.2], ("joy", "fear"), "multi_label")
TITLES = [f"{name} · x" for name in "ABCDEF"]


def said(given: Comparison) -> str:
    return plain(agreement(given, {}, SAY).html)


def vector(given: Analysis, number: int) -> Analysis:
    """The same answer, from the vector of this ``number``."""
    return replace(given, pooled=np.full(8, number, np.float32))


MANY = [[NO] * 6, [YES, YES, NO, NO, NO, YES], [YES] * 6, [NO, YES] + [NO] * 4, [NO] * 6, [YES] + [NO] * 5]
SWAPS = comparison([[NO, swap(NO), swap(YES)], [NO, swap(NO), YES]], TITLES[:2])
VECTORS = comparison(
    [
        [vector(NO, 7), vector(NO, 7), YES, NO],
        [vector(YES, 7), NO, *[vector(YES, 7)] * 2],
        [NO, NO, NO, vector(replace(NO, logits=NO.logits + 1), 1)],  # the first vector, another answer
    ],
    TITLES[:3],
)
SAID = {
    "many": comparison(MANY, TITLES),
    "of-poolings": comparison([[NO] * 5, [YES] * 4 + [NO]]),
    "counted-apart": comparison([[NEW, "no", LOW, HIGH, NONE]]),
    "swaps": SWAPS,
    "swapped-value": comparison([[swap(HIGH)]]),
    "vectors": VECTORS,
    "moves": comparison([[NO, NO, NO, YES]], TITLES[:1], [[YES, LESS, NO, YES]]),
    "stays": comparison([[NO, OLD, NO, "no"]], after=[[NO, NEW, TOPIC, NO]]),
}


@pytest.mark.parametrize("name", SAID)
def test_the_sentence_counts_and_names_those_that_differ_or_change_their_mind(name: str) -> None:
    assert said(SAID[name]) == "".join(CASES["said"][name])


def test_the_table_can_be_read_by_ear() -> None:
    one = comparison([[NO, NO, YES], [NO, "too <long>", NO]])
    shown = grid(replace(one, titles={"p0": "p0 · the first"}), {}, SAY)
    assert (shown.html.count('scope="row"'), shown.html.count('scope="col"')) == (2, 4)
    assert 'tabindex="0" role="region" aria-label=' in shown.html
    told = ["negative90 %", "negative90 %", "positive80 %; differs from the majority≠"]
    assert Table(shown.html).rows[1][1:] == told
    assert Table(shown.html).rows[2][2] == "–cannot be answered: too <long>"
    assert ">mean_<wbr>sqrt_<wbr></th>" in grid(Comparison((), ("mean_sqrt_",)), {}, SAY).html
    assert "too &lt;long&gt; (1 combination)" in shown.legend
    assert 'title="p0 · the first"' in shown.html


def test_what_has_not_come_has_an_empty_row() -> None:
    one = comparison([[NO, YES], [NO, NO]])
    for state, told in (("running", "not there yet"), ("stopped", "was not asked")):
        html = grid(replace(one, compared=one.compared[:1], state=state), {}, SAY).html
        assert Table(html).classes[1:] == [["", "told", "told"], ["", "pending", "pending"]]
        assert html.count(told) == 2


def test_swaps_are_marked() -> None:
    shown = grid(SWAPS, {}, SAY)
    kinds = [["told"], ["told", "swap"], ["told", "swap"], ["told"], ["told", "swap"], ["told", "odd"]]
    assert [one.split() for row in Table(shown.html).classes[1:] for one in row[1:]] == kinds
    assert shown.html.count('<span class="unseen">; another vector than this') == 3
    assert shown.html.count("another vector than this") == 6  # heard, and seen on hovering


def test_one_vector_is_named_together() -> None:
    shown = grid(VECTORS, {}, SAY)
    seen = Table(shown.html).rows[1:]
    names = [["", "= p0", "", ""], ["", "", "= p0", "= p0"], ["", "", "", ""]]
    assert [[cell[:4] if cell.startswith("=") else "" for cell in row[1:]] for row in seen] == names
    assert ["positive" in cell for cell in seen[1][1:]] == [True, False, True, True]  # heard of each
    assert "= and a name: one and the same vector" in shown.legend
    assert [VECTORS.agrees[one.key] for one in VECTORS.combinations[4:8]] == [False, True, False, False]


def test_what_every_answer_warns_of_is_said_once_with_their_backbones() -> None:
    pair, typed = Sentence("warnings.pair"), Sentence("warnings.typed", token="[SEP] <b>")
    warned = replace(NO, warnings=(pair, Sentence(SWAP, own="[CLS]", pooling="p1")))
    given = comparison([[warned, warned], [replace(YES, warnings=(pair, typed)), NO], [NO, NO]])
    legend = grid(given, {}, SAY).legend
    assert plain(legend).count("trained on one text at a time") == 1
    assert "means little. (B0, B1)" in plain(legend)
    assert "[SEP] &lt;b&gt;" in legend
    assert "Another vector than its own" not in legend
    assert "notices" not in grid(comparison([[NO, YES]]), {}, SAY).legend
    lost = replace(YES, warnings=(Sentence("warnings.unreadable", count=3, total=4, token="[UNK]"),))
    hovered = grid(comparison([[lost, YES]]), {}, SAY).html
    told = "This model cannot read this text: 3 of 4 tokens are unknown"
    assert hovered.count(told) == 2  # on hovering, and to be heard


def test_an_answer_that_no_link_can_hold_has_none() -> None:
    given = comparison([[NO, "no"], [swap(YES), NO]])
    (row,) = comparison([[NO]]).compared
    query = Query("b0", "a" * 5000)
    long = replace(given, compared=(replace(row, cells=(Cell(query, replace(NO, query=query)),)),))
    shown = grid(long, {}, SAY)
    assert "<a " not in shown.html + shown.legend
    assert ("Click a cell" in grid(given, {}, SAY).legend, "Click a cell" in shown.legend) == (True, False)


@pytest.mark.parametrize(("before", "after", "moved"), CASES["moves"])
def test_a_move_is_what_both_values_differ_by_as_read(before: float, after: float, moved: str) -> None:
    versions = [[[answer([one, 1 - one])]] for one in (before, after)]
    given = comparison(versions[0], after=versions[1])
    assert f"negative {moved}." in said(given)
    assert moved.partition("(")[2].rstrip(")") in Table(grid(given, {}, SAY).html).rows[1][1]


def test_a_cell_of_two_versions_says_both_and_the_move_where_there_is_one() -> None:
    found = comparison([[NO, OLD, NO, "no", LOW, NO]], after=[[NO, NEW, TOPIC, NO, HIGH, swap(YES)]])
    table = Table(grid(found, {}, SAY).html)
    kinds = ["edit told", "edit untrained", "edit told", "absent", "edit value", "edit told flip swap"]
    assert table.classes[1][1:] == kinds
    assert all(
        part in table.rows[1][6] for part in ("negative", "90 %", "positive", "80 %", "negative −70 pp")
    )
    assert "pp" not in table.rows[1][2] + table.rows[1][3]
    assert table.rows[1][5] == "before: −0.50now: 2.25+2.75"


def test_a_square_beside_a_name_is_what_its_tokens_see() -> None:
    planted = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]], dtype=bool)
    html = grid(replace(comparison([[NO]]), sees={"b0": Sees(NO.tokens, planted, ())}), {}, SAY).html
    drawn = np.zeros_like(planted)
    for start, row, end in re.findall(r"M(\d+) (\d+)H(\d+)v1", html):
        drawn[int(row), int(start) : int(end)] = True
    np.testing.assert_array_equal(drawn, planted)
    assert 'aria-label="Who sees whom has no simple shape: 9 of 16 pairs"' in html
