"""The link of what is on the screen: to copy, and as a QR code for the phones of an audience."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
import segno

from components.errors import PoolscopeError
from components.exhibits.control import Control
from components.exhibits.draw.labels import visible
from components.texts import Texts
from components.ui.gradio_internals import scripted_html

SCRIPT = Path(__file__).with_name("address.js")
LONGEST = 2331  # bytes that a QR code of the lowest but one level of error correction holds
LONG = 300  # bytes of a link, of which a code is as mixed as any: to try all masks takes 0.4 s, one a tenth
MASK = 4
ALIASES = {"text_pair": "pair"}  # names of the API -> what the page calls the same
NEAR = ("http://localhost", "http://127.", "http://0.0.0.0", "http://[::1]")  # this machine, to itself


def build_share(controls: Iterable[Control[Any]], say: Texts) -> gr.HTML:
    """The buttons. Its ``apply`` says that the page has come, and ``query`` with which link.

    Its ``expand`` asks for the QR code of a ``link``. The script itself asks for the report and the passport.
    """
    arrivals = [[control.key, control.kind.write(control.default)] for control in controls]
    known, aliases = escape(json.dumps(arrivals)), escape(json.dumps(ALIASES))
    copied, select = escape(say("link.copied")), escape(say("link.select"))
    unreached = escape(say("link.unreached"))
    return scripted_html(
        f'<div class="share" data-controls="{known}" data-aliases="{aliases}">'
        f'<button type="button" data-share="talk">{escape(say("talk.button"))}</button>'
        f'<button type="button" data-share="copy">{escape(say("link.copy"))}</button>'
        f'<button type="button" data-share="code">{escape(say("link.code"))}</button>'
        f'<button type="button" data-share="report">{escape(say("link.report"))}</button>'
        f'<button type="button" data-share="passport" title="{escape(say("link.passport_title"))}">'
        f"{escape(say('link.passport'))}</button>"
        f'<input type="text" readonly hidden aria-label="{escape(say("link.address"))}">'
        f'<span role="status" data-copied="{copied}" data-select="{select}" '
        f'data-unreached="{unreached}"></span></div>',
        SCRIPT,
        "share",
    )


def code(link: object, say: Texts) -> str:
    """A dialog with the QR code of a link, as HTML; PoolscopeError if it is none, or too long for one."""
    drawn = qr_code(link, say)
    heading, close = escape(say("link.code_heading")), escape(say("link.close"))
    return (
        f'<dialog id="code" aria-labelledby="code-heading"><h2 id="code-heading">{heading}</h2>{drawn}'
        f'<form method="dialog"><button>{close}</button></form></dialog>'
    )


def encoded(link: str) -> segno.QRCode:
    """A link's QR code."""
    return segno.make_qr(link, error="m", mask=None if len(link) < LONG else MASK)


def qr_code(link: object, say: Texts) -> str:
    """A link as a picture and as text, as HTML; PoolscopeError if it is none, or too long for a QR code."""
    if not isinstance(link, str) or not link.startswith(("http://", "https://")):
        raise PoolscopeError("link", link, "link.wanted")
    if len(link.encode()) > LONGEST:
        raise PoolscopeError("link", link, "link.long", longest=f"{LONGEST:,}")
    near = say("link.near") if link.startswith(NEAR) else ""
    drawn = io.BytesIO()
    encoded(link).save(drawn, kind="svg", border=4, xmldecl=False, svgns=True, omitsize=True, light="#fff")
    label, svg = escape(say("link.code_alternative")), drawn.getvalue().decode()
    picture = f'<div role="img" aria-label="{label}">{svg}</div>'
    return f"{picture}<p><code>{escape(visible(link))}</code></p><p>{escape(near)}</p>"
