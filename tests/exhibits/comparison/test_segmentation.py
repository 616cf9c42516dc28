"""Words that tokenizers share: every character in one, every token within one, none larger than needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exhibits.words import Span, finest_words, holding

CHARACTERS = st.sampled_from(
    [*"ab1 .,'-\t\n", "\u00a0", "é", "\u0301", "你", "م", "😀", "\u200d", "🇩", "🏽", "\u200b"]
)
TEXTS = st.text(CHARACTERS | st.characters(exclude_categories=()), max_size=30)


def cut(text: str, *spans: Span) -> list[str]:
    return [text[start:end] for start, end in finest_words(text, spans)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("not good", ["not", " good"]),
        ("  not  good ", ["  not", "  good "]),
        ("It's 3.5, don’t!", ["It's", " 3.5", ",", " don’t", "!"]),
        ("a 'word'.", ["a", " '", "word", "'", "."]),
        ("very, very", ["very", ",", " very"]),
        ("cafe\u0301 café", ["cafe\u0301", " café"]),
        ("\u0301start", ["\u0301start"]),
        ("a\u00a0b\u3000c", ["a", "\u00a0b", "\u3000c"]),
        ("zero\u200bwidth", ["zero\u200bwidth"]),
        ("👩‍👩‍👧😀 🏳️‍🌈👍🏽", ["👩‍👩‍👧", "😀", " 🏳️‍🌈", "👍🏽"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("你好,世界 hello", ["你", "好", ",", "世", "界", " hello"]),
        ("かな カナ ภา", ["か", "な", " カ", "ナ", " ภ", "า"]),
        ("한국어 말", ["한국어", " 말"]),
        ("مرحبا بالعالم", ["مرحبا", " بالعالم"]),
        ("नमस्ते जी", ["नमस्ते", " जी"]),
        ("https://ex.com", ["https", ":", "/", "/", "ex", ".", "com"]),
        ("!!", ["!", "!"]),
        (" \n\t", [" \n\t"]),
        ("", []),
    ],
)
def test_a_text_alone(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def joined(count: int, pieces: list[tuple[int, int]]) -> list[list[int]]:
    """``count`` things in groups such that each range of ``pieces`` lies in one, by merging sets."""
    groups = [{index} for index in range(count)]
    for start, end in pieces:
        touched = [group for group in groups if group & set(range(start, end))]
        groups = [group for group in groups if group not in touched]
        groups += [set().union(*touched)] if touched else []
    return sorted(sorted(group) for group in groups)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=12))
def test_whatever_text_and_tokens(text: str, drawn: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in drawn if start + length <= len(text)]
    found = finest_words(text, spans)
    assert [index for start, end in found for index in range(start, end)] == list(range(len(text)))
    assert all(start < end for start, end in found)
    alone = finest_words(text, [])
    sets = joined(len(text), [*alone, *spans])
    assert [list(range(start, end)) for start, end in found] == sets
    for span in spans:
        if found:
            start, end = found[holding(found, span)]
            assert start <= span[0]
            assert span[1] <= end
            assert span[0] < end or span[0] == len(text) or span[0] == span[1]


@pytest.mark.parametrize(
    ("span", "expected"), [((0, 0), 0), ((1, 1), 1), ((2, 3), 1), ((3, 3), 1), ((9, 9), 1)]
)
def test_a_token_of_no_character_goes_with_the_next(span: Span, expected: int) -> None:
    assert holding([(0, 1), (1, 3)], span) == expected
