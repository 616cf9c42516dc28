"""What the body of a request may hold."""

import json
import re

import pytest

from components.errors import PoolscopeError
from components.texts import languages
from components.ui.public.request_body import (
    MAX_DEPTH,
    Endpoint,
    endpoints_of,
    validated_body,
)
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst

ENDPOINTS: dict[str | int, Endpoint] = {
    "analyze": Endpoint(("backbone", "text", "layer"), ("backbone", "text"), "analyze"),
    5: Endpoint(("data[0]", "data[1]"), ("data[0]", "data[1]")),
}
CALL, NAMED, JOIN = "/gradio_api/call/analyze", "/gradio_api/call/v2/analyze", "/gradio_api/queue/join"


def read(path: str, body: object) -> object:
    whole = body if isinstance(body, bytes) else json.dumps(body).encode()
    return validated_body(path, whole, ENDPOINTS).values


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        (CALL, {"data": ["a", "b", 1]}, "analyze"),
        (NAMED, {"backbone": "a", "text": "b"}, "analyze"),
        ("/analyze", {"backbone": "a", "text": "b"}, "analyze"),
        (JOIN, {"data": [1, 2], "fn_index": 5, "session_hash": "x"}, ""),
        ("/passport.html", {"query": "", "session_hash": "x"}, "passport"),
        ("/gradio_api/mcp/", {"method": "tools/call", "params": {"name": "space_analyze"}}, "analyze"),
        ("/gradio_api/mcp/", {"method": "tools/list", "fn_index": 6}, ""),
    ],
)
def test_which_function_a_body_is_for(path: str, body: dict[str, object], name: str) -> None:
    assert validated_body(path, json.dumps(body).encode(), ENDPOINTS).name == name


def test_a_good_body_comes_through_and_nothing_else_with_it() -> None:
    assert read(CALL, {"data": ["a", "b", 1], "batched": True}) == {"data": ["a", "b", 1]}
    assert read(NAMED, {"backbone": "a", "text": "b"}) == {"backbone": "a", "text": "b"}
    assert read("/analyze", {"backbone": "a", "text": "b"}) == {"backbone": "a", "text": "b"}
    sent = {
        "data": [None, ["a"]],
        "fn_index": 5,
        "session_hash": "x1",
        "trigger_id": 3,
        "event_data": {"a": 1},
    }
    assert read(JOIN, {**sent, "batched": True, "simple_format": True, "oauth_token": "x"}) == sent
    assert read(JOIN, {**sent, "event_data": "the text of a box"}) == {**sent, "event_data": {}}
    assert read("/gradio_api/reset", {"event_id": "x", "more": 1}) == {"event_id": "x"}
    cancel = {"event_id": "x", "fn_index": 5, "session_hash": "y"}
    assert read("/gradio_api/cancel", {**cancel, "more": 1}) == cancel


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        (CALL, b"", "body: '' was given; JSON is expected."),
        (CALL, b"\xff\xfe", "JSON is expected"),
        (CALL, b"[" * 100_000, "JSON is expected"),
        (CALL, b'{"data": [' + b"1" * 5_000 + b"]}", "JSON is expected"),
        (CALL, [], "a JSON object is expected"),
        (CALL, {"data": json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)}, "levels deep"),
        (CALL, {}, "data: None was given; a list of values is expected."),
        (CALL, {"data": ["a"]}, "data: '1 values' was given; 3 are expected: backbone, text, layer."),
        (CALL, {"data": ["a", {"path": "x"}, 1]}, "text: {'path': 'x'} was given; a text, a number"),
        (CALL, {"data": ["a", "b", float("nan")]}, "JSON is expected"),
        (CALL, b'{"data": ["a", "b", 1e999]}', "JSON is expected"),
        (CALL, {"data": ["a", [["x"]], 1]}, "text: [['x']] was given; a text, a number"),
        (CALL, {"data": ["a", "b", 1], "session_hash": 7}, "session_hash: 7 was given"),
        ("/gradio_api/call/hidden", {"data": []}, "endpoint: 'hidden' was given; there are analyze."),
        ("/gradio_api/call/v2/hidden", {}, "endpoint: 'hidden' was given; there are analyze."),
        (
            "/analyze",
            {"backbone": "a", "text": {"path": "x"}},
            "text: {'path': 'x'} was given; a text, a number",
        ),
        ("/analyze", {"backbone": "a", "words": "b"}, "field: 'words' was given"),
        (NAMED, {"backbone": "a"}, "text: None was given; it is needed."),
        (
            NAMED,
            {"backbone": "a", "text": "b", "nope": 1},
            "field: 'nope' was given; analyze takes backbone,",
        ),
        (NAMED, {"backbone": "a", "text": {"meta": {}}}, "text: {'meta': {}} was given"),
        ("/gradio_api/reset", {"data": 1}, "event_id: None was given"),
        ("/gradio_api/cancel", {"event_id": "x", "session_hash": "x"}, "fn_index: None was given"),
        (JOIN, {"data": [], "session_hash": "x"}, "fn_index: None was given"),
        (JOIN, {"data": [], "session_hash": "x", "fn_index": 99}, "fn_index: 99 was given"),
        (JOIN, {"data": [], "session_hash": "x", "fn_index": True}, "fn_index: True was given"),
        (
            JOIN,
            {"data": [1], "session_hash": "x", "fn_index": 5},
            "data: '1 values' was given; 2 are expected",
        ),
        (JOIN, {"data": [1, 2], "fn_index": 5}, "session_hash: None was given"),
        (JOIN, {"data": [1, 2], "fn_index": 5, "session_hash": "../x"}, "session_hash: '../x' was given"),
    ],
)
def test_anything_else_is_named(path: str, body: object, told: str) -> None:
    with pytest.raises(PoolscopeError, match=re.escape(told)):
        read(path, body)


def test_the_endpoints_of_the_page_are_the_public_ones_with_their_fields() -> None:
    found = endpoints_of(built(lambda: build(FakeAnalyst()).page))
    public = {name for name in found if isinstance(name, str)}
    assert public >= {"backbones", "poolings", "analyze", "anatomy"}
    assert found["analyze"].required == ("backbone", "text")
    assert found["analyze"].fields[2:4] == ("text_pair", "pooling")
    assert "ask" not in public
    private = [one.name for key, one in found.items() if isinstance(key, int)]
    assert private.count("trace_versions") == len(languages())  # by whose name it is priced
