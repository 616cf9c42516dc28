"""Names of tokens, layers and numbers, and what is looked at."""

from dataclasses import replace

import numpy as np
import pytest

from components.exhibits import view as naming
from components.exhibits.view import (
    View,
    asked_line,
    labels_of,
    number,
    percent,
    reference_name,
    shorten,
    visible,
)
from components.texts import load_texts
from components.types import Tokens
from tests.exhibits.showing import CASES, SAY, analysis


@pytest.mark.parametrize(("text", "pieces", "labels"), CASES["labels"])
def test_a_label_has_the_marks_of_the_vocabulary_and_the_characters_of_the_text(
    text: str, pieces: list[tuple[str, int, int]], labels: list[str]
) -> None:
    names, *ends = zip(*pieces, strict=True)
    special = np.full(len(pieces), not text)
    given = Tokens(names, np.array(ends).T, np.where(special, -1, 0), special, 0)
    assert labels_of(replace(analysis(text=text or "any"), tokens=given)) == tuple(labels)


def test_nothing_stays_invisible() -> None:
    given = ("a b", "a\u200bb", "\0", "\n", "\ud800", "\u202e", "\u00a0", "\u0301", "שלום")
    shown = ["a b", "aU+200Bb", "U+0000", "U+000A", "U+D800", "U+202E", "U+00A0", "◌\u0301"]
    assert list(map(visible, given)) == [*shown, "\u2068שלום\u2069"]


def test_names_lose_their_marks_and_are_shortened_and_broken() -> None:
    pieces = ("##ing", "##", "Ġ", "▁x", "x")  # a mark alone is a token and not a mark
    assert list(map(naming.mark, pieces)) == ["##", "", "", "▁", ""]
    assert list(map(naming.word, pieces)) == ["ing", "##", "Ġ", "x", "x"]
    assert [naming.word(piece, naming.INSIDE) for piece in pieces] == ["##ing", "##", "Ġ", "x", "x"]
    assert (shorten("a" * 24), shorten("a" * 25), naming.width("电影ab")) == ("a" * 24, "a" * 23 + "…", 6)


@pytest.mark.parametrize(
    ("reference", "name", "others"),
    [("pooled", "the pooled vector", 4), (2, "token 2 (good)", 3), ("cls", "[CLS]", 3)],
)
def test_a_reference_has_a_name(reference: str | int, name: str, others: int) -> None:
    view = View(analysis(reference=reference), 2)
    assert (reference_name(view, SAY), len(view.others)) == (name, others)


def test_a_state_says_what_of_an_analysis_is_looked_at() -> None:
    given = analysis()
    for layer, seen in ((-1, 2), (0, 0), (1, 1), (3, 2), ("1", 2), (None, 2)):
        assert View.of(given, {"layer": layer}).layer == seen  # type: ignore[dict-item]  # a browser may send it
    for sent, centring in (("centred", "centred"), ("standardised", "standardised"), ("1", "plain")):
        assert View.of(given, {"centred": sent}).centring == centring


def test_what_was_asked_is_one_line_in_which_the_task_is_called_as_on_the_page() -> None:
    probe = analysis(text_pair="bad", head="probe", task="paraphrase")
    english, chinese = asked_line(probe, SAY), asked_line(probe, load_texts("zh"))
    assert english == (
        "“not good” with “bad” · First token · sentiment · pooling native · probe for paraphrase"
    )
    assert "复述" in chinese
    assert "paraphrase" not in chinese


def test_a_mark_in_a_sentence_stands_in_quotes_also_where_it_becomes_a_word() -> None:
    said = {"[CLS]": "[CLS]", ",": "“,”", ", → pair": "“, → pair”", "not → good": "not → good"}
    assert [naming.token_name(list(said), place, SAY) for place in range(4)] == list(said.values())


def test_numbers_have_a_real_minus_no_negative_zero_and_are_never_rounded_to_certainty() -> None:
    assert [number(value) for value in (0.5, -0.25, -0.001, 1)] == ["0.50", "−0.25", "0.00", "1.00"]
    shares = (0, 1e-9, 0.004, 0.5, 0.994, 0.99999, 1)
    shown = ["0 %", "< 0.1 %", "0.4 %", "50 %", "99.4 %", "> 99.9 %", "100 %"]
    assert list(map(percent, shares)) == shown
