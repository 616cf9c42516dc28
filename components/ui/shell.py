"""The page: its title and its tabs."""

from __future__ import annotations

from html import escape
from pathlib import Path

import gradio as gr

from components.analyst import Analyst
from components.ui.api import add_api
from components.ui.away import build_exporter
from components.ui.classify import build_classify
from components.ui.compare import build_compare
from components.ui.evidence import build_evidence
from components.ui.leading import CLASSIFY, COMPARE, EVIDENCE, QUESTIONS, Leading
from components.ui.links import Links
from components.ui.questions import build_questions
from components.ui.talk import build_talk
from components.ui.talk_file import read_talk
from components.ui.talk_slides import SHOWS, Stage
from components.ui.texts import ASSETS, load_texts


def build(
    analyst: Analyst, results: Path = ASSETS / "results.json", talk: Path = ASSETS / "talk.toml"
) -> gr.Blocks:
    """The whole page and its public endpoints, answered by ``analyst``.

    ``results`` is what was measured, ``talk`` the script of talk mode.
    """
    say = load_texts()
    page: gr.Blocks = gr.Blocks(title=say("page.title"), analytics_enabled=False, fill_width=True)
    with page:
        title, question = escape(say("page.title")), escape(say("page.question"))
        with gr.Row(elem_id="top"):
            gr.HTML(f"<h1>{title}</h1><p>{question}</p>", elem_id="title")
            corner = gr.Column(min_width=0, elem_id="corner")
        banner = gr.HTML("", elem_id="asked")
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab(say("page.classify"), id=CLASSIFY):
                classify = build_classify(analyst, banner, say)
            with gr.Tab(say("page.compare"), id=COMPARE, elem_id="compare") as compare:
                compared = build_compare(analyst, compare, say)
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
        add_api(analyst)
    return page
