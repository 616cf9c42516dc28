"""The Evidence tab on made-up results."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.visitor import Visitor
from tests.ui.fake_results import BACKBONES

FILL = "part => getComputedStyle(part).fill"


def opened(visitor: Visitor) -> Visitor:
    """A visitor at the tab, both plots drawn."""
    visitor.page.get_by_role("tab", name="Evidence").click()
    for name in ("accuracy", "rho"):
        expect(visitor.ticks(name, "y")).to_have_count(14)
    return visitor


def test_the_tab_answers_on_arrival_and_follows_task_and_backbones(fake: Open) -> None:
    visitor = opened(fake())
    expect(visitor.page.locator("#findings")).to_contain_text("bert-pretrained: with the trained classifier")
    expect(visitor.plot("accuracy").locator(".textpoint")).to_have_count(14)
    expect(visitor.page.get_by_role("img", name="With a trained classifier")).to_be_visible()
    expect(visitor.page.get_by_role("img", name="Without one: raw cosine")).to_be_visible()

    expect(visitor.plot("explanation-rhos").locator(".scatterlayer .trace")).to_have_count(5)
    expect(visitor.plot("whitened-rhos").locator(".scatterlayer .trace")).to_have_count(4)
    for name, number in (("explanation-rhos", 3), ("whitened-rhos", "")):  # of small plots side by side
        parts = (f".x{number}title", ".xtick text")
        colours = [visitor.plot(name).locator(part).first.evaluate(FILL) for part in parts]
        assert colours[0] == colours[1]

    visitor.choose("evidence-task", "paraphrase")
    expect(visitor.plot("accuracy").locator(".xtitle")).to_contain_text("accuracy, paraphrase")
    visitor.choose("evidence-backbones", BACKBONES[1])
    expect(visitor.page.locator("#findings li")).to_have_count(3)  # baselines, and both backbones
    expect(visitor.plot("rho").locator(".scatterlayer .trace")).to_have_count(2)
    expect(visitor.plot("accuracy").locator(".textpoint")).to_have_count(0)
    visitor.choose("evidence-backbones", "distilbert-paraphrase")
    expect(visitor.page.locator("#evidence-legend")).to_contain_text("own head under a swap")
    expect(visitor.plot("accuracy").locator(".barlayer .trace")).to_have_count(2)


def test_its_tables_can_be_saved_and_read_anywhere(fake_visitor: Visitor, tmp_path: Path) -> None:
    visitor = opened(fake_visitor)
    visitor.in_a_window("light", 360)
    for accordion in ("#evidence-numbers", "#own-numbers", "#swap-numbers"):
        visitor.page.locator(f"{accordion} > button").click()
        expect(visitor.page.locator(f"{accordion} table")).to_be_visible()
    with visitor.page.expect_download() as download:
        visitor.page.locator("#evidence-numbers").get_by_role("link", name="Download as CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    assert "backbone,pooling,accuracy" in (tmp_path / "table.csv").read_text("utf-8-sig")
    visitor.can_read_it_anywhere()
