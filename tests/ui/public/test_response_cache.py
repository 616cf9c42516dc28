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
pytestmark = pytest.mark.anyio


class App:
    """An app that answers with TEXT and what it was asked, and notes that; and its client."""

    def __init__(self, max_bytes: int = 1_000_000) -> None:
        self.asked: list[str] = []
        self.status = 200
        cache = ResponseCache(self, lambda path: not path.startswith("/own"), max_bytes)
        headers = {"Accept-Encoding": ""}  # no compression
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(cache), base_url="http://app", headers=headers
        )

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
    assert {answer.text for answer in await asyncio.gather(*stay)} == {f"{TEXT}http://app/page ['host']"}
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


async def test_a_page_is_told_its_own_address_and_nothing_of_who_asked_first() -> None:
    client = App().client
    first = await client.get("/page", headers={"Host": "evil.example", "Cookie": "a=b", "X-Odd": "c"})
    second = await client.get("/page", headers={"X-Forwarded-Proto": "https"})
    assert first.text == f"{TEXT}http://evil.example/page ['host']"
    assert second.text == f"{TEXT}http://app/page ['host', 'x-forwarded-proto']"


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
