"""The room: phones follow the talk and vote on its questions. All of it is kept in memory alone."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from components.errors import PoolscopeError
from components.exhibits.talks import Script, Step
from components.exhibits.view import visible
from components.markup import render
from components.texts import ENGLISH, Texts, languages, load_texts
from components.ui.places import browser
from components.ui.public.guard import guarded, is_same_origin, read_body
from components.ui.public.requests import json_object, page_texts

PHONE, NOW, VOTE, LEAD, AT = "/room", "/room/now", "/room/vote", "/room/lead", "/room/at"
KEY, TOKEN = "poolscope_room", "poolscope_phone"  # cookies of the speaker's browser, and of a phone
MOST = 1000  # phones that follow, and phones that vote
BEAT = 15.0  # seconds after which a phone hears that the server is still there
MOST_BYTES = 1000  # of a body
SECONDS = 10.0  # in which a body must arrive
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Position:
    """Where a talk is: its name, the slide counted from 1, and whether its question stands there alone."""

    talk: str = ""
    step: int = 0  # before the talk
    asking: bool = False


class Room:
    """Where the talk is, and the votes on its question; only the server's loop may use it.

    ``scripts``: the talks in each language. A vote is kept under the cookie of its phone while its question
    is asked; then only the tally is. ``most`` phones can follow, and as many can vote.
    """

    def __init__(self, scripts: Mapping[str, tuple[Script, ...]], most: int = MOST) -> None:
        self.key = secrets.token_urlsafe(16)  # who has it may say where the talk is
        self.at, self.round = Position(), ""  # the name of the question that is asked; "" for none
        self.votes: dict[str, int] = {}  # by the cookies of phones
        self._steps = {tag: {one.name: one.steps for one in talks} for tag, talks in scripts.items()}
        self._tallies: dict[tuple[str, int], list[int]] = {}  # of questions that were answered
        self._most, self._phones, self._changed = most, 0, asyncio.Event()

    def step(self, language: str) -> Step | None:
        """The step that is shown, in a language; None before the talk and on its last slide."""
        steps = self._steps[language].get(self.at.talk, ())
        return steps[self.at.step - 1] if 0 < self.at.step <= len(steps) else None

    def slides(self) -> int:
        """The number of slides of the talk that is shown, with the one behind the last step; 0 before it."""
        steps = self._steps[ENGLISH].get(self.at.talk)
        return 0 if steps is None else len(steps) + 1

    def lead(self, given: Mapping[str, Any]) -> None:
        """Go where the speaker's page is; PoolscopeError where no talk has such a slide."""
        talk, step, known = given.get("talk"), given.get("step"), self._steps[ENGLISH]
        if not isinstance(talk, str) or talk not in known:
            raise PoolscopeError("talk", talk, "errors.allowed", allowed=tuple(known))
        most = len(known[talk]) + 1  # and the slide behind the last step
        if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= most:
            raise PoolscopeError("step", step, "room.step", most=most)
        position = Position(talk, step, given.get("asking") is True and step > 0)
        if position == self.at:
            return
        if self.round:  # nobody can vote any more: the phones are forgotten
            self._tallies[self.at.talk, self.at.step] = self.counts() or []
        self.votes, self.at, self.round = {}, position, ""
        shown = self.step(ENGLISH)
        if shown and shown.choices and position.asking:
            self.round = secrets.token_hex(8)
            self._tallies.pop((talk, step), None)
        self._changed.set()
        self._changed = asyncio.Event()

    def vote(self, phone: str, asked: str, choice: str) -> None:
        """Count the vote of a phone, in place of an earlier one of its; PoolscopeError for what is none."""
        counts = self.counts()
        if not self.round or asked != self.round or counts is None:
            raise PoolscopeError("round", asked, "room.round")
        if choice not in map(str, range(len(counts))):
            raise PoolscopeError("choice", choice, "room.choice", most=len(counts) - 1)
        if phone not in self.votes and len(self.votes) >= self._most:
            raise PoolscopeError("phone", phone, "room.full", most=self._most)
        self.votes[phone] = int(choice)

    def counts(self) -> list[int] | None:
        """The votes for each choice, also of a question that was answered; None where nobody was asked."""
        shown = self.step(ENGLISH)
        if not self.round or shown is None:
            return self._tallies.get((self.at.talk, self.at.step))
        votes = list(self.votes.values())
        return [votes.count(choice) for choice in range(len(shown.choices))]

    async def follow(self, shown: Callable[[], str], beat: float = BEAT) -> AsyncIterator[str]:
        """Server-sent events: what is ``shown`` to a phone, at once and whenever the talk has gone on."""
        self._phones += 1
        try:
            while True:
                changed = self._changed
                yield f"data: {json.dumps(shown())}\n\n"
                while not changed.is_set():
                    try:
                        await asyncio.wait_for(changed.wait(), beat)
                    except TimeoutError:
                        yield ":\n\n"  # a comment: who has gone is found by it
        finally:
            self._phones -= 1

    @property
    def full(self) -> bool:
        """Whether as many phones follow as may."""
        return self._phones >= self._most


class RoomMiddleware:
    """ASGI middleware: answers the phones of the audience, and the page that leads them.

    It needs no rates: a request costs next to nothing, and what is kept is bounded.
    """

    def __init__(self, app: ASGIApp, room: Room) -> None:
        self._app, self._room = app, room
        self._routes: Mapping[tuple[str, str], Callable[[Request, Texts], Awaitable[Response]]] = {
            ("GET", PHONE): self._page,
            ("GET", NOW): self._now,
            ("POST", VOTE): self._vote,
            ("GET", LEAD): self._lead,
            ("POST", AT): self._at,
        }
        logger.info("To lead the phones of the room, open %s?key=%s of this app", LEAD, room.key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is another path."""
        answer = self._routes.get((scope["method"], scope["path"]))
        if answer is None:
            return await self._app(scope, receive, send)
        receive, send = guarded(receive, send, varies=True)
        request, say = Request(scope, receive), page_texts(scope)
        response: Response
        try:
            if not is_same_origin(request.headers):
                raise HTTPException(HTTPStatus.FORBIDDEN, say("refusal.foreign_origin"))
            response = await answer(request, say)
        except PoolscopeError as error:
            response = JSONResponse({"detail": error.said(say)}, HTTPStatus.BAD_REQUEST)
        except HTTPException as refusal:
            response = JSONResponse({"detail": refusal.detail}, refusal.status_code)
        response.headers.setdefault("Cache-Control", "no-store")
        return await response(scope, receive, send)

    async def _page(self, request: Request, say: Texts) -> Response:
        phone = request.cookies.get(TOKEN, "")
        page = HTMLResponse(phone_page(self._room, phone, say))
        if not phone:
            page.set_cookie(TOKEN, secrets.token_urlsafe(16), httponly=True, samesite="strict")
        return page

    async def _now(self, request: Request, say: Texts) -> Response:
        if self._room.full:
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, say("room.crowded"))
        phone = request.cookies.get(TOKEN, "")
        stream = self._room.follow(lambda: slide_html(self._room, phone, say))
        return StreamingResponse(stream, media_type="text/event-stream")

    async def _vote(self, request: Request, say: Texts) -> Response:
        body = await read_body(request.receive, MOST_BYTES, SECONDS, say)
        sent = parse_qs(body.decode("utf-8", errors="replace"))
        asked, choice = (sent.get(name, [""])[-1] for name in ("round", "choice"))
        phone = request.cookies.get(TOKEN, "")[:64]
        if not phone:
            raise PoolscopeError("cookie", None, "room.cookie")
        self._room.vote(phone, asked, choice)
        return RedirectResponse(f"../room?lang={say.language.tag}", HTTPStatus.SEE_OTHER)

    async def _lead(self, request: Request, say: Texts) -> Response:
        """Make the browser that has the key the one that leads; without one, whether it is."""
        if "key" not in request.query_params:
            return JSONResponse({"leads": self._has_key(request.cookies.get(KEY))})
        if not self._has_key(request.query_params["key"]):
            raise HTTPException(HTTPStatus.FORBIDDEN, say("room.not_leading"))
        to_talk = RedirectResponse("../?talk=1", HTTPStatus.SEE_OTHER)
        to_talk.set_cookie(KEY, self._room.key, httponly=True, samesite="strict")
        return to_talk

    async def _at(self, request: Request, say: Texts) -> Response:
        """Take down where the speaker's page is, and give the votes as HTML."""
        if not self._has_key(request.cookies.get(KEY)):
            raise HTTPException(HTTPStatus.FORBIDDEN, say("room.not_leading"))
        self._room.lead(json_object(await read_body(request.receive, MOST_BYTES, SECONDS, say)))
        return HTMLResponse(votes_html(self._room, say))

    def _has_key(self, given: str | None) -> bool:
        return secrets.compare_digest((given or "").encode(), self._room.key.encode())


def phone_page(room: Room, phone: str, say: Texts) -> str:
    """Write the page of a phone in one language, which goes on with the talk by itself."""
    known, style = [load_texts(tag).language for tag in languages()], Markup(browser("room.css"))
    slide = Markup(slide_html(room, phone, say))
    return str(render("phone", say, language=say.language, languages=known, style=style, slide=slide))


def slide_html(room: Room, phone: str, say: Texts) -> str:
    """Write a slide on a phone: its caption and a way to the app; or its question, to vote on."""
    step, tag, at = room.step(say.language.tag), say.language.tag, room.at
    heading = say("talk.end") if step is None else step.question if at.asking else step.caption
    asked = [visible(choice) for choice in step.choices] if room.round and step else []
    told = visible(heading) if 0 < at.step <= room.slides() else ""
    link = f"./?{step.link}&lang={tag}" if step and step.link else f"./?lang={tag}"
    where = {"at": at, "tag": tag, "total": room.slides(), "link": link, "heading": told}
    vote = {"round": room.round, "choices": asked, "own": room.votes.get(phone)}
    return str(render("slide", say, **where, **vote, tally=_tally(room, say)))


def votes_html(room: Room, say: Texts) -> str:
    """Write what the speaker's page shows of votes: how to vote, and how many have; and the tally."""
    counts = room.counts()
    if counts is None:
        return ""
    return str(render("votes", say, total=sum(counts), tally=_tally(room, say)))


def _tally(room: Room, say: Texts) -> Markup:
    """Count the votes for each choice of a question; "" where there are none."""
    counts, step = room.counts(), room.step(say.language.tag)
    if not counts or not sum(counts) or step is None:
        return Markup()
    counted = list(zip(map(visible, step.choices), counts, strict=False))
    return render("tally", say, counted=counted, total=sum(counts))
