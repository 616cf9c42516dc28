"""A backbone of the hub on the real app: offered, downloaded, stopped, begun again, and there for all."""

import re
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from components.settings import ASSETS
from tests.browser.conftest import opened
from tests.browser.visitor import Visitor
from tests.hub import Hub, hub
from tests.serving import served
from tests.tiny import checkpoint

MB = 1_000_000  # the model has 26: huggingface_hub reports 10 at a time
QUIET = 60  # seconds within which a server has noticed that nobody waits for a download
DONE = "least => document.querySelector('#coming progress')?.position >= least"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Hub]:
    """A hub with one model."""
    checkpoint(tmp_path / "org/one", id2label={0: "no", 1: "yes"}, max_position_embeddings=200_000)
    with hub(tmp_path) as there:
        yield there


@pytest.fixture
def address(there: Hub, tmp_path: Path) -> Iterator[str]:
    """The real app with one bundled backbone and that one of the hub."""
    catalogue, place = tmp_path / "backbones.toml", ASSETS / "models/bert-sentiment"
    listed = f'hub = "org/one"\nrevision = "{there.commit("org/one")}"\nlicence = "MIT"\nsize = {size(there)}'
    catalogue.write_text(
        f'[bundled]\ntitle = "Bundled"\npath = "{place}"\ntask = "sentiment"\n\n'
        f'[one]\ntitle = "One"\ntask = "sentiment"\n{listed}\n',
        "utf-8",
    )
    settings = {"POOLSCOPE_CATALOGUE": str(catalogue), **there.environment(tmp_path / "home")}
    with served("app.py", log=tmp_path / "log", **settings) as address:
        yield address


def size(there: Hub) -> int:
    """Bytes of all files of the model."""
    return sum(file.stat().st_size for file in (there.folder / "org/one").iterdir())


def done(bar: Locator, least: float) -> float:
    """How far a download is, once it is so far."""
    bar.page.wait_for_function(DONE, arg=least, timeout=30_000)
    return float(bar.evaluate("bar => bar.position"))


def test_a_model_is_offered_downloaded_stopped_and_begun_again(
    browser: BrowserContext, address: str, there: Hub, visitors: list[Visitor]
) -> None:
    visitor = opened(browser, address, visitors)
    visitor.sees_an_answer()
    visitor.type("the film is not good")
    page, bar = visitor.page, visitor.page.locator("#coming progress")
    expect(visitor.verdict).to_contain_text("film")
    visitor.verdict.get_by_role("link", name="One").click()  # it is a miniature that answered
    expect(page.locator("#offer")).to_contain_text("What you see below is still the answer of Bundled.")
    expect(page.locator("#text textarea")).to_have_value("the film is not good")
    page.go_back()
    expect(page.locator("#offer")).to_be_hidden()
    visitor.shows("place")
    page.locator("#place").get_by_text("On the hub (1)").click()
    expect(page.locator("#backbone input")).to_have_value(re.compile(r"One · \d+ MB to download"))
    expect(page.locator("#offer")).to_contain_text("licence: MIT")
    expect(page.locator("#offer")).to_contain_text("What you see below is still the answer of Bundled.")
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification reads")
    there.until = there.sent + 12 * MB
    page.locator("#download").press("Enter")
    expect(page.locator("#coming")).to_contain_text("Downloading One")
    assert page.evaluate("document.activeElement !== document.body")  # though the button has gone
    first = done(bar, 0.05)
    there.until += 10 * MB
    second = done(bar, first + 0.1)
    assert visitor.violations() == []
    page.locator("#coming-cancel").click()
    expect(page.locator("#offer")).to_contain_text("Stopped.")
    expect(page.locator("#coming")).to_be_hidden()
    assert there.is_quiet(QUIET), "the download went on without anyone who waits for it"
    there.until = there.sent + 22 * MB
    page.locator("#download").click()
    done(bar, second)
    there.until = inf
    expect(page.locator("#place")).to_contain_text("On this machine (1)")
    expect(page.locator("#backbone input")).to_have_value("One")
    expect(page.locator("#offer")).to_be_hidden()
    expect(page.locator("#outputs li").first).to_be_visible()
    page.close()  # before its server goes
