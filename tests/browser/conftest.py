"""The real page in Debian's chromium. Fixtures end with the package: playwright holds an event loop."""

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.browser.visitor import PATIENCE, Visitor, visit
from tests.serving import BROWSERS, Gate, browser_path, served

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


@pytest.fixture(scope="package")
def open_gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    """Where comparisons of made-up answers wait; it stands open."""
    return Gate(tmp_path_factory.mktemp("gate") / "gate")


@pytest.fixture
def gate(open_gate: Gate) -> Iterator[Gate]:
    """The same one, shut for one test."""
    open_gate.let(0)
    yield open_gate
    open_gate.open()


@pytest.fixture(scope="package")
def fake_url(tmp_path_factory: pytest.TempPathFactory, open_gate: Gate) -> Iterator[str]:
    """The address of the page on made-up answers."""
    log = tmp_path_factory.mktemp("fake") / "server.log"
    with served("-m", "tests.ui.fake_app", str(open_gate.file), log=log) as url:
        yield url


@pytest.fixture
def real(browser: BrowserContext, app_url: str) -> Iterator[Open]:
    """The app itself with its bundled checkpoints."""
    yield from _opener(browser, app_url)


@pytest.fixture
def fake(browser: BrowserContext, fake_url: str) -> Iterator[Open]:
    """The page on made-up answers, for analyses that no bundled checkpoint gives."""
    yield from _opener(browser, fake_url)


@pytest.fixture
def visitor(real: Open) -> Visitor:
    """A visitor of the app itself who sees the first answer."""
    return _arrived(real())


@pytest.fixture
def fake_visitor(fake: Open) -> Visitor:
    """A visitor of the page on made-up answers who sees the first one."""
    return _arrived(fake())


def _arrived(visitor: Visitor) -> Visitor:
    visitor.sees_an_answer()
    visitor.waits_for_the_server()
    return visitor


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
