"""What an owner or a contributor copies from the README and the docs works."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
import torch

from components.exhibits import panels
from components.exhibits.control import to_link
from components.exhibits.exhibit import Panel
from components.exhibits.questions import Answers, read_questions
from components.inference.engine import Engine
from components.model.pooling import pooling
from components.results import table
from components.settings import Settings
from components.texts import ASSETS, load_texts
from components.types import Query
from components.ui.places import build_places
from components.ui.shell import build
from components.ui.tab import Surroundings
from tests.exhibits.asking import RESULTS, shipped
from tests.exhibits.showing import checked
from tests.readme import block, run_block, saying
from tests.serving import built
from tests.ui.fake import FakeAnalyst

# What an owner writes


def test_the_catalogue_example_is_read(tmp_path: Path) -> None:
    text = block("backbones.md", "toml", "[my-classifier]")
    assert set(tomllib.loads(text)) == {"my-classifier"}
    file = tmp_path / "backbones.toml"
    file.write_text(text, encoding="utf-8")
    assert [spec.key for spec in Engine(Settings(catalogue=file)).backbones()] == ["my-classifier"]


def test_the_talk_example_is_a_step_of_a_talk(tmp_path: Path) -> None:
    text = block("talks.md", "markdown", "[similarity]")
    file = tmp_path / "talk.md"
    file.write_text(text, encoding="utf-8")
    page = built(lambda: build(shipped(), talk=file).page)
    assert "slide-1" in {block.elem_id for block in page.blocks.values()}
    head = (
        (ASSETS / "talks" / "en.md").read_text("utf-8").partition("What can be shown:")[2].partition(".")[0]
    )
    named = re.sub(r"\(.*?\)|\s", "", head).split(",")
    every = [one for one in vars(panels).values() if isinstance(one, Panel)]
    assert set(named) <= {
        exhibit.name for panel in every for exhibit in panel.exhibits if "talk" in exhibit.where
    }


# How to add something


def test_the_pooling_example_works() -> None:
    made = run_block("CONTRIBUTING.md", "def median", pooling=pooling).median
    assert made.spec.key == "median"
    hidden = torch.tensor([[[5.0, 1.0], [1.0, 2.0], [3.0, 9.0], [100.0, 100.0]]])
    mask = torch.tensor([[True, True, True, False]])
    states = SimpleNamespace(hidden=hidden, mask=mask)
    assert made(states).tolist() == [[3.0, 2.0]]


def test_the_exhibit_example_is_shown_with_its_control() -> None:
    home = run_block("CONTRIBUTING.md", "LENGTHS = Exhibit")
    say = saying(
        lengths__heading="How long?",
        lengths__words="{longest} is longest.",
        lengths__characters="characters",
        lengths__shares="as shares",
    )
    analysis = FakeAnalyst().ask("analyze", Query("first", "not good"))
    shown = home.LENGTHS.shown(analysis, {}, say)
    assert shown.data["characters"].tolist() == [len(text) for text in ("", "not", "good", "")]
    assert shown.words == "good is longest."
    assert list(checked(shown.figure).data[0].y) == shown.data["characters"].tolist()
    shares = home.LENGTHS.shown(analysis, {"length_shares": True}, say).data["characters"]
    assert shares.sum() == pytest.approx(1)
    assert to_link({"length_shares": True}, home.LENGTHS.controls) == "length_shares=1"

    def lay_out() -> Any:
        with gr.Blocks(analytics_enabled=False):
            panel = replace(panels.TOKENS, rows=((home.LENGTHS,),))
            return build_places(panel, say)

    places = built(lay_out)
    assert isinstance(places.controls[home.SHARES], gr.Checkbox)
    assert "How long?" in places.show(analysis, {})[places.places[0].above]


def test_the_tab_example_is_laid_out() -> None:
    home = run_block("CONTRIBUTING.md", "ABOUT = TabKind")

    def lay_out() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as page:
            banner = gr.HTML("")
            with gr.Tabs() as chosen, gr.Tab("About") as select:
                say = saying(about__text="Made by many.")
                around = Surroundings(FakeAnalyst(), table(), say, banner, select, chosen, {})
                assert home.ABOUT.build(around) is None
        return page

    page = built(lay_out)
    assert "Made by many." in [getattr(block, "value", None) for block in page.blocks.values()]


def test_the_question_example_is_answered(tmp_path: Path) -> None:
    file = tmp_path / "questions.toml"
    file.write_text(block("CONTRIBUTING.md", "toml", "[negation]"), encoding="utf-8")
    questions = read_questions(file)
    for tag, said in (("en", "It reads "), ("zh", "它读取")):
        assert said in Answers(shipped(), RESULTS, questions, load_texts(tag)).answer("negation").card
