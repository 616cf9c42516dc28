"""The queue: what waits for its turn, in which order, and streams of answers in which nothing is lost."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import gradio as gr
from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from components.admission import Admission, FullError, Ticket
from components.texts import Texts, load_texts
from components.ui.gradio_internals import CLOSE, JOINED, completed, streamed
from components.ui.public.requests import request_texts

Awaited = TypeVar("Awaited")

ASKER = "asker"  # in the state of a request: what the guard understood of it
UNHEARD = 30.0  # seconds that a question waits for somebody to listen
LATE = 4.0  # seconds after which the end of a stream is not waited for any longer
READ = 1.0  # seconds in which an answer that is there reaches its page, and is not waited for any longer
BUSY = {"Retry-After": "5"}  # headers of a refusal because as many wait as may
ABSENT = object()  # in the place of a value that was not sent: its default holds
HELD = 3  # requests of one page that are held at once: a browser opens six, of which it needs others
TOLD = 10_000  # sessions of which it is remembered that they have been told all that they asked
NOTHING_MORE = b"data: {" + CLOSE + b"}\n\n"  # a stream that ends at once


@dataclass(eq=False)
class Asker:
    """The source of a POST: its headers, its address, and when it ``arrived``, on the event loop's clock.

    ``say``: texts in its language. ``values``: its body. ``queued``: it goes to gradio, through its queue or
    past that; None: it does not. ``from_page``: it comes from one in a browser. ``begun``: gradio has handed
    it on. ``note`` is told of each step. ``ended``: its answer has been sent, or nobody waits for it.
    """

    headers: Headers = field(default_factory=Headers)
    say: Texts = field(default_factory=load_texts)
    address: str = ""
    arrived: float | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    ticket: Ticket = field(default_factory=Ticket)
    queued: bool | None = None
    from_page: bool = False
    begun: bool = False
    note: Callable[..., Awaitable[None]] | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    joined: asyncio.Event = field(default_factory=asyncio.Event)  # its request has been answered

    @classmethod
    def of(cls, request: gr.Request) -> "Asker":
        """Read what the guard has noted of a request; whoever else asks is known by its headers alone."""
        noted: Asker | None = getattr(request.state, ASKER, None)
        headers = Headers(dict(request.headers))
        return noted or cls(headers, request_texts(headers))


class QueueMiddleware:
    """ASGI middleware before gradio, whose queue lets everything begin at once that comes to it.

    What a page asks depends on what it shows: the next question of a line is handed on when the answer before
    has been sent. A page that is told to close its stream is heard again once it has: told sooner, it would
    take the stream that is about to close for one that brings the next answer, and open no other, or find
    that the answer has gone with the old one. Nothing is begun for who does not listen, and what is unread is
    dropped with its last listener, by ``forget``, to which all that was read is told, too.
    """

    def __init__(self, app: ASGIApp, admission: Admission, forget: Callable[[str, bool], None]) -> None:
        self._app, self._admission, self._forget = app, admission, forget
        self._events: dict[str, tuple[str, Asker]] = {}  # event -> its session and question, until it ends
        self._heard: Counter[str] = Counter()  # streams that are open, by session
        self._wanted: dict[str, asyncio.Event] = {}  # session -> set when somebody listens
        self._closing: dict[str, asyncio.Event] = {}  # session whose page is to close its stream -> it has
        self._last: dict[tuple[str, str], Asker] = {}  # of a session in a line
        self._held: Counter[str] = Counter()  # requests, by session
        self._joining: set[Asker] = set()  # what is handed on, and not an event yet
        self._told: LRUCache[str, None] = LRUCache(TOLD)  # sessions that have been sent all that they asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn; 503 where too many wait, 404 for a stream of nothing.

        A busy page may read an answer and the end of its stream before it hears that its question was taken.
        It opens a stream then, of which there is nothing more to tell; an error would be shown as one.
        """
        asked: Asker | None = scope.get("state", {}).get(ASKER)
        if asked is not None and asked.queued is not None:
            return await self._ask(asked, scope, receive, send)
        if (stream := streamed(scope)) is None:
            return await self._app(scope, receive, send)
        session, _ = self._events.get(stream[1], (stream[0], None))
        if any(session == of for of, _ in self._events.values()):
            return await self._listen(session, scope, receive, send)
        told: Response = Response(NOTHING_MORE, media_type="text/event-stream")
        if session not in self._told:
            told = JSONResponse({"detail": request_texts(Headers(scope=scope))("refusal.not_found")}, 404)
        return await told(scope, receive, send)

    @asynccontextmanager
    async def turn(self, asked: Asker, session: str) -> AsyncIterator[None]:
        """Hold the place of a question, as soon as somebody listens and it is its turn."""
        asked.begun = True
        try:
            await self._listened(session)
            async with self._admission.place(asked.ticket):
                if not self._heard[session]:  # any more
                    raise gr.Error("nobody listens", print_exception=False)
                yield
        finally:
            self._admission.leave(asked.ticket)
            asyncio.get_running_loop().call_later(READ, self._settle, session, asked)

    def is_quiet(self) -> bool:
        """Tell whether nobody who listens waits for anything."""
        return not any(self._heard[session] > 0 for session, _ in [*self._events.values()])

    async def _ask(self, asked: Asker, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admission.enter(asked.ticket)
        except FullError:
            full = JSONResponse({"detail": asked.say("refusal.queue_full")}, 503, BUSY)
            return await full(scope, receive, send)
        if not asked.queued:
            return await self._at_once(asked, scope, receive, send)
        taken = False

        async def noting(message: Message) -> None:
            nonlocal taken
            if found := JOINED.match(message.get("body", b"")):
                taken, event = True, found[1].decode()
                self._events[event] = asked.ticket.visitor or event, asked
                asyncio.get_running_loop().call_later(UNHEARD, self._expire, event)
            await send(message)

        try:
            await self._in_order(asked)
            self._joining.add(asked)
            await self._app(scope, receive, noting)
        finally:
            asked.joined.set()
            self._joining.discard(asked)
            if not taken:
                self._end(asked)

    async def _at_once(self, asked: Asker, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what gradio answers past its queue, unless its client goes while it waits."""
        body = await receive()  # the guard has read all of it
        async with AsyncExitStack() as held:
            place = held.enter_async_context(self._admission.place(asked.ticket))
            if await unless_gone(place, receive):
                await self._app(scope, resumed(body, receive), send)
        asked.values = {}
        self._forget(asked.ticket.visitor, False)

    async def _in_order(self, asked: Asker) -> None:
        """Wait until a page has what it asked before, and has closed the stream that it is told to."""
        session, line = asked.ticket.visitor, asked.ticket.line
        if not session:
            return
        before, self._last[session, line] = self._last.get((session, line)), asked
        if asked.from_page and before is not None and self._held[session] < HELD:
            self._held[session] += 1
            await before.ended.wait()
            self._held[session] -= 1
            self._held = +self._held  # without those who have none
        while closing := self._closing.get(session):
            await closing.wait()

    async def _listened(self, session: str) -> None:
        """Wait until somebody listens; gr.Error, which nobody reads, where nobody does."""
        if self._heard[session]:
            return
        wanted = self._wanted.setdefault(session, asyncio.Event())
        try:
            async with asyncio.timeout(UNHEARD):
                await wanted.wait()
        except TimeoutError as error:
            raise gr.Error("nobody listens", print_exception=False) from error
        finally:
            self._wanted.pop(session, None)

    async def _listen(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a stream of answers on, until the page that is told to close it has.

        It is not told so, and gradio is asked for a stream again, while another question is on its way.
        """
        closing, end, started = None, None, False
        on_its_way: list[Asker] = []

        async def passing(message: Message) -> None:
            nonlocal closing, end, started
            body = message.get("body", b"")
            if closing is None and CLOSE in body:
                on_its_way.extend(one for one in self._joining if one.ticket.visitor == session)
                closing = None if on_its_way else self._closing.setdefault(session, asyncio.Event())
            if on_its_way or (started and message["type"] == "http.response.start"):
                return
            if closing is not None and not message.get("more_body", False):
                end = message  # the page closes the stream sooner
                return
            started = True
            await send(message)
            for event in completed(body):
                if event in self._events:
                    self._end(self._events.pop(event)[1])
                    self._told[session] = None

        self._heard[session] += 1
        if wanted := self._wanted.get(session):
            wanted.set()
        try:
            await self._app(scope, receive, passing)
            while on_its_way:
                for asked in on_its_way:
                    await asked.joined.wait()
                on_its_way.clear()
                await self._app(scope, receive, passing)
            if closing is not None:  # not for ever, since a proxy may keep the connection open
                with suppress(TimeoutError):
                    await asyncio.wait_for(disconnected(receive), LATE)
        except RuntimeError as error:  # of a stream that has begun, whose page is told so in it
            if getattr(error.__cause__, "status_code", None) != 404:
                raise  # else its messages have gone with another stream of a page that is left
        finally:
            self._heard[session] -= 1
            self._drop(session)
            if closing is not None:
                self._closing.pop(session, None)
                closing.set()
        if end is not None:
            await send(end)

    def _settle(self, session: str, asked: Asker) -> None:
        """End a question whose answer is there for a while, whoever has read it, and drop what it asked."""
        asked.values = {}
        self._end(asked)
        self._drop(session)

    def _expire(self, event: str) -> None:
        """Forget a question that gradio has not begun, since who asked has gone."""
        if event in self._events and not self._events[event][1].begun:
            self._end(self._events.pop(event)[1])

    def _drop(self, session: str) -> None:
        """Drop what was sent by and to a session, and what is unread if nobody listens."""
        unheard = self._heard[session] <= 0
        if unheard:
            del self._heard[session]
            for event, (of, asked) in list(self._events.items()):
                if of == session and (asked.ended.is_set() or asked.ticket.granted.done()):
                    del self._events[event]
                    self._told.pop(session, None)
        self._forget(session, unheard)

    def _end(self, asked: Asker) -> None:
        """Let the next question of a session begin; a ticket that was not used is free."""
        asked.ended.set()
        if not asked.begun:
            self._admission.leave(asked.ticket)
        key = asked.ticket.visitor, asked.ticket.line
        if self._last.get(key) is asked:
            del self._last[key]


def resumed(message: Message, receive: Receive) -> Receive:
    """Give a message that has been read once more, and then those that follow."""
    unread = [message]

    async def receiving() -> Message:
        return unread.pop() if unread else await receive()

    return receiving


async def unless_gone(work: Coroutine[Any, Any, Awaited], receive: Receive) -> Awaited | None:
    """Wait for some work, as long as its client waits for it; None, and it is cancelled, where they go."""
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(disconnected(receive))
    await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()
    working.cancel()  # unless it is done
    await asyncio.wait((working,))
    return None if working.cancelled() else working.result()


async def disconnected(receive: Receive) -> None:
    """Wait until the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
