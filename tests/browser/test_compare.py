"""The Compare tab on the bundled checkpoints."""

import re

import pytest
from playwright.sync_api import Locator, expect

from components.menus import load_examples
from tests.browser.visitor import PATIENCE, Visitor

LEFT, RIGHT = (f"one => one.getBoundingClientRect().{side}" for side in ("left", "right"))
WHOLE = "30 combinations, from one forward pass for each backbone."
BOTH = "30 combinations, both versions, from one forward pass for each backbone and each version."


def cells(visitor: Visitor, kind: str = "") -> Locator:
    return visitor.page.locator(f"#compare-grid td{kind}")


def arrived(visitor: Visitor, status: str | re.Pattern[str]) -> Visitor:
    """A visitor who opened the tab, everything there."""
    visitor.page.get_by_role("tab", name="Compare").click()
    expect(visitor.page.locator("#compare-status")).to_contain_text(status, timeout=PATIENCE)
    return visitor


def test_arrival_shows_every_combination_wherever_it_is_read(visitor: Visitor) -> None:
    visitor.in_a_window("light", 360)
    arrived(visitor, WHOLE)
    expect(cells(visitor, ".told")).to_have_count(30)
    for text in cells(visitor).all_inner_texts():
        assert "negative" in text or "positive" in text
        assert "%" in text
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("combinations")
    expect(visitor.plot("curves").locator(".scatterlayer .trace")).to_have_count(5)
    box = visitor.page.locator("#compare-grid .scroll")
    name = visitor.page.locator("#compare-grid tbody th").first
    before = name.evaluate(LEFT)
    box.evaluate("box => box.scrollTo(10000, 0)")
    assert name.evaluate(LEFT) == pytest.approx(before, abs=4)  # names stay in sight
    assert box.evaluate("box => box.scrollLeft") > 0
    visitor.can_read_it_anywhere()
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")  # all of it is in sight


def test_the_pieces_of_a_word_show_by_mouse_and_by_keyboard_on_a_phone(visitor: Visitor) -> None:
    page, width = visitor.page, 360
    visitor.in_a_window("dark", width)
    words, details = page.locator(".words ol > li"), page.locator(".words .pieces").locator("visible=true")
    expect(details).to_have_count(0)
    words.nth(3).locator(".cell").first.hover()
    expect(details.locator("strong")).to_have_text("not")
    expect(details.locator("dd")).to_have_count(5)
    assert 0 <= details.evaluate(LEFT) < details.evaluate(RIGHT) <= width
    page.locator("#words h2").hover()
    expect(details).to_have_count(0)
    words.first.locator("input").focus()
    expect(details.locator("strong")).to_have_text("The")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(details.locator("strong")).to_have_text("at")
    at, names = words.nth(5), page.locator(".words .names")
    assert names.evaluate(RIGHT) <= at.evaluate(LEFT)  # in sight, not behind the names
    assert at.evaluate(RIGHT) <= width
    assert visitor.violations() == []


def test_dropping_a_not_is_one_click_and_so_is_going_back(visitor: Visitor) -> None:
    page = visitor.page
    page.locator("#compare-edit-drop").click()
    expect(page.locator("#compare-status")).to_contain_text(BOTH, timeout=PATIENCE)
    box = page.locator("#compare-version-text textarea")
    expect(box).to_have_value("The acting is bad at all.")
    expect(cells(visitor, ".edit")).to_have_count(30)
    expect(page.locator("#compare-agreement")).to_contain_text("of 23 combinations")  # different vectors
    page.locator("#trace-start").click()
    expect(visitor.plot("trace").locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#trace .story")).to_contain_text("BERT mini · sentiment: The difference ")
    expect(page.locator("#trace .hint")).to_contain_text("left alone: not")
    visitor.can_read_it_anywhere()
    with visitor.asks_no_model():
        page.locator("#compare-edit-clear").click()
        expect(page.locator("#compare-status")).to_contain_text(WHOLE)
    for part in ("trace", "compare-version-text"):
        expect(page.locator(f"#{part}")).to_be_hidden()
    expect(cells(visitor, ".edit")).to_have_count(0)


def test_enter_asks_and_what_is_typed_and_not_asked_is_said(visitor: Visitor) -> None:
    visitor.in_a_window("light", 1366)
    agreement = visitor.page.locator("#compare-agreement")
    note = visitor.page.locator("#compare-stale [role=status]")
    expect(note).to_be_hidden()
    visitor.type("a moving and beautiful film", "compare-text")
    expect(note).to_contain_text("has not been compared")
    expect(visitor.page).to_have_url(re.compile("compare_text=a\\+moving"))
    assert visitor.violations() == []
    visitor.page.keyboard.press("Enter")
    expect(note).to_be_hidden()
    expect(agreement).to_contain_text("combinations say positive")
    expect(visitor.page.locator("#compare-status")).to_contain_text(WHOLE)


def test_swaps_are_marked_and_a_cell_opens_what_it_says(visitor: Visitor) -> None:
    expect(cells(visitor, ".swap")).to_have_count(0)  # every backbone has a probe: the fair comparison
    visitor.type(load_examples()[0].text, "compare-text")
    visitor.choose("compare-head", "own · the checkpoint's own head")
    visitor.page.locator("#compare-start").click()
    expect(cells(visitor, ".swap")).to_have_count(18)
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("All 5 combinations say negative.")
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("Not counted: 18 heads")
    assert visitor.violations() == []
    visitor.waits_for_the_server()  # who goes away before cuts an answer off
    said = cells(visitor, ".swap").first.locator(".label").inner_text()
    cells(visitor, ".swap").first.get_by_role("link").focus()
    visitor.page.keyboard.press("Enter")
    expect(visitor.verdict).to_contain_text("given the lasttoken vector", timeout=PATIENCE)
    expect(visitor.verdict.locator(".says")).to_contain_text(said)
    visitor.sees_where_it_comes_from()
    visitor.page.go_back()
    expect(cells(visitor, ".swap")).to_have_count(18, timeout=PATIENCE)
    visitor.waits_for_the_server()
