"""What the app serves, to whom, and what is said of rubbish."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from components.ui.gradio_internals import CLOSE
from tests.public.asking import ANALYZE, QUESTION, ask
from tests.serving import ROOT


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


def test_the_page_is_sent_compressed(real: httpx.Client) -> None:
    with real.stream("GET", "/", headers={"Accept-Encoding": "br"}) as sent:
        size = len(b"".join(sent.iter_raw()))
    assert sent.headers["content-encoding"] == "br"
    assert set(sent.headers["vary"].split(", ")) == {"Accept-Encoding", "Accept-Language"}
    assert 6 * size < len(real.get("/").content)


@pytest.mark.parametrize(
    ("address", "preferred", "place"),
    [
        ("/", "zh-CN,en;q=0.5", "./zh"),
        ("/?text=a&lang=zh", "en", "./zh?text=a&lang=zh"),
        ("/zh?lang=en", "zh", "./?lang=en"),
        ("/?lang=zh&x=%0d%0aSet-Cookie:a", "en", "./zh?lang=zh&x=%0d%0aSet-Cookie:a"),
    ],
)
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


def test_a_refusal_is_said_in_the_language_of_the_page(real: httpx.Client) -> None:
    asked = {"fn_index": -1, "session_hash": "x", "data": []}
    for referer, said in (("/zh?text=a", "fn_index：给出的是 -1；"), ("/", "fn_index: -1 was given; ")):
        headers = {"Referer": str(real.base_url.join(referer)), "Accept-Language": "en"}
        answer = real.post("/gradio_api/queue/join", json=asked, headers=headers)
        assert answer.json()["detail"].startswith(said)


SECRETS = [
    "app.py", "/etc/passwd", str(ROOT / "app.py"), "../app.py", "..%2fapp.py", "%2e%2e/app.py",
    "....//app.py", "assets/backbones.toml", "components/settings.py",
    "~/.cache/huggingface/token", "/proc/self/environ",
    "http://example.com/", "https:/example.com", "//example.com", "file:///etc/passwd", "app.py%00.png",
    "..\\app.py", "%5c..%5capp.py",
]  # fmt: skip
DOORS = (
    "gradio_api/file=", "file=", "assets/", "static/", "gradio_api/proxy=", "gradio_api/stream/",
    "gradio_api/custom_component/x/client/", "",
)  # fmt: skip
UNNEEDED = """POST /gradio_api/upload|POST /gradio_api/component_server|POST /login|POST /gradio_api/stream/x
    |POST /gradio_api/vibe-edit/|POST /gradio_api/run-history/connect|GET /monitoring/summary
    |GET /openapi.json|GET /docs|GET /gradio_api/token|GET /gradio_api/dev/reload
    |GET /gradio_api/deep_link?session_hash=x|GET /gradio_api/mcp/sse|GET /gradio_api/mcp/schema|PUT /
    |PATCH /config|DELETE /gradio_api/file=app.py|TRACE /|OPTIONS /config"""


def test_no_door_leads_to_a_file(real: httpx.Client) -> None:
    statuses = {
        (door, secret): real.get(f"/{door}{secret}").status_code for door in DOORS for secret in SECRETS
    }
    assert {opened: status for opened, status in statuses.items() if status not in (400, 403, 404)} == {}


def test_what_is_not_needed_is_not_there(real: httpx.Client) -> None:
    for unneeded in UNNEEDED.split("|"):
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
    for path in ("/", "/config", "/gradio_api/info"):
        said = real.get(path).text
        assert "evil.example" not in said
        assert str(ROOT) not in said
        assert str(Path.home()) + "/" not in said


# To whom

OWN = [("127.0.0.1:7860", "http://127.0.0.1:7860"), ("me-pool.hf.space", "https://me-pool.hf.space")]
BEHIND = {"Host": "10.0.0.5:7860", "Origin": "https://me-pool.hf.space"}  # a proxy
FOREIGN = [
    ("127.0.0.1:7860", "http://localhost:7860"), ("127.0.0.1:7860", "http://127.0.0.1:8000"),
    ("me-pool.hf.space", "https://you-evil.hf.space"), ("me-pool.hf.space", "null"), ("me-pool.hf.space", ""),
    ("me-pool.hf.space", "https://me-pool.hf.space.evil.example"),
    ("me-pool.hf.space", "https://me-pool.hf.space@evil.example"), ("me-pool.hf.space", "http://["),
]  # fmt: skip


def test_its_own_page_may_ask(real: httpx.Client) -> None:
    behind = ({"X-Forwarded-Host": "me-pool.hf.space"}, {"Sec-Fetch-Site": "same-origin"})
    for headers in (
        *({"Host": host, "Origin": origin} for host, origin in OWN),
        *({**BEHIND, **one} for one in behind),
    ):
        assert real.post(ANALYZE, json=QUESTION, headers=headers).status_code == HTTPStatus.OK, headers


@pytest.mark.parametrize(("host", "origin"), FOREIGN)
def test_no_other_page_may_ask_or_read(real: httpx.Client, host: str, origin: str) -> None:
    headers = {"Host": host, "Origin": origin}
    answers = [
        real.get("/config", headers=headers),
        real.post(ANALYZE, json=QUESTION, headers=headers),
        real.post("/analyze", json=QUESTION, headers=headers),
        real.post(ANALYZE, content=json.dumps(QUESTION), headers={**headers, "Content-Type": "text/plain"}),
        real.options(ANALYZE, headers={**headers, "Access-Control-Request-Method": "POST"}),
    ]
    for answer in answers:
        assert answer.status_code == HTTPStatus.FORBIDDEN
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_refusal_is_no_markup_to_a_page_and_plain_to_a_program(real: httpx.Client) -> None:
    """Gradio's page shows what a refusal says as HTML, though without its scripts."""
    markup = {**QUESTION, "<img/src=x>": ""}
    page = real.post(ANALYZE, json=markup, headers={"Origin": str(real.base_url).rstrip("/")})
    program = real.post(ANALYZE, json=markup)
    assert "field: &#x27;&lt;img/src=x&gt;&#x27; was given" in page.json()["detail"]
    assert "field: '<img/src=x>' was given" in program.json()["detail"]


def test_plain_http_says_what_gradio_says(real: httpx.Client) -> None:
    for fields in ({}, {"text_pair": "good", "pooling": "mean", "layer": 1, "reference": "pooled"}):
        assert real.post("/analyze", json={**QUESTION, **fields}).json() == ask(real, **fields)
    refused = real.post("/analyze", json={**QUESTION, "backbone": "none"})
    assert (refused.status_code, refused.json()["detail"]) == (400, ask(real, backbone="none")["error"])
    for name in ("backbones", "poolings"):
        assert real.post(f"/{name}", json={}).json() == Client(str(real.base_url), verbose=False).predict(
            api_name=f"/{name}"
        )
    assert real.post("/fetch", json={"backbone": "bert-sentiment"}).status_code == HTTPStatus.NOT_FOUND


# Rubbish

texts = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
NAMES = """data fn_index session_hash event_data trigger_id batched event_id simple_format vector prefix
    backbone text text_pair pooling head layer reference task talk name page"""
fields = st.dictionaries(st.sampled_from(NAMES.split()), values)
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
POSTS = """queue/join run/predict api/analyze call/analyze call/v2/analyze call/v2/anatomy call/ask
    call/backbones call/v2/poolings cancel reset call/v2/ call/%00 call/.."""
PLAIN = "analyze anatomy lens trace importance padding detect passport compare find fetch fit"
posts = st.sampled_from(
    [f"/gradio_api/{path}" for path in POSTS.split()] + [f"/{path}" for path in PLAIN.split()]
)
ODD_VALUES = (
    *(None, True, -1, 0, 10**9, 1.5, "", "x", "[CLS]", "9" * 400, [], ["x"], [1], ["bert-sentiment"] * 3),
    "not good " * 3,
)
ODD_EVENTS = (
    *(None, {}, {"query": 1}, {"query": "layer=x&backbone=%00"}, {"query": "?" * 50, "page": 3, "whole": 7}),
    *({"link": 5}, {"index": "a", "value": {}}, {"key": []}, {"_data": {"a": 1}}, "x", 1, []),
)


@settings(derandomize=True, database=None, deadline=None, max_examples=400)
@given(posts, bodies, st.sampled_from(("application/json", "text/plain", "multipart/form-data", "")))
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


FAULT = "This is a fault of the page"


def answers_of(app: httpx.Client, session: str) -> httpx.Response:
    """What comes of what a session has asked, until it is told to close the stream, as a page does."""
    lines = []
    with app.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if CLOSE in line.encode():
                break
    return httpx.Response(stream.status_code, text="\n".join(lines))


def test_odd_values_of_the_page_s_parts_are_answered_in_a_sentence(real: httpx.Client) -> None:
    """No traceback either: the fixture reads the log."""
    chosen = random.Random(7)
    session = "odd"
    told = Counter()
    for function in real.get("/config").json()["dependencies"]:
        if function["backend_fn"]:
            event = {
                "data": [chosen.choice(ODD_VALUES) for _ in function["inputs"]],
                "fn_index": function["id"],
                "session_hash": session,
                "event_data": chosen.choice(ODD_EVENTS),
            }
            path = "run/predict" if function["queue"] is False else "queue/join"
            answer = real.post(f"/gradio_api/{path}", json=event)
            if path == "queue/join" and answer.is_success:
                answer = answers_of(real, session)
            told[answer.status_code] += 1
            if answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
                assert answer.json()["error"] not in (None, "", FAULT), event
            assert FAULT not in answer.text, event
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


def test_a_body_has_an_end(real: httpx.Client) -> None:
    long = "x" * 2_000_000
    answer = real.post(ANALYZE, json={**QUESTION, "text": long})
    assert answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "at most 545,536 bytes" in answer.json()["detail"]


def test_a_body_that_does_not_say_its_length_has_an_end_too(real: httpx.Client) -> None:
    heard = 0

    def flood() -> Iterator[bytes]:
        nonlocal heard
        for _ in range(1000):
            heard += 1_000_000
            yield b"x" * 1_000_000

    try:
        answer = real.post(ANALYZE, content=flood())
    except httpx.TransportError:  # the server has hung up while the rest was on its way
        answer = None
    assert answer is None or answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert heard < 100_000_000
    assert real.get("/").status_code == HTTPStatus.OK
