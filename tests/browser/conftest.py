"""The real page in Debian's chromium. Fixtures end with the package: playwright holds an event loop."""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import pytest
from playwright.sync_api import BrowserContext, Error, Page, expect, sync_playwright

from tests.browser.home import Home
from tests.browser.visitor import PATIENCE, Visitor, visit
from tests.conftest import ANEW
from tests.serving import BROWSERS, Gate, browser_path, served

Open = Callable[..., Visitor]
Made = TypeVar("Made")
AGAIN = 10_000  # milliseconds; a page that is not back by then is opened anew, which takes as long
FAILED = pytest.StashKey[bool]()
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on a test that it failed, for its fixtures."""
    report = yield
    before = report.when != "setup" and item.stash.get(FAILED, False)  # another run begins with its setup
    item.stash[FAILED] = before or report.failed
    return report


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
    """Where the page is served on made-up answers, for analyses that no bundled checkpoint gives."""
    log = tmp_path_factory.mktemp("fake") / "server.log"
    with served("-m", "tests.ui.fake_app", str(open_gate.file), log=log) as url:
        yield url


class Kept(Generic[Made]):
    """What tests share; after a test that failed, the next one finds what ``make`` makes anew."""

    def __init__(self, make: Callable[[], AbstractContextManager[Made]]) -> None:
        self._make, self._stack = make, ExitStack()
        self._made: list[Made] = []

    def turn(self, test: pytest.Item) -> Iterator[Made]:
        """It, for one test."""
        if not self._made:
            self._made.append(self._stack.enter_context(self._make()))
        yield self._made[0]
        if test.stash.get(FAILED, False):
            self.close()

    def close(self) -> None:
        """Let go of it."""
        self._made.clear()
        self._stack.close()


@dataclass(frozen=True)
class Shared:
    """The pages that tests take turns on, by address."""

    browser: BrowserContext
    pages: dict[str, tuple[Visitor, Home]] = field(default_factory=dict)

    def turn(self, address: str, test: pytest.Item) -> Iterator[Visitor]:
        """The page for one test. After a test that failed on it, it is closed: the next one opens it anew."""
        visitor = self._at_home(address, test)
        try:
            yield visitor
        finally:
            if test.stash.get(FAILED, False) or visitor.faults:
                self._close(address)
        assert not visitor.faults

    def _at_home(self, address: str, test: pytest.Item) -> Visitor:
        """The page as it arrived; opened anew where its own controls do not bring it back in time.

        ``test``: is told why, for the summary; what is opened anew each time is not shared.
        """
        if address in self.pages:
            visitor, home = self.pages[address]
            try:
                home.bring(visitor, AGAIN)
                return visitor
            except (AssertionError, Error) as error:
                test.user_properties.append((ANEW, str(error)))
                self._close(address)
        visitor = visit(self.browser, address, "light", 1366, 900)
        self.pages[address] = visitor, Home.of(visitor)
        self.pages[address][1].bring(visitor, PATIENCE)
        return visitor

    def _close(self, address: str) -> None:
        visitor, _ = self.pages.pop(address)
        visitor.page.close()


@pytest.fixture(scope="package")
def shared(browser: BrowserContext) -> Iterator[Shared]:
    shared = Shared(browser)
    yield shared
    for visitor, _ in shared.pages.values():
        visitor.page.close()


@pytest.fixture
def visitor(shared: Shared, app_url: str, request: pytest.FixtureRequest) -> Iterator[Visitor]:
    """At the app itself with its bundled checkpoints; on a page that tests share, as it arrived."""
    yield from shared.turn(app_url, request.node)


@pytest.fixture
def fake_visitor(shared: Shared, fake_url: str, request: pytest.FixtureRequest) -> Iterator[Visitor]:
    """At made-up answers; on a page that tests share, as it arrived."""
    yield from shared.turn(fake_url, request.node)


@pytest.fixture
def real(browser: BrowserContext, app_url: str) -> Iterator[Open]:
    """The app itself with its bundled checkpoints."""
    yield from _opener(browser, app_url)


@pytest.fixture
def fake(browser: BrowserContext, fake_url: str) -> Iterator[Open]:
    yield from _opener(browser, fake_url)


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
