"""What is the same for every visitor is made once, compressed once, and kept by their browsers."""

import asyncio
import zlib

import brotli
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from components.ui.public.response_cache import ResponseCache

TEXT = "the same for everybody " * 100
TOLD = f"{TEXT}http://poolscope.invalid/page ['host', 'referer']"
pytestmark = pytest.mark.anyio


class App:
    """An app that answers with TEXT and what it was asked, and notes that; and its client."""

    def __init__(self, max_bytes: int = 1_000_000) -> None:
        self.asked: list[str] = []
        self.status, self.now = 200, ""
        cache = httpx.ASGITransport(ResponseCache(self, self.version, max_bytes))
        headers = {"Accept-Encoding": ""}  # no compression
        self.client = httpx.AsyncClient(transport=cache, base_url="http://app", headers=headers)

    def version(self, path: str) -> str | None:
        return None if path.startswith("/own") else self.now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.asked.append(request.url.path)
        await asyncio.sleep(0)
        if request.url.path == "/broken":
            raise RuntimeError("no answer")
        text = f"{TEXT}{request.url} {sorted(request.headers)}"
        parts = iter([text[:99], text[99:]])  # a response in parts ends early where the one who asked leaves
        await StreamingResponse(parts, self.status, media_type="text/plain")(scope, receive, send)


async def test_many_who_come_at_once_are_answered_by_one_and_who_leaves_stops_nobody() -> None:
    app = App()
    gone, *stay = (asyncio.create_task(app.client.get(f"/page?visitor={n}")) for n in range(50))
    while not app.asked:
        await asyncio.sleep(0)
    gone.cancel()
    assert {answer.text for answer in await asyncio.gather(*stay)} == {TOLD}
    assert gone.cancelled()
    assert app.asked == ["/page"]


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("br;q=1.0", "br"), ("deflate", None)],
)
async def test_it_is_compressed_as_the_browser_takes_it(accepted: str, encoding: str | None) -> None:
    async with App().client.stream("GET", "/page", headers={"Accept-Encoding": accepted}) as answer:
        raw = b"".join([part async for part in answer.aiter_raw()])
    assert answer.headers.get("content-encoding") == encoding
    assert int(answer.headers["content-length"]) == len(raw)
    assert answer.headers["vary"] == "Accept-Encoding"
    plain = {"br": brotli.decompress, "gzip": lambda body: zlib.decompress(body, 31), None: bytes}
    assert plain[encoding](raw).startswith(TEXT.encode())
    assert (len(raw) < len(TEXT) / 5) == (encoding is not None)


async def test_a_page_is_told_nothing_of_who_asked_and_a_thousand_names_of_it_are_one() -> None:
    app = App()
    chosen = ("Host", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Gradio-Server", "Cookie", "Referer")
    for number in range(200):
        headers = {name: f"{name}{number}.example" for name in chosen}
        assert (await app.client.get(f"/page?{number}", headers=headers)).text == TOLD
    assert (await app.client.head("/page")).status_code == 200
    assert app.asked == ["/page"]
    app.now = "another"
    await app.client.get("/page")
    assert app.asked == ["/page", "/page"]


async def test_failures_and_other_paths_are_asked_for_again() -> None:
    app = App()
    for _ in range(2):
        await app.client.get("/own")
        await app.client.post("/page")
        with pytest.raises(RuntimeError, match="no answer"):
            await app.client.get("/broken")
    for app.status in (404, 404, 200):
        assert (await app.client.get("/missing")).status_code == app.status
    assert len(app.asked) == 9


async def test_memory_is_bounded_and_what_is_asked_for_stays() -> None:
    app = App(max_bytes=3 * len(TEXT))
    for number in range(20):
        await app.client.get("/page")
        await app.client.get(f"/other/{number}")
    await app.client.get("/other/0")
    assert app.asked.count("/page") == 1
    assert app.asked.count("/other/0") == 2
