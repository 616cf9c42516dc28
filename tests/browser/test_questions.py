"""The Questions tab in a browser: one click measures, says, and leads there."""

from typing import Any

from playwright.sync_api import expect

from tests.browser.visitor import PATIENCE, Visitor


def opened(visitor: Visitor, width: int = 1366) -> None:
    visitor.in_a_window("light", width)
    visitor.page.get_by_role("tab", name="Questions").click()


def test_one_click_measures_says_and_leads_there(visitor: Visitor) -> None:
    opened(visitor, width=360)
    visitor.page.locator("#question-families button").click()
    banner = visitor.page.locator("#asked .banner")
    expect(banner).to_contain_text("No: 5 heads were asked. The first token alone", timeout=PATIENCE)
    expect(visitor.verdict).to_contain_text("XLNetForSequenceClassification reads 1 of")
    expect(visitor.plot("similarity")).to_be_visible()
    visitor.page.get_by_role("tab", name="Questions").click()
    expect(visitor.page.locator("#question-families .answer li")).to_have_count(5)
    visitor.can_read_it_anywhere()
    visitor.page.locator("#question-write button").click()  # the last card
    last = visitor.page.locator('#asked [data-question="write"] .said')
    expect(last).to_be_in_viewport(timeout=PATIENCE)
    visitor.page.get_by_role("tab", name="Questions").click()
    visitor.page.locator("#question-position button").click()
    kept = visitor.page.locator('#asked [data-question="position"] .said')
    expect(kept).to_be_visible(timeout=PATIENCE)
    expect(visitor.page.locator("#evidence-numbers")).to_be_attached(timeout=PATIENCE)  # the fold has opened
    visitor.waits_for_the_server()
    expect(kept).to_be_visible()
    visitor.page.get_by_role("tab", name="Classify").click()
    visitor.choose("pooling", "mean · average of all tokens")
    expect(visitor.verdict).to_contain_text("given the mean vector", timeout=PATIENCE)
    expect(banner).to_have_count(0)  # it spoke of another question


def test_five_heads_stand_side_by_side_or_on_a_phone_one_under_the_other(visitor: Visitor) -> None:
    visitor.looks_at("tokens")
    visitor.choose("reference", "the pooled vector")  # whose menu stands in another view than the answer
    visitor.waits_for_the_server()
    opened(visitor)
    visitor.page.locator("#question-endings button").click()
    heads = visitor.page.locator("#asked .flows > li")
    expect(heads).to_have_count(5, timeout=PATIENCE)
    visitor.waits_for_the_server()
    expect(heads).to_have_count(5)  # what the page has chosen for the answer is no new question

    def boxes() -> list[Any]:
        return [box for head in heads.all() if (box := head.locator(".steps").bounding_box())]

    for head in heads.all():
        expect(head.locator(".steps")).to_be_in_viewport(ratio=1)
    lefts = [box["x"] for box in boxes()]
    assert lefts == sorted(set(lefts))
    visitor.in_a_window("light", 390)
    tops = [box["y"] for box in boxes()]
    assert tops == sorted(set(tops))
    assert len({box["x"] for box in boxes()}) == 1
    visitor.can_read_it_anywhere()
