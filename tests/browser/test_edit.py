"""A second version of the text in the Compare tab, on the bundled checkpoints and on made-up ones."""

from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.test_compare import WHOLE, arrived, cells, numbers
from tests.browser.visitor import PATIENCE, Visitor

BOTH = "30 combinations, both versions, from one forward pass for each of 5 backbones and each version."


def button(visitor: Visitor, name: str) -> Locator:
    return visitor.page.locator(f"#compare-edit-{name}")


def edited(visitor: Visitor) -> None:
    """Have the first "not" dropped."""
    arrived(visitor, WHOLE)
    button(visitor, "drop").click()
    expect(visitor.page.locator("#compare-status")).to_contain_text(BOTH, timeout=PATIENCE)
    expect(visitor.page.locator("#edit-words-heading")).to_be_visible()


def test_dropping_a_not_is_one_click_and_so_is_going_back(visitor: Visitor, tmp_path: Path) -> None:
    edited(visitor)
    box = visitor.page.locator("#compare-version-text textarea")
    expect(box).to_have_value("The plot is bad, but the acting is not good at all.")
    expect(cells(visitor, ".edit")).to_have_count(30)
    expect(visitor.page.locator("#compare-agreement")).to_contain_text(
        "of 23 combinations"
    )  # different vectors
    expect(visitor.page.locator("#compare-moves .nearness tbody tr")).to_have_count(5)
    expect(visitor.page.locator("#compare-moves .nearness thead del")).to_have_text("not")
    expect(visitor.plot("curves").locator(".scatterlayer .trace")).to_have_count(5)

    visitor.page.locator("#trace-start").click()
    expect(visitor.plot("trace").locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(visitor.page.locator("#trace .story")).to_contain_text("BERT mini · sentiment: the change is ")
    expect(visitor.page.locator("#trace .hint")).to_contain_text("left alone: not")

    lines = numbers(visitor, tmp_path)
    assert lines[0].startswith("backbone,pooling,head,task,says before,says now,changes its mind")
    assert len(lines) == 1 + 23

    with visitor.asks_no_model():
        button(visitor, "clear").click()
        expect(visitor.page.locator("#compare-status")).to_contain_text(WHOLE)
    expect(visitor.page.locator("#compare-moves")).to_be_hidden()
    expect(visitor.page.locator("#trace")).to_be_hidden()
    expect(visitor.page.locator("#compare-version-text")).to_be_hidden()
    expect(cells(visitor, ".edit")).to_have_count(0)


def test_it_can_be_read_anywhere(visitor: Visitor) -> None:
    visitor.in_a_window("light", 360)
    edited(visitor)
    visitor.can_read_it_anywhere((("light", 360), ("dark", 1920)))
