"""What is seen before anybody scrolls: verdict and first plot, with the question above or folded below."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Open
from tests.browser.visitor import Visitor


def top(part: Locator) -> float:
    """The place in the window where it begins, in pixels."""
    return float(part.evaluate("one => one.getBoundingClientRect().top"))


def bottom(part: Locator) -> float:
    """And where it ends."""
    return float(part.evaluate("one => one.getBoundingClientRect().bottom"))


def bars(visitor: Visitor) -> Locator:
    return visitor.plot("similarity").locator(".bars .point")


LONG = " ".join(["The plot is not bad, but the acting is not good at all."] * 8)  # some 120 tokens
ASKED = (  # what a link asks
    {"backbone": "bert-paraphrase", "text": "Profits rose by ten percent.", "text_pair": "Profits went up."},
    {"text": LONG, "pooling": "max", "lang": "zh"},
)


@pytest.mark.parametrize("asked", ASKED)
def test_the_first_bars_are_above_the_fold(real: Open, asked: dict[str, str]) -> None:
    visitor = real("dark" if "lang" in asked else "light", 1366, 768, "&" + urlencode(asked))
    expect(bars(visitor).first).to_be_visible()
    expect(visitor.page.locator("#pair textarea")).to_have_value(asked.get("text_pair", ""))
    assert "text_pair" not in visitor.page.url  # the API's name is taken, and the page's put in its place
    if asked.get("text") == LONG:
        assert bars(visitor).count() > 100
    visitor.page.evaluate("document.fonts.ready")
    assert bottom(bars(visitor).nth(1)) < 768
    assert top(visitor.page.locator("#text")) < top(visitor.verdict)  # what is asked stands above
    expect(visitor.page.locator("#fold")).to_be_hidden()
    for said in visitor.verdict.locator("p, li").all():  # nothing is cut off for it
        assert said.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
    text = visitor.page.locator("#text textarea")
    assert text.evaluate("box => getComputedStyle(box).overflowY") == "auto"


def test_a_whole_first_answer_stands_on_a_laptop_s_screen(real: Open) -> None:
    visitor = real("light", 1366, 768)
    expect(bars(visitor)).to_have_count(17)
    for last in (bars(visitor).last, visitor.plot("similarity").locator(".textpoint").last):
        assert bottom(last) <= 768
    names = visitor.ticks("origin", "x")  # below the map, which stands below what the head says
    expect(names).to_have_count(17)
    visitor.waits_for_the_server()  # before all of it stands there, it stands higher
    assert bottom(bars(visitor).last) <= 768
    assert max(map(bottom, names.all())) < 768
    cards = {name: visitor.page.locator(f"#{name}") for name in ("similarity", "outputs", "origin", "view")}
    assert bottom(cards["similarity"]) == pytest.approx(bottom(cards["origin"]), abs=2)
    assert top(cards["view"]) > bottom(cards["origin"])
    visitor.page.mouse.wheel(0, 400)  # and nothing stays behind, over what comes
    visitor.page.wait_for_function("scrollY > 300")
    assert bottom(cards["outputs"]) < top(cards["origin"])
    visitor.page.evaluate("scrollTo(0, 0)")
    expect(visitor.page.locator("#arrival")).to_have_count(0)  # the page shows its own answer
    reads, place = visitor.verdict.locator(".reads").inner_text(), top(visitor.verdict)
    assert visitor.page.context.browser is not None
    still = visitor.page.context.browser.new_page(
        java_script_enabled=False, viewport={"width": 1366, "height": 768}
    )
    still.goto(visitor.origin)
    first = still.locator("#arrival")  # the same stands in the HTML, without a script
    expect(first.locator(".reads")).to_have_text(reads)
    expect(first.locator("li")).to_have_text(["negative96 %", "positive4 %"])
    assert top(first.locator(".verdict")) == pytest.approx(place, abs=3)
    for path, most in (("", 350_000), ("config", 600_000)):  # the config is of all languages
        assert len(still.request.get(f"{still.url}{path}").body()) <= most
    still.close()


def test_a_very_wide_screen_is_filled_and_its_plots_and_menus_know_where_the_mouse_is(real: Open) -> None:
    visitor = real("dark", 3840, 2160)
    expect(bars(visitor).first).to_be_visible()
    boxes = [part.bounding_box() for part in (visitor.page.locator("#tabs"), bars(visitor).nth(6))]
    (page, bar) = (box for box in boxes if box is not None)
    assert page["width"] > 0.88 * 3840
    assert bar["height"] > 25
    visitor.page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    expect(visitor.plot("similarity").locator(".hoverlayer")).to_contain_text("token 6")
    menu = visitor.page.locator("#backbone")
    menu.locator("input").click()
    given, offered = (menu.locator(part).bounding_box() for part in ("input", ".options"))
    assert given is not None
    assert offered is not None
    assert [offered[side] for side in ("x", "width")] == pytest.approx([given["x"], given["width"]], abs=2)
    assert 0 <= offered["y"] - given["y"] < 2 * given["height"]


def test_on_a_phone_the_answer_comes_first_and_the_question_is_folded(real: Open) -> None:
    visitor = real("dark", 390, 844, "&lang=zh")
    expect(bars(visitor).first).to_be_visible()
    fold, text = visitor.page.locator("#fold button"), visitor.page.locator("#text textarea")
    expect(text).to_be_hidden()
    expect(fold).to_have_attribute("aria-expanded", "false")
    assert top(visitor.verdict) < top(bars(visitor).first) < bottom(bars(visitor).first) < top(fold)
    assert bottom(fold) <= 844
    assert visitor.violations() == []
    fold.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "true")
    visitor.page.keyboard.press("Tab")
    expect(text).to_be_focused()
    assert visitor.violations() == []
    assert bottom(visitor.verdict.locator(".reads")) < top(fold)  # what is typed is answered in sight
    text.fill("a wonderful film")
    expect(visitor.ticks("similarity", "y").filter(has_text="wonderful")).to_have_count(1)
    visitor.page.locator("#examples button").first.press("Enter")
    expect(text).to_be_hidden()
    assert visitor.page.evaluate("document.activeElement.closest('#asking')"), "the focus is nowhere"
    expect(visitor.ticks("similarity", "y").filter(has_text="acting")).to_have_count(1)
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    visitor.page.set_viewport_size({"width": 250, "height": 844})
    for part in ("#outputs .outputs", "#heatmap .scale"):
        assert visitor.page.locator(part).first.evaluate("one => one.scrollWidth <= one.clientWidth"), part
    assert visitor.page.locator("#heatmap .strip").first.evaluate("one => one.clientWidth") >= 30
    tabs = visitor.page.locator("#tabs > .tab-wrapper").get_by_role("tab")
    tabs.last.click()  # where no plot is drawn
    visitor.page.set_viewport_size({"width": 140, "height": 844})
    expect(tabs.filter(visible=True)).to_have_count(5)  # in two rows, none in a menu
    assert top(tabs.last) > bottom(tabs.first) - 1
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    tabs.nth(1).click()
    grid, asked = (visitor.page.locator(f"#compare-{name}") for name in ("grid", "texts"))
    expect(grid.locator("td.told").first).to_be_visible()
    assert bottom(visitor.page.locator("#compare-lead")) < top(grid) < bottom(grid) < top(asked)
    visitor.waits_for_the_server()
