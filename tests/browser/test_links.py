"""Links in a browser: the address holds the state, and leads back to the same screen."""

import re
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.visitor import PATIENCE, SCRIPTS, Visitor

# Every view and tab by its name, and what is seen there once it is filled.
VIEWS = {
    "How “.” knows": "#matters-plot .main-svg",  # of the token that this one reads
    "Serving": "#padding p",
    "Compare": "#compare-grid td",
    "Evidence": "#averaging .main-svg",
    "Lab": "#lab-table",
    "Questions": "#question-families button",
}


def told(page: Page, keys: str) -> None:
    """Wait until the address holds ``keys``."""
    page.wait_for_function("keys => location.search.includes(keys)", arg=keys, timeout=PATIENCE)


def test_back_leads_to_the_tab_before_and_a_question_has_a_link(visitor: Visitor) -> None:
    page = visitor.page
    first = page.url
    page.get_by_role("tab", name="Questions", exact=True).click()
    told(page, "tab=questions&backbone=bert-sentiment")  # elsewhere the page may begin with another
    page.locator("#question-families button").click()
    banner = page.locator("#asked .banner")
    expect(banner).to_contain_text("alone is read by 3", timeout=PATIENCE)
    told(page, "question=families")
    assert "tab=questions" not in page.url
    page.go_back()
    expect(page.get_by_role("tab", name="Questions", exact=True)).to_have_attribute("aria-selected", "true")
    expect(banner).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("tab", name="Classify", exact=True)).to_have_attribute("aria-selected", "true")
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification")
    page.wait_for_function("first => location.href === first", arg=first)


def test_all_of_it_works_in_a_frame_of_another_site_that_has_no_storage(
    browser: BrowserContext, app_url: str
) -> None:
    page, errors = browser.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(SCRIPTS["no_storage"])
    address, hub = f"{app_url}/?backbone=gpt2-sentiment&panel=head", "https://huggingface.co"
    html = f'{SCRIPTS["listens"]}<iframe src="{address}" width="1300" height="900"></iframe>'
    page.route(f"{hub}/**", lambda route: route.fulfill(content_type="text/html", body=html))
    page.goto(f"{hub}/spaces/me/pool")
    frame = page.frame_locator("iframe")
    expect(frame.locator("#verdict")).to_contain_text("GPT2ForSequenceClassification", timeout=PATIENCE)
    expect(frame.locator("#head-lead")).to_be_visible()
    for name, seen in VIEWS.items():
        frame.get_by_role("tab", name=name, exact=True).click()
        expect(frame.locator(seen).first).to_be_visible(timeout=PATIENCE)
    frame.get_by_role("button", name="Talk", exact=True).click()
    expect(frame.locator("#talk .slide.current .question")).to_be_visible(timeout=PATIENCE)
    frame.locator("body").press("Escape")
    expect(frame.locator("#talk")).to_be_hidden()
    frame.get_by_role("tab", name="Classify", exact=True).click()
    frame.locator("[data-controls]").evaluate("(one, hub) => { one.dataset.hub = hub }", hub)  # as on a Space
    frame.get_by_role("tab", name="Tokens", exact=True).click()
    page.wait_for_function("window.told?.queryString === 'backbone=gpt2-sentiment'")
    frame.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download():
        frame.get_by_role("button", name="Report").click()
    frame.get_by_role("button", name="Share", exact=True).click()
    frame.get_by_role("button", name="Copy link").click()  # which a frame may not
    link = frame.locator(".share input")
    expect(link).to_have_value(f"{app_url}/?backbone=gpt2-sentiment")
    assert link.evaluate("one => one.value.slice(one.selectionStart, one.selectionEnd) === one.value")
    frame.get_by_role("button", name="Share", exact=True).click()
    frame.get_by_role("button", name="Frame").click()
    page.set_content(frame.locator("#code input").first.input_value())
    expect(page.frame_locator("iframe").locator("#similarity-plot .main-svg").first).to_be_visible()
    assert errors == []
    page.close()


def test_a_link_is_copied_and_drawn_as_a_code_and_reports_are_saved(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    visitor.in_a_window("dark", 1366)
    visitor.choose("backbone", "GPT-2 mini · sentiment")
    told(page, "backbone=gpt2-sentiment")
    expect(visitor.verdict).to_contain_text("GPT2ForSequenceClassification", timeout=PATIENCE)
    visitor.waits_for_the_server()
    link = page.url.replace("__theme=light&", "")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.shares("Share", "Copy link").click()
    expect(page.locator(".share [role=status]")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    visitor.shares("Share", "QR code").click()
    shown = page.locator("#code")
    expect(shown).to_contain_text(link)
    expect(shown).to_contain_text("No phone can reach this address")  # 127.0.0.1: it needs no code
    assert visitor.violations() == []
    page.keyboard.press("Escape")
    expect(shown).to_be_hidden()
    visitor.shares("Share", "Cite this view").click()
    expect(shown.locator("textarea").last).to_have_value(re.compile("@misc{poolscope-.*gpt2-sentiment", re.S))
    shown.get_by_role("button", name="Copy").last.click()
    expect(shown.locator("[role=status]")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == shown.locator("textarea").last.input_value()
    assert visitor.violations() == []
    page.keyboard.press("Escape")

    def saved(name: str) -> str:
        return visitor.saves(visitor.shares("Save", name), tmp_path).read_text("utf-8")

    text = saved("Report")
    assert "GPT2ForSequenceClassification" in text
    assert "backbone=gpt2-sentiment" in text  # the link back
    assert "Its head reads the last token alone" in saved("Passport")
