"""The page on the fake analyst: analyses that no bundled checkpoint gives."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor
from tests.ui.fake import XSS


def test_every_kind_of_head_has_its_words(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    for backbone, sentence in (
        ("First token · untrained", "Untrained head: these outputs are random."),
        ("First token · several emotions", "It says"),
        ("First token · a score", "It says score"),
        ("First token · 40 topics", "It says topic"),
    ):
        visitor.choose("backbone", backbone)
        expect(visitor.page.locator(".verdict .says")).to_contain_text(sentence)
    expect(visitor.page.locator("#outputs .rest")).to_contain_text("and 30 labels more, together")


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


def test_nothing_from_checkpoints_is_ever_run(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    visitor.choose("backbone", XSS)
    expect(visitor.verdict).to_contain_text("<script>pwn()</script>")
    visitor.type(f"{XSS} wonderful {XSS}")
    expect(visitor.ticks("similarity", "y").filter(has_text="wonderful")).to_have_count(1)
    for name, part in (("similarity", ".point path"), ("outputs", ".point path"), ("heatmap", ".nsewdrag")):
        visitor.plot(name).locator(part).first.hover(force=True)  # a transparent layer lies over the bars
        expect(visitor.plot(name).locator(".hoverlayer .hovertext")).to_have_count(1)
    visitor.page.locator("#reference input").click()
    expect(visitor.page.get_by_role("option").filter(has_text="<img").first).to_be_visible()
    visitor.page.keyboard.press("Escape")
    visitor.page.get_by_role("button", name="The same numbers as a table").click()
    expect(visitor.page.locator("#numbers td").filter(has_text="<svg").first).to_be_visible()
    assert visitor.page.locator("main img, main svg[onload], main script").count() == 0


def test_a_notice_and_a_mistake_can_be_read_anywhere(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    visitor.in_a_window("light", 360)
    visitor.choose("backbone", "First token · untrained")
    expect(visitor.verdict.locator(".notices")).to_be_visible()
    for text, said in (("not good", "reads 1 of 4"), ("", "cannot be analysed")):
        visitor.type(text)
        expect(visitor.verdict).to_contain_text(said)
        visitor.can_read_it_anywhere()
