"""The page: its title and its tabs, once in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

import gradio as gr

from components.analyst import Analyst
from components.exhibits.talks import Script, read_talks
from components.results import Table, read_results, table
from components.texts import ASSETS, ENGLISH, Texts, languages, load_texts
from components.ui.api import add_api
from components.ui.classify.tab import CLASSIFY
from components.ui.compare.tab import COMPARE
from components.ui.evidence import EVIDENCE
from components.ui.lab.tab import LAB
from components.ui.links.links import Links
from components.ui.places import build_exporter, load_plotly
from components.ui.public.requests import page_path
from components.ui.questions import QUESTIONS
from components.ui.scripted import scripted_html
from components.ui.tab import Surroundings, Tab, TabKind
from components.ui.talk.talk import Talk, build_talk, shows_of

TABS: tuple[TabKind, ...] = (CLASSIFY, COMPARE, EVIDENCE, LAB, QUESTIONS)
TITLE = Path(__file__).with_name("title.js")  # a link to another language keeps the rest of the address


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
    """The whole page and its public endpoints, answered by ``analyst``.

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
            if told is not None:
                scripts[tag] = told.scripts
            if tag == ENGLISH:  # an endpoint speaks English to every program
                add_api(analyst)
    return Site(page, links, scripts)


def _fill(
    analyst: Analyst, results: Table, talk: Path, room: bool, lab_rows: int, say: Texts
) -> tuple[Links, Talk | None]:
    """Lay one language's page out, and its talk."""
    with gr.Row(elem_id="top"):
        _title(say)
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
    links = Links(tabs, tuple(kind.key for kind in TABS), chosen, banner, corner, analyst, say)
    links.connect()
    shows = shows_of(tabs)
    places = {name: show.place for name, show in shows.items()}
    scripts = read_talks(talk, say.language.tag, links.controls, places)
    told = build_talk(scripts, shows, say, room)
    build_exporter()
    load_plotly()
    return links, told


def _title(say: Texts) -> gr.HTML:
    """The title, the question that the page answers, and the way to its other languages."""
    title, question = escape(say("page.title")), escape(say("page.question"))
    links = " · ".join(_link(load_texts(tag), say) for tag in languages())
    label = escape(say("page.languages"))
    return scripted_html(
        f'<h1>{title}</h1><p>{question}</p><nav id="languages" aria-label="{label}">{links}</nav>',
        TITLE,
        "title",
    )


def _link(other: Texts, say: Texts) -> str:
    tag, name = escape(other.language.tag), escape(other.language.name)
    here = ' aria-current="true"' if other.language == say.language else ""
    return f'<a href="?lang={tag}" lang="{tag}" hreflang="{tag}"{here}>{name}</a>'
