"""The Evidence tab on made-up results."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

FILL = "part => getComputedStyle(part).fill"
BEGINS = "one => one.offsetLeft + 30 < one.closest('.scroll').clientWidth"  # in sight


def test_the_tab_answers_on_arrival_and_can_be_read_anywhere(fake_visitor: Visitor, tmp_path: Path) -> None:
    visitor, page = fake_visitor, fake_visitor.page
    page.get_by_role("tab", name="Evidence").click()
    expect(visitor.ticks("averaging", "y").first).to_contain_text("bert-pretrained")
    expect(page.locator("#averaging-heading")).to_contain_text("the average")
    expect(visitor.plot("accuracy")).not_to_be_visible()
    page.locator("#every-pooling > button").click()
    for name in ("accuracy", "rho"):
        expect(visitor.ticks(name, "y")).to_have_count(14)
    expect(visitor.plot("accuracy").locator(".annotation")).to_have_count(14)
    expect(page.get_by_role("img", name="With a trained classifier")).to_be_visible()
    parts = (".x2title", ".xtick text")  # of small plots side by side
    colours = [visitor.plot("averaging").locator(part).first.evaluate(FILL) for part in parts]
    assert colours[0] == colours[1]
    visitor.in_a_window("light", 360)
    table = page.locator("#averaging .narrow .scroll")  # all tasks side by side, in the place of the plot
    expect(table).to_be_visible()
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(visitor.plot("averaging")).to_be_hidden()
    for accordion in ("#depths", "#explanations", "#own-numbers", "#evidence-numbers"):
        page.locator(f"{accordion} > button").click()
        expect(page.locator(f"{accordion} table")).to_be_visible()
        assert page.locator(f"{accordion} td.number").first.evaluate(BEGINS), accordion
        page.wait_for_function("document.documentElement.scrollWidth <= 360")
        if accordion != "#evidence-numbers":  # axe looks long at a table, and one is as another
            page.locator(f"{accordion} > button").click()
    link = page.locator("#evidence-numbers").get_by_role("link", name="Download as CSV")
    assert "backbone,pooling,accuracy" in visitor.saves(link, tmp_path).read_text("utf-8-sig")
    visitor.can_read_it_anywhere()
