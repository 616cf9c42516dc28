"""The Lab tab: a visitor's own table, from the file to the ranking."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE
from tests.tables import reviews

ODD = "<b>a dull film</b> & a silly plot"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """60 labelled sentences, one of them markup, with a label that is wrong."""
    table = reviews(60)
    rows = [*zip(table.texts, table.labels, strict=True), (ODD, "positive")]
    place = tmp_path / "films.csv"
    with place.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([("review", "stars"), *rows])
    return place


def test_a_file_is_read_in_the_browser_and_fitted(real: Open, file: Path) -> None:
    visitor = real(query="&tab=lab")
    page = visitor.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.locator("#lab-file input").set_input_files(file)
    expect(page.locator("#lab-notes")).to_contain_text("61 rows with 2 labels: negative, positive.")
    expect(page.locator("#lab-text input")).to_have_value("review")
    expect(page.locator("#lab-label input")).to_have_value("stars")
    assert not any("upload" in url for url in sent)
    chosen = page.locator("#lab-backbones .token")
    for left in range(chosen.count() - 1, 0, -1):
        page.locator("#lab-backbones input").press("Backspace")
        expect(chosen).to_have_count(left)
    page.get_by_role("button", name="Fit", exact=True).click()
    heading = page.locator("#lab-ranking-heading")
    expect(heading).to_contain_text("It is right about", timeout=3 * PATIENCE)
    expect(page.locator("#lab-status")).to_contain_text("This took")
    expect(page.locator("#lab-misses-heading")).to_contain_text("1 of 61 texts is answered wrongly")
    visitor.can_read_it_anywhere()
    link = page.locator("#lab-misses a", has_text=ODD)
    expect(link).to_have_attribute("target", "_blank")
    assert "tab=lab" in page.url
    assert "dull" not in page.url
    page.get_by_role("button", name="Ask this classifier in Classify").click()
    expect(page.locator(".verdict")).to_contain_text("for your own table reads", timeout=3 * PATIENCE)
    expect(page.locator("#head input")).to_have_value("mine · fitted on your table")
    expect(page).to_have_url(re.compile("head=mine"))
    assert "numbers" not in page.url
    assert visitor.violations() == []


def test_a_sample_is_tried_and_given_up(real: Open) -> None:
    visitor = real(query="&tab=lab")
    page = visitor.page
    page.get_by_role("button", name="Sample: support tickets").click()
    expect(page.locator("#lab-notes")).to_contain_text("210 rows with 5 labels")
    page.get_by_label("every layer").check()
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator("#lab-status progress")).to_be_visible()
    page.locator("#lab-cancel").click()
    expect(page.locator("#lab-status")).to_contain_text("Cancelled. Nothing of the table was kept.")
    expect(page.locator("#lab-cancel")).to_be_disabled()
    visitor.waits_for_the_server()  # which has ended the fit by now, and that is no refusal
    expect(page.locator("#lab-status")).to_contain_text("Cancelled. Nothing of the table was kept.")
