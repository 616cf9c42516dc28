"""What a visitor waits for, beside a gradio app that does next to nothing."""

import os
import re
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.benchmarks.timing import Pair, tell
from tests.serving import browser_path, eventually, served

APP, PLAIN = "app.py", "tests/benchmarks/plain_app.py"
DRAWN = {APP: "#heatmap-plot .main-svg", PLAIN: "button:text-is('go')"}  # when there is something to look at
QUIET = Path(os.devnull)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SCRIPTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # of the page


def report() -> None:
    """Print start to first HTML, start to the first analysis drawn, and click to redrawn plots."""
    print("\nThe page, beside a gradio app with two text boxes and a button")
    begun = [(_started(APP), _started(PLAIN)) for _ in range(6)][1:]  # the first warms disks
    tell("start to first HTML", begun, "bar 1.30")
    browser_at = browser_path()
    if browser_at is None:
        print("no browser on the PATH: the browser was not measured")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_at, args=FLAGS)
        drawn = [(_started(APP, browser), _started(PLAIN, browser)) for _ in range(3)]
        tell("start to first analysis drawn", drawn)
        tell("address to first answer in sight", _reads(browser), "bar 1.10")
        clicks = zip(_pooling_clicks(browser), _trivial_clicks(browser), strict=True)
        tell("click to redrawn plots", clicks)
        browser.close()


def _started(script: str, browser: Browser | None = None) -> float:
    """Seconds until an app has given its first HTML, or until a browser has drawn it."""
    begun = time.perf_counter()
    with served(script, log=QUIET) if browser is None else _opened(browser, script):
        return time.perf_counter() - begun


@contextmanager
def _opened(browser: Browser, script: str) -> Iterator[Page]:
    """The first page of an app that has just begun, when there is something to look at."""
    with served(script, log=QUIET) as url, browser.new_page() as page:
        page.goto(url)
        expect(page.locator(DRAWN[script]).first).to_be_visible(timeout=60_000)
        yield page


def _reads(browser: Browser) -> list[Pair]:
    """Seconds from asking for an app's page to what there is to see, in a browser that keeps nothing."""
    with served(APP, log=QUIET) as own, served(PLAIN, log=QUIET) as plain:
        eventually(lambda: 'id="arrival"' in httpx.get(own).text, "no first answer")
        return [(_seen(browser, own, ".verdict"), _seen(browser, plain, DRAWN[PLAIN])) for _ in range(6)][1:]


def _seen(browser: Browser, url: str, part: str) -> float:
    with browser.new_page() as page:
        begun = time.perf_counter()
        page.goto(url, wait_until="commit")
        page.locator(part).first.wait_for()
        return time.perf_counter() - begun


def _pooling_clicks(browser: Browser) -> list[float]:
    """Seconds from choosing another pooling to the verdict and the plots that belong to it.

    Mean reads every token, native one: the marks of the redrawn plot tell when it is there.
    """
    clicks = []
    with _opened(browser, APP) as page:
        for choice in ("mean", "native") * 5:
            page.locator("#pooling input").click()
            option = page.get_by_role("option", name=re.compile(f"^{choice} ·"))
            expect(option).to_be_visible()
            clicks.append(_click(page, option, "marks", choice == "mean"))
    return clicks


def _trivial_clicks(browser: Browser) -> list[float]:
    """Seconds from pressing a button to a reversed text."""
    clicks = []
    with _opened(browser, PLAIN) as page:
        for number in map(str, range(12345, 12355)):
            page.get_by_label("in", exact=True).fill(number)
            button = page.get_by_role("button", name="go", exact=True)
            clicks.append(_click(page, button, "reversed", number[::-1]))
    return clicks


def _click(page: Page, target: Locator, effect: str, expected: object) -> float:
    """Seconds from pressing to the first frame in which the ``effect`` is as ``expected``.

    The page itself looks for it, from before the click, which returns to a script when the page has time.
    """
    page.evaluate(SCRIPTS["watch"].replace("EFFECT", SCRIPTS[effect]), expected)
    target.click()
    return float(page.evaluate("window.seen"))
