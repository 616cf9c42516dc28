"""The guard around an app that knows nothing of gradio: what is passed on, what is refused, and prices."""

import asyncio
import math
from contextlib import ExitStack
from itertools import islice
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from throttled import Throttled
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from components.exhibits.control import KEYS
from components.settings import Settings
from components.texts import load_texts
from components.ui.public import guard as module
from components.ui.public.queue import ASKER
from components.ui.public.requests import DOCUMENTS, Endpoint, Endpoints
from components.ui.serving import PLACES
from components.ui.talk import Room, RoomMiddleware
from tests.ui.public.asgi import CASES, answers, never, sent

ENDPOINTS: Endpoints = {name: Endpoint(("text",), ("text",), name) for name in ("analyze", "trace", "fit")}
pytestmark = pytest.mark.anyio
WIDE: dict[str, Any] = {"rate": 99, "address_rate": 99}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the body that was passed on."""
    body = await Request(scope, receive).body()
    await PlainTextResponse(body or b"served")(scope, receive, send)


def guard(tools: bool = False, **settings: Any) -> module.GuardMiddleware:
    """The guard around it, within wide rates but for what is stated."""
    return module.GuardMiddleware(echo, ENDPOINTS, Settings(**{**WIDE, **settings}), extent=iter, tools=tools)


async def bodiless() -> Message:
    """Receive a body of nothing."""
    return {"type": "http.request", "body": b""}


async def unread() -> Message:
    """Fail: a body is read that is not wanted."""
    raise AssertionError


@pytest.mark.parametrize(("path", "longest"), CASES["bodies"])
async def test_a_body_is_bounded_by_its_use_and_one_for_nothing_is_not_read(path: str, longest: int) -> None:
    headers = [(b"content-length", str(max(longest, 0) + 100_000).encode())]
    start, body = await sent(guard(), {"method": "POST", "path": path, "headers": headers}, unread)
    assert start["status"] == (404 if longest < 0 else 413)
    assert f"{longest:,}" in body["body"].decode() or longest < 0
    assert (b"connection", b"close") in start["headers"]  # what follows is not read either


@pytest.mark.parametrize(("accepted", "kind"), [("text/html,*/*", "text/html"), ("*/*", "application/json")])
async def test_a_browser_s_address_of_nothing_gets_a_page_that_says_so(accepted: str, kind: str) -> None:
    headers = {"Accept": accepted, "Accept-Language": "zh"}
    (told,) = await answers(guard(), {"url": "/nothing", "headers": headers})
    assert (told.status_code, told.headers["content-type"].partition(";")[0]) == (404, kind)
    assert load_texts("zh")("refusal.not_found") in told.text


@pytest.mark.parametrize("field", ["path", "query_string", "name", "value", "many"])
async def test_a_head_has_a_bound_whatever_server_has_read_it(field: str) -> None:
    for size, status in ((60_000, 404), (66_000, 431)):
        headers = {"name": [(b"x" * size, b"")], "value": [(b"x", b"y" * size)]}
        more = headers.get(field, [(b"x", b"y")] * (size // 2 * (field == "many")))
        scope = {"path": "/nothing", "query_string": b"", "headers": more}
        scope |= {"path": f"/{'x' * size}"} if field == "path" else {}
        scope |= {"query_string": b"x" * size} if field == "query_string" else {}
        assert (await sent(guard(), scope, never))[0]["status"] == status


@pytest.mark.parametrize("path", ["/", "/gradio_api/queue/data", "/room/lead"])
async def test_a_query_has_no_more_keys_than_a_link(path: str) -> None:
    app = RoomMiddleware(guard(), Room({}), phones=True)
    for count, refused in ((KEYS - 1, False), (KEYS, True)):
        scope = {"path": path, "query_string": b"x=%41&" * count, "headers": []}
        assert ((await sent(app, scope, bodiless))[0]["status"] == 400) == refused


TOOL = {"method": "tools/call", "params": {"name": "space_fit", "arguments": {"text": "x" * 300}}}
EVENT = {"fn_index": 7, "data": [], "session_hash": "x"}
JOIN = {"method": "POST", "url": "/gradio_api/queue/join"}
LINK = {**EVENT, "event_data": {"query": "x" * 20_000}}


@pytest.mark.parametrize(
    ("path", "body", "beside", "again"),
    [
        ("/gradio_api/mcp/", TOOL, {}, 429),
        ("/gradio_api/mcp/", {"method": "tools/list"}, {}, 429),
        ("/gradio_api/mcp/", TOOL, {"data": [], "session_hash": "a" * 3_900_000}, 429),
        ("/gradio_api/mcp/", TOOL, {"data": [], "fn_index": 7}, 429),
        ("/gradio_api/queue/join", EVENT, {}, 200),
        ("/gradio_api/run/predict", LINK, {}, 429),
        ("/gradio_api/queue/join", LINK, {}, 429),  # a link's texts are asked as a box's are
    ],
)
async def test_what_is_executed_is_what_is_paid_for_and_no_key_is_longer_than_a_session(
    path: str, body: dict[str, Any], beside: dict[str, Any], again: int
) -> None:
    known = {**ENDPOINTS, 7: Endpoint((), (), "draw_dialog")}
    guarded_app = module.GuardMiddleware(echo, known, Settings(rate=4, address_rate=199), iter, tools=True)
    posted = {"method": "POST", "url": path, "json": {**body, **beside}}
    with patch.object(module, "_spend", wraps=module._spend) as spent:
        told = await answers(guarded_app, *[posted] * 3)
    assert [one.status_code for one in told] == [200, 200, again]
    assert all(len(call.args[1]) < 100 for call in spent.call_args_list)


async def test_a_link_is_priced_by_what_it_shows_when_it_is_followed() -> None:
    known = {7: Endpoint((), (), "follow")}
    asked = [["bert"] * 8, ["mean"] * 12]  # 24 questions: half of what 50 a minute allow is 25
    wide = Settings(rate=50, address_rate=99)
    guarded_app = module.GuardMiddleware(echo, known, wide, extent=lambda query: asked if query else [])
    events = [{**EVENT, "event_data": {"query": query}} for query in ("", "x", "x", "x")]
    told = await answers(guarded_app, *[{**JOIN, "json": event} for event in events])
    assert [one.status_code for one in told] == [200, 200, 200, 429]


@pytest.mark.parametrize(("pace", "status"), [(1, 200), (1e9, 408)])
async def test_who_sends_slowly_has_gone(monkeypatch: pytest.MonkeyPatch, pace: float, status: int) -> None:
    monkeypatch.setattr(module, "FIRST", 0)
    monkeypatch.setattr(module, "PACE", pace)  # so many bytes are enough for each second that it takes
    pieces = [b'{"text": "', b'x"}']

    async def receive() -> Message:
        if len(pieces) < 2:
            await asyncio.sleep(0.01)
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    (start, *_) = await sent(guard(), {"method": "POST", "path": "/analyze"}, receive)
    assert start["status"] == status


async def test_bodies_on_their_way_have_a_bound_in_all_and_each_address_a_quarter_of_it() -> None:
    arrivals = module.Arrivals(most=100)
    with ExitStack() as under_way:
        come = {one: under_way.enter_context(arrivals.body(one)) for one in "abcde"}
        for address, size, too_much in [
            *[(one, 25, False) for one in "abc"],
            *[("a", 1, True), ("d", 24, False), ("e", 1, True)],
        ]:
            assert come[address](size) == too_much
    assert arrivals._held == {}


async def test_an_address_has_a_bound_of_streams_that_are_open_and_others_have_theirs() -> None:
    held = asyncio.Event()

    async def stream(_scope: Scope, _receive: Receive, _send: Send) -> None:
        await held.wait()

    app = module.GuardMiddleware(stream, ENDPOINTS, Settings(**WIDE), extent=iter)
    app._begun = module.Arrivals(most=8 * module.CONNECTION_BYTES)  # two of each address
    asked = {"path": "/gradio_api/heartbeat/x", "headers": []}
    streams = [
        asyncio.create_task(sent(app, {**asked, "client": (one, 1)}, never))
        for one in ("1.1.1.1", "2.2.2.2") * 2
    ]
    await asyncio.sleep(0)
    (start, *_) = await sent(app, {**asked, "client": ("1.1.1.1", 1)}, never)
    assert start["status"] == 503
    held.set()
    assert await asyncio.gather(*streams) == [[]] * 4


async def test_who_sends_more_bodies_than_their_share_is_told_to_come_back() -> None:
    app = guard(address_rate=99_999)
    post = {"method": "POST", "path": "/analyze"}

    def begun(body: bytes, more: bool = True) -> Receive:
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": more}]

        async def receive() -> Message:
            return first.pop() if first else await never()

        return receive

    fit = module.ARRIVING_BYTES // 4 // (500_000 + module.CONNECTION_BYTES)
    tasks = [asyncio.ensure_future(sent(app, post, begun(b"x" * 500_000))) for _ in range(100)]
    refused = [await one for one in islice(asyncio.as_completed(tasks, timeout=10), 100 - fit)]
    assert {start["status"] for start, *_ in refused} == {503}
    waiting = [one for one in tasks if not one.done()]
    assert len(waiting) == fit
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (await sent(app, post, begun(b'{"text": ""}', more=False)))[0]["status"] == 200


async def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    reset = {"method": "POST", "path": "/gradio_api/reset"}
    start, body = await sent(guard(seconds=1e-9), reset, never)
    assert start["status"] == 408
    assert b"took too long to arrive" in body["body"]

    async def fail() -> Message:
        raise TimeoutError("the server's own")

    with pytest.raises(TimeoutError, match="the server's own"):
        await sent(guard(), reset, fail)


def test_on_a_space_private_proxies_are_believed_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for space, believed in (("", "127.0.0.1"), ("me/pool", "127.0.0.1 10.1.2.3 fc00::1")):
        monkeypatch.setenv("SPACE_ID", space) if space else monkeypatch.delenv("SPACE_ID", raising=False)
        proxies = [str(network) for network in Settings().proxies]
        trusted = ProxyHeadersMiddleware(echo, proxies).trusted_hosts
        asked = ("127.0.0.1", "10.1.2.3", "fc00::1", "8.8.8.8")
        assert " ".join(one for one in asked if one in trusted) == believed


PROGRAM = [("8.8.8.8", None)]
MANY = [("8.8.8.8", f"page{number}") for number in range(9)]
ROOM = [("", session) for _, session in MANY]


@pytest.mark.parametrize(
    ("limits", "name", "asked", "statuses"),
    [
        # visitors are pages, of which each has a rate; programs of one address are one visitor
        ({"rate": 2}, "analyze", MANY[:2] * 3 + PROGRAM * 3, [200] * 4 + [429] * 2 + [200] * 2 + [429]),
        # a trace of sixty characters takes as much as two questions
        ({"rate": 5}, "trace", MANY[:1] * 3, [200, 200, 429]),
        # the dearest question may be asked twice in a minute: a table of sixty characters is more than one
        ({"address_rate": 2}, "fit", MANY[:3], [200, 200, 429]),
        ({"rate": 2}, "fit", MANY[:1] * 3, [200, 200, 429]),
        # made-up pages share what their address may ask
        ({"address_rate": 5}, "analyze", [*MANY, ("9.9.9.9", "page0")], [200] * 5 + [429] * 4 + [200]),
        # a speaker's laptop trusts the room, and nobody else
        ({"address_rate": 5, "room": True}, "analyze", ROOM + MANY[:6], [200] * 14 + [429]),
        ({"rate": 2, "room": True}, "analyze", ROOM[:1] * 3, [200, 200, 429]),
    ],
)
async def test_visitors_and_addresses_have_a_rate(
    limits: dict[str, int], name: str, asked: list[tuple[str, str | None]], statuses: list[int]
) -> None:
    guarding = guard(**limits)
    post, asking = {"method": "POST", "url": f"/gradio_api/call/{name}"}, {"data": ["good " * 12]}
    from_there = [{"headers": {"X-Forwarded-For": address} if address else {}} for address, _ in asked]
    pages = [{"json": {**asking, "session_hash": session}} for _, session in asked]
    requests = [{**post, **there, **page} for there, page in zip(from_there, pages, strict=True)]
    told = await answers(ProxyHeadersMiddleware(guarding, ["10.0.0.0/8"]), *requests, client="10.0.0.1")
    assert [one.status_code for one in told] == statuses


@pytest.mark.parametrize(("path", "cookie", "served"), CASES["reads"])
async def test_what_is_only_read_has_a_rate(path: str, cookie: int, served: int) -> None:
    guarding = guard(address_rate=2)  # a minute, so slow that none comes back while these are asked
    asked = {"url": path, "headers": {"Cookie": "x" * cookie}}
    told = await answers(guarding, *[asked] * (served + 1), client="8.8.8.8")
    (other,) = await answers(guarding, {"url": path}, client="9.9.9.9")
    assert [one.status_code for one in told] == [other.status_code] * served + [429]


@pytest.mark.parametrize(("embed", "served"), [("similarity", 15), ("matters", 3), ("nothing", 15)])
async def test_an_exhibit_in_a_frame_costs_its_address_what_it_asks(embed: str, served: int) -> None:
    def extent(_query: str, exhibit: str) -> list[str]:
        return [{"similarity": "tokens", "matters": "importance"}.get(exhibit, ""), "a"]

    app = module.GuardMiddleware(echo, ENDPOINTS, Settings(rate=60, address_rate=60), extent)
    told = await answers(app, *[{"url": f"/?text=a&embed={embed}"}] * (served + 1), client="8.8.8.8")
    assert [one.status_code for one in told] == [200] * served + [429]
    assert '<p class="mistake" role="alert">' in told[-1].text  # a frame is read, not parsed


async def lines_of(known: Endpoints, *asked: dict[str, Any]) -> list[str]:
    """The line in which each of what is asked waits."""
    seen: list[str] = []

    async def noting(scope: Scope, _receive: Receive, send: Send) -> None:
        seen.append(scope["state"][ASKER].ticket.line)
        await PlainTextResponse("drawn")(scope, _receive, send)

    app = module.GuardMiddleware(noting, known, Settings(**WIDE), extent=lambda *_: ["a"])
    assert {one.status_code for one in await answers(app, *asked)} == {200}
    return seen


async def test_a_question_waits_in_the_line_of_its_endpoint_however_it_is_asked() -> None:
    known: Endpoints = {"compare": Endpoint((), (), "compare", "few")}
    ways = {"/compare": {}, "/gradio_api/call/v2/compare": {}, "/gradio_api/call/compare": {"data": []}}
    asked = ({"method": "POST", "url": path, "json": body} for path, body in ways.items())
    assert await lines_of(known, *asked) == ["few"] * 3


async def test_whatever_is_drawn_as_a_document_waits_for_few_places() -> None:
    post = {"method": "POST", "json": {"query": "", "page": "", "session_hash": "x"}}
    frame = {"url": "/?text=a&embed=similarity"}
    seen = await lines_of(ENDPOINTS, *({**post, "url": path} for path in DOCUMENTS), frame)
    assert len(seen) == 3
    assert max(PLACES[line] for line in seen) <= 4


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(0, 30)), max_size=60))
def test_nobody_gets_more_than_the_rate_and_who_waits_as_told_gets_it(asked: list[tuple[int, int]]) -> None:
    limiter, now, let_in = module.rate_limiter(per_minute=10), 0, 0
    with patch("throttled.utils.now_mono_f", side_effect=lambda: now):
        for cost, later in asked:
            now += later
            if wait := retry_after(limiter, "a", cost):
                now += wait
                assert retry_after(limiter, "a", cost) == 0
            let_in += cost
    assert let_in <= 10 + now * 10 / 60 + 0.01


def test_a_flood_of_new_visitors_is_forgotten_and_those_who_ask_on_are_not() -> None:
    limiter = module.rate_limiter(per_minute=10, clients=100)
    with patch("throttled.utils.now_mono_f", return_value=0):
        assert retry_after(limiter, "a", 10) == 0
        for index in range(1000):
            retry_after(limiter, f"visitor {index}", 1)
            assert retry_after(limiter, "a", 1) == 6


def retry_after(limiter: Throttled, client: str, cost: int) -> int:
    return math.ceil(limiter.limit(client, cost * module.PARTS).state.retry_after)


TABLE = "a good film,1\n" * 50_000
LONG = [
    ["", ["a", "x" * 10_000], 3],
    ["detect", [[0.5] * 768, "bert"], 45],  # 22 to 92 from 100 to 2,500 characters
    ["trace", ["bert-sentiment", "good " * 30, "good " * 30], 13.1],  # 12 to 14 on two bundled models
    ["prepare", [{"text": "x" * 19_800}], 7920],  # 4 to 6 seconds, 400 to 600 times those of an answer
    ["importance", ["bert", "x" * 500], 83.3],  # 64 to 119 on two bundled models, by machine
    ["origin", ["x" * 98], 4.9],  # 3.4 to 10
    ["origin", ["x" * 500], 125],  # 164 to 190 where a word matters
    ["timing", ["bert", "x" * 500, "mean"], 16.9],  # 27 to 29
    ["fit", [TABLE[:1400], "text", "label"], 28.2],
    ["read_table", [TABLE, "text", "label"], 28],  # 8 s of one that folds each letter, 0.1 of plain prose
]


@pytest.mark.parametrize(("name", "values", "questions"), CASES["prices"] + LONG)
def test_what_takes_longer_costs_more(name: str, values: list[object], questions: float) -> None:
    assert module.price(name, values) == pytest.approx(questions * module.QUESTION, rel=0.05)


async def test_a_body_goes_in_pieces_and_is_the_same() -> None:
    whole = "“ä”".join(str(number) for number in range(30_000))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(whole)(scope, *module.guarded(receive, send, varies=True))

    start, *bodies = await sent(app, {}, never)
    assert b"".join(one["body"] for one in bodies).decode() == whole
    assert max(len(one["body"]) for one in bodies) == module.PIECE
    assert [one["more_body"] for one in bodies] == [True] * (len(bodies) - 1) + [False]
    headers = dict(start["headers"])
    assert headers[b"content-length"] == str(len(whole.encode())).encode()
    assert headers[b"vary"] == b"Accept-Language"
