"""What is called importance in a browser: asked once its view is open, and after each answer from then on."""

import re

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_it_is_asked_when_it_is_looked_at_and_after_each_answer(fake_visitor: Visitor) -> None:
    visitor, page = fake_visitor, fake_visitor.page
    visitor.type("so good")
    expect(visitor.verdict).to_contain_text("reads 1 of 4 tokens")
    visitor.waits_for_the_server()
    asked = visitor.questions
    visitor.looks_at("importance")
    lead, titles = page.locator("#importance-lead"), visitor.plot("matters").locator(".annotation-text")
    expect(lead).to_contain_text("[MASK] in its place")
    expect(titles).to_have_count(5)
    visitor.waits_for_the_server()
    assert visitor.questions == asked + 1
    for text in ("  ", "so good"):  # the same again after a question without an answer
        visitor.type(text)
        expect(page.get_by_role("alert") if text == "  " else lead).to_be_visible()
    expect(visitor.ticks("matters", "y")).to_have_text(["● [CLS]", "so", "good", "[SEP]"])
    page.locator("#integrated input").check()
    expect(titles).to_have_count(6)
    expect(page.locator("#importance-cancel")).to_be_hidden()
    visitor.can_read_it_anywhere()
    page.locator("#integrated input").uncheck()
    expect(titles).to_have_count(5)
    said = "negative" if "“positive”" in page.locator("#matters-heading").inner_text() else "positive"
    visitor.looks_at("head")
    expect(page.locator("#lens-heading")).to_be_visible()
    visitor.waits_for_the_server()
    with visitor.asks_no_model():  # the lens is drawn of what came
        visitor.choose("label", said)
        expect(page.locator("#lens-heading")).to_contain_text(f"the head says {said} for")
        expect(page.locator("#depth-heading")).to_contain_text(f"says {said}")
    visitor.looks_at("importance")
    expect(page.locator("#matters-heading")).to_contain_text(f"“{said}”")
    expect(page).to_have_url(re.compile(f"label={said}"))
