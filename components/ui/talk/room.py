"""The room: where the talk is and what the audience votes, in memory alone; and who is told over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from components.errors import PoolscopeError
from components.exhibits.script import Script
from components.texts import Texts
from components.ui.public.locale import page_texts, request_texts, vary_by_language
from components.ui.public.middleware import is_same_origin, read_body, with_security_headers
from components.ui.public.sending import as_taken

PHONE, NOW, VOTE, LEAD, AT = "/room", "/room/now", "/room/vote", "/room/lead", "/room/at"
KEY = "poolscope_room"  # the cookie of the speaker's browser
MOST = 1000  # phones that follow, and phones that vote
BEAT = 15.0  # seconds after which a phone hears that the server is still there
MOST_BYTES = 1000  # of a body
PATIENCE = 10.0  # seconds in which a body must arrive
TOKEN = 64  # characters that the token of a phone may have

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a talk is: its name, the slide counted from 1, and whether its question stands there alone."""

    talk: str = ""
    step: int = 0  # before the talk
    asking: bool = False


class Room:
    """Where the talk is, and the votes on its question; only the server's loop may use it.

    A vote is kept under the random token of its phone while its question is asked; then only the tally is.
    """

    def __init__(self, scripts: Iterable[Script], most: int = MOST) -> None:
        self.key = secrets.token_urlsafe(16)  # who has it may say where the talk is
        self._choices = {script.name: [step.offers for step in script.steps] for script in scripts}
        self._place, self._most, self._phones = Place(), most, 0
        self._round = ""  # the name of the question that is asked; "" for none
        self._votes: dict[str, int] = {}  # by the tokens of phones
        self._tallies: dict[tuple[str, int], list[int]] = {}  # of questions that were answered
        self._changed = asyncio.Event()

    def lead(self, given: Mapping[str, Any]) -> None:
        """Go where the speaker's page is; PoolscopeError where no talk has such a slide."""
        talk, step, asking = (given.get(name) for name in ("talk", "step", "asking"))
        if not isinstance(talk, str) or talk not in self._choices:
            raise PoolscopeError("talk", talk, "errors.allowed", allowed=tuple(self._choices))
        most = len(self._choices[talk]) + 1  # and the slide behind the last step
        if not isinstance(step, int) or isinstance(step, bool) or not 0 <= step <= most:
            raise PoolscopeError("step", step, "room.step", most=most)
        place = Place(talk, step, asking is True and step > 0)
        if place == self._place:
            return
        if self._round:  # nobody can vote any more: the phones are forgotten
            self._tallies[self._place.talk, self._place.step] = self._counts()
        self._votes, self._place = {}, place
        self._round = secrets.token_hex(8) if place.asking and self._offered() else ""
        if self._round:
            self._tallies.pop((talk, step), None)
        self._changed.set()
        self._changed = asyncio.Event()

    def vote(self, given: Mapping[str, Any]) -> None:
        """Count the vote of a phone, in place of an earlier one of its; PoolscopeError for what is none."""
        phone, asked, choice = (given.get(name) for name in ("phone", "round", "choice"))
        if not self._round or asked != self._round:
            raise PoolscopeError("round", asked, "room.round")
        if not isinstance(phone, str) or not 0 < len(phone) <= TOKEN:
            raise PoolscopeError("phone", phone, "room.phone", most=TOKEN)
        most = self._offered()
        if not isinstance(choice, int) or isinstance(choice, bool) or not 0 <= choice < most:
            raise PoolscopeError("choice", choice, "room.choice", most=most - 1)
        if phone not in self._votes and len(self._votes) >= self._most:
            raise PoolscopeError("phone", phone, "room.full", most=self._most)
        self._votes[phone] = choice

    def told(self) -> dict[str, Any]:
        """What every phone may know: where the talk is, and the tally of a question that is answered."""
        tally = self._tallies.get((self._place.talk, self._place.step))
        return {**asdict(self._place), "round": self._round, "tally": tally}

    def led(self) -> dict[str, Any]:
        """What the speaker's page knows besides: the votes for each choice even while it is asked."""
        told = self.told()
        return {**told, "counts": self._counts() if self._round else told["tally"]}

    async def follow(self, beat: float = BEAT) -> AsyncIterator[str]:
        """Server-sent events: where the talk is, at once and whenever it has gone elsewhere."""
        self._phones += 1
        try:
            while True:
                changed = self._changed
                yield f"data: {json.dumps(self.told())}\n\n"
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

    def _offered(self) -> int:
        """How many choices the question of this slide has."""
        offered = self._choices[self._place.talk]
        return offered[self._place.step - 1] if 0 < self._place.step <= len(offered) else 0

    def _counts(self) -> list[int]:
        """The votes for each choice."""
        votes = list(self._votes.values())
        return [votes.count(choice) for choice in range(self._offered())]


class RoomMiddleware:
    """ASGI middleware: answers the phones of the audience, and the page that leads them.

    ``pages``: the page of a phone as HTML, by the tags of the languages. It needs no rates: a request costs
    next to nothing, and what is kept is bounded.
    """

    def __init__(self, app: ASGIApp, room: Room, pages: Mapping[str, str]) -> None:
        self._app, self._room, self._pages = app, room, pages
        self._routes: Mapping[tuple[str, str], Callable[[Request, Texts], Any]] = {
            ("GET", PHONE): self._page,
            ("GET", NOW): self._now,
            ("POST", VOTE): self._vote,
            ("GET", LEAD): self._lead,
            ("POST", AT): self._at,
        }
        logger.info("To lead the phones of the room, open %s?key=%s of this app", LEAD, room.key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is another path."""
        answer = self._routes.get((scope.get("method", ""), scope.get("path", "")))
        if scope["type"] != "http" or answer is None:
            return await self._app(scope, receive, send)
        receive, send = as_taken(receive, vary_by_language(with_security_headers(send)))
        request = Request(scope, receive)
        say = page_texts(scope) if scope["path"] == PHONE else request_texts(request.headers)
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

    async def _page(self, _request: Request, say: Texts) -> Response:
        """The page of a phone."""
        return HTMLResponse(self._pages[say.language.tag])

    async def _now(self, _request: Request, say: Texts) -> Response:
        """Where the talk is, as it goes on."""
        if self._room.full:
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, say("room.crowded"))
        return StreamingResponse(self._room.follow(), media_type="text/event-stream")

    async def _vote(self, request: Request, say: Texts) -> Response:
        """Count a vote."""
        self._room.vote(await _object(request, say))
        return JSONResponse({})

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
        """Take down where the speaker's page is."""
        if not self._has_key(request.cookies.get(KEY)):
            raise HTTPException(HTTPStatus.FORBIDDEN, say("room.not_leading"))
        self._room.lead(await _object(request, say))
        return JSONResponse(self._room.led())

    def _has_key(self, given: str | None) -> bool:
        return secrets.compare_digest((given or "").encode(), self._room.key.encode())


async def _object(request: Request, say: Texts) -> Mapping[str, Any]:
    """The JSON object that a body is; PoolscopeError or HTTPException where it is none."""
    try:
        async with asyncio.timeout(PATIENCE):
            body = await read_body(request.receive, MOST_BYTES)
    except TimeoutError as error:
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, say("refusal.request_timeout")) from error
    if len(body) > MOST_BYTES:
        longest = say("refusal.body_too_large", longest=f"{MOST_BYTES:,}")
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, longest)
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise PoolscopeError("body", body.decode(errors="replace"), "errors.json") from error
    if not isinstance(given, dict):
        raise PoolscopeError("body", given, "errors.object")
    return given
