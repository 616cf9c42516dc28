"""The Compare tab: on the bundled checkpoints, and on made-up ones that wait or are hostile."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, Visitor
from tests.serving import Gate

WHOLE = "30 combinations, from one forward pass for each of 5 backbones."


@pytest.fixture
def waiting(fake: Open, gate: Gate) -> Visitor:
    """A visitor whose first comparison waits at the gate."""
    gate.let(2)
    return arrived(fake(), "2 of 5 backbones")


def cells(visitor: Visitor, kind: str = "") -> Locator:
    return visitor.page.locator(f"#compare-grid td{kind}")


def arrived(visitor: Visitor, status: str | re.Pattern[str]) -> Visitor:
    """A visitor who opened the tab, everything there."""
    visitor.page.get_by_role("tab", name="Compare").click()
    expect(visitor.page.locator("#compare-status")).to_contain_text(status, timeout=PATIENCE)
    return visitor


def asks_something_else(visitor: Visitor) -> None:
    """Have the server answer another request; what was about to come has come by then."""
    with visitor.page.expect_request_finished(lambda request: "/run/predict" in request.url):
        visitor.page.locator("#compare-centred input:not(:checked)").first.click()


def numbers(visitor: Visitor, folder: Path) -> list[str]:
    """The lines of the file with the numbers of every combination."""
    visitor.page.locator("#compare-numbers > button").click()
    with visitor.page.expect_download() as download:
        visitor.page.locator("#compare-numbers").get_by_role("link", name="Download as CSV").click()
    download.value.save_as(folder / "numbers.csv")
    return (folder / "numbers.csv").read_text("utf-8-sig").splitlines()


def test_arrival_shows_every_combination_and_their_numbers(visitor: Visitor, tmp_path: Path) -> None:
    arrived(visitor, WHOLE)
    expect(cells(visitor, ".told")).to_have_count(30)
    for text in cells(visitor).all_inner_texts():
        assert "negative" in text or "positive" in text
        assert "%" in text
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("combinations")
    expect(visitor.plot("curves").locator(".scatterlayer .trace")).to_have_count(5)
    expect(visitor.page.get_by_role("img", name="How similar are the tokens to [CLS]")).to_be_visible()
    lines = numbers(visitor, tmp_path)
    assert lines[0].startswith("backbone,pooling,head,task,says,probability")
    assert len(lines) == 1 + 23  # 30 combinations, of which 7 are the vector of another one


def test_enter_asks_and_another_tab_does_not(visitor: Visitor) -> None:
    arrived(visitor, WHOLE)
    visitor.type("a moving and beautiful film", "compare-text")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("combinations say positive")
    expect(visitor.page.locator("#compare-status")).to_contain_text(WHOLE)
    table = visitor.page.locator("#compare-grid table")
    before = table.inner_html()
    visitor.page.get_by_role("tab", name="Classify").click()
    visitor.type("a dull and awful film")
    visitor.page.get_by_role("tab", name="Compare").click()
    expect(visitor.page.locator("#compare-status")).to_contain_text(WHOLE)
    assert table.inner_html() == before
    visitor.page.get_by_role("button", name="Take the text of “Classify”").click()
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("combinations say negative")
    expect(visitor.page.locator("#compare-text textarea")).to_have_value("a dull and awful film")


def test_what_is_typed_and_not_asked_is_said(visitor: Visitor) -> None:
    arrived(visitor, WHOLE)
    note = visitor.page.locator("#compare-stale [role=status]")
    expect(note).to_be_hidden()
    visitor.type("a moving and beautiful film", "compare-text")
    expect(note).to_contain_text("has not been compared")
    expect(visitor.page).to_have_url(re.compile("compare_text=a\\+moving"))
    assert visitor.violations() == []
    visitor.page.keyboard.press("Enter")
    expect(note).to_be_hidden()
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("combinations say positive")
    visitor.type("", "compare-text")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Type a sentence.")
    expect(note).to_be_visible()


def test_swaps_are_marked_and_a_cell_opens_what_it_says(real: Open) -> None:
    visitor = arrived(real(), WHOLE)
    expect(cells(visitor, ".swap")).to_have_count(0)  # every backbone has a probe: the fair comparison
    visitor.choose("compare-head", "own · the checkpoint's own head")
    visitor.page.locator("#compare-start").click()
    expect(cells(visitor, ".swap")).to_have_count(18)
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("All 5 combinations say negative.")
    expect(visitor.page.locator("#compare-agreement")).to_contain_text("Not counted: 18 swaps")
    assert visitor.violations() == []
    said = cells(visitor, ".swap").first.locator(".label").inner_text()
    cells(visitor, ".swap").first.get_by_role("link").focus()
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("#verdict")).to_contain_text("given the lasttoken vector", timeout=PATIENCE)
    expect(visitor.page.locator("#verdict .says")).to_contain_text(said)
    visitor.page.go_back()
    expect(cells(visitor, ".swap")).to_have_count(18, timeout=PATIENCE)


def test_cancelling_keeps_what_has_come(waiting: Visitor, gate: Gate) -> None:
    status = waiting.page.locator("#compare-status")
    with waiting.page.expect_response("**/gradio_api/reset*"):  # only then may the same event come again
        waiting.page.locator("#compare-cancel").click()
        expect(status).to_contain_text("Stopped after")
        expect(waiting.page.locator("#compare-cancel")).to_be_hidden()
        gate.let(5)  # the third was under way
    asks_something_else(waiting)
    expect(cells(waiting, ".pending")).to_have_count(9)  # nothing came after all
    gate.let(0)
    waiting.page.locator("#compare-start").click()
    expect(status).to_contain_text("0 of 5 backbones")
    expect(cells(waiting, ".pending")).to_have_count(9)


def test_it_can_be_read_anywhere_and_names_stay_in_sight(visitor: Visitor) -> None:
    visitor.in_a_window("light", 360)
    arrived(visitor, WHOLE)
    visitor.page.locator("#compare-numbers > button").click()
    expect(visitor.page.locator("#compare-numbers table")).to_be_visible()
    box = visitor.page.locator("#compare-grid .scroll")
    name = visitor.page.locator("#compare-grid tbody th").first
    before = name.bounding_box()
    box.evaluate("box => box.scrollTo(10000, 0)")
    after = name.bounding_box()
    assert before
    assert after
    assert after["x"] == pytest.approx(before["x"], abs=4)
    assert box.evaluate("box => box.scrollLeft") > 0
    visitor.can_read_it_anywhere()
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")  # all of it is in sight
