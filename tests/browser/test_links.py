"""Links in a browser: the address holds the state, and leads back to the same screen."""

import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import zxingcpp
from PIL import Image
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, Visitor

TEXT = "not <b>bad</b> & 100 % “good” + 好 😀"
SCREEN = """() => JSON.stringify([
    document.querySelector("#tabs").innerText,
    [...document.querySelectorAll("#tokens-view .js-plotly-plot text")].map((text) => text.textContent),
])"""  # every word in sight, and in the plots


def told(page: Page, keys: str) -> None:
    """Wait until the address holds ``keys``."""
    page.wait_for_function("keys => location.search.includes(keys)", arg=keys, timeout=PATIENCE)


def test_the_address_of_a_state_leads_back_to_the_same_screen(real: Open, visitor: Visitor) -> None:
    visitor.choose("backbone", "XLNet mini · sentiment")
    expect(visitor.verdict).to_contain_text("XLNetForSequenceClassification")
    visitor.choose("pooling", "mean · average of all tokens")
    expect(visitor.verdict).to_contain_text("given the mean vector")
    visitor.type(TEXT)
    expect(visitor.ticks("similarity", "y").filter(has_text="100")).to_have_count(1)
    visitor.choose("reference", "the pooled vector")
    expect(visitor.page.locator("#similarity-heading")).to_contain_text("the pooled vector")
    visitor.page.locator("#layer input[type=range]").press("ArrowLeft")
    visitor.page.locator("#centred input[value=centred]").check()
    told(visitor.page, "centred=centred")
    expect(visitor.plot("similarity").locator(".xtitle")).to_contain_text("centred")
    address = visitor.page.url
    expect(visitor.page.locator("[clip-path*='//']")).to_have_count(0)  # it would be sought at an old address
    assert parse_qs(urlsplit(address).query) == {
        "__theme": ["light"],
        "text": [TEXT],
        "backbone": ["xlnet-sentiment"],
        "pooling": ["mean"],
        "reference": ["pooled"],
        "layer": ["2"],
        "centred": ["centred"],
    }
    again = real(query="&" + urlsplit(address).query.replace("__theme=light&", ""))
    assert again.page.url == address
    again.sees_an_answer()
    expect(again.plot("similarity").locator(".xtitle")).to_contain_text("centred")
    before = visitor.page.evaluate(SCREEN)
    again.page.wait_for_function(f"before => ({SCREEN})() === before", arg=before)
    assert again.page.url == address


def test_back_leads_to_the_tab_before_and_a_question_has_a_link(real: Open) -> None:
    visitor = real()
    visitor.sees_an_answer()
    page = visitor.page
    first = page.url
    page.get_by_role("tab", name="Questions", exact=True).click()
    told(page, "tab=questions")
    page.locator("#question-families button").click()
    banner = page.locator("#asked .banner")
    expect(banner).to_contain_text("3 of them read the first", timeout=PATIENCE)
    told(page, "question=families")
    asked = page.url
    assert "tab=questions" not in asked
    page.go_back()
    expect(page.get_by_role("tab", name="Questions", exact=True)).to_have_attribute("aria-selected", "true")
    expect(banner).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("tab", name="Classify", exact=True)).to_have_attribute("aria-selected", "true")
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification")
    page.wait_for_function("first => location.href === first", arg=first)
    again = real(query="&" + urlsplit(asked).query.replace("__theme=light&", ""))
    expect(again.page.locator("#asked .banner")).to_contain_text("3 of them read the first", timeout=PATIENCE)
    expect(again.verdict).to_contain_text("XLNetForSequenceClassification")
    again.waits_for_the_server()


def test_a_link_is_followed_inside_a_frame_of_another_site(browser: BrowserContext, app_url: str) -> None:
    page = browser.new_page()  # of no site at all
    address = f"{app_url}/?backbone=gpt2-sentiment&panel=head"
    page.set_content(f'<iframe src="{address}" width="1300" height="900"></iframe>')
    frame = page.frame_locator("iframe")
    expect(frame.locator("#verdict")).to_contain_text("GPT2ForSequenceClassification", timeout=PATIENCE)
    expect(frame.locator("#head-lead")).to_be_visible()
    page.close()


def test_a_bad_link_shows_the_rest_and_says_so(real: Open) -> None:
    visitor = real(query="&backbone=gone&layer=99&centred=1")
    visitor.sees_an_answer()
    notice = visitor.page.locator("#asked")
    expect(notice).to_contain_text("backbone: 'gone' was given")
    expect(notice).to_contain_text("layer: 99 was given")
    expect(visitor.plot("similarity").locator(".xtitle")).to_contain_text("centred")


def test_a_link_is_copied_and_drawn_as_a_code_and_reports_are_saved(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    visitor.in_a_window("dark", 1366)
    visitor.choose("backbone", "GPT-2 mini · sentiment")
    told(page, "backbone=gpt2-sentiment")
    expect(visitor.verdict).to_contain_text("GPT2ForSequenceClassification", timeout=PATIENCE)
    visitor.waits_for_the_server()
    link = page.url.replace("__theme=light&", "")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".share [role=status]")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.get_by_role("button", name="QR code").click()
    picture = page.get_by_role("img", name="QR code")
    expect(picture).to_be_visible()
    (read,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture.screenshot())))
    assert read.text == link
    assert visitor.violations() == []
    page.keyboard.press("Escape")
    expect(picture).to_be_hidden()

    def saved(button: str) -> str:
        return visitor.saves(page.get_by_role("button", name=button), tmp_path).read_text("utf-8")

    text = saved("Report")
    assert "GPT2ForSequenceClassification" in text
    assert "backbone=gpt2-sentiment" in text  # the link back
    assert "Its head reads the last token alone" in saved("Passport")
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#compare-grid td.told")).to_have_count(30)
    visitor.type("so good", "compare-text")
    told(page, "compare_text=so+good")
    told(page, "tab=compare")
    text = saved("Report")
    assert "so good" in text
    assert "compare_text=so+good" in text
