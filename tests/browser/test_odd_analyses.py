"""The page on the fake analyst: analyses that no bundled checkpoint gives."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_128_tokens_scroll_in_their_box_while_the_outputs_stay_in_view(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    visitor.in_a_window("light", 1366, 768)
    visitor.choose("backbone", "First token · paraphrase")
    visitor.type("unquestionably " * 62)
    visitor.type("extraordinarily " * 63, "pair")
    expect(visitor.verdict).to_contain_text("reads 1 of 128 tokens")
    expect(visitor.ticks("similarity", "y")).to_have_count(128)
    box = visitor.page.locator("#similarity-plot")
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    visitor.ticks("similarity", "y").last.scroll_into_view_if_needed()
    expect(visitor.ticks("similarity", "y").last).to_be_in_viewport()
    expect(visitor.plot("outputs")).to_be_in_viewport()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 1366


def test_a_notice_and_a_mistake_can_be_read_anywhere(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    visitor.in_a_window("light", 360)
    visitor.choose("backbone", "First token · untrained")
    expect(visitor.verdict.locator(".notices")).to_be_visible()
    for text, said in (("not good", "reads 1 of 4"), ("", "cannot be analysed")):
        visitor.type(text)
        expect(visitor.verdict).to_contain_text(said)
        visitor.can_read_it_anywhere()
