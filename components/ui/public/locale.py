"""Locale: a visitor is answered in the language of the address, else of Accept-Language, else in English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import Message, Scope, Send

from components.texts import ENGLISH, Texts, languages, load_texts

# One language range of Accept-Language, RFC 9110: "zh-Hant;q=0.9"
RANGE = re.compile(r"([a-z]{1,8})(?:-[a-z0-9]{1,8})*(?:;q=(1(?:\.0{0,3})?|0(?:\.\d{0,3})?))?", re.ASCII)
MAX_CHARACTERS = 8000  # of a header or an address that are looked at


def request_texts(headers: Headers, address: str | None = None) -> Texts:
    """The texts to answer a request with; without an ``address``, that of the page it came from counts."""
    if address is None:
        address = headers.get("referer", "")
    return load_texts(negotiate_locale(address, headers.get("accept-language", ""), languages()))


def negotiate_locale(address: str, accept_language: str, supported: Sequence[str]) -> str:
    """Which of the ``supported`` languages is meant by an address and an Accept-Language header.

    ``lang=`` in the address's query wins, then its path. Of the header, it is the language with the highest
    q, the first of several, in whatever region or script it is asked for: zh-Hant is zh.
    """
    by_address = _locale_of_address(address[:MAX_CHARACTERS], supported)
    return by_address or _preferred_locale(accept_language[:MAX_CHARACTERS], supported) or ENGLISH


def page_path(tag: str) -> str:
    """The path of the page in a language, as gradio finds it; the English one is the app's first."""
    return "/" if tag == ENGLISH else f"/{tag}"


def page_texts(scope: Scope) -> Texts:
    """The texts for a request of a page, which may name its language itself."""
    return request_texts(Headers(scope=scope), f"{scope['path']}?{_query(scope)}")


def locale_redirect(scope: Scope, say: Texts) -> RedirectResponse | None:
    """The way to the page in the language of ``say``; None if the request is for that page."""
    path, query = page_path(say.language.tag), _query(scope)
    if scope["method"] != "GET" or path == scope["path"]:
        return None
    return RedirectResponse(f".{path}?{query}" if query else f".{path}", 302)


def vary_by_language(send: Send) -> Send:
    """``send``, which tells caches that the response depends on Accept-Language."""

    async def varying(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("Accept-Language")
        await send(message)

    return varying


def _query(scope: Scope) -> str:
    query: bytes = scope["query_string"]
    return query.decode("latin-1")


def _locale_of_address(address: str, supported: Sequence[str]) -> str:
    """The language that an address names, or ""."""
    try:
        parts = urlsplit(address)
    except ValueError:  # such as an unfinished IPv6 address
        return ""
    asked = parse_qs(parts.query, errors="replace").get("lang", [""])[-1].lower()
    return next((tag for tag in (asked, parts.path.rpartition("/")[2]) if tag in supported), "")


def _preferred_locale(accept_language: str, supported: Sequence[str]) -> str:
    """The language that a browser prefers among those ``supported``, or ""."""
    weights: dict[str, float] = {}
    for part in accept_language.lower().replace(" ", "").split(","):
        found = RANGE.fullmatch(part)
        if found and found[1] in supported:
            weights.setdefault(found[1], float(found[2] or 1))
    best = max(weights, key=lambda tag: weights[tag], default="")
    return best if weights.get(best) else ""
