"""The page: its title and its tabs, once in each language."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from components.analyst import Analyst
from components.texts import ASSETS, ENGLISH, Texts, languages, load_texts
from components.ui.api import add_api
from components.ui.away import build_exporter
from components.ui.classify import build_classify
from components.ui.compare.tab import build_compare
from components.ui.evidence import build_evidence
from components.ui.languages import page_path
from components.ui.leading import CLASSIFY, COMPARE, EVIDENCE, QUESTIONS, Leading
from components.ui.links.links import Links
from components.ui.questions import build_questions
from components.ui.talk.script import read_talk
from components.ui.talk.slides import SHOWS, Stage
from components.ui.talk.talk import build_talk
from components.ui.title import build_title
from components.ui.translated import Translated


def build(
    analyst: Analyst, results: Path = ASSETS / "results.json", talk: Path = ASSETS / "talk.toml"
) -> gr.Blocks:
    """The whole page and its public endpoints, answered by ``analyst``.

    ``results`` is what was measured, ``talk`` the script of talk mode.
    """
    title = load_texts()("page.title")
    page: gr.Blocks = gr.Blocks(title=title, analytics_enabled=False, fill_width=True)
    for tag in languages():
        say = load_texts(tag)
        with page if tag == ENGLISH else page.route(say.language.name, page_path(tag), show_in_navbar=False):
            _fill(Translated(analyst, say), results, talk, say)
            if tag == ENGLISH:  # an endpoint speaks English to every program
                add_api(analyst)
    return page


def _fill(analyst: Analyst, results: Path, talk: Path, say: Texts) -> None:
    """Lay one language's page out."""
    with gr.Row(elem_id="top"):
        build_title(say)
        corner = gr.Column(min_width=0, elem_id="corner")
    banner = gr.HTML("", elem_id="asked")
    with gr.Tabs(elem_id="tabs") as tabs:
        with gr.Tab(say("page.classify"), id=CLASSIFY):
            classify = build_classify(analyst, banner, say)
        with gr.Tab(say("page.compare"), id=COMPARE, elem_id="compare") as compare:
            compared = build_compare(analyst, compare, say)
            compared.take_from(classify.question.text, classify.question.pair)
        with gr.Tab(say("page.evidence"), id=EVIDENCE, elem_id="evidence"):
            evidence = build_evidence(analyst, results, say)
        with gr.Tab(say("page.questions"), id=QUESTIONS, elem_id="questions") as tab:
            questions = build_questions(analyst, results, say)
            tab.visible = questions is not None
    if questions is not None:
        Leading(questions, classify, evidence, tabs, banner).connect()
    links = Links(classify, compared, evidence, tabs, banner, corner, say)
    links.connect()
    stage = Stage(analyst, evidence.evidences if evidence else None, say)
    build_talk(read_talk(talk, links.controls, SHOWS), stage)
    build_exporter()
