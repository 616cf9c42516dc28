"""The real page in Debian's chromium. Fixtures end with the package: playwright holds an event loop."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.browser.visitor import PATIENCE, Visitor, note_faults, visit
from tests.serving import BROWSERS, browser_path

Open = Callable[..., Visitor]
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--process-per-site",  # all pages of a context share one process, which has compiled the scripts
    "--disable-features=LocalNetworkAccessChecks",  # a page of another site shows this machine's in a frame
]


@pytest.fixture(scope="package")
def browser() -> Iterator[BrowserContext]:
    """One browser for all pages, so that each finds gradio's scripts in its cache, and compiled."""
    path = browser_path()
    if path is None:
        message = f"none of {', '.join(BROWSERS)} is on the PATH"
        pytest.fail(message) if "CI" in os.environ else pytest.skip(message)
    expect.set_options(timeout=PATIENCE)  # the machine may be busy with other tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        context = browser.new_context()
        _stay(context.new_page())
        yield context
        browser.close()


def _stay(page: Page) -> None:
    """Hold on to the process of this machine's pages by an empty one, which stays open between tests."""
    page.route("**/*", lambda route: route.fulfill(body=""))
    page.goto("http://127.0.0.1/")


@pytest.fixture(scope="module")
def visitors() -> Iterator[list[Visitor]]:
    """Every page of a file, which stays open for its tests; see `faultless`."""
    opened: list[Visitor] = []
    yield opened
    for visitor in opened:
        visitor.page.close()


@pytest.fixture(autouse=True)
def faultless(visitors: list[Visitor]) -> Iterator[None]:
    """Holds at the end of each test that nothing forbidden happened in any page.

    Pages that the test itself opened are closed: each holds one of the six connections that a browser has.
    """
    before = len(visitors)
    yield
    assert not [fault for visitor in visitors for fault in visitor.faults]
    while len(visitors) > before:
        visitors.pop().page.close()


@pytest.fixture(scope="module")
def real(browser: BrowserContext, app_url: str, visitors: list[Visitor]) -> Open:
    """Opens pages of the app itself with its bundled checkpoints."""
    return partial(opened, browser, app_url, visitors)


@pytest.fixture(scope="module")
def fake(browser: BrowserContext, fake_url: str, visitors: list[Visitor]) -> Open:
    """Opens pages on made-up answers, for analyses that no bundled checkpoint gives."""
    return partial(opened, browser, fake_url, visitors)


@pytest.fixture(scope="module")
def visitor(real: Open) -> Visitor:
    """The visitor of a file, of the app itself, who saw the first answer and goes on where a test ended."""
    return _arrived(real())


@pytest.fixture(scope="module")
def fake_visitor(fake: Open) -> Visitor:
    """The same on the page on made-up answers."""
    return _arrived(fake())


def _arrived(visitor: Visitor) -> Visitor:
    visitor.sees_an_answer()
    visitor.sees_where_it_comes_from()
    return visitor


def opened(
    browser: BrowserContext, address: str, visitors: list[Visitor], *window: Any, **more: Any
) -> Visitor:
    """A visitor with a page of their own, which is held to do nothing that is forbidden."""
    visitors.append(visit(browser, address, *window, **more))
    return visitors[-1]


@pytest.fixture
def offline(browser: BrowserContext, tmp_path: Path) -> Iterator[Callable[[str, int], Page]]:
    """Opens HTML from a file in a window of a width, without a network.

    Holds at the end that nothing was fetched, nothing failed and no foreign code was run.
    """
    assert browser.browser
    context = browser.browser.new_context(accept_downloads=True)
    context.set_offline(True)
    faults: list[str] = []

    def open_file(html: str, width: int) -> Page:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        note_faults(page, faults, "file:")
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.goto(file.as_uri())
        return page

    yield open_file
    context.close()
    assert not faults
