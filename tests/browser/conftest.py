"""The real page in Debian's chromium. Fixtures end with the package: playwright holds an event loop."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect, sync_playwright

from tests.browser.visitor import PATIENCE, Visitor, visit
from tests.serving import served

Open = Callable[..., Visitor]
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--disable-features=LocalNetworkAccessChecks",  # a page of another site shows this machine's in a frame
]


@pytest.fixture(scope="package")
def browser() -> Iterator[BrowserContext]:
    """One browser for all pages, so that each finds gradio's scripts in its cache."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        message = "no chromium on the PATH"
        pytest.fail(message) if "CI" in os.environ else pytest.skip(message)
    expect.set_options(timeout=PATIENCE)  # the machine may be busy with other tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser.new_context()
        browser.close()


@pytest.fixture(scope="package")
def fake_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page on the fake analyst, for analyses that no bundled checkpoint gives."""
    log: Path = tmp_path_factory.mktemp("fake") / "server.log"
    with served("-m", "tests.ui.fake_app", log=log) as address:
        yield address


@pytest.fixture
def real(browser: BrowserContext, app_url: str) -> Iterator[Open]:
    """The app itself with its bundled checkpoints."""
    yield from _opener(browser, app_url)


@pytest.fixture
def fake(browser: BrowserContext, fake_address: str) -> Iterator[Open]:
    yield from _opener(browser, fake_address)


def _opener(browser: BrowserContext, address: str) -> Iterator[Open]:
    """Opens pages, and holds at the end that nothing forbidden happened in any of them."""
    visitors: list[Visitor] = []

    def open_page(theme: str = "light", width: int = 1366, height: int = 900, query: str = "") -> Visitor:
        visitors.append(visit(browser, address, theme, width, height, query))
        return visitors[-1]

    yield open_page
    faults = [fault for visitor in visitors for fault in visitor.faults]
    for visitor in visitors:
        visitor.page.close()
    assert not faults
