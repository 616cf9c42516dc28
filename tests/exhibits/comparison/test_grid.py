"""A comparison in words, as a table and as a file."""

import csv
import io
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl

import numpy as np
import pytest

from components.analyses.compare import Cell
from components.exhibits.comparison import Comparison
from components.exhibits.exhibit import to_csv
from components.exhibits.grid import agreement, grid, numbers
from components.texts import Sentence, load_texts
from components.types import SWAP, Analysis, Query
from tests.exhibits.compared import answer, comparison
from tests.exhibits.compared_html import Table, words

SAY = load_texts()
NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])


def said(given: Comparison) -> str:
    return words(agreement(given, {}, SAY).html)


def rows(given: Comparison) -> list[dict[str, str]]:
    """The rows of the file."""
    data = numbers(given, {}, SAY).data
    assert data is not None
    return list(csv.DictReader(io.StringIO(to_csv(data), newline="")))


def test_a_cell_of_a_text_that_cannot_be_read_says_so_on_hovering() -> None:
    warning = Sentence("warnings.unreadable", count=3, total=4, token="[UNK]")
    lost = replace(answer([0.1, 0.9]), warnings=(warning,))
    html = grid(comparison([[lost, answer([0.1, 0.9])]]), {}, SAY).html
    assert html.count("This model cannot read this text: 3 of 4 tokens are unknown") == 1


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
    four = said(comparison([[NO] * 5, [YES] * 4 + [NO]]))
    assert "4 say positive: B1 under 4 of 5 poolings." in four
    assert said(comparison([[YES, YES]])) == "All 2 combinations say positive."
    assert said(comparison([[YES]])) == "1 combination says positive."
    split = said(comparison([[YES, NO]]))
    assert split == "2 combinations, and no majority: 1 says positive, 1 says negative."


def test_what_cannot_be_held_against_the_others_is_counted_apart() -> None:
    value, higher = answer([-0.5], ("score",), "regression"), answer([2.25], ("score",), "regression")
    none = answer([0.1, 0.2], ("joy", "fear"), "multi_label")
    told = said(comparison([[answer([0.1, 0.9], trained=False), "no", value, higher, none]]))
    assert "2 values, from −0.50 (B0 under p2) to 2.25 (B0 under p3)." in told
    assert "1 combination says none of its labels." in told
    assert "1 with untrained weights: their outputs are random. 1 cannot be answered." in told


def test_the_table_can_be_read_by_ear() -> None:
    one = comparison([[NO, NO, YES], [NO, "too <long>", NO]])
    shown = grid(replace(one, titles={"p0": "p0 · the first"}), {}, SAY)
    assert shown.html.count('scope="row"') == 2
    assert shown.html.count('scope="col"') == 4
    assert 'tabindex="0" role="region" aria-label=' in shown.html
    assert Table(shown.html).rows[1][1:] == [
        "negative90 %",
        "negative90 %",
        "positive80 %; differs from the majority≠",
    ]
    assert Table(shown.html).rows[2][2] == "–cannot be answered: too <long>"
    assert "too &lt;long&gt; (1 combination)" in shown.legend
    assert 'title="p0 · the first"' in shown.html


def test_what_has_not_come_has_an_empty_row() -> None:
    one = comparison([[NO, YES], [NO, NO]])
    for state, told in (("running", "not there yet"), ("stopped", "was not asked")):
        html = grid(replace(one, compared=one.compared[:1], state=state), {}, SAY).html
        assert Table(html).classes[1:] == [["", "told", "told"], ["", "pending", "pending"]]
        assert html.count(told) == 2
    assert grid(replace(one, compared=()), {}, SAY).html.count('class="pending"') == 4


def test_the_file_holds_every_combination() -> None:
    topics = answer([0.125, 0.25, 0.625], ("=x", "y", "@z"))
    both = answer([0.75, 0.25, 0.5625], ("joy", "anger", "trust"), "multi_label")
    found = rows(comparison([[NO, NO, YES, topics], [both, "why", answer([0.1, 0.9], trained=False), NO]]))
    assert [(row["backbone"], row["pooling"]) for row in found] == [
        (f"b{row}", f"p{column}") for row in range(2) for column in range(4)
    ]
    assert [row["says"] for row in found] == [
        *("negative", "negative", "positive", "'@z"),
        *("joy + trust", "", "positive", "negative"),
    ]
    assert float(found[2]["probability"]) == pytest.approx(0.8)
    assert found[4]["probability"] == "0.75 + 0.5625"
    assert [row["with the majority"] for row in found] == ["yes", "yes", "no", "yes", "yes", "", "", "yes"]
    assert found[5]["why not"] == "why"
    assert found[6]["no random weights"] == "no"


def test_numbers_beside_several_probabilities_have_seven_digits_too() -> None:
    several = answer([0.75, 0.25, 0.5625], ("joy", "anger", "trust"), "multi_label")
    values = [answer([value], ("score",), "regression") for value in (-2.0, -1 / 3, 1.25e-5)]
    found = [row["probability"] for row in rows(comparison([[several, "no", *values, answer([0.0, 1.0])]]))]
    assert found == ["0.75 + 0.5625", "", "-2", "-0.3333333", "1.25e-05", "1"]


def swap(given: Analysis) -> Analysis:
    """The same answer of an own head that was given another vector than its own."""
    return replace(given, warnings=(Sentence(SWAP, own="[CLS]", pooling="p1"),))


def vector(given: Analysis, number: int) -> Analysis:
    """The same answer, from the vector of this ``number``."""
    return replace(given, pooled=np.full(8, number, np.float32))


def test_swaps_are_marked_and_counted_apart() -> None:
    given = comparison([[NO, swap(NO), swap(YES)], [NO, swap(NO), YES]], ["BERT · x", "GPT · x"])
    assert said(given) == (
        "2 of 3 combinations say negative; 1 says positive: GPT under p2."
        "Not counted: 3 swaps, in which a head is given a vector that it was not trained on; "
        "2 say negative, 1 says positive."
    )
    shown = grid(given, {}, SAY)
    kinds = [["told"], ["told", "swap"], ["told", "swap"], ["told"], ["told", "swap"], ["told", "odd"]]
    assert [one.split() for row in Table(shown.html).classes[1:] for one in row[1:]] == kinds
    assert shown.html.count('<span class="unseen">; a swap: not the vector') == 3
    assert shown.html.count("a swap: not the vector") == 6  # heard, and seen on hovering
    assert 'class="key swap"' in shown.legend
    found = rows(given)
    assert [row["swap"] for row in found] == ["no", "yes", "yes", "no", "yes", "no"]
    assert [row["with the majority"] for row in found] == ["yes", "", "", "yes", "", "no"]
    assert 'class="key swap"' not in grid(comparison([[NO, YES]]), {}, SAY).legend
    assert said(comparison([[swap(NO)]])).startswith("Not counted: 1 swap, in which a head")
    value = swap(answer([2.25], ("score",), "regression"))
    assert said(comparison([[NO, value]])).endswith("not trained on; 1 gives a value.")


def test_one_vector_is_counted_once_and_named_together() -> None:
    titles = ["BERT · x", "GPT · x", "XL · x"]
    apart = vector(answer([0.9, 0.1]), 7)
    given = comparison(
        [
            [vector(NO, 7), apart, YES, NO],
            [vector(YES, 7), NO, vector(YES, 7), vector(YES, 7)],
            [NO, NO, NO, vector(replace(NO, logits=NO.logits + 1), 1)],  # the first vector, another answer
        ],
        titles,
    )
    assert len(given.distinct) == 3 + 2 + 4
    assert said(given) == (
        "7 of 9 combinations say negative; 2 say positive: BERT under p2, GPT under p0 = p2 = p3."
        "Counted once, as one and the same vector: p0 = p1 (BERT); p0 = p2 = p3 (GPT)."
    )
    assert [row["pooling"] for row in rows(given)] == [
        *("p0 = p1", "p2", "p3"),
        *("p0 = p2 = p3", "p1"),
        *("p0", "p1", "p2", "p3"),
    ]
    shown = grid(given, {}, SAY)
    seen = Table(shown.html).rows[1:]
    assert [[cell[:4] if cell.startswith("=") else "" for cell in row[1:]] for row in seen] == [
        ["", "= p0", "", ""],
        ["", "", "= p0", "= p0"],
        ["", "", "", ""],
    ]
    assert "= and a name: one and the same vector" in shown.legend
    assert "= and a name" not in grid(comparison([[NO, YES]]), {}, SAY).legend
    assert [given.differs(cell) for cell in given.cells[4:8]] == [True, False, True, True]
    heard = Table(shown.html).rows[2]
    assert [cell.count("positive") for cell in heard[1:]] == [1, 0, 1, 1]  # by a screen reader, each answer
    every = comparison([[vector(YES, 7), vector(YES, 7)], [NO, NO], [NO, NO]], titles)
    assert said(every).startswith("4 of 5 combinations say negative; 1 says positive: BERT under p0 = p1.")


def test_what_every_answer_warns_of_is_said_once_with_their_backbones() -> None:
    pair, typed = Sentence("warnings.pair"), Sentence("warnings.typed", token="[SEP] <b>")
    warned = replace(NO, warnings=(pair, Sentence(SWAP, own="[CLS]", pooling="p1")))
    given = comparison([[warned, warned], [replace(YES, warnings=(pair, typed)), NO], [NO, NO]])
    legend = grid(given, {}, SAY).legend
    assert words(legend).count("trained on one text at a time") == 1
    assert "means little. (B0, B1)" in words(legend)
    assert "[SEP] &lt;b&gt;" in legend
    assert "Not what this head was trained for" not in legend
    assert "notices" not in grid(comparison([[NO, YES]]), {}, SAY).legend


def test_every_answer_has_a_link_that_asks_it_alone() -> None:
    given = comparison([[NO, "no"], [swap(YES), NO]])
    cells = [cell for cell in given.cells if cell.analysis]
    found = re.findall(r'<a class="open" href="\?([^"]*)">', grid(given, {}, SAY).html)
    assert [parse_qsl(unescape(one), keep_blank_values=True) for one in found] == [
        [
            ("lang", "en"),
            ("text", "a good film"),
            ("pair", ""),
            ("backbone", cell.query.backbone),
            ("pooling", cell.query.pooling),
            ("head", "own"),
        ]
        for cell in cells
    ]
    long = comparison([[NO]])
    (row,) = long.compared
    asked = replace(NO, query=Query("b0", "a" * 5000))
    long = replace(long, compared=(replace(row, cells=(Cell(asked.query, asked),)),))
    shown = grid(long, {}, SAY)
    assert "<a " not in shown.html + shown.legend
    assert "Click a cell" in grid(given, {}, SAY).legend
    assert "Click a cell" not in shown.legend
