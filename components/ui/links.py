"""The link of what is on the screen: followed, kept in the address, copied, and as a QR code."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any

import gradio as gr
import segno
from markupsafe import Markup

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, State, from_link, written
from components.exhibits.report import Made, passport_page, report
from components.exhibits.view import visible
from components.markup import render
from components.texts import Texts
from components.types import Query
from components.ui.places import OF_MODEL, PRIVATE, Given, Updates, browser, scripted_html
from components.ui.tab import Linked, Tab, selected

LONGEST = 2331  # bytes that a QR code of the lowest but one level of error correction holds
LONG = 300  # bytes of a link, of which a code is as mixed as any: to try all masks takes 0.4 s, one a tenth
MASK = 4
ALIASES = {"text_pair": "pair"}  # names of the API -> what the page calls the same
NEAR = ("http://localhost", "http://127.", "http://0.0.0.0", "http://[::1]")  # this machine, to itself
CHANGED = "() => window.poolscope?.changed()"
SET = "(...values) => window.poolscope.set(...values)"
FOLLOWED = "(...values) => window.poolscope?.followed(...values)"
SHOWN = "() => document.getElementById('code')?.showModal()"


def build_share(controls: Iterable[Control[Any]], say: Texts) -> gr.HTML:
    """Lay out the buttons. Its ``apply`` says that the page has come, and ``query`` with which link.

    Its ``expand`` asks for the QR code of a ``link``. The script itself asks for the report and the passport.
    """
    arrivals = json.dumps([[control.key, written(control.default)] for control in controls])
    html = render("share", say, arrivals=arrivals, aliases=json.dumps(ALIASES))
    return scripted_html("share", browser("address.js"), html)


def encoded(link: str) -> segno.QRCode:
    """Make a link's QR code."""
    return segno.make_qr(link, error="m", mask=None if len(link) < LONG else MASK)


def qr_code(link: object, say: Texts) -> Markup:
    """Draw a link as a picture and as text; PoolscopeError if it is none, or too long for a QR code."""
    if not isinstance(link, str) or not link.startswith(("http://", "https://")):
        raise PoolscopeError("link", link, "link.wanted")
    if len(link.encode()) > LONGEST:
        raise PoolscopeError("link", link, "link.long", longest=f"{LONGEST:,}")
    drawn = io.BytesIO()
    encoded(link).save(drawn, kind="svg", border=4, xmldecl=False, svgns=True, omitsize=True, light="#fff")
    svg = Markup(drawn.getvalue().decode())
    return render("code", say, svg=svg, link=visible(link), near=link.startswith(NEAR))


class Links:
    """What a link can set: which of the ``tabs`` is ``chosen``, and everything in them.

    ``keys`` are those of all tabs, also of one that shows nothing. ``analyst``: who is asked for passports.
    ``linked``: every control of every tab; those that only the browser knows come last.
    """

    def __init__(
        self,
        tabs: Mapping[str, Tab],
        keys: tuple[str, ...],
        chosen: gr.Tabs,
        banner: gr.HTML,
        analyst: Analyst,
        say: Texts,
    ) -> None:
        self.tabs, self.banner, self.analyst, self.say = tabs, banner, analyst, say
        every = [one for tab in tabs.values() for one in tab.linked]
        tab = Linked(Control("tab", OneOf(lambda: keys), keys[0]), None, chosen)
        self.linked = [*(one for one in every if one.part), tab, *(one for one in every if not one.part)]
        self.controls = [one.control for one in self.linked]
        outputs = [banner, chosen, *(part for tab in tabs.values() for part in tab.outputs)]
        self.outputs: list[Any] = list(dict.fromkeys(outputs))

    def connect(self, place: gr.Column) -> None:
        """Follow the link that led here, then keep the address; the buttons stand in ``place``."""
        parts: list[Any] = [one.part for one in self.linked if one.part is not None]
        tabs = [one.tabs for one in self.linked if one.tabs is not None]
        waiting = [part for tab in self.tabs.values() for part in tab.waits]  # an answer may be a refusal
        with place:
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
        said = [visible(fault.said(self.say)) for fault in faults]
        notice = render("faults", self.say, faults=said) if said else ""
        return {**updates, **selected(chosen, state), self.banner: f"{updates[self.banner]}{notice}"}

    def report(self, query: str, page: str) -> tuple[str, ...]:
        """Show what the link ``query`` of the page at ``page`` shows, as one document in pieces.

        It is made anew of the link, which must be without a fault: a report of anything else would mislead.
        PoolscopeError where there is a fault, or no answer.
        """
        state = self._state(query)
        here = page.startswith(("https://", "http://"))
        made = Made(datetime.now(UTC), f"{page}?{query}" if here else "")
        tab = self._reported(state)
        answer = tab.answer_to(state)
        return report(tab.panels, answer, state, tab.facts(answer, state), made, self.say)

    def passport(self, query: str, page: str) -> tuple[str, ...]:
        """Write the passport of the backbone in the link ``query``. PoolscopeError says why not."""
        del page
        backbone = str(self._state(query)["backbone"])
        return (str(passport_page(self.analyst.ask("passport", Query(backbone, "")), self.say)),)

    def extent(self, query: str) -> list[object]:
        """List what the report of a link asks for: texts, and lists of what is combined."""
        state, _ = from_link(query, self.controls)
        values = (one.control.of(state) for one in self._reported(state).linked)
        return [list(value) if isinstance(value, tuple) else value for value in values]

    def draw_code(self, event: gr.EventData) -> str:
        """Draw the QR code of the present link, or say why there is none."""
        try:
            drawn = qr_code(_sent(event, "link"), self.say)
            return str(render("code_dialog", self.say, drawn=drawn))
        except PoolscopeError as error:
            raise gr.Error(escape(visible(error.said(self.say))), print_exception=False) from error

    def _state(self, query: str) -> State:
        """Read a link; PoolscopeError names the first of its faults."""
        state, faults = from_link(query, self.controls)
        if faults:
            raise faults[0]
        return state

    def _reported(self, state: State) -> Tab:
        """Choose the tab that a report shows; the first one for a tab that shows no answer of its own."""
        first, asked = next(iter(self.tabs.values())), self.tabs.get(str(state["tab"]))
        return asked if asked is not None and asked.panels else first


def _sent(event: gr.EventData, name: str) -> str:
    """Read what the page's script sent with an event; "" if it sent nothing of that name."""
    return str(getattr(event, name, ""))


def _set(state: State, linked: Iterable[Linked]) -> list[Linked]:
    return [one for one in linked if state[one.control.key] != one.control.default]
