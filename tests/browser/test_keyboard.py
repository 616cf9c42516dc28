"""The page by keyboard alone, and as a screen reader hears it."""

from playwright.sync_api import expect

from tests.browser.visitor import SCRIPTS, Visitor


def test_tab_passes_menus_and_what_chose_keeps_the_focus(visitor: Visitor) -> None:
    page, keys = visitor.page, visitor.page.keyboard
    pooling, more = page.locator("#pooling input"), page.locator("#more > .label-wrap")
    lists, typed, asked = page.get_by_role("listbox"), page.locator("#text textarea"), visitor.questions
    typed.press("Enter")
    visitor.has_asked(asked + 1)
    page.locator("#pair textarea").focus()
    passed = page.locator("#backbone input"), pooling, more, pooling
    for part, key in zip(passed, ("Tab", "Tab", "Tab", "Shift+Tab"), strict=True):
        keys.press(key)
        expect(part).to_be_focused()
        expect(lists).to_have_count(0)
    typed.dispatch_event("keydown", {"key": "Enter", "keyCode": 229})  # ends a word that is composed
    visitor.waits_for_the_server()
    assert visitor.questions == asked + 1  # who passes by asks nothing
    keys.press("End")
    expect(lists).to_have_count(1)
    keys.press("Tab")
    expect(lists).to_have_count(0)
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-expanded", "false")
    expect(pooling).to_have_value("native · as the head reads")
    for key in ("Shift+Tab", "End", "Enter"):  # the last one needs the probe, and brings it
        keys.press(key)
    expect(visitor.verdict).to_contain_text("trained on the flatten vector")
    expect(page.locator("#head input")).to_have_value("probe · same linear classifier for all")
    expect(more).to_have_attribute("aria-expanded", "true")
    expect(pooling).to_be_focused()
    expect(lists).to_have_count(0)
    pooling.click()  # who has the focus can be pressed, too
    expect(lists).to_have_count(1)
    assert not pooling.evaluate(SCRIPTS["arrow"])  # or the page would scroll behind the list
    keys.press("Escape")


def test_the_verdict_alone_is_heard_and_the_question_can_be_skipped(visitor: Visitor) -> None:
    page = visitor.page
    expect(visitor.verdict.locator("[aria-live=polite]")).to_contain_text("reads")
    heard = page.locator("#classify [aria-live], #classify [role=status]").filter(visible=True)
    expect(heard).to_have_count(1)
    page.locator("#title .skip").press("Enter")
    expect(visitor.verdict.locator(".prose")).to_be_focused()
    page.route("**/queue/data*", lambda _: None)  # the answer stays away
    visitor.type("a wonderful film")
    expect(visitor.verdict.locator(".pending")).to_have_css("opacity", "1")
    visitor.can_read_it_anywhere()
    visitor.asking.clear()


def test_a_menu_closes_behind_the_focus_which_is_never_lost(visitor: Visitor) -> None:
    page, keys = visitor.page, visitor.page.keyboard
    for name in ("Share", "Save"):
        page.get_by_role("button", name=name, exact=True).press("Enter")
        page.locator(":popover-open button").last.press("Tab")
        expect(page.locator(":popover-open")).to_have_count(0)
    page.get_by_role("button", name="Talk", exact=True).focus()
    for key in ("Enter", "ArrowRight"):
        keys.press(key)
        expect(page.locator("#talk")).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("button", name="Talk", exact=True)).to_be_focused()
