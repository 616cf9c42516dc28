"""What is the same for every visitor is made once, compressed once, and kept by their browsers."""

import asyncio
import zlib
from collections.abc import Coroutine, Mapping
from http import HTTPStatus
from typing import Any

import brotli
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from components.ui.public.response_cache import ResponseCache

TEXT = "the same for everybody " * 100


class Counting:
    """An app that answers with TEXT and what it was asked, and counts how often."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = HTTPStatus.OK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.asked.append(str(request.url))
        await asyncio.sleep(0)
        if request.url.path == "/broken":
            raise RuntimeError("no answer")
        text = f"{TEXT}{request.url} {sorted(request.headers)}"
        parts = iter([text[:99], text[99:]])  # a response in parts ends early if the one who asked goes away
        await StreamingResponse(parts, self.status, media_type="text/plain")(scope, receive, send)


class Session:
    """One server and what is asked of it."""

    def __init__(self, max_bytes: int = 1_000_000) -> None:
        self.app = Counting()
        cached = ResponseCache(self.app, lambda path: not path.startswith("/own"), max_bytes)
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(cached), base_url="http://app.example")

    async def get(self, path: str, encoding: str = "", headers: Mapping[str, str] | None = None) -> Any:
        """The response; httpx takes its compression off."""
        return await self.client.get(path, headers={"Accept-Encoding": encoding, **(headers or {})})


def run(what: Coroutine[Any, Any, None]) -> None:
    asyncio.run(what)


def test_many_who_come_at_once_are_answered_by_one() -> None:
    async def all_at_once() -> None:
        session = Session()
        answers = await asyncio.gather(*(session.get(f"/page?visitor={n}", "br") for n in range(50)))
        assert len(session.app.asked) == 1
        assert {answer.text for answer in answers} == {f"{TEXT}http://app.example/page ['host']"}

    run(all_at_once())


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("br;q=1.0", "br"), ("deflate", None), ("", None)],
)
def test_it_is_compressed_as_the_browser_takes_it(accepted: str, encoding: str | None) -> None:
    async def ask() -> None:
        session = Session()
        async with session.client.stream("GET", "/page", headers={"Accept-Encoding": accepted}) as answer:
            raw = b"".join([part async for part in answer.aiter_raw()])
        assert answer.headers.get("content-encoding") == encoding
        assert int(answer.headers["content-length"]) == len(raw)
        assert answer.headers["vary"] == "Accept-Encoding"
        plain = {"br": brotli.decompress, "gzip": lambda body: zlib.decompress(body, 31), None: bytes}
        assert plain[encoding](raw).startswith(TEXT.encode())
        assert (len(raw) < len(TEXT) / 5) == (encoding is not None)

    run(ask())


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/assets/index-DphvyggB.js", True),
        ("/assets/Example-B2T8rxrA.css", True),
        ("/static/fonts/Mono.woff2", False),
        ("/assets/component.js", False),
        ("/", False),
    ],
)
def test_a_browser_keeps_for_good_what_has_a_hash_in_its_name(path: str, kept: bool) -> None:
    async def ask() -> None:
        control = (await Session().get(path)).headers["cache-control"]
        assert control == ("public, max-age=31536000, immutable" if kept else "no-cache")

    run(ask())


def test_what_a_browser_has_is_not_sent_again() -> None:
    async def ask() -> None:
        session = Session()
        tag = (await session.get("/page", "br")).headers["etag"]
        again = await session.get("/page", "br", {"If-None-Match": f'"other", W/{tag}'})
        assert (again.status_code, again.content) == (HTTPStatus.NOT_MODIFIED, b"")
        assert again.headers["etag"] == tag
        assert (await session.get("/page", "gzip", {"If-None-Match": tag})).status_code == HTTPStatus.OK

    run(ask())


def test_a_page_is_told_its_own_address_and_nothing_of_who_asked_first() -> None:
    async def ask() -> None:
        session = Session()
        first = await session.get("/page", headers={"Host": "evil.example", "Cookie": "a=b", "X-Odd": "c"})
        second = await session.get("/page", headers={"X-Forwarded-Proto": "https"})
        assert first.text == f"{TEXT}http://evil.example/page ['host']"
        assert second.text == f"{TEXT}http://app.example/page ['host', 'x-forwarded-proto']"

    run(ask())


def test_failures_and_other_paths_are_asked_for_again() -> None:
    async def ask() -> None:
        session = Session()
        for _ in range(2):
            await session.get("/own")
            with pytest.raises(RuntimeError, match="no answer"):
                await session.get("/broken")
        session.app.status = HTTPStatus.NOT_FOUND
        assert [(await session.get("/missing")).status_code for _ in range(2)] == [HTTPStatus.NOT_FOUND] * 2
        session.app.status = HTTPStatus.OK
        assert (await session.get("/missing")).status_code == HTTPStatus.OK
        assert len(session.app.asked) == 7
        await session.client.post("/page")
        await session.client.post("/page")
        assert len(session.app.asked) == 9

    run(ask())


def test_memory_is_bounded_and_what_is_asked_for_stays() -> None:
    async def ask() -> None:
        session = Session(max_bytes=3 * len(TEXT))
        for n in range(20):
            await session.get("/page")
            await session.get(f"/other/{n}")
        assert [url for url in session.app.asked if url.endswith("/page")] == ["http://app.example/page"]
        assert len(session.app.asked) == 21
        await session.get("/other/0")
        assert len(session.app.asked) == 22

    run(ask())


def test_who_goes_away_takes_nothing_from_the_others() -> None:
    async def ask() -> None:
        session = Session()
        gone = asyncio.create_task(session.get("/page"))
        stays = asyncio.create_task(session.get("/page"))
        while not session.app.asked:
            await asyncio.sleep(0)
        gone.cancel()
        assert (await stays).text.startswith(TEXT)
        assert gone.cancelled()
        assert len(session.app.asked) == 1

    run(ask())
