"""The link of what is on the screen: followed, kept in the address, copied, and as a QR code."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
import segno

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, State, from_link, written
from components.exhibits.report import Made, passport_page, report
from components.exhibits.view import visible
from components.texts import Texts
from components.types import Query
from components.ui.places import OF_MODEL, PRIVATE, Given, Updates
from components.ui.scripted import scripted_html
from components.ui.tab import Linked, Tab, selected

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
    arrivals = [[control.key, written(control.default)] for control in controls]
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


CHANGED = "() => window.poolscope?.changed()"
SET = "(...values) => window.poolscope.set(...values)"
FOLLOWED = "(...values) => window.poolscope?.followed(...values)"
SHOWN = "() => document.getElementById('code')?.showModal()"


@dataclass(frozen=True, eq=False)
class Links:
    """What a link can set: which of the ``tabs`` is ``chosen``, and everything in them.

    ``keys`` are those of all tabs, also of one that shows nothing. ``place``: where the buttons stand.
    ``analyst``: who is asked for passports.
    """

    tabs: Mapping[str, Tab]
    keys: tuple[str, ...]
    chosen: gr.Tabs
    banner: gr.HTML
    place: gr.Column
    analyst: Analyst
    say: Texts

    @property
    def controls(self) -> list[Control[Any]]:
        """What a link may hold."""
        return [one.control for one in self.linked]

    @cached_property
    def linked(self) -> list[Linked]:
        """Every control of every tab; those that only the browser knows come last."""
        every = [one for tab in self.tabs.values() for one in tab.linked]
        tab = Linked(Control("tab", OneOf(lambda: self.keys), self.keys[0]), None, self.chosen)
        return [*(one for one in every if one.part), tab, *(one for one in every if not one.part)]

    def connect(self) -> None:
        """Follow the link that led here, then keep the address."""
        parts: list[Any] = [one.part for one in self.linked if one.part is not None]
        tabs = [one.tabs for one in self.linked if one.tabs is not None]
        waiting = [part for tab in self.tabs.values() for part in tab.waits]  # an answer may be a refusal
        with self.place:
            share, dialog = build_share(self.controls, self.say), gr.HTML("", elem_id="code-place")
        share.apply(
            self.follow,
            inputs={part for tab in self.tabs.values() for part in tab.needs},
            outputs=self.outputs,
            **OF_MODEL,
            show_progress_on=waiting,
        ).then(None, inputs=parts, js=FOLLOWED, **PRIVATE)
        changes = [part.change for part in (*parts, *tabs, self.banner, *waiting)]
        gr.on(changes, None, js=CHANGED, **PRIVATE)
        share.select(None, inputs=parts, js=SET, **PRIVATE)
        share.expand(self.draw_code, outputs=dialog, queue=False, **PRIVATE).then(None, js=SHOWN, **PRIVATE)

    @property
    def outputs(self) -> list[Any]:
        """Everything that a link may set."""
        every = [self.banner, self.chosen, *(part for tab in self.tabs.values() for part in tab.outputs)]
        return list(dict.fromkeys(every))

    def follow(self, given: Given, event: gr.EventData) -> Updates:
        """Make the page what the link says that led here, and say what of it could not be had.

        What the link leaves out stays as it is: a quick visitor may have set it by now. After a step back in
        the browser's history (``event.whole``) it is as on arrival.
        """
        state, faults = from_link(_sent(event, "query"), self.controls)
        whole = getattr(event, "whole", None) is True
        updates: Updates = {self.banner: ""}
        for tab in self.tabs.values():
            answer, more = tab.open(state, tab.linked if whole else _set(state, tab.linked), given)
            updates |= answer
            faults += more
        chosen = self.linked if whole else _set(state, self.linked)
        notice = str(updates[self.banner]) + self._notice(faults)
        return {**updates, **selected(chosen, state), self.banner: notice}

    def report(self, query: str, page: str) -> tuple[str, ...]:
        """What the link ``query`` of the page at ``page`` shows, as one document in pieces.

        It is made anew of the link, which must be without a fault: a report of anything else would mislead.
        PoolscopeError where there is a fault, or no answer.
        """
        state, faults = from_link(query, self.controls)
        if faults:
            raise faults[0]
        here = page.startswith(("https://", "http://"))
        made = Made(datetime.now(UTC), f"{page}?{query}" if here else "")
        tab = self._reported(state)
        answer = tab.answer_to(state)
        return report(tab.panels, answer, state, tab.facts(answer, state), made, self.say)

    def passport(self, query: str, page: str) -> tuple[str, ...]:
        """The passport of the backbone in the link ``query``, as a document. PoolscopeError says why not."""
        del page
        state, faults = from_link(query, self.controls)
        if faults:
            raise faults[0]
        return (passport_page(self.analyst.ask("passport", Query(str(state["backbone"]), "")), self.say),)

    def extent(self, query: str) -> list[object]:
        """What the report of a link asks for: texts, and lists of what is combined."""
        state, _ = from_link(query, self.controls)
        values = (one.control.of(state) for one in self._reported(state).linked)
        return [list(value) if isinstance(value, tuple) else value for value in values]

    def _reported(self, state: State) -> Tab:
        """The tab that a report shows; the first one for a tab that shows no answer of its own."""
        first, asked = next(iter(self.tabs.values())), self.tabs.get(str(state["tab"]))
        return asked if asked is not None and asked.panels else first

    def draw_code(self, event: gr.EventData) -> str:
        """The QR code of the present link, or why there is none."""
        try:
            return code(_sent(event, "link"), self.say)
        except PoolscopeError as error:
            raise gr.Error(escape(visible(error.said(self.say))), print_exception=False) from error

    def _notice(self, faults: list[PoolscopeError]) -> str:
        """What could not be followed, as HTML; "" if everything was."""
        if not faults:
            return ""
        items = "".join(f"<li>{escape(visible(fault.said(self.say)))}</li>" for fault in faults)
        heading = escape(self.say("link.faults"))
        return f'<div class="notices" role="status"><strong>{heading}</strong><ul>{items}</ul></div>'


def _sent(event: gr.EventData, name: str) -> str:
    """What the page's script sent with an event; "" if it sent nothing of that name."""
    return str(getattr(event, name, ""))


def _set(state: State, linked: Iterable[Linked]) -> list[Linked]:
    """What is not as on arrival."""
    return [one for one in linked if state[one.control.key] != one.control.default]
