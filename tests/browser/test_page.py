"""The Classify tab as it is shipped, with its bundled checkpoints."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.visitor import SCRIPTS, Visitor


def test_a_pooling_is_asked_once_and_a_text_by_a_key_or_after_a_pause(visitor: Visitor) -> None:
    page, ticks = visitor.page, visitor.ticks("similarity", "y")
    expect(page).to_have_title("Poolscope")
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification reads 1 of")
    expect(visitor.verdict.locator(".token")).to_have_text("[CLS]")
    asked = visitor.questions  # each answer, where it comes from, and who sees whom
    visitor.choose("pooling", "mean · average of all tokens")
    expect(visitor.verdict).to_contain_text(re.compile(r"given the mean vector, reads all \d+ tokens"))
    expect(visitor.verdict).to_contain_text("Another vector than its own: this model's code gives")
    expect(ticks.filter(has_text="●")).to_have_count(ticks.count())
    visitor.has_asked(asked + 3)
    page.locator("#pooling input").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(visitor.verdict).to_contain_text("reads 1 of")
    visitor.has_asked(asked + 6)
    before = "acting"
    for word, key in (("wonderful", "Enter"), ("awful", "Control+Enter"), ("splendid", None)):
        visitor.type(f"a {word} film")
        if key:
            page.keyboard.press(key)
        expect(ticks.filter(has_text=word)).to_have_count(1)
        expect(ticks.filter(has_text=before)).to_have_count(0)
        before = word
    visitor.type("  ")
    expect(page.get_by_role("alert")).to_contain_text("Type a sentence.")
    expect(page.locator("#similarity-plot")).to_be_hidden()
    visitor.type("a wonderful film")
    visitor.sees_an_answer()


def test_a_plot_is_redrawn_in_place_and_a_hidden_one_once_it_is_shown(visitor: Visitor) -> None:
    visitor.looks_at("head")
    expect(visitor.ticks("lens", "x")).not_to_have_count(0)
    visitor.looks_at("tokens")
    drawn = [visitor.plot(name).element_handle() for name in ("similarity", "heatmap", "lens")]
    texts = "plot => plot.layout.xaxis.ticktext.join()"
    before = drawn[2].evaluate(texts)
    visitor.example("Same word three times")
    expect(visitor.ticks("similarity", "y").filter(has_text=re.compile("^very$"))).to_have_count(3)
    assert [plot.evaluate("plot => plot.isConnected") for plot in drawn] == [True] * 3
    assert drawn[2].evaluate(texts) == before
    visitor.looks_at("head")
    expect(visitor.ticks("lens", "x").filter(has_text=re.compile("^very$"))).not_to_have_count(0)
    assert drawn[2].evaluate(texts) != before


def test_the_table_is_saved_and_plots_follow_the_theme(visitor: Visitor, tmp_path: Path) -> None:
    visitor.looks_at("tokens")
    for theme, bright in (("dark", True), ("light", False)):
        visitor.in_a_window(theme, 1366)
        for text in ("#similarity-plot .ytick text", "#heatmap-plot .xtick text"):
            visitor.page.wait_for_function(SCRIPTS["bright"], arg=[text, bright])
    visitor.page.get_by_role("button", name="The same numbers as a table").click()
    expect(visitor.page.locator("#numbers tbody tr")).to_have_count(visitor.ticks("similarity", "y").count())
    links = visitor.page.get_by_role("link", name="Download as CSV")
    assert "label,logit,probability" in visitor.saves(links.first, tmp_path).read_text("utf-8-sig")
    assert "index,token,in the vocabulary" in visitor.saves(links.last, tmp_path).read_text("utf-8-sig")


def test_the_head_tab_shows_the_way_of_the_data_its_source_and_programs(visitor: Visitor) -> None:
    page = visitor.page
    visitor.looks_at("head")
    expect(visitor.plot("lens").locator(".main-svg").first).to_be_visible()
    expect(page.locator("#depth li")).to_have_count(5)
    expect(page.locator("#head-lead")).to_contain_text("[CLS] → dense → activation (tanh) → dropout")
    for text in ("takes one position", "16,512 parameters", "(pooler): BertPooler("):
        expect(page.locator("#orders")).to_contain_text(text)
    expect(page.locator("#weights")).to_contain_text("bert.pooler.dense.weight")
    for name in ("The source that ran", "Take it home"):
        page.get_by_role("button", name=name).click()
    expect(page.locator("#sources .line.picks")).to_contain_text("hidden_states[:, 0]")
    expect(page.locator("#program .cm-content")).to_contain_text("import torch")
    expect(page.locator("#module .cm-content")).to_contain_text("import")
    visitor.can_read_it_anywhere()


def test_who_wants_no_motion_gets_none(visitor: Visitor) -> None:
    visitor.page.emulate_media(reduced_motion="reduce")
    assert visitor.page.evaluate(SCRIPTS["longest_motion"]) < 0.01
