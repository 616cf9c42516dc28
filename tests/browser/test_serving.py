"""The Serving view in a browser: what made a vector that is pasted."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_what_made_a_pasted_vector_is_said_and_can_be_read_anywhere(fake_visitor: Visitor) -> None:
    visitor, page = fake_visitor, fake_visitor.page
    visitor.looks_at("padding")
    expect(page.locator("#padding")).to_contain_text("Safe in a batch")
    visitor.type("1 2", "vector")
    page.locator("#detect").click()
    found = page.locator("#detective")
    expect(found).to_contain_text("This vector is cls, last layer")
    expect(found.locator("table").first.locator("tbody tr")).to_have_count(3)
    expect(found.locator("table").last).to_contain_text("--pooling cls")
    expect(found.get_by_role("link", name="Download as CSV")).to_be_visible()
    visitor.can_read_it_anywhere()
    visitor.type("a film", "vector")
    page.locator("#vector textarea").press("Enter")
    expect(found).to_contain_text("'a film' was given")
    visitor.type("", "vector")
