"""Markup in every text that reaches the page: from visitors, and from a checkpoint and a catalogue."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Route, expect
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from tests.browser.visitor import PATIENCE, Visitor, visit
from tests.serving import ROOT, served

TRICKS: list[str] = tomllib.loads((ROOT / "tests" / "xss.toml").read_text(encoding="utf-8"))["tricks"]
ALL = " ".join(TRICKS)
LABEL = re.compile("|".join(re.escape(trick[:39]) for trick in TRICKS))  # a long one is cut off
ODD = (
    "script, iframe, object, embed, base, meta, link, style, math, video, audio, marquee, template, form, "
    "img, animate, use, a[href^='javascript:'], [onerror], [onload], [onfocus], [onmouseover], "
    "[ontoggle], [onbegin]"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a catalogue and a checkpoint whose every name is markup."""
    folder = tmp_path_factory.mktemp("hostile")
    _checkpoint(folder / "model")
    entry = {"path": "model", "title": ALL, "task": ALL, "note": ALL, "texts": 1}
    lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    catalogue = folder / "backbones.toml"
    catalogue.write_text(
        "\n".join(["[bert-sentiment]", *lines, '["<svg/onload=pwn()>"]', *lines]), encoding="utf-8"
    )
    with served("app.py", log=folder / "server.log", POOLSCOPE_CATALOGUE=str(catalogue)) as url:
        yield url


def _checkpoint(folder: Path) -> None:
    """A tiny classifier of markup: its labels, its tokens and the name of its class."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", *TRICKS]
    inner = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, id2label=dict(enumerate(TRICKS)),
        label2id={trick: index for index, trick in enumerate(TRICKS)},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    file = folder / "config.json"
    stated = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**stated, "architectures": [TRICKS[0]]}), encoding="utf-8")


@pytest.fixture
def visitor(browser: BrowserContext, address: str) -> Iterator[Visitor]:
    """A visitor to whom nothing happens but what the page itself does; that is held at the end."""
    visitor = visit(browser, address, "light", 1366, 900)
    visitor.page.on("dialog", lambda dialog: visitor.faults.append(f"dialog: {dialog.message}"))
    visitor.page.on(
        "response", lambda answer: answer.ok or visitor.faults.append(f"{answer.status}: {answer.url}")
    )
    visitor.sees_an_answer()
    yield visitor
    visitor.has_loaded_its_images()
    injected = visitor.page.locator(f"main :is({ODD})").evaluate_all(
        "found => found.filter(one => one.outerHTML.includes('pwn')).map(one => one.outerHTML.slice(0, 120))"
    )
    visitor.page.close()
    assert visitor.faults == []
    assert injected == []


def test_markup_from_a_checkpoint_a_catalogue_and_a_visitor_stays_text(visitor: Visitor) -> None:
    page = visitor.page
    visitor.type(ALL)
    visitor.type(f"good {ALL}", "pair")
    expect(visitor.ticks("similarity", "y").filter(has_text="onerror")).not_to_have_count(0, timeout=PATIENCE)
    expect(visitor.ticks("similarity", "y").filter(has_text="good")).to_have_count(1)
    expect(visitor.verdict).to_contain_text(LABEL)
    for name, part in (("similarity", ".point path"), ("outputs", ".point path"), ("heatmap", ".nsewdrag")):
        visitor.plot(name).locator(part).first.hover(force=True)
        expect(visitor.plot(name).locator(".hoverlayer .hovertext")).to_have_count(1)
    for menu in ("backbone", "reference"):
        page.locator(f"#{menu} input").click()
        expect(page.get_by_role("option").filter(has_text="pwn()").first).to_be_visible()
        page.keyboard.press("Escape")
    page.get_by_role("button", name="The same numbers as a table").click()
    expect(page.locator("#numbers td").filter(has_text="<svg/onload").first).to_be_visible()
    visitor.looks_at("head")
    expect(page.locator("#head-view, #program, main").first).to_contain_text("BertForSequenceClassification")
    page.get_by_role("tab", name="Evidence").click()
    expect(page.locator("#evidence-task")).to_be_visible()


def test_markup_in_a_mistake_and_in_a_refusal_stays_text(visitor: Visitor) -> None:
    """What a server says of a request is shown in a corner of the page: there, too, as text."""
    visitor.type(TRICKS[33] + " x" * 10_000)
    expect(visitor.page.get_by_role("alert").first).to_contain_text(TRICKS[33][:20])
    visitor.type("good")
    visitor.sees_an_answer()

    def spoil(route: Route) -> None:
        sent = json.loads(route.request.post_data or "{}")
        route.continue_(post_data=json.dumps({**sent, "data": [{"x": TRICKS[3]}, *sent["data"][1:]]}))

    visitor.page.route("**/queue/join*", spoil)
    with visitor.page.expect_response("**/queue/join*") as refused:
        visitor.type("good good")
    assert refused.value.status == 400
    expect(visitor.page.get_by_text(TRICKS[3]).first).to_be_visible()
    visitor.faults[:] = [
        fault for fault in visitor.faults if not re.search(r"^400: |400 \(Bad Request\)", fault)
    ]
