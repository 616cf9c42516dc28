"""The page in English and in Chinese: chosen by the browser, switchable, whole."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from components.model.pooling import POOLINGS
from components.texts import languages, load_texts
from tests.browser.visitor import PATIENCE, SCRIPTS, Visitor, visit

TYPED = "The plot is not bad, but the acting is not good at all."
NAMES = """Poolscope hub CLS SEP BERT DistilBERT RoBERTa XLNet GPT mini own negative positive logits
BertForSequenceClassification Bert For Sequence Classification Pooler dense activation tanh dropout
classifier bias weight
mean_sqrt_len_t PNG SVG CSV common complete"""  # the last two: a key that gradio itself has no Chinese for
NAMES += "".join(f" {load_texts(tag).language.name}" for tag in languages())
DATA = {*POOLINGS, *re.findall(r"\w+", f"{TYPED} {NAMES}".lower())}  # what stays what it is in any language
HANZI = re.compile(r"[\u4e00-\u9fff]")
PHRASE = re.compile(r"\b[a-z]{2,} [a-z]{2,}")  # neither names of models nor single tokens


@pytest.fixture
def chinese(browser: BrowserContext, app_url: str) -> Iterator[Visitor]:
    """A visitor whose browser prefers Chinese."""
    assert browser.browser is not None
    context = browser.browser.new_context(locale="zh-CN")
    visitor = visit(context, app_url, "light", 1366, 900)
    sees_a_chinese_answer(visitor)
    yield visitor
    visitor.waits_for_the_server()
    context.close()
    assert not visitor.faults


def english(page: Page) -> list[str]:
    """What is still said in English once gradio's own words about a queue, shown while it works, are gone."""
    for _ in range(20):
        found = said_in_english(page)
        if not found:
            return []
        page.wait_for_timeout(500)
    return found


def said_in_english(page: Page) -> list[str]:
    """A phrase among Chinese, or words without Chinese that are no data."""
    found = []
    for text in page.evaluate(SCRIPTS["visible"]):
        words = {word for word in re.findall(r"[a-z_]\w*", text.lower()) if len(word) > 1}
        if PHRASE.search(text.replace(TYPED, "")) if HANZI.search(text) else words - DATA:
            found.append(text)
    return found


def sees_a_chinese_answer(visitor: Visitor) -> None:
    expect(visitor.verdict).to_contain_text("读取 17 个词元中的 1 个：[CLS]（第一个）。", timeout=PATIENCE)
    expect(visitor.verdict).to_contain_text("它的输出是 负面 negative（96 %）。")
    expect(visitor.plot("similarity").locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
    visitor.sees_where_it_comes_from()


def test_a_chinese_browser_gets_a_chinese_page_and_a_way_to_english_and_back(chinese: Visitor) -> None:
    chinese.in_a_window("dark", 1366)
    assert chinese.page.evaluate("document.documentElement.lang") == "zh"
    assert english(chinese.page) == []
    assert chinese.violations() == []
    for tab in ("head-view", "compare", "evidence", "questions"):
        chinese.page.locator(f"#{tab}-button").click()
        if tab == "compare":
            expect(chinese.page.locator("#compare-status")).to_contain_text("30 种组合", timeout=PATIENCE)
        assert english(chinese.page) == [], tab
    assert chinese.violations() == []
    leads_to_english_and_back(chinese)


def leads_to_english_and_back(chinese: Visitor) -> None:
    """The switch, in a browser that prefers Chinese: what is chosen wins."""
    page = chinese.page
    chinese.waits_for_the_server()
    page.locator("#classify-button").click()
    chinese.looks_at("tokens")
    chinese.sees_where_it_comes_from()
    page.get_by_role("link", name="English").press("Enter")
    expect(chinese.verdict).to_contain_text("BertForSequenceClassification reads 1 of 17", timeout=PATIENCE)
    assert "__theme=light" in page.url
    assert "lang=en" in page.url
    assert page.evaluate("document.documentElement.lang") == "en"
    expect(page.locator("#languages [aria-current]")).to_have_text("English")
    chinese.sees_where_it_comes_from()
    page.get_by_role("link", name="中文").click()
    sees_a_chinese_answer(chinese)
    chinese.type("  ")
    expect(page.get_by_role("alert")).to_contain_text("请输入一个句子。", timeout=PATIENCE)
