"""The same words across tokenizers: by mouse, by keyboard and on a phone."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.test_compare import WHOLE, arrived
from tests.browser.visitor import Visitor


def word(visitor: Visitor, place: int) -> Locator:
    return visitor.page.locator(".words ol > li").nth(place)


def details(visitor: Visitor) -> Locator:
    """Those in sight."""
    return visitor.page.locator(".words .pieces").locator("visible=true")


@pytest.mark.parametrize("width", [360])
def test_pieces_show_by_mouse_and_by_keyboard(visitor: Visitor, width: int) -> None:
    visitor.in_a_window("dark", width)
    arrived(visitor, WHOLE)
    expect(details(visitor)).to_have_count(0)
    word(visitor, 3).locator(".cell").first.hover()
    expect(details(visitor).locator("strong")).to_have_text("not")
    expect(details(visitor).locator("dd")).to_have_count(5)
    box = details(visitor).bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    visitor.page.locator("#words h2").hover()
    expect(details(visitor)).to_have_count(0)

    visitor.page.locator("#words-centred input").last.focus()
    visitor.page.keyboard.press("Tab")
    expect(details(visitor).locator("strong")).to_have_text("The")
    for _ in range(12):
        visitor.page.keyboard.press("ArrowRight")
    expect(details(visitor).locator("strong")).to_have_text("at")
    at = word(visitor, 12).bounding_box()
    names = visitor.page.locator(".words .names").bounding_box()
    assert at
    assert names
    assert at["x"] >= names["x"] + names["width"]  # in sight, not behind the names
    assert at["x"] + at["width"] <= width
    assert visitor.violations() == []
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
