"""A comparison in words, as a table and as a file."""

import csv
import io

import pytest

from components.texts import load_texts
from components.ui.compare.agreement import agreement
from components.ui.compare.grid import grid
from components.ui.compare.table import csv_text
from tests.figures.compared import answer, comparison
from tests.ui.compared_html import Table, words

SAY = load_texts()
NO, YES = answer([0.9, 0.1]), answer([0.2, 0.8])


def test_the_sentence_counts_and_names_those_that_differ() -> None:
    said = words(agreement(comparison([[NO, NO, NO], [NO, YES, NO]], ["BERT · x", "GPT · x"]), SAY))
    assert said == "5 of 6 combinations say negative; 1 says positive: GPT under p1."
    rows = [
        [NO] * 6,
        [YES, YES, NO, NO, NO, YES],
        [YES] * 6,
        [NO, YES] + [NO] * 4,
        [NO] * 6,
        [YES] + [NO] * 5,
    ]
    many = comparison(rows, ["A · x", "B · x", "C · x", "D · x", "E · x", "F · x"])
    assert words(agreement(many, SAY)) == (
        "25 of 36 combinations say negative; 11 say positive: "
        "B under p0, p1 and p5, C under every pooling, D under p1, and 1 more."
    )
    four = words(agreement(comparison([[NO] * 5, [YES] * 4 + [NO]]), SAY))
    assert "4 say positive: B1 under 4 of 5 poolings." in four
    assert words(agreement(comparison([[YES, YES]]), SAY)) == "All 2 combinations say positive."
    assert words(agreement(comparison([[YES]]), SAY)) == "1 combination says positive."
    split = words(agreement(comparison([[YES, NO]]), SAY))
    assert split == "2 combinations, and no majority: 1 says positive, 1 says negative."


def test_what_cannot_be_held_against_the_others_is_counted_apart() -> None:
    value, higher = answer([-0.5], ("score",), "regression"), answer([2.25], ("score",), "regression")
    none = answer([0.1, 0.2], ("joy", "fear"), "multi_label")
    said = words(agreement(comparison([[answer([0.1, 0.9], trained=False), "no", value, higher, none]]), SAY))
    assert "2 values, from −0.50 (B0 under p2) to 2.25 (B0 under p3)." in said
    assert "1 combination says none of its labels." in said
    assert "1 with an untrained head: their outputs are random. 1 cannot be answered." in said


def test_the_table_can_be_read_by_ear() -> None:
    html = grid(comparison([[NO, NO, YES], [NO, "too <long>", NO]]), {"p0": "p0 · the first"}, SAY)
    assert html.count('scope="row"') == 2
    assert html.count('scope="col"') == 4
    assert 'tabindex="0" role="region" aria-label=' in html
    assert Table(html).rows[1][1:] == [
        "negative90 %",
        "negative90 %",
        "positive80 %≠differs from the majority",
    ]
    assert Table(html).rows[2][2] == "–cannot be answered: too <long>"
    assert "too &lt;long&gt; (1 combination)" in html
    assert 'title="p0 · the first"' in html


def test_the_file_holds_every_combination() -> None:
    topics = answer([0.125, 0.25, 0.625], ("=x", "y", "@z"))
    both = answer([0.75, 0.25, 0.5625], ("joy", "anger", "trust"), "multi_label")
    grid = comparison([[NO, NO, YES, topics], [both, "why", answer([0.1, 0.9], trained=False), NO]])
    rows = list(csv.DictReader(io.StringIO(csv_text(grid, SAY), newline="")))
    assert [(row["backbone"], row["pooling"]) for row in rows] == [
        (f"b{row}", f"p{column}") for row in range(2) for column in range(4)
    ]
    assert [row["says"] for row in rows] == [
        *("negative", "negative", "positive", "'@z"),
        *("joy + trust", "", "positive", "negative"),
    ]
    assert float(rows[2]["probability"]) == pytest.approx(0.8)
    assert rows[4]["probability"] == "0.75 + 0.5625"
    assert [row["with the majority"] for row in rows] == ["yes", "yes", "no", "yes", "yes", "", "", "yes"]
    assert rows[5]["why not"] == "why"
    assert rows[6]["trained"] == "no"
