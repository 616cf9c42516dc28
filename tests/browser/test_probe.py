"""The head and task menus of the Classify tab, on the fake analyst."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

PROBE = "probe · same linear classifier for all"
OWN = "own · the checkpoint's own head"


def test_a_probe_is_chosen_and_its_task_follows_texts_and_backbone(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    task = visitor.page.locator("#task input")
    expect(task).to_be_hidden()
    visitor.choose("head", PROBE)
    expect(visitor.verdict).to_contain_text("A linear classifier trained on the native vector for sentiment")
    expect(task).to_have_value("sentiment")
    visitor.choose("task", "topic of news")
    expect(visitor.page.locator("#outputs-heading")).to_have_text("What does the probe for topic say?")
    visitor.type("a second text", "pair")
    expect(visitor.verdict).to_contain_text("vector for paraphrase")
    expect(task).to_have_value("paraphrase")
    visitor.type("", "pair")
    expect(visitor.verdict).to_contain_text("vector for sentiment")
    visitor.choose("backbone", "First token · untrained")
    expect(visitor.verdict).to_contain_text("FirstForSequenceClassification reads")
    expect(task).to_be_hidden()
    expect(visitor.page.locator("#head input")).to_have_value(OWN)
