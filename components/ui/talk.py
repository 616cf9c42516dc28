"""Talk mode: a script of states with a caption each, one thing per screen; the arrow keys walk through it.

A script can also be read, on a page of its own.

In a room, phones follow the talk and vote on its questions. All of that is kept in memory alone.
"""

import asyncio
import json
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from threading import Condition
from typing import Any
from urllib.parse import urljoin

import gradio as gr
import segno
from cachetools import LRUCache, cached
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from components.errors import PoolscopeError
from components.exhibits.control import AskedText, Control, OneOf, State
from components.exhibits.exhibit import Exhibit, Panel, Shown, exhibit_html, or_why
from components.exhibits.report import figured, section
from components.exhibits.talks import Script, Slide, asked_html, bar_html, captions_of, following
from components.exhibits.view import render, visible
from components.reach import Reach, is_near
from components.texts import ENGLISH, Texts, languages, load_texts
from components.ui.places import NOTHING, PRIVATE, Updates, browser, on, scripted_html
from components.ui.public import requests
from components.ui.public.guard import FIRST, OTHER, GuardMiddleware, guarded, read_body
from components.ui.tab import Tab

LONGEST = 2331  # bytes that a QR code of the lowest but one level of error correction holds
LONG = 300  # bytes of a link, of which a code is as mixed as any: to try all masks takes 0.4 s, one a tenth
HIGHEST = 325  # pixels of a figure on a slide, before it is enlarged
CLOSER = 0.7  # the least part of its own height

Routes = dict[tuple[str, str], Callable[[Request, Texts], Awaitable[Response]]]  # by method and path


@dataclass(frozen=True, eq=False)
class Show:
    """An exhibit that a step may show, whose answer it is of, and where on the page it stands.

    ``texts``: the controls of the tab that hold what models are asked about.
    """

    tab: Tab
    panel: Panel[Any, Any]
    exhibit: Exhibit[Any]
    place: State
    texts: list[Control[str]]

    def html(self, answer: Any, state: State, name: str, style: str, say: Texts) -> Markup:
        """Draw it of an answer, under its own ``name``, without what can be pressed there."""
        subject = self.panel.subject(answer)
        first = self.panel.summary if self.exhibit.with_summary else None
        summary = first.shown(subject, state, say).html if first else ""
        shown = replace(lower(self.exhibit.shown(subject, state, say)), data=None)
        return exhibit_html(self.exhibit, name, shown, say, style, summary)


def shows_of(tabs: Mapping[str, Tab]) -> dict[str, Show]:
    """List every exhibit that a talk may show, by its name."""
    found = {}
    for key, tab in tabs.items():
        texts = [one.control for one in tab.linked if isinstance(one.control.kind, AskedText)]
        inner = {one.control.key: one.control.kind for one in tab.linked if one.tabs is not None}
        views = {name: [*kind.allowed()] for name, kind in inner.items() if isinstance(kind, OneOf)}
        for panel in tab.panels:  # in a tab within the tab, unless all of it is in sight
            view = {name: panel.key for name, keys in views.items() if panel.key in keys}
            for exhibit in panel.exhibits:
                if "talk" in exhibit.where:
                    found[exhibit.name] = Show(tab, panel, exhibit, {"tab": key, **view}, texts)
    return found


class Talk:
    """The steps of all scripts and their slides, which lie on top of each other over the whole window.

    ``slides``, one component, has for each step the HTML of its caption with the sentence and of its exhibit,
    None where that stays. Last comes the one behind each talk, with the link of the page, or of the ``room``.
    """

    def __init__(
        self, scripts: tuple[Script, ...], shows: Mapping[str, Show], say: Texts, room: bool, reach: Reach
    ) -> None:
        self.scripts, self.room, self.say, self.reach = scripts, room, say, reach
        self.steps = [step for script in scripts for step in script.steps]
        self.shows = [shows[step.show] for step in self.steps]
        self.captions = captions_of(scripts, say)  # of each slide, as HTML
        with gr.Column(elem_id="talk"):
            names = [*range(1, len(self.steps) + 1), "end"]
            laid_out = "".join(f'<div class="slide" id="slide-{name}"></div>' for name in names)
            self.slides = scripted_html("slides", elem_id="slides", html_template=laid_out)
            bar = bar_html(scripts, [show.texts for show in self.shows], say)
            driver = scripted_html("talk speaker room" if room else "talk speaker", bar, "talk-bar")
        # Its script asks again as soon as the last slide has come.
        how = {**PRIVATE, "concurrency_id": "talk", "trigger_mode": "multiple"}
        on(driver.apply, self.prepare, [], [self.slides], how)

    def prepare(self, event: gr.EventData) -> Iterator[Updates]:
        """Make every slide of a talk before it is needed: the one to begin with, those after it, then others.

        Steps that set no text of their own are about the sentence that the visitor asked about, if any.
        """
        name, step, text, pair, link = (
            getattr(event, key, None) for key in ("talk", "step", "text", "pair", "link")
        )
        of = [script for script in self.scripts for _ in script.steps]
        asked = next((script for script in of if script.name == name), of[0])
        slides = [index for index, one in enumerate(of) if one is asked]
        first = step if isinstance(step, int) and 0 < step <= len(slides) else 1
        own = (text, pair if isinstance(pair, str) else "") if text and isinstance(text, str) else None
        fresh = getattr(event, "fresh", None) is True
        begun = [_slide_html(caption, _card("")) if fresh else None for caption in self.captions]
        told = [*begun, self._ended(asked)]
        yield {self.slides: [*told]}
        for index in [*slides[first - 1 :], *slides[: first - 1]]:
            told[index] = self._made(index, own)
            yield {self.slides: [*told]}
        yield {self.slides: [*told[:-1], self._ended(asked, self._invitation(link, name))]}
        yield NOTHING  # the end of an event says once more what came last

    def _made(self, index: int, own: tuple[str, str] | None) -> str:
        """Make a slide, or say why there is none. ``own`` sentences are set where the step sets none."""
        show, step = self.shows[index], self.steps[index]
        follows = following(show.texts, step.state) if own else []
        state = {**step.state, **dict(zip((one.key for one in follows), own or (), strict=False))}
        caption = self.captions[index] + asked_html(show.texts, state, self.say)
        try:
            html = show.html(show.tab.answer_to(state), state, f"slide-{index + 1}", "shown", self.say)
        except PoolscopeError as error:
            html = _card(Markup('<p class="mistake">{}</p>').format(visible(error.said(self.say))))
        return _slide_html(caption, html)

    def _ended(self, script: Script, invitation: str = "") -> str:
        """Write the last slide: what to remember of a talk, and how the audience gets to the page."""
        caption = Markup('<h2 class="caption">{}</h2>').format(self.say("talk.end"))
        return _slide_html(caption, _card(render("remember", script=script, invitation=invitation)))

    def _invitation(self, link: object, name: object) -> Markup:
        """Show the link of the page or of its ``room``, to read and as a QR code; or say why there is none.

        ``name``: of the talk that is made with it, which says that its slides have all come.
        """
        there: object = link
        if isinstance(link, str):
            there = self.reach.link(link, requests.page_path(self.say.language.tag))
            there = urljoin(there, "room") if self.room else there
        code = or_why(lambda: qr_code(there, self.say))
        return render("invitation", self.say, name=str(name), code=code)


def lower(shown: Shown) -> Shown:
    """Make a high figure lower, so that its letters are larger: its rows come closer."""
    if shown.figure is None:
        return shown
    high = shown.figure.layout["height"]
    layout = {**shown.figure.layout, "height": min(high, max(HIGHEST, round(CLOSER * high)))}
    return replace(shown, figure=replace(shown.figure, layout=layout))


def _card(html: str) -> Markup:
    return Markup('<section class="shown">{}</section>').format(html)


def _slide_html(caption: Markup, card: Markup) -> str:
    return str(Markup('<div class="said">{}</div>{}').format(caption, card))


def reader(script: Script, shows: Mapping[str, Show], say: Texts) -> Callable[[], tuple[str, ...]]:
    """Make what gives the page, in pieces: measured when it is first asked for, and then kept.

    PoolscopeError where a slide has no answer; then nothing is kept.
    """
    tag = say.language.tag
    root = "./" if tag == ENGLISH else "../"  # from here to the page

    @cached(LRUCache(1), condition=Condition())
    def explain() -> tuple[str, ...]:
        screens = []
        for place, step in enumerate(script.steps, 1):
            show = shows[step.show]
            subject = show.panel.subject(show.tab.answer_to(step.state))
            drawn = section(show.exhibit, subject, step.state, root, say, f"screen-{place}")
            screens.append((step, f"{root}?{step.link}&lang={tag}", drawn))
        known = [load_texts(one).language for one in languages()]
        told = {"title": script.title, "screens": screens, "root": root, "tag": tag, "languages": known}
        return figured(script.title, render("explain", say, **told), say)

    return explain


def encoded(link: str) -> segno.QRCode:
    """Make a link's QR code."""
    return segno.make_qr(link, error="m", mask=None if len(link) < LONG else 4)


def qr_code(link: object, say: Texts) -> Markup:
    """Draw a link as a picture and as text; PoolscopeError if it is none, or too long for a QR code."""
    if not isinstance(link, str) or not link.startswith(("http://", "https://")):
        raise PoolscopeError("link", link, "link.wanted")
    if len(link.encode()) > LONGEST:
        raise PoolscopeError("link", link, "link.long", longest=f"{LONGEST:,}")
    svg = Markup(encoded(link).svg_inline(border=4, omitsize=True, light="#fff"))
    return render("code", say, svg=svg, link=visible(link), near=is_near(link))


def speaker_html(scripts: tuple[Script, ...], say: Texts, told: bool = True) -> Markup:
    """Write the speaker's window for all talks, with their notes where they may be ``told``."""
    style = Markup(browser("speaker.css"))
    return render("speaker", say, scripts=scripts, told=told, style=style, tag=say.language.tag)


KEY, TOKEN = "poolscope_room", "poolscope_phone"  # cookies of the speaker's browser, and of a phone
MOST = 1000  # phones that have a place
SHARE = MOST // 4  # of one address, which all phones of a lecture hall may have
STREAMS = 3  # of one phone
BEAT = 15.0  # seconds after which a phone hears that the server is still there
MOST_BYTES = 1000  # of a body
LONGEST_TOKEN = 64  # characters of a phone's cookie; ours has 22
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Position:
    """Place of a talk: its name, the slide counted from 1, and whether its question stands there alone."""

    talk: str = ""
    step: int = 0  # before the talk
    asking: bool = False


class Room:
    """The state of a talk: its place and the votes on its question; only the server's loop may use it.

    ``scripts``: the talks in each language. A vote is kept under the cookie of its phone while its question
    is asked; then only the tally is. ``most`` phones have a place, ``share`` of them at one address.
    """

    def __init__(
        self, scripts: Mapping[str, tuple[Script, ...]], most: int = MOST, share: int = SHARE
    ) -> None:
        self.key = secrets.token_urlsafe(16)  # who has it may say where the talk is, and reads its notes
        self.scripts, self.most, self.share = scripts, most, share
        self.places: dict[str, str] = {}  # a phone that follows or has voted -> its address
        self.streams: Counter[str] = Counter()  # that are open, by phone
        self.at, self.round = Position(), ""  # the name of the question that is asked; "" for none
        self.votes: dict[str, int] = {}  # by the cookies of phones
        self._steps = {tag: {one.name: one.steps for one in talks} for tag, talks in scripts.items()}
        self._tallies: dict[tuple[str, int], list[int]] = {}  # of questions that were answered
        self._changed = asyncio.Event()

    def step(self, language: str) -> Slide | None:
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

    def admit(self, phone: str, address: str) -> None:
        """Give a phone a place, which it then has; PoolscopeError where its address has its share.

        One that neither follows nor has voted any more makes room. Where all places are taken and none does,
        it is the last to come of the address that has most of them.
        """
        if phone in self.places:
            return
        taken = Counter(self.places.values())
        has_share = taken[address] >= self.share
        if has_share or len(self.places) >= self.most:
            there = [one for one, where in self.places.items() if where == address or not has_share]
            idle = [one for one in there if not self.streams[one] and one not in self.votes]
            crowded, most = taken.most_common(1)[0]
            if not idle and (has_share or most <= taken[address] + 1):
                raise PoolscopeError("phone", phone, "room.full", most=self.most, share=self.share)
            leaves = idle[0] if idle else [one for one in there if self.places[one] == crowded][-1]
            del self.places[leaves]
            self.votes.pop(leaves, None)
        self.places[phone] = address

    def vote(self, phone: str, address: str, asked: str, choice: str) -> None:
        """Count the vote of a phone, in place of an earlier one of its; PoolscopeError for what is none."""
        counts = self.counts()
        if not self.round or asked != self.round or counts is None:
            raise PoolscopeError("round", asked, "room.round")
        if choice not in map(str, range(len(counts))):
            raise PoolscopeError("choice", choice, "room.choice", most=len(counts) - 1)
        self.admit(phone, address)
        self.votes[phone] = int(choice)

    def counts(self) -> list[int] | None:
        """The votes for each choice, also of a question that was answered; None where nobody was asked."""
        shown = self.step(ENGLISH)
        if not self.round or shown is None:
            return self._tallies.get((self.at.talk, self.at.step))
        votes = list(self.votes.values())
        return [votes.count(choice) for choice in range(len(shown.choices))]

    async def follow(self, phone: str, shown: Callable[[], str], beat: float = BEAT) -> AsyncIterator[str]:
        """Server-sent events: what is ``shown`` to a phone, at once and whenever the talk has gone on.

        They end where its place was given to another one.
        """
        self.streams[phone] += 1
        try:
            while phone in self.places:
                changed = self._changed
                yield f"data: {json.dumps(shown())}\n\n"
                while phone in self.places and not changed.is_set():
                    try:
                        await asyncio.wait_for(changed.wait(), beat)
                    except TimeoutError:
                        yield ":\n\n"  # a comment: who has gone is found by it
        finally:
            self.streams[phone] -= 1
            self.streams = +self.streams  # without those that have none


class RoomMiddleware:
    """ASGI middleware: answers the page that leads a talk and, where there is a room, the ``phones`` in it.

    What is not theirs goes to the guard, which counts these requests too: each costs as much as a page.
    """

    def __init__(self, guard: GuardMiddleware, room: Room, phones: bool) -> None:
        self._guard, self._room = guard, room
        self._routes: Routes = {("GET", "/room/lead"): self._lead, ("GET", "/speaker"): self._speaker}
        if phones:
            self._routes |= {("GET", "/room"): self._page, ("GET", "/room/now"): self._now}
            self._routes |= {("POST", "/room/vote"): self._vote, ("POST", "/room/at"): self._at}
        logger.info("To lead the talk, open /room/lead?key=%s of this app", room.key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is another path."""
        answer = self._routes.get((scope["method"], scope["path"]))
        if answer is None:
            return await self._guard(scope, receive, send)
        receive, send = guarded(receive, send, varies=True)
        request, say = Request(scope, receive), requests.page_texts(scope)
        response: Response
        try:
            self._guard.charge(scope, OTHER, say)
            if not requests.is_same_origin(request.headers):
                raise HTTPException(HTTPStatus.FORBIDDEN, say("refusal.foreign_origin"))
            response = await answer(request, say)
        except PoolscopeError as error:
            response = JSONResponse({"detail": error.said(say)}, HTTPStatus.BAD_REQUEST)
        except HTTPException as refusal:
            response = JSONResponse({"detail": refusal.detail}, refusal.status_code, refusal.headers)
        response.headers.setdefault("Cache-Control", "no-store")
        return await response(scope, receive, send)

    async def _page(self, request: Request, say: Texts) -> Response:
        phone = request.cookies.get(TOKEN, "")
        page = HTMLResponse(phone_page(self._room, phone, say))
        if not phone:
            page.set_cookie(TOKEN, secrets.token_urlsafe(16), httponly=True, samesite="strict")
        return page

    async def _now(self, request: Request, say: Texts) -> Response:
        address = requests.client_network(request.scope)
        phone = request.cookies.get(TOKEN, "")[:LONGEST_TOKEN] or address  # one that keeps no cookies
        self._room.admit(phone, address)
        if self._room.streams[phone] >= STREAMS:
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, say("room.streams", most=STREAMS))
        stream = self._room.follow(phone, lambda: slide_html(self._room, phone, say))
        return StreamingResponse(stream, media_type="text/event-stream")

    async def _vote(self, request: Request, say: Texts) -> Response:
        body = await read_body(request.receive, MOST_BYTES, FIRST, say)
        asked, choice = (requests.last_value(body.decode("latin-1"), one) for one in ("round", "choice"))
        phone = request.cookies.get(TOKEN, "")[:LONGEST_TOKEN]
        if not phone:
            raise PoolscopeError("cookie", None, "room.cookie")
        self._room.vote(phone, requests.client_network(request.scope), asked, choice)
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
        if not self._has_key(request.cookies.get(KEY)):
            raise HTTPException(HTTPStatus.FORBIDDEN, say("room.not_leading"))
        self._room.lead(requests.json_object(await read_body(request.receive, MOST_BYTES, FIRST, say)))
        return HTMLResponse(votes_html(self._room, say))

    async def _speaker(self, request: Request, _say: Texts) -> Response:
        """Give the speaker's window, with notes for who leads and this machine, where their file is."""
        say = requests.request_texts(request.headers)  # of the page that asks
        told = requests.is_here(request.scope) or self._has_key(request.cookies.get(KEY))
        return HTMLResponse(speaker_html(self._room.scripts.get(say.language.tag, ()), say, told))

    def _has_key(self, given: str | None) -> bool:
        return secrets.compare_digest((given or "").encode(), self._room.key.encode())


def phone_page(room: Room, phone: str, say: Texts) -> str:
    """Write the page of a phone in one language, which goes on with the talk by itself."""
    known, style = [load_texts(tag).language for tag in languages()], Markup(browser("room.css"))
    slide = Markup(slide_html(room, phone, say))
    return str(render("phone", say, language=say.language, languages=known, style=style, slide=slide))


def slide_html(room: Room, phone: str, say: Texts) -> str:
    """Write a slide on a phone: its caption and a way to the app; or its question, to vote on."""
    tag, own = say.language.tag, room.votes.get(phone)
    tally = _tally(room, say)
    return str(render("slide", say, room=room, step=room.step(tag), tag=tag, own=own, tally=tally))


def votes_html(room: Room, say: Texts) -> str:
    """Write what the speaker's page shows of votes: how to vote, and how many have; and the tally."""
    return str(render("votes", say, counts=room.counts(), tally=_tally(room, say)))


def _tally(room: Room, say: Texts) -> Markup:
    """Count the votes for each choice of a question; "" where there are none."""
    return render("tally", say, counts=room.counts() or (), step=room.step(say.language.tag))
