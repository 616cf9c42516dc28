"""The Evidence tab, without a browser."""

from typing import Any

import gradio as gr
import pytest

from components.exhibits.evidence import select
from components.ui.evidence import EvidenceTab
from components.ui.places import NOTHING
from tests.measured import having, measured
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_results import BACKBONES, fake_results
from tests.ui.page import function_of, links_of, tab_alone

RESULTS = fake_results()


@pytest.fixture(scope="module")
def tab(whole: gr.Blocks) -> EvidenceTab:
    found = links_of(whole).tabs["evidence"]
    assert isinstance(found, EvidenceTab)
    return found


def first_of(tab: EvidenceTab) -> tuple[object, ...]:
    """The task and the backbones that its menus hold on arrival, and those that a link leaves out."""
    first = [tab.task.value, tuple(tab.chosen.value)]
    assert first == [one.control.default for one in tab.linked]
    return tab.task.value, *tab.chosen.value


def test_arrival_shows_one_backbone_without_a_head_of_its_own(tab: EvidenceTab) -> None:
    assert first_of(tab) == ("sentiment", "bert-pretrained")
    tuned = having(RESULTS, probe=[row for row in measured(RESULTS, "probe") if "pre" not in row.backbone])
    assert first_of(tab_alone(EvidenceTab, FakeAnalyst(), tuned)[0]) == ("sentiment", "bert-sentiment")


def test_whatever_a_browser_sends_is_drawn_or_left(tab: EvidenceTab) -> None:
    def chosen(task: object, backbones: object) -> Any:
        return tab.choose({tab.task: task, tab.chosen: backbones})

    def drawn(*backbones: str) -> Any:
        shown = tab.places.show(select(RESULTS, "topic", backbones, {}), {})
        return {tab.banner: "", **shown}  # it spoke of another choice

    assert chosen("topic", list(BACKBONES)) == drawn(*BACKBONES[:5])
    assert chosen("topic", [*BACKBONES[1::-1], BACKBONES[1]]) == drawn(*BACKBONES[1::-1])  # as a link has it
    arrival = [str(first_of(tab)[1])]
    for nothing in ([], ["x", 3, []], None):
        assert chosen("topic", nothing) == {**drawn(*arrival), tab.chosen: arrival}
    for task in ("x", None, []):
        assert chosen(task, ["bert-pretrained"]) is NOTHING


def test_without_results_the_tab_says_how_to_make_them(bare: gr.Blocks) -> None:
    html = [str(block.value) for block in bare.blocks.values() if isinstance(block, gr.HTML)]
    assert "python -m recipe" in "".join(html)


def test_the_tab_is_filled_on_arrival_and_private(whole: gr.Blocks, tab: EvidenceTab) -> None:
    choose = function_of(whole, "choose")
    assert choose.api_visibility == "private"
    drawn = tab.places.show(select(RESULTS, "sentiment", BACKBONES[:1], {}), {})
    assert set(tab.places.parts) == set(drawn) <= set(choose.outputs)
    for part, value in drawn.items():
        assert part.value == value
