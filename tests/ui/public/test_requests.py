"""Who asks, which language they are answered in, and what the body of a request may hold."""

import json
import re

import gradio as gr
import pytest
from starlette.datastructures import Headers

from components.errors import PoolscopeError
from components.texts import languages
from components.ui.public import requests
from components.ui.public.guard import price
from components.ui.serving import PLACES
from tests.ui.public.asgi import CASES

KNOWN = ("en", "zh")
MARKS = ["/analyze", json.dumps({"backbone": "b", "text": '["' * 100_001}), "{}", "analyze"]  # no lists
ENDPOINTS: dict[str | int, requests.Endpoint] = {
    "analyze": requests.Endpoint(("backbone", "text", "layer"), ("backbone", "text"), "analyze"),
    "score": requests.Endpoint(("scores", "backbone"), ("scores",), "score"),
    5: requests.Endpoint(("data[0]", "data[1]"), ("data[0]", "data[1]")),
}


@pytest.mark.parametrize(("address", "accepted", "expected"), CASES["languages"])
def test_the_address_wins_then_the_browser_then_english(address: str, accepted: str, expected: str) -> None:
    assert requests.negotiate_locale(address, accepted, KNOWN) == expected


def test_a_question_is_answered_in_the_language_of_its_page() -> None:
    page = "https://host.example/?lang=zh&text=a"
    assert requests.request_texts(Headers({"referer": page, "accept-language": "en"})).language.name == "中文"
    assert requests.request_texts(Headers({"accept-language": "zh"})).language.tag == "zh"
    assert requests.request_texts(Headers({"referer": page}), "/?lang=en").language.tag == "en"
    assert [requests.page_path(tag) for tag in KNOWN] == ["/", "/zh"]


def test_who_asks() -> None:
    for peer, visitor in CASES["clients"]:
        assert requests.client_network({"client": (peer, 50_000)}) == visitor


def test_only_the_app_s_own_page_may_ask() -> None:
    assert [one for one in CASES["own"] if not requests.is_same_origin(Headers(one))] == []
    assert [one for one in CASES["foreign"] if requests.is_same_origin(Headers(one))] == []


@pytest.mark.parametrize(("path", "body", "unknown", "name"), [*CASES["good"], MARKS])
def test_a_good_body_comes_through_for_its_function_and_nothing_else_with_it(
    path: str, body: str, unknown: str, name: str
) -> None:
    given = json.loads(body)
    read = requests.validated_body(path, json.dumps(given | json.loads(unknown)).encode(), ENDPOINTS)
    assert (read.values, read.endpoint.name) == (given, name)


LONG = [
    ["/analyze", "[" * 100_000, "JSON is"],
    ["/analyze", '{"text": ' + "1" * 5_000 + "}", "JSON is"],
    *(["/analyze", f'{{"text": [{part * 100_000} 1]}}', "values in each"] for part in ("0,", "[],", "{},")),
    ["/analyze", '{"text": [' + '{"a": {}},' * 60_000 + "1]}", "objects in all"],
]


@pytest.mark.parametrize(("path", "body", "told"), CASES["bad"] + LONG)
def test_anything_else_is_named(path: str, body: str, told: str) -> None:
    with pytest.raises(PoolscopeError, match=re.escape(told)):
        requests.validated_body(path, body.encode(), ENDPOINTS)


def test_the_endpoints_of_the_page_are_the_public_ones_with_their_fields(whole: gr.Blocks) -> None:
    found = requests.endpoints_of(whole)
    public = {name for name in found if isinstance(name, str)}
    assert public >= {"backbones", "poolings", "analyze", "anatomy"}
    assert found["analyze"].required == ("backbone", "text")
    assert found["analyze"].fields[2:4] == ("text_pair", "pooling")
    assert "ask" not in public
    assert PLACES[found["compare"].line] == 2  # each answer is some megabytes
    private = [one.name for key, one in found.items() if isinstance(key, int)]
    assert private.count("trace_versions") == len(languages())  # by whose name it is priced


def test_values_that_the_page_collects_are_paid_for_as_if_they_were_sent_apart(whole: gr.Blocks) -> None:
    known = requests.endpoints_of(whole)
    number, ask = next((key, one) for key, one in known.items() if isinstance(key, int) and one.name == "ask")
    assert ask.fields.count(requests.COLLECTED) == 1

    def cost(text: str) -> float:
        data = [[text, "", 3] if field == requests.COLLECTED else None for field in ask.fields]
        body = json.dumps({"fn_index": number, "data": data, "session_hash": "x"}).encode()
        return price(ask.name, requests.validated_body("/gradio_api/queue/join", body, known).asked)

    for text in ("good", "good " * 1000):
        assert cost(text) == price(ask.name, [text])
    assert cost("good " * 1000) > cost("good")
