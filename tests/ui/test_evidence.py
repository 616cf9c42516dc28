"""The Evidence tab, without a browser."""

from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from components.exhibits.evidence import Evidence
from components.settings import Settings
from components.ui.evidence import EvidenceTab
from components.ui.places import NOTHING
from components.ui.shell import build
from tests.measured import having, measured
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_results import BACKBONES, fake_results
from tests.ui.page import function_of, links_of, tab_alone

RESULTS = fake_results()


@pytest.fixture(scope="module")
def tab(whole: gr.Blocks) -> EvidenceTab:
    return links_of(whole).tabs["evidence"]


def test_arrival_shows_one_backbone_without_a_head_of_its_own(tab: EvidenceTab) -> None:
    tuned = having(RESULTS, probe=[row for row in measured(RESULTS, "probe") if "pre" not in row.backbone])
    for one, key in (
        (tab, "bert-pretrained"),
        (tab_alone(EvidenceTab, FakeAnalyst(), tuned)[0], "bert-sentiment"),
    ):
        assert (one.task.value, one.chosen.value) == ("sentiment", [key])
        assert [linked.control.default for linked in one.linked] == ["sentiment", (key,)]


def test_whatever_a_browser_sends_is_drawn_or_left(tab: EvidenceTab) -> None:
    def chosen(task: object, backbones: object) -> Any:
        return tab.choose({tab.task: task, tab.chosen: backbones})

    def drawn(*backbones: str) -> Any:
        shown = tab.places.show(Evidence(RESULTS, "topic", backbones, {}), {})
        return {tab.banner: "", **shown}  # it spoke of another choice

    assert chosen("topic", list(BACKBONES)) == drawn(*BACKBONES[:5])
    assert chosen("topic", [*BACKBONES[1::-1], BACKBONES[1]]) == drawn(*BACKBONES[1::-1])  # as a link has it
    for nothing in ([], ["x", 3, []], None):
        assert chosen("topic", nothing) == {**drawn(*tab.chosen.value), tab.chosen: tab.chosen.value}
    for task in ("x", None, []):
        assert chosen(task, ["bert-pretrained"]) is NOTHING


def test_without_results_the_tab_says_how_to_make_them() -> None:
    bare = built(lambda: build(FakeAnalyst(), Settings(), Path("missing.json")).page)
    html = [str(block.value) for block in bare.blocks.values() if isinstance(block, gr.HTML)]
    assert "python -m recipe" in "".join(html)


def test_the_tab_is_empty_on_arrival_and_filled_in_private(whole: gr.Blocks, tab: EvidenceTab) -> None:
    for name, places in (("begin", tab.averages), ("choose", tab.places)):
        filling = function_of(whole, name)
        assert filling.api_visibility == "private"
        assert set(places.parts) <= set(filling.outputs)
        assert not any(part.value for part in places.parts)
    assert all(tab.begin().values())
