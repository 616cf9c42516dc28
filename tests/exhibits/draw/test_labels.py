import numpy as np
import pytest

from components.exhibits.draw.labels import (
    CAPITALS,
    UNDERSCORES,
    breakable_html,
    mark,
    shorten,
    token_labels,
    visible,
    width,
    word,
)
from components.types import Tokens


def tokens(*pieces: tuple[str, int, int]) -> Tokens:
    """Tokens of one text, each (vocabulary string, start, end)."""
    return Tokens(
        text=tuple(text for text, _, _ in pieces),
        span=np.array([(start, end) for _, start, end in pieces]),
        segment=np.zeros(len(pieces), dtype=np.int64),
        special=np.zeros(len(pieces), dtype=bool),
        cls=0,
    )


@pytest.mark.parametrize(
    ("text", "pieces", "labels"),
    [
        ("playing the", (("play", 0, 4), ("##ing", 4, 7), ("▁the", 7, 11)), ("play", "##ing", "▁the")),
        (" café", (("Ġcaf", 0, 4), ("Ã©", 4, 5)), ("Ġcaf", "é")),  # byte-level spelling
        (" 😀", (("ĠðŁ", 0, 2), ("ĺ", 1, 2), ("Ģ", 1, 2)), ("Ġ😀", "😀 1/2", "😀 2/2")),
        ("very very", (("very", 0, 4), ("very", 5, 9)), ("very", "very")),
    ],
)
def test_a_label_has_the_marks_of_the_vocabulary_and_the_characters_of_the_text(
    text: str, pieces: tuple[tuple[str, int, int], ...], labels: tuple[str, ...]
) -> None:
    assert token_labels(tokens(*pieces), (text, "")) == labels


def test_special_tokens_stand_as_they_are() -> None:
    special = Tokens(("<s>",), np.zeros((1, 2), int), np.array([-1]), np.array([True]), 0)
    assert token_labels(special, ("", "")) == ("<s>",)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a b", "a b"),
        ("a\u200bb", "aU+200Bb"),
        ("\0", "U+0000"),
        ("\n", "U+000A"),
        ("\ud800", "U+D800"),
        ("\u202e", "U+202E"),
        ("\u00a0", "U+00A0"),
        ("\u0301", "◌\u0301"),
        ("שלום", "\u2068שלום\u2069"),
    ],
)
def test_nothing_stays_invisible(given: str, shown: str) -> None:
    assert visible(given) == shown


def test_a_mark_alone_is_a_token_and_not_a_mark() -> None:
    assert (mark("##ing"), mark("##"), mark("Ġ"), mark("▁x"), mark("x")) == ("##", "", "", "▁", "")
    assert (word("##ing"), word("##"), word("Ġgood"), word("x")) == ("ing", "##", "good", "x")


def test_shortening_and_width() -> None:
    assert shorten("a" * 16) == "a" * 16
    assert shorten("a" * 17) == "a" * 15 + "…"
    assert width("电影ab") == 6


def test_long_names_may_break_and_are_escaped() -> None:
    assert breakable_html("BertForX<b>", CAPITALS) == "Bert<wbr>For<wbr>X&lt;b&gt;"
    assert breakable_html("mean_sqrt_", UNDERSCORES) == "mean_<wbr>sqrt_<wbr>"
    assert breakable_html("cls", UNDERSCORES) == "cls"
