"""The app as it is shipped, with its bundled checkpoints."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.visitor import Visitor

FIRST = "The plot is not bad, but the acting is not good at all."


def test_arrival_is_analysed(visitor: Visitor) -> None:
    expect(visitor.page).to_have_title("Poolscope")
    expect(visitor.page.locator("#text textarea")).to_have_value(FIRST)
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification reads 1 of")
    expect(visitor.verdict.locator(".token")).to_have_text("[CLS]")


def test_another_backbone_changes_the_verdict_and_keeps_the_text(visitor: Visitor) -> None:
    for backbone, architecture, place in (
        ("DistilBERT mini · sentiment", "DistilBertForSequenceClassification", "the first"),
        ("RoBERTa mini · sentiment", "RobertaForSequenceClassification", "the first"),
        ("XLNet mini · sentiment", "XLNetForSequenceClassification", "the last"),
        ("GPT-2 mini · sentiment", "GPT2ForSequenceClassification", "the last"),
    ):
        visitor.choose("backbone", backbone)
        expect(visitor.verdict).to_contain_text(re.compile(f"{architecture} reads 1 of .*{place}"))
        expect(visitor.page.locator("#text textarea")).to_have_value(FIRST)
        visitor.waits_for_the_server()


def test_another_pooling_changes_the_verdict_and_marks_every_token(visitor: Visitor) -> None:
    visitor.choose("pooling", "mean · average of all tokens")
    expect(visitor.verdict).to_contain_text(re.compile(r"given the mean vector, reads all \d+ tokens"))
    expect(visitor.verdict).to_contain_text("Not what this head was trained for: it learned on [CLS]")
    expect(visitor.ticks("similarity", "y").filter(has_text="●")).to_have_count(
        visitor.ticks("similarity", "y").count()
    )


def test_a_choice_is_sent_once(visitor: Visitor) -> None:
    asked = visitor.questions
    visitor.choose("pooling", "mean · average of all tokens")
    expect(visitor.verdict).to_contain_text("given the mean vector")
    visitor.waits_for_the_server()
    assert visitor.questions == asked + 1
    visitor.page.locator("#pooling input").focus()
    visitor.page.keyboard.press("Home")
    visitor.page.keyboard.press("Enter")
    expect(visitor.verdict).to_contain_text("reads 1 of")
    visitor.waits_for_the_server()
    assert visitor.questions == asked + 2


def test_another_text_is_analysed_by_a_key_or_after_a_pause(visitor: Visitor) -> None:
    before = "acting"
    for word, key in (("wonderful", "Enter"), ("awful", "Control+Enter"), ("splendid", None)):
        visitor.type(f"a {word} film")
        if key:
            visitor.page.keyboard.press(key)
        expect(visitor.ticks("similarity", "y").filter(has_text=word)).to_have_count(1)
        expect(visitor.ticks("similarity", "y").filter(has_text=before)).to_have_count(0)
        before = word


def test_a_plot_is_redrawn_in_place_and_a_hidden_one_once_it_is_shown(visitor: Visitor) -> None:
    drawn = [visitor.plot(name).element_handle() for name in ("similarity", "heatmap", "flow")]
    texts = "plot => plot.data.map((trace) => trace.text).join()"
    before = [plot.evaluate(texts) for plot in drawn]
    visitor.example("Same word three times")
    expect(visitor.ticks("similarity", "y").filter(has_text=re.compile("^very$"))).to_have_count(3)
    assert [plot.evaluate("plot => plot.isConnected") for plot in drawn] == [True] * 3
    assert drawn[2].evaluate(texts) == before[2]
    visitor.looks_at("head")
    expect(visitor.ticks("flow", "x").filter(has_text=re.compile("^very$"))).not_to_have_count(0)
    assert drawn[2].evaluate(texts) != before[2]


def test_a_mistake_takes_the_place_of_the_answer_and_can_be_mended(visitor: Visitor) -> None:
    visitor.type("  ")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Type a sentence.")
    expect(visitor.page.locator("#similarity-plot")).to_be_hidden()
    visitor.type("a wonderful film")
    visitor.sees_an_answer()


def test_the_table_can_be_saved_as_csv(visitor: Visitor, tmp_path: Path) -> None:
    visitor.page.get_by_role("button", name="The same numbers as a table").click()
    expect(visitor.page.locator("#numbers tbody tr")).to_have_count(visitor.ticks("similarity", "y").count())
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("link", name="Download as CSV").click()
    download.value.save_as(tmp_path / "table.csv")
    assert "index,token,in the vocabulary" in (tmp_path / "table.csv").read_text("utf-8-sig")


def test_plots_follow_the_theme(real: Open) -> None:
    visitor = real(theme="dark")
    visitor.sees_an_answer()
    for theme, bright in (("dark", True), ("light", False)):
        visitor.in_a_window(theme, 1366)
        for text in ("#similarity-plot .ytick text", "#outputs-plot .bartext", "#heatmap-plot .xtick text"):
            colour = visitor.page.locator(text).first.evaluate("text => getComputedStyle(text).fill")
            assert (sum(map(int, re.findall(r"\d+", colour)[:3])) > 3 * 128) == bright
