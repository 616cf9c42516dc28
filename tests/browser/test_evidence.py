"""The Evidence tab on made-up results."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.visitor import Visitor
from tests.ui.fake_results import BACKBONES


def opened(fake: Open, theme: str = "light", width: int = 1366) -> Visitor:
    """A visitor at the tab, both plots drawn."""
    visitor = fake(theme=theme, width=width)
    visitor.page.get_by_role("tab", name="Evidence").click()
    for name in ("accuracy", "rho"):
        expect(visitor.ticks(name, "y")).to_have_count(14)
    return visitor


def test_the_tab_answers_on_arrival(fake: Open) -> None:
    visitor = opened(fake)
    expect(visitor.page.locator("#findings")).to_contain_text("bert-pretrained: with the trained classifier")
    expect(visitor.plot("accuracy").locator(".textpoint")).to_have_count(14)
    expect(visitor.page.get_by_role("img", name="With a trained classifier")).to_be_visible()
    expect(visitor.page.get_by_role("img", name="Without one: raw cosine")).to_be_visible()


def test_another_task_and_another_backbone_redraw_everything(fake: Open) -> None:
    visitor = opened(fake)
    visitor.choose("evidence-task", "paraphrase")
    expect(visitor.plot("accuracy").locator(".xtitle")).to_have_text("accuracy, paraphrase")
    visitor.choose("evidence-backbones", BACKBONES[1])
    expect(visitor.page.locator("#findings li")).to_have_count(2)
    expect(visitor.plot("rho").locator(".scatterlayer .trace")).to_have_count(2)
    expect(visitor.plot("accuracy").locator(".textpoint")).to_have_count(0)


def test_the_table_can_be_saved(fake: Open, tmp_path: Path) -> None:
    visitor = opened(fake)
    visitor.page.locator("#evidence-numbers > button").click()
    with visitor.page.expect_download() as download:
        visitor.page.locator("#evidence-numbers").get_by_role("link", name="Download as CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    assert "backbone,pooling,accuracy" in (tmp_path / "table.csv").read_text("utf-8-sig")


@pytest.mark.parametrize("width", [360])
def test_the_tab_never_scrolls_sideways(fake: Open, width: int) -> None:
    visitor = opened(fake, width=width)
    visitor.page.locator("#evidence-numbers > button").click()
    expect(visitor.page.locator("#evidence-numbers table")).to_be_visible()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 1366)])
def test_axe_finds_nothing_serious(fake: Open, theme: str, width: int) -> None:
    visitor = opened(fake, theme, width)
    for accordion in ("#evidence-numbers", "#own-numbers"):
        visitor.page.locator(f"{accordion} > button").click()
        expect(visitor.page.locator(f"{accordion} table")).to_be_visible()
    assert visitor.serious_violations() == []
