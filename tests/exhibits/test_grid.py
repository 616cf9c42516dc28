"""A comparison in words, as a table and as a file."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl

import numpy as np
import pytest

from components.analyses.compare import Cell
from components.exhibits.comparison import Comparison
from components.exhibits.grid import agreement, grid, numbers
from components.texts import Sentence, load_texts
from components.types import SWAP, Analysis, Query
from tests.exhibits.compared import Table, answer, comparison
from tests.exhibits.showing import plain, records

SAY = load_texts()
NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])


def said(given: Comparison) -> str:
    return plain(agreement(given, {}, SAY).html)


def rows(given: Comparison) -> list[dict[str, str]]:
    """The rows of the file."""
    return records(numbers(given, {}, SAY))


def swap(given: Analysis) -> Analysis:
    """The same answer of an own head that was given another vector than its own."""
    return replace(given, warnings=(Sentence(SWAP, own="[CLS]", pooling="p1"),))


def vector(given: Analysis, number: int) -> Analysis:
    """The same answer, from the vector of this ``number``."""
    return replace(given, pooled=np.full(8, number, np.float32))


def test_the_sentence_counts_and_names_those_that_differ() -> None:
    one = comparison([[NO, NO, NO], [NO, YES, NO]], ["BERT · x", "GPT · x"])
    assert said(one) == "5 of 6 combinations say negative; 1 says positive: GPT under p1."
    cells = [
        [NO] * 6,
        [YES, YES, NO, NO, NO, YES],
        [YES] * 6,
        [NO, YES] + [NO] * 4,
        [NO] * 6,
        [YES] + [NO] * 5,
    ]
    assert said(comparison(cells, ["A · x", "B · x", "C · x", "D · x", "E · x", "F · x"])) == (
        "25 of 36 combinations say negative; 11 say positive: "
        "B under p0, p1 and p5, C under every pooling, D under p1, and 1 more."
    )
    assert "4 say positive: B1 under 4 of 5 poolings." in said(comparison([[NO] * 5, [YES] * 4 + [NO]]))
    assert said(comparison([[YES, YES]])) == "All 2 combinations say positive."
    assert said(comparison([[YES]])) == "1 combination says positive."
    split = said(comparison([[YES, NO]]))
    assert split == "2 combinations, and no majority: 1 says positive, 1 says negative."


def test_what_cannot_be_held_against_the_others_is_counted_apart() -> None:
    value, higher = (answer([one], ("score",), "regression") for one in (-0.5, 2.25))
    none = answer([0.1, 0.2], ("joy", "fear"), "multi_label")
    told = said(comparison([[answer([0.1, 0.9], trained=False), "no", value, higher, none]]))
    assert "2 values, from −0.50 (B0 under p2) to 2.25 (B0 under p3)." in told
    assert "1 combination says none of its labels." in told
    assert "1 with untrained weights: their outputs are random. 1 cannot be answered." in told


def test_the_table_can_be_read_by_ear() -> None:
    one = comparison([[NO, NO, YES], [NO, "too <long>", NO]])
    shown = grid(replace(one, titles={"p0": "p0 · the first"}), {}, SAY)
    assert (shown.html.count('scope="row"'), shown.html.count('scope="col"')) == (2, 4)
    assert 'tabindex="0" role="region" aria-label=' in shown.html
    told = ["negative90 %", "negative90 %", "positive80 %; differs from the majority≠"]
    assert Table(shown.html).rows[1][1:] == told
    assert Table(shown.html).rows[2][2] == "–cannot be answered: too <long>"
    assert "too &lt;long&gt; (1 combination)" in shown.legend
    assert 'title="p0 · the first"' in shown.html
    warning = Sentence("warnings.unreadable", count=3, total=4, token="[UNK]")
    lost = grid(comparison([[replace(YES, warnings=(warning,)), YES]]), {}, SAY).html  # said on hovering
    assert lost.count("This model cannot read this text: 3 of 4 tokens are unknown") == 1


def test_what_has_not_come_has_an_empty_row() -> None:
    one = comparison([[NO, YES], [NO, NO]])
    for state, told in (("running", "not there yet"), ("stopped", "was not asked")):
        html = grid(replace(one, compared=one.compared[:1], state=state), {}, SAY).html
        assert Table(html).classes[1:] == [["", "told", "told"], ["", "pending", "pending"]]
        assert html.count(told) == 2


def test_the_file_holds_every_combination() -> None:
    topics = answer([0.125, 0.25, 0.625], ("=x", "y", "@z"))
    both = answer([0.75, 0.25, 0.5625], ("joy", "anger", "trust"), "multi_label")
    found = rows(comparison([[NO, NO, YES, topics], [both, "why", answer([0.1, 0.9], trained=False), NO]]))
    assert [(row["backbone"], row["pooling"]) for row in found] == [
        (f"b{row}", f"p{column}") for row in range(2) for column in range(4)
    ]
    says = ["negative", "negative", "positive", "'@z", "joy + trust", "", "positive", "negative"]
    assert [row["says"] for row in found] == says
    assert float(found[2]["probability"]) == pytest.approx(0.8)
    assert [row["with the majority"] for row in found] == ["yes", "yes", "no", "yes", "yes", "", "", "yes"]
    assert (found[5]["why not"], found[6]["no random weights"]) == ("why", "no")
    values = [answer([value], ("score",), "regression") for value in (-2.0, -1 / 3, 1.25e-5)]
    shown = [row["probability"] for row in rows(comparison([[both, "no", *values, answer([0.0, 1.0])]]))]
    assert shown == ["0.75 + 0.5625", "", "-2", "-0.3333333", "1.25e-05", "1"]  # with seven digits


def test_swaps_are_marked_and_counted_apart() -> None:
    given = comparison([[NO, swap(NO), swap(YES)], [NO, swap(NO), YES]], ["BERT · x", "GPT · x"])
    assert said(given) == (
        "2 of 3 combinations say negative; 1 says positive: GPT under p2."
        "Not counted: 3 swaps, in which a head is given a vector that it was not trained on; "
        "2 say negative, 1 says positive."
    )
    shown, found = grid(given, {}, SAY), rows(given)
    kinds = [["told"], ["told", "swap"], ["told", "swap"], ["told"], ["told", "swap"], ["told", "odd"]]
    assert [one.split() for row in Table(shown.html).classes[1:] for one in row[1:]] == kinds
    assert shown.html.count('<span class="unseen">; a swap: not the vector') == 3
    assert shown.html.count("a swap: not the vector") == 6  # heard, and seen on hovering
    assert [row["swap"] for row in found] == ["no", "yes", "yes", "no", "yes", "no"]
    assert [row["with the majority"] for row in found] == ["yes", "", "", "yes", "", "no"]
    legends = (shown.legend, grid(comparison([[NO, YES]]), {}, SAY).legend)
    assert ['class="key swap"' in legend for legend in legends] == [True, False]
    assert said(comparison([[swap(NO)]])).startswith("Not counted: 1 swap, in which a head")
    value = swap(answer([2.25], ("score",), "regression"))
    assert said(comparison([[NO, value]])).endswith("not trained on; 1 gives a value.")


def test_one_vector_is_counted_once_and_named_together() -> None:
    other = vector(replace(NO, logits=NO.logits + 1), 1)  # the first vector, another answer
    given = comparison(
        [
            [vector(NO, 7), vector(NO, 7), YES, NO],
            [vector(YES, 7), NO, *[vector(YES, 7)] * 2],
            [NO, NO, NO, other],
        ],
        ["BERT · x", "GPT · x", "XL · x"],
    )
    assert len(given.distinct) == 3 + 2 + 4
    assert said(given) == (
        "7 of 9 combinations say negative; 2 say positive: BERT under p2, GPT under p0 = p2 = p3."
        "Counted once, as one and the same vector: p0 = p1 (BERT); p0 = p2 = p3 (GPT)."
    )
    poolings = ["p0 = p1", "p2", "p3", "p0 = p2 = p3", "p1", "p0", "p1", "p2", "p3"]
    assert [row["pooling"] for row in rows(given)] == poolings
    shown = grid(given, {}, SAY)
    seen = Table(shown.html).rows[1:]
    assert [[cell[:4] if cell.startswith("=") else "" for cell in row[1:]] for row in seen] == [
        ["", "= p0", "", ""],
        ["", "", "= p0", "= p0"],
        ["", "", "", ""],
    ]
    assert [cell.count("positive") for cell in seen[1][1:]] == [
        1,
        0,
        1,
        1,
    ]  # a screen reader says each answer
    assert "= and a name: one and the same vector" in shown.legend
    assert [given.differs(cell) for cell in given.cells[4:8]] == [True, False, True, True]


def test_what_every_answer_warns_of_is_said_once_with_their_backbones() -> None:
    pair, typed = Sentence("warnings.pair"), Sentence("warnings.typed", token="[SEP] <b>")
    warned = replace(NO, warnings=(pair, Sentence(SWAP, own="[CLS]", pooling="p1")))
    given = comparison([[warned, warned], [replace(YES, warnings=(pair, typed)), NO], [NO, NO]])
    legend = grid(given, {}, SAY).legend
    assert plain(legend).count("trained on one text at a time") == 1
    assert "means little. (B0, B1)" in plain(legend)
    assert "[SEP] &lt;b&gt;" in legend
    assert "Not what this head was trained for" not in legend
    assert "notices" not in grid(comparison([[NO, YES]]), {}, SAY).legend


def test_every_answer_has_a_link_that_asks_it_alone() -> None:
    given = comparison([[NO, "no"], [swap(YES), NO]])
    found = re.findall(r'<a class="open" href="\?([^"]*)">', grid(given, {}, SAY).html)
    asked = {"lang": "en", "text": "a good film", "pair": ""}
    assert [dict(parse_qsl(unescape(one), keep_blank_values=True)) for one in found] == [
        {**asked, "backbone": cell.query.backbone, "pooling": cell.query.pooling, "head": "own"}
        for cell in given.cells
        if cell.analysis
    ]
    (row,) = comparison([[NO]]).compared
    query = Query("b0", "a" * 5000)
    long = replace(given, compared=(replace(row, cells=(Cell(query, replace(NO, query=query)),)),))
    shown = grid(long, {}, SAY)
    assert "<a " not in shown.html + shown.legend
    assert ("Click a cell" in grid(given, {}, SAY).legend, "Click a cell" in shown.legend) == (True, False)
