"""A link made on a state that is shown opens to the same screen, on every tab of the real page."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, SCRIPTS, TICK, Visitor

SAME = SCRIPTS["same"].replace("LOOK", SCRIPTS["look"])
TEXT = 'not <b>bad</b> & 100 % “good” + 好 😀 "so"'


def at_rest(visitor: Visitor) -> dict[str, object]:
    """All that is in sight, once nothing is asked and nothing changes any more."""
    before = None
    for _ in range(PATIENCE // TICK):
        visitor.waits_for_the_server()
        now: dict[str, object] = visitor.page.evaluate(SCRIPTS["look"])
        if now == before and not visitor.asking:
            return now
        before = now
        visitor.page.wait_for_timeout(100)
    raise AssertionError("the page does not come to rest")


def looks_at_a_token(visitor: Visitor, page: Page) -> None:
    visitor.choose("backbone", "XLNet mini · sentiment")
    visitor.choose("pooling", "mean · average of all tokens")
    visitor.type(TEXT)
    expect(visitor.ticks("similarity", "y").filter(has_text="100")).to_have_count(1)
    expect(visitor.ticks("similarity", "y").filter(has_text=re.compile('["“”]'))).to_have_count(4)
    visitor.choose("reference", "the pooled vector")
    expect(page.locator("#similarity-heading")).to_contain_text("the pooled vector")
    page.locator("#layer input[type=range]").press("ArrowLeft")
    page.locator("#centred input[value=centred]").check()
    page.wait_for_function("() => location.search.includes('centred=centred')")
    expect(page.locator("[clip-path*='//']")).to_have_count(0)  # it would be sought at an old address
    chosen = {"backbone": ["xlnet-sentiment"], "pooling": ["mean"], "reference": ["pooled"], "layer": ["2"]}
    asked = {"__theme": ["light"], "text": [TEXT], **chosen, "centred": ["centred"]}
    assert parse_qs(urlsplit(page.url).query) == asked


def looks_at_a_head(visitor: Visitor, page: Page) -> None:
    visitor.looks_at("importance")
    at_rest(visitor)
    visitor.choose("importance-label", "positive")
    visitor.looks_at("head")
    expect(page.locator("#lens-heading")).to_contain_text("positive", timeout=PATIENCE)


def compares_two_versions(visitor: Visitor, page: Page) -> None:
    page.locator("#compare-button").click()
    visitor.choose("compare-head", "own · the checkpoint's own head")
    page.locator("#compare-edit-drop").click()
    expect(page.locator("#compare-grid td.edit")).not_to_have_count(0, timeout=PATIENCE)
    at_rest(visitor)  # every combination has come


def reads_the_evidence(visitor: Visitor, page: Page) -> None:
    page.locator("#evidence-button").click()
    page.locator("#every-pooling > button").click()
    visitor.choose("evidence-task", "paraphrase")
    visitor.choose("evidence-backbones", "GPT-2 mini · paraphrase")
    expect(visitor.plot("accuracy").locator(".xtitle")).to_contain_text("paraphrase")


MOVES = (looks_at_a_token, looks_at_a_head, compares_two_versions, reads_the_evidence)


@pytest.mark.parametrize("goes_on", MOVES)
def test_the_link_of_what_is_shown_opens_to_the_same_screen(
    real: Open, visitor: Visitor, goes_on: Callable[[Visitor, Page], None]
) -> None:
    goes_on(visitor, visitor.page)
    wanted = at_rest(visitor)
    again = real(query=visitor.page.url.partition("__theme=light")[2])
    with suppress(TimeoutError):  # what differs is said below
        again.page.wait_for_function(SAME, arg=json.dumps(wanted), timeout=PATIENCE, polling=300)
    assert at_rest(again) == wanted
    assert again.page.url == visitor.page.url
    again.page.close()
