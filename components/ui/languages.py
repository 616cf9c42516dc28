"""Which language a visitor is answered in: that of the address, else the browser's, else English."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlsplit

from components.texts import ENGLISH, Texts, languages, load_texts

RANGE = re.compile(r"([a-z]{1,8})(?:-[a-z0-9]{1,8})*(?:;q=(1(?:\.0{0,3})?|0(?:\.\d{0,3})?))?", re.ASCII)
LONGEST = 8000  # characters of a header or an address that are looked at


def spoken(headers: Mapping[str, str], address: str | None = None) -> Texts:
    """The sentences for a request; without an ``address``, that of the page it came from counts."""
    if address is None:
        address = headers.get("referer", "")
    return load_texts(chosen(address, headers.get("accept-language", ""), languages()))


def chosen(address: str, accepted: str, known: Sequence[str]) -> str:
    """Which of the ``known`` languages is meant by an address and an Accept-Language header.

    ``lang=`` in the address's query wins, then its path. Of the header, it is the language with the highest
    q, the first of several, in whatever region or script it is asked for: zh-Hant is zh.
    """
    return _named(address[:LONGEST], known) or _accepted(accepted[:LONGEST], known) or ENGLISH


def page_path(tag: str) -> str:
    """The path of the page in a language, as gradio finds it; the English one is the app's first."""
    return "/" if tag == ENGLISH else f"/{tag}"


def _named(address: str, known: Sequence[str]) -> str:
    """The language that an address names, or ""."""
    try:
        parts = urlsplit(address)
    except ValueError:  # such as an unfinished IPv6 address
        return ""
    asked = parse_qs(parts.query, errors="replace").get("lang", [""])[-1].lower()
    return next((tag for tag in (asked, parts.path.rpartition("/")[2]) if tag in known), "")


def _accepted(header: str, known: Sequence[str]) -> str:
    """The language that a browser prefers among those ``known``, or ""."""
    weights: dict[str, float] = {}
    for part in header.lower().replace(" ", "").split(","):
        found = RANGE.fullmatch(part)
        if found and found[1] in known:
            weights.setdefault(found[1], float(found[2] or 1))
    best = max(weights, key=lambda tag: weights[tag], default="")
    return best if weights.get(best) else ""
