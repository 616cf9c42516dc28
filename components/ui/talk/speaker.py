"""The speaker's window: this slide and the next, notes, the clock. A page of its own beside the talk's."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from components.exhibits.draw.labels import visible
from components.exhibits.script import Script, Step
from components.exhibits.slides import choices_html
from components.texts import Texts
from components.ui.public.locale import page_texts
from components.ui.public.middleware import SPEAKER
from components.ui.talk.phone import share_text

KEEP = {"Cache-Control": "public, max-age=86400"}  # seconds: a talk is opened again the same day
STYLE, SCRIPT = (Path(__file__).with_suffix(kind).read_text(encoding="utf-8") for kind in (".css", ".js"))
PICTURE = 'srcdoc="<!doctype html>" sandbox="allow-same-origin" inert tabindex="-1"'  # nothing runs in it


@dataclass(frozen=True)
class SpeakerPage:
    """The page of a language, and its ``address`` as seen from the talk's page, which changes with it."""

    html: str
    address: str


class SpeakerMiddleware:
    """ASGI middleware: answers GET /speaker with the page in the language of the address.

    ``pages``: by the tags of their languages and the names of their talks; none where there is no talk.
    """

    def __init__(self, app: ASGIApp, pages: Mapping[str, Mapping[str, SpeakerPage]]) -> None:
        self._app, self._pages = app, pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is another path."""
        if scope["type"] != "http" or scope["path"] != SPEAKER:
            return await self._app(scope, receive, send)
        asked = QueryParams(scope["query_string"]).get("talk", "")
        return await self._response(page_texts(scope), asked)(scope, receive, send)

    def _response(self, say: Texts, name: str) -> Response:
        """The page of the talk that is asked for, or else of the first."""
        pages = self._pages.get(say.language.tag)
        if not pages:
            return JSONResponse({"detail": say("refusal.not_found")}, HTTPStatus.NOT_FOUND)
        return HTMLResponse(pages.get(name, next(iter(pages.values()))).html, headers=KEEP)


def speaker_page(script: Script, say: Texts) -> SpeakerPage:
    """The page for the steps of a talk and for the slide behind the last one, with its style and script."""
    tag, title, region = say.language.tag, escape(say("speaker.title")), escape(say("speaker.notes"))
    html = (
        f'<!doctype html><html lang="{tag}" data-talk="{escape(script.name)}">'
        f'<head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head><body><main><h1>{title}</h1>{_frame('now', say('speaker.now'))}"
        f'<div id="side">{_frame("next", say("speaker.next"))}{_clock(say)}</div>'
        f'<div id="notes" role="region" tabindex="0" aria-label="{region}">{_notes(script.steps, say)}</div>'
        f"{_bar(say)}</main><script>{SCRIPT}</script></body></html>"
    )
    version = hashlib.sha256(html.encode()).hexdigest()[:8]
    asked = urlencode({"lang": tag, "talk": script.name, "version": version})
    return SpeakerPage(html, f".{SPEAKER}?{asked}")


def _frame(name: str, title: str) -> str:
    """Where a slide is seen as it is on the talk's window; its caption alone until it is."""
    frame = f'<div class="frame" id="{name}"><iframe title="{escape(title)}" {PICTURE}></iframe><p></p></div>'
    return f"<section><h2>{escape(title)}</h2>{frame}</section>"


def _clock(say: Texts) -> str:
    """The time since the first step, what is planned, and how far the speaker is from that, in words."""
    elapsed = escape(say("speaker.elapsed"))
    planned = escape(say("speaker.planned", until="{until}", total="{total}"))
    paces = {
        "stands": say("speaker.stands"),
        "on": say("speaker.on_time"),
        "ahead": say("speaker.ahead", time="{time}"),
        "behind": say("speaker.behind", time="{time}"),
    }
    data = " ".join(f'data-{name}="{escape(said)}"' for name, said in paces.items())
    return (
        f'<div id="clock"><span id="elapsed" role="timer" aria-label="{elapsed}"></span>'
        f'<button type="button" id="reset">{escape(say("speaker.reset"))}</button>'
        f'<p id="pace" {data}></p><p id="planned" data-text="{planned}"></p></div>'
    )


def _notes(steps: tuple[Step, ...], say: Texts) -> str:
    """A section for each slide: its caption, what it asks, and a paragraph for each line of its notes."""
    end = f'<section data-minutes="0" hidden>{_told(say("talk.end"), "", "", say)}</section>'
    tag = say.language.tag
    return (
        "".join(
            f'<section data-minutes="{step.minutes:g}" hidden>'
            f"{_told(step.said(tag), _asked(step, say), step.noted(tag), say)}</section>"
            for step in steps
        )
        + end
    )


def _asked(step: Step, say: Texts) -> str:
    """The question of a step and its choices, to which the script adds the votes; "" for none."""
    question = step.asked(say.language.tag)
    asks = escape(say("speaker.asks", question=visible(question)))
    share = f' data-share="{escape(share_text(say))}"'
    return f'<p class="ask">{asks}</p>{choices_html(step, say.language.tag, share)}' if question else ""


def _told(caption: str, asked: str, notes: str, say: Texts) -> str:
    """What the speaker reads of a slide, as HTML; ``asked`` is HTML."""
    lines = [f"<p>{escape(visible(line))}</p>" for line in notes.splitlines() if line.strip()]
    if not lines:
        lines = [f'<p class="none">{escape(say("speaker.no_notes"))}</p>']
    return f"<h2>{escape(visible(caption))}</h2>{asked}{''.join(lines)}"


def _bar(say: Texts) -> str:
    """Where the talk is, what can be pressed, and why nothing is heard of a talk."""
    again = f'<a href="./">{escape(say("speaker.again"))}</a>'
    return (
        '<div id="bar"><p id="alone" role="status">'
        f'<span id="none" hidden>{escape(say("speaker.none"))}</span>'
        f'<span id="black" hidden>{escape(say("speaker.black"))}</span>'
        f'<span id="asking" hidden>{escape(say("speaker.asking"))}</span>'
        f'<span id="left" hidden>{escape(say("speaker.left"))}</span>'
        f'<span id="gone" hidden>{escape(say("speaker.gone"))} {again}</span></p>'
        f'<button type="button" data-key="ArrowLeft" aria-label="{escape(say("talk.previous"))}">‹</button>'
        '<span id="state"></span>'
        f'<button type="button" data-key="ArrowRight" aria-label="{escape(say("talk.next"))}">›</button>'
        f'<span class="keys">{escape(say("speaker.keys"))}</span>'
        f'<button type="button" data-key="b">{escape(say("speaker.blank"))}</button></div>'
    )
