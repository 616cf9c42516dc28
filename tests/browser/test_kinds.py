"""The page on made-up answers: analyses that no bundled checkpoint gives, and fits that are refused."""

import os
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.test_first_screen import bottom
from tests.browser.visitor import Visitor


def test_importance_is_asked_when_it_is_looked_at_and_after_each_answer(fake_visitor: Visitor) -> None:
    visitor, page = fake_visitor, fake_visitor.page
    visitor.type("so good")
    expect(visitor.verdict).to_contain_text("reads 1 of 4 tokens")
    visitor.looks_at("importance")
    lead, titles = page.locator("#importance-lead"), visitor.plot("matters").locator(".annotation-text")
    expect(lead).to_contain_text("[MASK] in its place")
    expect(titles).to_have_count(6)  # with integrated gradients, which such a model has at once
    for text in ("  ", "so good"):  # the same again after a question without an answer
        visitor.type(text)
        expect(page.get_by_role("alert") if text == "  " else lead).to_be_visible()
    expect(visitor.ticks("matters", "y")).to_have_text(["● [CLS]", "so", "good", "[SEP]"])
    page.get_by_label("never").check()
    expect(titles).to_have_count(5)
    expect(page.locator("#importance-cancel")).to_be_hidden()
    visitor.can_read_it_anywhere()


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
    visitor.can_read_it_anywhere()
    visitor.type("a film", "vector")
    page.locator("#vector textarea").press("Enter")
    expect(found).to_contain_text("'a film' was given")
    visitor.type("0.25 0.75", "scores")
    page.locator("#detect_score").click()
    expect(page.locator("#score")).to_contain_text("made like this: as it runs here, softmax")
    visitor.can_read_it_anywhere()


def test_an_untrained_head_can_be_read_anywhere(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    visitor.in_a_window("light", 1366)
    task = visitor.page.locator("#task input")
    visitor.choose("head", "probe · same linear classifier for all")
    expect(task).to_have_value("sentiment")
    visitor.choose("backbone", "First token · untrained")
    expect(visitor.verdict).to_contain_text("FirstForSequenceClassification reads")
    expect(task).to_be_hidden()
    visitor.in_a_window("light", 360)
    expect(visitor.verdict.locator(".notices")).to_be_visible()
    visitor.looks_at("head")
    expect(visitor.page.locator("#head-lead")).to_contain_text("they were drawn at random")
    expect(visitor.page.locator("#weights strong.random")).to_have_count(2)
    visitor.can_read_it_anywhere()
    visitor.type("")
    expect(visitor.verdict).to_contain_text("cannot be analysed")
    visitor.can_read_it_anywhere()


def test_128_tokens_scroll_in_their_box_while_the_outputs_stay_in_view(fake_visitor: Visitor) -> None:
    visitor = fake_visitor
    visitor.in_a_window("light", 1366, 768)
    visitor.choose("backbone", "First token · paraphrase")
    visitor.type("unquestionably " * 62)
    visitor.type("extraordinarily " * 63, "pair")
    expect(visitor.verdict).to_contain_text("reads 1 of 128 tokens")
    visitor.looks_at("tokens")
    expect(visitor.ticks("similarity", "y")).to_have_count(128)
    box = visitor.page.locator("#similarity-plot")
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    box.evaluate("box => box.scrollIntoView({ block: 'end' })")  # who reads the last bar
    expect(visitor.ticks("similarity", "y").last).to_be_in_viewport()
    expect(visitor.page.locator("#outputs li b").first).to_be_in_viewport()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 1366


def test_a_phone_is_offered_a_download_though_the_question_is_folded(fake: Open) -> None:
    visitor = fake("light", 390, 844, "&backbone=far")
    expect(visitor.page.locator("#download")).to_be_visible()
    expect(visitor.page.locator("#text")).to_be_hidden()
    assert bottom(visitor.page.locator("#download")) <= 844


def test_a_refused_fit_can_be_asked_again_and_what_is_no_table_is_said(fake: Open, tmp_path: Path) -> None:
    visitor = fake(query="&tab=lab")
    page = visitor.page
    page.get_by_role("button", name="Sample: support tickets").click()
    expect(page.locator("#lab-notes")).to_contain_text("210 rows")
    visitor.waits_for_the_server()
    page.route("**/queue/join*", lambda route: route.fulfill(status=429, json={"detail": "Too many."}))
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator("#lab-status")).to_contain_text("Nothing was fitted")
    expect(page.get_by_text("Too many.")).to_be_visible()
    page.locator(".toast-close").click()  # it would move for ten seconds
    (refused,) = visitor.faults  # the browser's own note of the answer
    assert "429" in refused
    visitor.faults.clear()
    page.unroute("**/queue/join*")
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator("#lab-status")).to_contain_text("This took")
    file = tmp_path / "large.csv"
    file.touch()
    os.truncate(file, 2**30)  # bytes that stand nowhere on the disk
    page.locator("#lab-file input").set_input_files(file)
    expect(page.locator("#lab-file [role=status]")).to_contain_text("This file is larger than 2 MB")
    box = page.locator("#lab-table textarea")
    box.fill("one column\nand no label")
    expect(page.locator("#lab-notes [role=alert]")).to_contain_text("2 to 200 columns are expected")
    box.fill("text,label\n" + "\n".join(f"row {row},{row % 2}" for row in range(30)))
    expect(page.locator("#lab-notes")).to_contain_text("30 rows with 2 labels: 0, 1.")
    box.fill("\n".join(f"film {row},{('good', 'Good', 'bad')[row % 3]}" for row in range(30)))
    expect(page.locator("#lab-notes")).to_contain_text("30 rows with 3 labels")
    expect(page.locator("#lab-notes")).to_contain_text("The first row is read as a row, not as names: “good”")
    page.get_by_label("Read labels that differ in spelling alone as one").check()
    expect(page.locator("#lab-notes")).to_contain_text("30 rows with 2 labels: bad, good.")
    page.get_by_label("The first row names the columns").check()
    expect(page.locator("#lab-notes")).to_contain_text("29 rows with 2 labels")
    assert visitor.violations() == []
