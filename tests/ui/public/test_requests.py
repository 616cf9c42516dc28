"""Who asks, which language they are answered in, and what the body of a request may hold."""

import json
import re
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from components.errors import PoolscopeError
from components.texts import languages
from components.ui.public.requests import (
    MAX_DEPTH,
    Endpoint,
    client_address,
    endpoints_of,
    negotiate_locale,
    page_path,
    request_texts,
    validated_body,
)
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst

KNOWN = ("en", "zh")
ENDPOINTS: dict[str | int, Endpoint] = {
    "analyze": Endpoint(("backbone", "text", "layer"), ("backbone", "text"), "analyze"),
    5: Endpoint(("data[0]", "data[1]"), ("data[0]", "data[1]")),
}
CALL, NAMED, JOIN = "/gradio_api/call/analyze", "/gradio_api/call/v2/analyze", "/gradio_api/queue/join"
CANCEL, RESET, MCP = "/gradio_api/cancel", "/gradio_api/reset", "/gradio_api/mcp/"
ASKS, JOINS = {"backbone": "a", "text": "b"}, {"data": [1, 2], "fn_index": 5, "session_hash": "x"}


@pytest.mark.parametrize(
    ("address", "accepted", "expected"),
    [
        ("/?", "", "en"),
        ("/?", "zh-Hant-TW", "zh"),
        ("/?", "en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("/?", "fr,de;q=0.9,zh;q=0.1", "zh"),
        ("/?", "zh;q=0", "en"),
        ("/?", "zha", "en"),
        ("/?", "zh;q=2", "en"),
        ("/?text=a&lang=ZH", "en", "zh"),
        ("/?lang=fr", "zh", "zh"),
        ("/zh?text=a", "en", "zh"),
        ("/zh?lang=en", "zh", "en"),
        ("https://host.example/?lang=zh&x=%ff", "en", "zh"),
        ("http://[", "zh", "zh"),
    ],
)
def test_the_address_wins_then_the_browser_then_english(address: str, accepted: str, expected: str) -> None:
    assert negotiate_locale(address, accepted, KNOWN) == expected


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
    assert request_texts(Headers({"referer": page}), "/?lang=en").language.tag == "en"
    assert [page_path(tag) for tag in KNOWN] == ["/", "/zh"]


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("8.8.8.8", [], "8.8.8.8/32"),
        ("8.8.8.8", ["1.1.1.1"], "8.8.8.8/32"),  # no proxy stands there: what it says is its own
        ("10.0.3.7", ["9.9.9.9, 1.1.1.1"], "1.1.1.1/32"),  # the first was made up by the visitor
        ("10.0.3.7", ["9.9.9.9, 1.1.1.1, 10.0.9.9"], "1.1.1.1/32"),
        ("10.0.3.7", ["9.9.9.9", "1.1.1.1"], "1.1.1.1/32"),  # two lines are one list
        ("10.0.3.7", ["192.168.0.9"], "192.168.0.9/32"),  # who calls a proxy may be near it
        ("10.0.3.7", ["9.9.9.9, rubbish"], "10.0.3.7/32"),
        ("192.168.0.9", ["9.9.9.9"], "192.168.0.9/32"),  # private, and no proxy
        ("::ffff:10.0.3.7", ["1.1.1.1"], "1.1.1.1/32"),
        ("2001:4860:1:2:3:4:5:6", [], "2001:4860:1::/48"),
        ("fe80::1%eth0", [], "fe80::/48"),
        ("", ["1.1.1.1"], ""),
    ],
)
def test_who_asks(peer: str, forwarded: list[str], visitor: str) -> None:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    scope = {"client": (peer, 50_000), "headers": headers}
    assert client_address(scope, [ip_network("10.0.0.0/8")]) == visitor


@pytest.mark.parametrize(
    ("path", "body", "unknown", "name"),
    [
        (CALL, {"data": ["a", "b", None]}, {"batched": True}, "analyze"),
        (NAMED, ASKS, {}, "analyze"),
        ("/analyze", ASKS, {}, "analyze"),
        (JOIN, {**JOINS, "trigger_id": 3, "event_data": {"a": None}}, {"oauth_token": "x"}, ""),
        (JOIN, {**JOINS, "event_data": {}}, {"event_data": "the text of a box", "trigger_id": "x"}, ""),
        (RESET, {"event_id": "x"}, {"more": 1}, ""),
        (CANCEL, {"event_id": "x", "fn_index": 5, "session_hash": "y"}, {"more": 1}, ""),
        ("/passport.html", {"query": "", "page": "", "session_hash": "x"}, {"more": 1}, "passport"),
        (MCP, {"method": "tools/call", "params": {"name": "space_analyze"}}, {}, "analyze"),
        (MCP, {"method": "tools/list", "fn_index": 6}, {}, ""),
    ],
)
def test_a_good_body_comes_through_for_its_function_and_nothing_else_with_it(
    path: str, body: dict[str, object], unknown: dict[str, object], name: str
) -> None:
    read = validated_body(path, json.dumps({**body, **unknown}).encode(), ENDPOINTS)
    assert (read.values, read.name) == (body, name)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        (CALL, b"", "body: '' was given; JSON is expected."),
        (CALL, b"[" * 100_000, "JSON is expected"),
        (CALL, b'{"data": [' + b"1" * 5_000 + b"]}", "JSON is expected"),
        (CALL, b'{"data": ["a", "b", 1e999]}', "JSON is expected"),
        (CALL, [], "a JSON object is expected"),
        (CALL, {"data": json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)}, "levels deep"),
        (CALL, {}, "data: None was given; a list of values is expected."),
        (CALL, {"data": ["a"]}, "data: '1 values' was given; 3 are expected: backbone, text, layer."),
        (CALL, {"data": ["a", {"path": "x"}, 1]}, "text: {'path': 'x'} was given; a text, a number"),
        (CALL, {"data": ["a", [["x"]], 1]}, "text: [['x']] was given; a text, a number"),
        (CALL, {"data": ["a", "b", 1], "session_hash": 7}, "session_hash: 7 was given"),
        ("/gradio_api/call/hidden", {"data": []}, "endpoint: 'hidden' was given; there are analyze."),
        ("/analyze", {**ASKS, "text": {"path": "x"}}, "text: {'path': 'x'} was given; a text, a number"),
        (NAMED, {"backbone": "a"}, "text: None was given; it is needed."),
        (NAMED, {**ASKS, "nope": 1}, "field: 'nope' was given; analyze takes backbone,"),
        (RESET, {"data": 1}, "event_id: None was given"),
        (CANCEL, {"event_id": "x", "session_hash": "x"}, "fn_index: None was given"),
        ("/report", {"query": ["a"], "session_hash": "x"}, "query: ['a'] was given"),
        ("/report", {"query": "", "page": ""}, "session_hash: None was given"),
        (JOIN, {**JOINS, "fn_index": 99}, "fn_index: 99 was given"),
        (JOIN, {**JOINS, "fn_index": True}, "fn_index: True was given"),
        (JOIN, {**JOINS, "data": [1]}, "data: '1 values' was given; 2 are expected"),
        (JOIN, {**JOINS, "event_data": [1]}, "event_data: [1] was given"),
        (JOIN, {**JOINS, "session_hash": None}, "session_hash: None was given"),
        (JOIN, {**JOINS, "session_hash": "../x"}, "session_hash: '../x' was given"),
    ],
)
def test_anything_else_is_named(path: str, body: object, told: str) -> None:
    with pytest.raises(PoolscopeError, match=re.escape(told)):
        validated_body(path, body if isinstance(body, bytes) else json.dumps(body).encode(), ENDPOINTS)


def test_the_endpoints_of_the_page_are_the_public_ones_with_their_fields() -> None:
    found = endpoints_of(built(lambda: build(FakeAnalyst()).page))
    public = {name for name in found if isinstance(name, str)}
    assert public >= {"backbones", "poolings", "analyze", "anatomy"}
    assert found["analyze"].required == ("backbone", "text")
    assert found["analyze"].fields[2:4] == ("text_pair", "pooling")
    assert "ask" not in public
    private = [one.name for key, one in found.items() if isinstance(key, int)]
    assert private.count("trace_versions") == len(languages())  # by whose name it is priced
