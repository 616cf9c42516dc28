"""A page that tests share comes back to what it was on arrival, by its own controls."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Shared
from tests.browser.visitor import PATIENCE, Visitor


@pytest.mark.parametrize("view", ["tokens", "head"])
def test_it_comes_back_from_another_question(
    shared: Shared, fake_url: str, fake_visitor: Visitor, view: str
) -> None:
    visitor, home = shared.pages[fake_url]
    assert visitor is fake_visitor
    visitor.looks_at(view)
    visitor.choose("backbone", "Last token · sentiment")
    expect(visitor.verdict).to_contain_text("LastForSequenceClassification")
    visitor.type("so good")
    expect(visitor.verdict).to_contain_text("of 2 tokens")
    home.bring(visitor, PATIENCE)
    expect(visitor.verdict).not_to_contain_text("LastForSequenceClassification")
    expect(visitor.plot("similarity")).to_be_visible()


def test_it_comes_back_from_two_versions(shared: Shared, fake_url: str, fake_visitor: Visitor) -> None:
    visitor, home = shared.pages[fake_url]
    assert visitor is fake_visitor
    page = visitor.page
    page.get_by_role("tab", name="Compare", exact=True).click()
    page.locator("#compare-edit-copy").click()
    expect(page.locator("#compare-version-text textarea")).to_be_visible()
    visitor.type("so good", "compare-version-text")
    page.locator("#compare-start").click()
    expect(page.locator("#trace-start")).to_be_visible(timeout=PATIENCE)
    home.bring(visitor, PATIENCE)
    expect(page.locator("#trace-start")).to_be_hidden()
    expect(visitor.plot("similarity")).to_be_visible()
