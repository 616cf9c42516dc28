"""What the app serves, to whom, and what is said of rubbish."""

import json
import random
import socket
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from inspect import Parameter
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.openapi.models import OpenAPI
from gradio_client import Client
from hypothesis import given, settings, strategies as st

from components.analyses.registry import analyses
from components.texts import languages, load_texts
from tests.public.asking import ANALYZE, QUESTION, answers_of, ask
from tests.serving import ROOT

CASES = tomllib.loads(Path(__file__).with_name("requests.toml").read_text("utf-8"))


def test_the_page_and_its_scripts_are_served_and_guarded(real: httpx.Client) -> None:
    page = real.get("/")
    assert "Poolscope" in page.text
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    assert "x-frame-options" not in page.headers  # a Space is shown in a frame
    served = real.get("/assets/" + page.text.split('src="./assets/')[1].split('"')[0])
    assert served.headers["content-type"].endswith("/javascript")
    assert "immutable" in served.headers["cache-control"]  # its name holds a hash
    assert page.headers["cache-control"] == "no-cache"
    again = real.get("/?page=x&deep_link=y", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.text) == (HTTPStatus.NOT_MODIFIED, "")
    assert "connect-src 'self'" in again.headers["content-security-policy"]
    with real.stream("GET", "/", headers={"Accept-Encoding": "br"}) as sent:
        size = len(b"".join(sent.iter_raw()))
    assert sent.headers["content-encoding"] == "br"
    assert set(sent.headers["vary"].split(", ")) == {"Accept-Encoding", "Accept-Language"}
    assert 6 * size < len(page.content)


def test_every_family_that_is_bundled_answers_without_a_network(real: httpx.Client) -> None:
    """The fixture sees that nobody was asked."""
    here = [spec["key"] for spec in real.post("/backbones", json={}).json() if spec["available"]]
    assert len(here) >= 15
    for key in {key.partition("-")[0]: key for key in here}.values():
        assert real.post("/analyze", json={"backbone": key, "text": "good"}).json()["backbone"] == key


@pytest.mark.parametrize(("address", "preferred", "place"), CASES["languages"])
def test_the_page_comes_in_the_visitor_s_language(
    real: httpx.Client, address: str, preferred: str, place: str
) -> None:
    headers = {"Accept-Language": preferred}
    sent = real.get(address, headers=headers, follow_redirects=False)
    assert (sent.status_code, sent.headers["location"]) == (HTTPStatus.FOUND, place)
    page = real.get(address, headers=headers, follow_redirects=True)
    assert page.status_code == HTTPStatus.OK
    assert ("哪个词元" in page.text) == ("zh" in place)
    assert "Accept-Language" in sent.headers["vary"]
    assert "Accept-Language" in page.headers["vary"]


def test_no_door_leads_to_a_file(real: httpx.Client) -> None:
    statuses = {
        f"{door}{secret}": real.get(f"/{door}{secret}").status_code
        for door in CASES["doors"]
        for secret in (*CASES["secrets"], str(ROOT / "app.py"))
    }
    assert {opened: status for opened, status in statuses.items() if status not in (400, 403, 404)} == {}


def test_what_is_not_needed_is_not_there(real: httpx.Client) -> None:
    for unneeded in CASES["unneeded"]:
        method, path = unneeded.split()
        answer = real.request(method, path, **({"json": {}} if method == "POST" else {}))
        assert answer.status_code in (404, 405), unneeded


def test_no_value_makes_the_server_fetch_anything(real: httpx.Client) -> None:
    """Gradio downloads what an object in the data calls a file; the fixture sees that nobody was asked."""
    file = {"path": "http://files.example/x.bin", "url": "http://files.example/x.bin",
            "meta": {"_type": "gradio.FileData"}}  # fmt: skip
    for path in (ANALYZE, "/gradio_api/call/v2/anatomy"):
        answer = real.post(path, json={**QUESTION, "text": file})
        assert answer.status_code == HTTPStatus.BAD_REQUEST
        assert answer.json()["detail"].startswith("text: {'path'")
    data = ["bert-sentiment", "not good", file, "native", "own", -1, "cls", "", -1]
    assert real.post("/gradio_api/call/analyze", json={"data": data}).status_code == HTTPStatus.BAD_REQUEST


def test_what_is_said_of_the_app_tells_nothing_of_its_inside(real: httpx.Client) -> None:
    for query in ("", "?all_endpoints=true"):
        info = real.get(f"/gradio_api/info{query}").json()
        assert set(info["named_endpoints"]) >= {"/analyze", "/anatomy", "/backbones", "/poolings"}
        assert "/ask" not in info["named_endpoints"]
        assert info["unnamed_endpoints"] == {}
    for header in ("Host", "X-Forwarded-Host"):  # nobody decides which address others read
        real.get("/gradio_api/info", headers={header: "evil.example"})
    for path in ("/", "/zh", "/config", "/gradio_api/info"):
        said, other = real.get(path), real.get(path, headers={"X-Forwarded-Host": "evil.example"})
        assert said.headers["etag"] == other.headers["etag"]  # one is kept for all names of the app
        assert not [name for name in ("evil.example", "poolscope.invalid") if name in said.text]
        assert str(ROOT) not in said.text
        assert str(Path.home()) + "/" not in said.text


# To whom


def test_no_other_page_may_use_a_session_or_the_room_or_bring_a_table(real: httpx.Client) -> None:
    headers = {"Host": "me-pool.hf.space", "Origin": "https://you-evil.hf.space"}
    own = {**headers, "Origin": "https://me-pool.hf.space"}
    assert real.post(ANALYZE, json=QUESTION, headers=own).status_code == HTTPStatus.OK
    answers = [
        real.get("/config", headers=headers),
        real.post(ANALYZE, json=QUESTION, headers=headers),
        real.post("/report", json={"query": "", "session_hash": "x"}, headers=headers),
        real.post("/gradio_api/queue/join", json={}, headers=headers),
        real.post("/room/vote", headers=headers),
        real.options("/fit", headers=headers),
        real.post(ANALYZE, content=json.dumps(QUESTION), headers={**headers, "Content-Type": "text/plain"}),
        real.options(ANALYZE, headers={**headers, "Access-Control-Request-Method": "POST"}),
    ]
    for answer in answers:
        assert answer.status_code == HTTPStatus.FORBIDDEN
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_page_of_another_site_may_ask_the_api_as_a_program_does(real: httpx.Client) -> None:
    headers = {"Origin": "https://blog.example"}
    before = real.options("/analyze", headers={**headers, "Cookie": "a=b"})
    assert (before.status_code, before.content) == (HTTPStatus.NO_CONTENT, b"")
    assert before.headers["access-control-allow-headers"] == "Content-Type"  # no X-Forwarded-Host, no cookie
    told = [
        before,
        real.post("/analyze", json=QUESTION, headers=headers),
        real.post("/analyze", json={**QUESTION, "text": "", "<i>": 1}, headers=headers),
        real.get("/openapi.json", headers=headers),
        real.get("/?embed=similarity", headers=headers),
    ]
    assert [one.status_code for one in told[1:]] == [200, 400, 200, 200]
    assert "field: '<i>' was given" in told[2].json()["detail"]  # in JSON, and no markup
    for answer in told:
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        assert "frame-ancestors" not in answer.headers["content-security-policy"]


PLAIN = ("backbones", "find", "poolings", "compare")
BASE: dict[str, Any] = {**QUESTION, "other": "bad", "vector": "[1, 2]", "scores": "[1, 2]"}
BASE |= {"backbones": ["bert-sentiment"], "poolings": ["cls"]}
PAST = {"maxLength": lambda most: "x" * (most + 1), "enum": lambda _: "nope", "items": lambda _: ["nope"]}


def test_openapi_names_each_endpoint_and_no_bound_but_the_server_s(real: httpx.Client) -> None:
    document = real.get("/openapi.json").json()
    OpenAPI.model_validate(document)
    assert {path[1:] for path in document["paths"]} == {*analyses(), *PLAIN}
    bounded = set()
    for path, methods in document["paths"].items():
        schema = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        if kind := analyses().get(path[1:]):
            taken, absent = kind.signature.parameters, Parameter.empty
            found = {name: one.get("default", absent) for name, one in schema["properties"].items()}
            assert found == {name: one.default for name, one in taken.items()}
        for field, said in schema["properties"].items():
            for bound in PAST.keys() & said.keys() if said.get("items") != {"type": "string"} else ():
                bounded.add((path, field))
                asked = {name: BASE[name] for name in schema["required"]} | {field: PAST[bound](said[bound])}
                answer = real.post(path, json=asked, headers={"X-Forwarded-For": f"10.9.0.{len(bounded)}"})
                assert answer.status_code == HTTPStatus.BAD_REQUEST
                named = answer.json()["detail"].partition(":")[0]
                assert named in (field, field[:-1], "pooling"), (path, field)  # of several poolings, one
    assert {field for _, field in bounded} > {"text", "text_pair", "head", "poolings", "label", "task"}


@pytest.mark.parametrize(("headers", "said"), CASES["refusals"])
def test_a_refusal_is_no_markup_to_a_page_and_in_its_language(
    real: httpx.Client, headers: dict[str, str], said: str
) -> None:
    absolute = {name: str(real.base_url.join(one)).rstrip("/") for name, one in headers.items()}
    asked = {**absolute, "Accept-Language": "en"}
    answer = real.post(ANALYZE, json={**QUESTION, "<img/src=x>": ""}, headers=asked)
    assert answer.json()["detail"].startswith(said)


def test_plain_http_says_what_gradio_says(real: httpx.Client) -> None:
    for fields in ({}, {"text_pair": "good", "pooling": "mean", "layer": 1, "reference": "pooled"}):
        plain, queued = real.post("/analyze", json={**QUESTION, **fields}).json(), ask(real, **fields)
        assert {**plain, "milliseconds": 0} == {**queued, "milliseconds": 0}
    refused = real.post("/analyze", json={**QUESTION, "backbone": "none"})
    assert (refused.status_code, refused.json()["detail"]) == (400, ask(real, backbone="none")["error"])
    for name in ("backbones", "poolings"):
        queued = Client(str(real.base_url), verbose=False).predict(api_name=f"/{name}")
        for path in (f"/{name}", f"/{name}/"):
            assert real.post(path, json={}).json() == queued
    assert real.post("/fetch", json={"backbone": "bert-sentiment"}).status_code == HTTPStatus.NOT_FOUND


# Rubbish

texts = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
fields = st.dictionaries(st.sampled_from(CASES["fields"]), values)
forms = st.one_of(
    fields,
    st.builds(lambda data, rest: {**rest, "data": data, "session_hash": "x"}, st.lists(values), fields),
    st.builds(lambda rest: {**QUESTION, **rest}, fields),
    values,
)
bodies = st.one_of(
    st.binary(max_size=99),
    forms.map(json.dumps),
    st.builds(lambda form, end: json.dumps(form)[:end], forms, st.integers(0, 50)),
)
ODD_VALUES = (None, "9" * 400, ["bert-sentiment"] * 3, "not good " * 3, *CASES["odd_values"])
ODD_PARTS = [one for one in ODD_VALUES if not isinstance(one, list | dict)]
ODD_EVENTS = (None, *CASES["odd_events"])


@settings(derandomize=True, database=None, deadline=None, max_examples=200)
@given(st.sampled_from(CASES["posts"]), bodies, st.sampled_from(CASES["types"]))
def test_rubbish_is_answered_and_nothing_of_the_inside_is_shown(
    real: httpx.Client, path: str, body: str | bytes, kind: str
) -> None:
    """The fixture sees that no fault is in the log."""
    answer = real.post(path, content=body, headers={"Content-Type": kind})
    said = answer.text
    if answer.is_success and "event_id" in answer.json():
        said += real.get(f"/gradio_api/call/analyze/{answer.json()['event_id']}").text
    assert answer.status_code in (200, 400, 404, 405, 422)
    assert "Traceback" not in said
    assert 'File "' not in said
    assert str(ROOT) not in said


FAULTS = [load_texts(tag)("verdict.bug") for tag in languages()]


def test_odd_values_of_a_page_s_parts_are_answered_in_a_sentence(real: httpx.Client) -> None:
    """Of one language, in which everything is laid out. The fixture sees that no fault is in the log."""
    chosen, told, config = random.Random(7), Counter[int](), real.get("/config").json()
    collected = {one["id"] for one in config["components"] if one["type"] == "html"}  # of several parts
    for function in config["dependencies"]:
        if not function["backend_fn"] or function["id"] not in config["page"]["zh"]["dependencies"]:
            continue
        event = {
            "data": [
                chosen.choices(ODD_PARTS, k=20) if part in collected else chosen.choice(ODD_VALUES)
                for part in function["inputs"]
            ],
            "fn_index": function["id"],
            "session_hash": "odd",
            "event_data": chosen.choice(ODD_EVENTS),
        }
        path = "run/predict" if function["queue"] is False else "queue/join"
        answer = real.post(f"/gradio_api/{path}", json=event, headers={"Accept-Language": "zh"})
        told[answer.status_code] += 1
        if answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
            assert answer.json()["error"] not in (None, ""), event
        said = answer.text
        if path == "queue/join" and answer.is_success:
            said += answers_of(real, "odd")
        assert not any(fault in said for fault in FAULTS), event
    assert told[HTTPStatus.OK] > 25


SECRET = "quetzalcoatlus"
ASKED = ("analyze", "anatomy", "lens", "importance", "padding")


def test_nothing_of_a_table_stays(real: httpx.Client, folder: Path) -> None:
    """Neither in the log, nor in a file of the server, nor in what others are told."""
    table = "text,label\n" + "\n".join(f"{SECRET} {row} flies,{row % 2}" for row in range(24))
    client = Client(str(real.base_url), verbose=False)
    asked = (table, "text", "label", "", ["bert-sentiment"], ["mean"])
    assert client.predict(*asked, api_name="/fit")["n"] == 24
    refused = client.submit(table.replace(",1", ""), "text", "label", api_name="/fit")
    assert refused.exception() is not None
    other = Client(str(real.base_url), verbose=False)  # somebody else
    told = [str(other.predict("bert-sentiment", "it flies", api_name=f"/{name}")) for name in ASKED]
    told += [real.get(f"/{page}").text for page in ("", "metrics", "config")]
    log = (folder / "real.log").read_text(errors="replace")
    assert "question=fit outcome=answered" in log
    assert "question=fit outcome=refused" in log
    files = [file for file in (folder / "files").rglob("*") if file.is_file()]
    for text in (log, *told, *(file.read_text(errors="replace") for file in files)):
        assert SECRET not in text


@pytest.mark.parametrize(("begin", "more"), CASES["endless"].values(), ids=CASES["endless"])
def test_a_head_without_an_end_is_not_read_on(real: httpx.Client, begin: str, more: str) -> None:
    lines, sent = more.encode() * (500_000 // len(more)), 0
    with socket.create_connection((real.base_url.host, real.base_url.port or 80), timeout=30) as connection:
        connection.sendall(begin.encode())
        with suppress(ConnectionError):  # the server has hung up; the fixture sees that it has no fault
            while sent < 100_000_000:
                connection.sendall(lines)
                sent += len(lines)
    assert sent < 15_000_000


@pytest.mark.parametrize("head", CASES["requests"])
def test_no_body_is_taken_for_the_next_request(real: httpx.Client, head: str) -> None:
    there = real.base_url.host, real.base_url.port or 80
    with suppress(ConnectionError), socket.create_connection(there, timeout=30) as connection:
        connection.sendall(f"POST /analyze HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode())
        told = connection.recv(4096)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        while piece := connection.recv(4096):
            told += piece
    assert told.count(b"HTTP/1.1 ") == 1


def test_a_head_has_no_more_headers_than_anybody_needs(real: httpx.Client) -> None:
    """Each costs the page's time, however short it is."""
    statuses = [real.get("/", headers=[("a", "")] * count).status_code for count in (150, 250)]
    assert statuses == [HTTPStatus.OK, HTTPStatus.BAD_REQUEST]


def test_a_body_has_an_end_whether_it_says_its_length_or_not(real: httpx.Client) -> None:
    answer = real.post(ANALYZE, json={**QUESTION, "text": "x" * 2_000_000})
    assert answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "at most 545,536 bytes" in answer.json()["detail"]
    heard = 0

    def flood() -> Iterator[bytes]:
        nonlocal heard
        for _ in range(1000):
            heard += 1_000_000
            yield b"x" * 1_000_000

    try:
        status = real.post(ANALYZE, content=flood()).status_code
    except httpx.TransportError:  # the server has hung up while the rest was on its way
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert heard < 100_000_000
    assert real.get("/").status_code == HTTPStatus.OK
