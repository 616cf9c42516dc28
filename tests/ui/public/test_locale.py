"""Which language a visitor is answered in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from components.ui.public.locale import negotiate_locale, page_path, request_texts

KNOWN = ("en", "zh")


@pytest.mark.parametrize(
    ("address", "accepted", "expected"),
    [
        ("/?", "", "en"),
        ("/?", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("/?", "zh-Hant-TW", "zh"),
        ("/?", "ZH", "zh"),
        ("/?", "en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("/?", "zh;q=0.1, en;q=0.2", "en"),
        ("/?", "en;q=0.1, zh;q=0.2", "zh"),
        ("/?", "fr,de;q=0.9,zh;q=0.1", "zh"),
        ("/?", "zh;q=0", "en"),
        ("/?", "fr, *", "en"),
        ("/?", "zha", "en"),
        ("/?", "zh;q=2", "en"),
        ("/?lang=en", "zh", "en"),
        ("/?text=a&lang=ZH", "en", "zh"),
        ("/?lang=fr", "zh", "zh"),
        ("/?lang=", "zh", "zh"),
        ("/?lang=zh&lang=en", "", "en"),
        ("/zh?text=a", "en", "zh"),
        ("/zh?lang=en", "zh", "en"),
        ("https://host.example/app/zh", "en", "zh"),
        ("https://host.example/?lang=zh&x=%ff", "en", "zh"),
        ("http://[", "zh", "zh"),
    ],
)
def test_the_address_wins_then_the_browser_then_english(address: str, accepted: str, expected: str) -> None:
    assert negotiate_locale(address, accepted, KNOWN) == expected


@given(st.text(), st.text())
def test_whatever_is_sent_a_language_is_spoken(address: str, accepted: str) -> None:
    assert negotiate_locale(address, accepted, KNOWN) in KNOWN


@given(st.lists(st.tuples(st.sampled_from(["en", "zh", "zh-CN", "fr"]), st.integers(0, 10)), min_size=1))
def test_no_language_is_preferred_to_the_one_spoken(ranges: list[tuple[str, int]]) -> None:
    weights: dict[str, int] = {}
    for tag, weight in ranges:
        weights.setdefault(tag[:2], weight)
    answered_in = negotiate_locale("/", ", ".join(f"{tag};q={weight / 10}" for tag, weight in ranges), KNOWN)
    assert weights.get(answered_in, 0) == max(weights.get(tag, 0) for tag in KNOWN)


def test_a_question_is_answered_in_the_language_of_its_page() -> None:
    page = "https://host.example/?lang=zh&text=a"
    assert request_texts(Headers({"referer": page, "accept-language": "en"})).language.name == "中文"
    assert request_texts(Headers({"accept-language": "zh"})).language.tag == "zh"
    assert request_texts(Headers({})).language.tag == "en"
    assert request_texts(Headers({"referer": page}), "/?lang=en").language.tag == "en"


def test_the_english_page_is_the_first() -> None:
    assert [page_path(tag) for tag in KNOWN] == ["/", "/zh"]
