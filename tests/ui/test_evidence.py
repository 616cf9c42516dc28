"""The Evidence tab, without a browser."""

from typing import Any

import gradio as gr
import pytest

from components.exhibits.evidence import select
from components.results import Table
from components.texts import load_texts
from components.ui.evidence import EvidenceTab, build_evidence
from components.ui.places import NOTHING
from components.ui.tab import Surroundings
from tests.measured import having, measured
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_results import BACKBONES, fake_results
from tests.ui.page import function_of, links_of

SAY = load_texts()
RESULTS = fake_results()


def tab_of(results: Table) -> tuple[EvidenceTab, gr.Blocks]:
    """The tab alone on a page."""

    def make() -> tuple[EvidenceTab, gr.Blocks]:
        with gr.Blocks(analytics_enabled=False) as blocks:
            banner = gr.HTML("")
            with gr.Tabs() as chosen, gr.Tab("evidence") as select:
                around = Surroundings(FakeAnalyst(), results, SAY, banner, select, chosen, {})
                tab = build_evidence(around)
        return tab, blocks

    return built(make)


def html_on(blocks: gr.Blocks) -> str:
    """The HTML of every component of a page."""
    return "".join(str(block.value) for block in blocks.blocks.values() if isinstance(block, gr.HTML))


@pytest.fixture(scope="module")
def tab(whole: gr.Blocks) -> EvidenceTab:
    found = links_of(whole).tabs["evidence"]
    assert isinstance(found, EvidenceTab)
    return found


def first_of(tab: EvidenceTab) -> tuple[object, ...]:
    """The task and the backbones that its menus hold on arrival, and those that a link leaves out."""
    assert tab.parts is not None
    assert [tab.parts.task.value, tuple(tab.parts.backbones.value)] == [
        one.control.default for one in tab.linked
    ]
    return tab.parts.task.value, *tab.parts.backbones.value


def test_arrival_shows_one_backbone_without_a_head_of_its_own(tab: EvidenceTab) -> None:
    assert first_of(tab) == ("sentiment", "bert-pretrained")
    tuned = having(RESULTS, probe=[row for row in measured(RESULTS, "probe") if "pre" not in row.backbone])
    assert first_of(tab_of(tuned)[0]) == ("sentiment", "bert-sentiment")


def test_whatever_a_browser_sends_is_drawn_or_left(tab: EvidenceTab) -> None:
    def chosen(task: object, backbones: object) -> Any:
        assert tab.parts is not None
        return tab.choose({tab.parts.task: task, tab.parts.backbones: backbones})

    def drawn(*backbones: str) -> Any:
        assert tab.parts is not None
        shown = tab.parts.places.show(select(RESULTS, "topic", backbones, {}), {})
        return {tab.banner: "", **shown}  # it spoke of another choice

    assert tab.parts is not None
    assert chosen("topic", list(BACKBONES)) == drawn(*BACKBONES[:5])
    assert chosen("topic", [*BACKBONES[1::-1], BACKBONES[1]]) == drawn(*BACKBONES[1::-1])  # as a link has it
    for nothing in ([], ["x", 3, []], None):
        arrival = [str(first_of(tab)[1])]
        assert chosen("topic", nothing) == {**drawn(*arrival), tab.parts.backbones: arrival}
    for task in ("x", None, []):
        assert chosen(task, ["bert-pretrained"]) is NOTHING


def test_without_results_the_tab_says_how_to_make_them(bare: gr.Blocks) -> None:
    assert "python -m recipe" in html_on(bare)


def test_the_tab_is_filled_on_arrival_and_private(whole: gr.Blocks, tab: EvidenceTab) -> None:
    choose = function_of(whole, "choose")
    assert choose.api_visibility == "private"
    assert tab.parts is not None
    evidence = select(RESULTS, "sentiment", BACKBONES[:1], {})
    drawn = tab.parts.places.show(evidence, {})
    assert set(drawn) == set(tab.parts.places.parts)
    assert set(drawn) <= set(choose.outputs)
    for part, value in drawn.items():
        assert part.value == value
