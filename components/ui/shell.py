"""The page: its title and its tabs, once in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import gradio as gr

from components.analyst import Analyst
from components.exhibits.draw import Figure
from components.exhibits.exhibit import EXPORT
from components.exhibits.talks import Script, read_talks
from components.markup import render
from components.results import Table, read_results, table
from components.texts import ASSETS, ENGLISH, Texts, languages, load_texts
from components.ui.api import add_api
from components.ui.classify import CLASSIFY
from components.ui.compare import COMPARE
from components.ui.evidence import EVIDENCE
from components.ui.lab import LAB
from components.ui.links import Links
from components.ui.places import browser, scripted_html
from components.ui.public.requests import page_path
from components.ui.questions import QUESTIONS
from components.ui.tab import Surroundings, Tab, TabKind
from components.ui.talk import Talk, shows_of

TABS: tuple[TabKind, ...] = (CLASSIFY, COMPARE, EVIDENCE, LAB, QUESTIONS)


@dataclass(frozen=True, eq=False)
class Site:
    """What is served: the page in every language, and by language the ``links``, which make its reports.

    ``scripts``: the talks in each language; none where there are no talks.
    """

    page: gr.Blocks
    links: Mapping[str, Links]
    scripts: Mapping[str, tuple[Script, ...]]


def build(
    analyst: Analyst,
    results: Path = ASSETS / "results.csv",
    talk: Path = ASSETS / "talks",
    room: bool = False,
    lab_rows: int = 2000,
) -> Site:
    """Lay out the whole page and its public endpoints, answered by ``analyst``.

    ``results`` is what was measured, ``talk`` the file of the talks, or a folder with one for each language;
    in a ``room``, the phones of the audience follow it. ``lab_rows``: of a table in the lab at most; with 0
    there is no lab.
    """
    title, measured = load_texts()("page.title"), read_results(results) if results.is_file() else table()
    page: gr.Blocks = gr.Blocks(title=title, analytics_enabled=False, fill_width=True)
    links: dict[str, Links] = {}
    scripts: dict[str, tuple[Script, ...]] = {}
    for tag in languages():
        say = load_texts(tag)
        with page if tag == ENGLISH else page.route(say.language.name, page_path(tag), show_in_navbar=False):
            links[tag], told = _fill(analyst, measured, talk, room, lab_rows, say)
            scripts |= {tag: told} if told else {}
            if tag == ENGLISH:  # an endpoint speaks English to every program
                add_api(analyst)
    return Site(page, links, scripts)


def _fill(
    analyst: Analyst, results: Table, talk: Path, room: bool, lab_rows: int, say: Texts
) -> tuple[Links, tuple[Script, ...]]:
    """Lay one language's page out, with its talks."""
    with gr.Row(elem_id="top"):
        others = [load_texts(tag).language for tag in languages()]
        title = render("title", say, languages=others, language=say.language)
        scripted_html("title", browser("title.js"), title)  # a link to another language keeps the address
        corner = gr.Column(min_width=0, elem_id="corner")
    banner = gr.HTML("", elem_id="asked")
    tabs: dict[str, Tab] = {}
    mine = gr.State("")
    with gr.Tabs(elem_id="tabs") as chosen:
        for kind in TABS:
            with gr.Tab(say(kind.title), id=kind.key, elem_id=kind.key) as select:
                around = (analyst, results, say, banner, select, chosen, dict(tabs), lab_rows, mine)
                tab = kind.build(Surroundings(*around))
                tabs |= {} if tab is None else {kind.key: tab}
    links = Links(tabs, tuple(kind.key for kind in TABS), chosen, banner, analyst, say)
    links.connect(corner)
    shows = shows_of(tabs)
    places = {name: show.place for name, show in shows.items()}
    scripts = read_talks(talk, say.language.tag, links.controls, places)
    if scripts:
        Talk(scripts, shows, say, room)
    scripted_html("exporter", EXPORT.read_text(encoding="utf-8"))  # for the buttons that save images
    gr.Plot(Figure([], {}), visible="hidden", show_label=False, elem_id="plotly")  # has Plotly loaded
    return links, scripts
