"""The page in every language: its title and its tabs, and the link of what is on the screen.

A link is followed, kept in the address, copied, and shown as a QR code.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import gradio as gr
from markupsafe import Markup
from pydantic import TypeAdapter, ValidationError

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import AskedText, Control, OneOf, State, from_link, to_link, written
from components.exhibits.draw import Figure
from components.exhibits.panels import ANSWER
from components.exhibits.report import Made, alone, citation, passport_page, report, title_of
from components.exhibits.talks import Script, read_talks
from components.exhibits.verdict import VERDICT, output_bars
from components.exhibits.view import render, visible
from components.reach import is_near, reach_of
from components.results import Table, read_results, table
from components.settings import Settings, space
from components.texts import ASSETS, ENGLISH, Texts, languages, load_texts
from components.types import Query
from components.ui import places as on_page
from components.ui.api import add_api
from components.ui.classify import CLASSIFY
from components.ui.compare import COMPARE
from components.ui.evidence import EVIDENCE
from components.ui.lab import LAB
from components.ui.places import OF_MODEL, PRIVATE, Given, Kept, Updates, on, scripted_html
from components.ui.public.requests import page_path
from components.ui.questions import QUESTIONS
from components.ui.tab import Linked, Surroundings, Tab, TabKind, selected
from components.ui.talk import Talk, qr_code, reader, shows_of

TABS: tuple[TabKind, ...] = (CLASSIFY, COMPARE, EVIDENCE, LAB, QUESTIONS)
ALIASES = {"text_pair": "pair"}  # names of the API -> what the page calls the same
HUB = "https://huggingface.co"  # whose page has a Space in a frame
ABOVE, HIGHEST = 210, 900  # pixels: of the verdict above a card and the link below, and of a frame at most
CARDS = TypeAdapter(list[tuple[str, str, int]])
Valued = tuple[Control[Any], Any]  # a control, and what it is set to
SET = "(...values) => window.poolscope.set(...values)"
FOLLOWED = "(...values) => window.poolscope?.followed(...values)"
SHOWN = "() => document.getElementById('code')?.showModal()"


@dataclass(frozen=True, eq=False)
class Site:
    """All that is served: the page in every language, and by language the ``links``, which make its reports.

    ``scripts``: the talks in each language, if there are any. ``readers``: what makes the page to read.
    """

    page: gr.Blocks
    links: dict[str, "Links"] = field(default_factory=dict)
    scripts: dict[str, tuple[Script, ...]] = field(default_factory=dict)
    readers: dict[str, Callable[[], tuple[str, ...]]] = field(default_factory=dict)


def build(analyst: Analyst, settings: Settings, results: Path = ASSETS / "results.csv") -> Site:
    """Lay out the whole page and its public endpoints, answered by ``analyst``; ``results``: measurements."""
    title, measured = load_texts()("page.title"), read_results(results) if results.is_file() else table()
    page = gr.Blocks(title=title, analytics_enabled=False, fill_width=True)
    site = Site(page)
    page.queue(max_size=settings.waiting, default_concurrency_limit=None, api_open=False)  # slower when full
    for tag in languages():
        say = load_texts(tag)
        with page if tag == ENGLISH else page.route(say.language.name, page_path(tag), show_in_navbar=False):
            links = site.links[tag] = Links(analyst, measured, settings, say)
            places = {name: show.place for name, show in links.shows.items()}
            if talks := read_talks(settings.talk, tag, links.controls, places):
                site.scripts[tag] = talks
                Talk(talks, links.shows, say, settings.room, links.reach)
            for told in read_talks(ASSETS / "explain", tag, links.controls, places):
                site.readers[tag] = reader(told, links.shows, say)
            gr.Plot(Figure([], {}), visible="hidden", show_label=False, elem_id="plotly")  # has Plotly loaded
            if tag == ENGLISH:  # an endpoint speaks English to every program
                add_api(analyst, settings.lab_rows)
    return site


class Links:
    """The tabs of one language's page, and what a link can set: which of them is chosen, and all in them.

    ``linked``: every control of every tab; those that only the browser knows come last.
    """

    def __init__(self, analyst: Analyst, results: Table, settings: Settings, say: Texts) -> None:
        self.analyst, self.say, self.reach = analyst, say, reach_of(settings)
        with gr.Row(elem_id="top"):
            others = [load_texts(tag).language for tag in languages()]
            title = render("title", say, languages=others, language=say.language)
            scripted_html("title", title, "title")  # a link to another language keeps the address
            corner = gr.Column(min_width=0, elem_id="corner")
        self.banner = on_page.plain_html(elem_id="asked")
        self.tabs: dict[str, Tab] = {}
        mine = Kept(gr.State({}), "")
        with gr.Tabs(overflow_behavior="wrap", elem_id="tabs") as chosen:
            for kind in TABS:
                with gr.Tab(say(kind.title), id=kind.key, elem_id=kind.key) as select:
                    here = analyst, results, say, self.banner, select, chosen
                    tab = kind.build(Surroundings(*here, {**self.tabs}, settings.lab_rows, mine))
                    if tab is not None:
                        self.tabs[kind.key] = tab
        keys = [kind.key for kind in TABS]
        every = [one for tab in self.tabs.values() for one in tab.linked]
        which = Linked(Control("tab", OneOf(lambda: keys), keys[0]), None, chosen)
        self.linked = [*(one for one in every if one.part), which, *(one for one in every if not one.part)]
        self.controls = [one.control for one in self.linked]
        outputs = [self.banner, chosen, *(part for tab in self.tabs.values() for part in tab.outputs)]
        self.outputs: list[Any] = list(dict.fromkeys(outputs))
        self.shows = shows_of(self.tabs)
        self._connect(corner)

    def _connect(self, corner: gr.Column) -> None:
        """Follow the link that led here, then keep the address; its buttons stand in the ``corner``.

        ``apply`` of the script says that the page has come, and ``query`` with which link; ``expand`` asks
        for the QR code of a ``link``, or how to cite it. The script itself asks for a report and a passport.
        """
        with corner:
            arrivals = [[control.key, written(control.default)] for control in self.controls]
            lists = {"arrivals": escape(json.dumps(arrivals)), "aliases": escape(json.dumps(ALIASES))}
            told = {name: Markup(one.replace("&quot;", '"')) for name, one in lists.items()}  # in single ones
            buttons = render("share", self.say, hub=HUB if space() else "", **told)
            share = scripted_html("address", buttons, "share")
            dialog = on_page.plain_html(elem_id="code-place")
        parts: list[Any] = [one.part for one in self.linked if one.part is not None]
        waiting = [part for tab in self.tabs.values() for part in tab.waits]  # an answer may be a refusal
        needs = {part for tab in self.tabs.values() for part in tab.needs}
        come = on([share.apply], self.follow, needs, self.outputs, OF_MODEL, show_progress_on=waiting)
        come.then(None, inputs=parts, js=FOLLOWED, **PRIVATE)
        share.select(None, inputs=parts, js=SET, **PRIVATE)
        share.expand(self.draw_dialog, outputs=dialog, queue=False, **PRIVATE).then(None, js=SHOWN, **PRIVATE)

    def follow(self, given: Given, event: gr.EventData) -> Updates:
        """Make the page what the link says that led here, and say what of it could not be had.

        What the link leaves out stays as it is: a quick visitor may have set it by now. After a step back in
        the browser's history (``event.whole``) it is as on arrival.
        """
        state, faults = from_link(_sent(event, "query"), self.controls)
        whole = getattr(event, "whole", None) is True

        def chosen(linked: Iterable[Linked]) -> list[Linked]:
            return [one for one in linked if whole or state[one.control.key] != one.control.default]

        updates: Updates = {self.banner: ""}
        for tab in self.tabs.values():
            answer, more = tab.open(state, chosen(tab.linked), given)
            updates |= answer
            faults += more
        notice = render("faults", self.say, faults=faults) if faults else ""
        updates[self.banner] = f"{updates[self.banner]}{notice}"
        return {**updates, **selected(chosen(self.linked), state)}

    def first_answer(self) -> Markup:
        """Answer the first question, as HTML that waits for no script; PoolscopeError if it has no answer."""
        say, state, first = self.say, self._state(""), next(iter(self.tabs.values()))
        analysis = ANSWER.subject(first.answer_to(state))
        verdict, script = VERDICT.show(analysis, state, say).html, on_page.browser("arrival.js")
        drawn = {"verdict": Markup(verdict), "outputs": output_bars(analysis, say), "script": Markup(script)}
        return render("arrival", say, analysis=analysis, **drawn)

    def report(self, query: str, page: str) -> tuple[str, ...]:
        """Show what the link ``query`` of the page at ``page`` shows, as one document in pieces.

        It is made anew of the link, which must be without a fault: a report of anything else would mislead.
        PoolscopeError where there is a fault, or no answer.
        """
        state = self._state(query)
        here = page.startswith(("https://", "http://"))
        link = self.reach.link(f"{page}?{query}", page_path(self.say.language.tag)) if here else ""
        made = Made(datetime.now(UTC), link)
        tab = self._reported(state)
        answer = tab.answer_to(state)
        return report(tab.panels, answer, state, partial(tab.facts, answer), made, self.say)

    def passport(self, query: str, page: str) -> tuple[str, ...]:
        """Write the passport of the backbone in the link ``query``. PoolscopeError says why not."""
        del page
        backbone = str(self._state(query)["backbone"])
        return (str(passport_page(self.analyst.ask("passport", Query(backbone, "")), self.say)),)

    def embed(self, query: str, exhibit: str, script: str) -> str:
        """Show one ``exhibit`` of what the link ``query`` shows, under the verdict, for a frame.

        The ``script`` at that address draws figures. PoolscopeError names a fault, or says why there is none.
        """
        if exhibit not in self.shows:
            raise PoolscopeError("embed", exhibit, "errors.allowed", allowed=tuple(self.shows))
        say, show = self.say, self.shows[exhibit]
        state = {**self._state(query), **show.place}
        answer = show.tab.answer_to(state)
        if not show.exhibit.applies(show.panel.subject(answer)):
            raise PoolscopeError("embed", exhibit, "errors.none_of_it")
        summary, panel = next((one.summary, one) for one in show.tab.panels if one.summary is not None)
        drawn = "" if show.exhibit is summary else show.html(answer, state, exhibit, "card", say)
        brought = show.exhibit.with_summary
        verdict = "" if brought else Markup(summary.shown(panel.subject(answer), state, say).html)
        link = f"?{to_link(state, self.controls)}&lang={say.language.tag}"
        theme = parse_qs(query).get("__theme", [""])[-1]
        title = title_of(show.tab.facts(answer, state), say)
        body = render("embed", say, title=title, verdict=verdict, drawn=drawn, link=link)
        body = body.replace("<a ", Markup('<a target="_blank" '))  # no page of ours within a frame
        return alone(title, body, script if show.exhibit.plotted else "", theme, say)

    def extent(self, query: str, exhibit: str | None = None) -> list[object]:
        """List what the report of a link asks for: texts, and lists of what is combined.

        Of one ``exhibit`` the key of its panel comes first.
        """
        state, _ = from_link(query, self.controls)
        show = self.shows.get(exhibit or "")
        tab = show.tab if show else self._reported(state)
        values = (one.control.of(state) for one in tab.linked)
        first = [] if exhibit is None else [show.panel.key if show else ""]
        return [*first, *(list(value) if isinstance(value, tuple) else value for value in values)]

    def draw_dialog(self, event: gr.EventData) -> str:
        """Draw the QR code of the present link, or say how to cite it or to frame it, or why not."""
        of, cards = _sent(event, "of"), getattr(event, "cards", None)
        try:
            link = self.reach.link(_sent(event, "link"), page_path(self.say.language.tag))
            other = {"cite": lambda: self.cite(link), "frame": lambda: self.frames(link, cards)}.get(of)
            drawn = other() if other else qr_code(link, self.say)
            return str(render("code_dialog", self.say, of=of, drawn=drawn))
        except PoolscopeError as error:
            raise gr.Error(escape(visible(error.said(self.say))), print_exception=False) from error

    def cite(self, link: str) -> Markup:
        """Say how to cite what a link shows of which texts, and of which checkpoints that was measured."""
        link, asked, named = self._lasting(link)
        specs = [self.analyst.find(key) for _, value in named for key in written(value) if key]
        cited = citation([str(value) for _, value in asked], specs, link, datetime.now(UTC), self.say)
        return render("cite", self.say, cited=cited, near=is_near(link))

    def frames(self, link: str, cards: object) -> Markup:
        """Write the HTML of a frame for each of the ``cards``: an exhibit's element, heading and height."""
        names = {show.exhibit.element or name: name for name, show in self.shows.items()}
        try:
            sent = CARDS.validate_python(cards)
        except ValidationError as error:
            raise PoolscopeError("cards", cards, "errors.values") from error
        link, *_ = self._lasting(link)
        there = f"{link}{'&' if '?' in link else '?'}embed="
        known = [(title, there + names[one], height) for one, title, height in sent if one in names]
        frames = [(title, address, min(height + ABOVE, HIGHEST)) for title, address, height in known]
        return render("frames", self.say, frames=frames)

    def _lasting(self, link: str) -> tuple[str, list[Valued], list[Valued]]:
        """Write a link with what it leaves out of texts and backbones, and list those: arrival may change."""
        query = link.partition("?")[2]
        state = self._state(query)
        linked = [(one.control, one.control.of(state)) for one in self._reported(state).linked]
        asked = [(one, value) for one, value in linked if isinstance(one.kind, AskedText) and value]
        named = [(one, value) for one, value in linked if one.key.endswith(("backbone", "backbones"))]
        left = (one for one in (*asked, *named) if one[0].key not in parse_qs(query, keep_blank_values=True))
        arrival = {one.key: value for one, value in left if value == one.default}
        link += f"{'&' if '?' in link else '?'}{urlencode(arrival, doseq=True)}" if arrival else ""
        return link, asked, named

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
