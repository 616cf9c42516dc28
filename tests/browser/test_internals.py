"""What styles and scripts look for by gradio's own names is on gradio's page."""

import re
import tomllib
from collections.abc import Mapping

from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.serving import ROOT

SELECTORS = tomllib.loads((ROOT / "components" / "ui" / "gradio_selectors.toml").read_text("utf-8"))
STYLES = "".join(path.read_text("utf-8") for path in (ROOT / "assets").glob("*.css"))
OWN = {"--label", "--mix", "--rows", "--size"}  # are set by an element
OWN |= set(re.findall(r"(--[\w-]+)\s*:", STYLES))
VARIABLES = sorted(set(re.findall(r"var\((--[\w-]+)", STYLES)) - OWN)
VALUE = "name => getComputedStyle(document.querySelector('.gradio-container')).getPropertyValue(name)"


def moved(page: Page, selectors: Mapping[str, str]) -> list[str]:
    """What cannot be found any more, in a sentence for each."""
    return [
        f"nothing on gradio's page matches {selector} any more: {why}"
        for selector, why in selectors.items()
        if not page.locator(selector).count()
    ]


def test_what_is_looked_for_on_gradio_s_page_is_there(fake: Open) -> None:
    visitor = fake()
    visitor.sees_an_answer()
    page = visitor.page
    assert moved(page, SELECTORS["on_arrival"]) == []
    assert page.evaluate("window.__gradio_session_hash__"), "a page no longer knows its visitor's name"
    assert page.locator("base").count() == 0, "the page's <base> is not removed any more"
    unset = [name for name in VARIABLES if not page.evaluate(VALUE, name)]
    assert not unset, f"gradio's theme no longer has {unset}"
