"""What a visitor waits for, beside a gradio app that does next to nothing."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.benchmarks.timing import row, summary
from tests.serving import browser_path, served

APP, EMPTY = "app.py", "tests/benchmarks/empty_app.py"
DRAWN = {APP: "#heatmap-plot .main-svg", EMPTY: "button:text-is('go')"}  # when there is something to look at
QUIET = Path(os.devnull)
SCRIPT = Path(__file__).with_suffix(".js")  # what measures in the page itself
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def report() -> None:
    """Print start to first HTML, start to the first analysis drawn, and click to redrawn plots."""
    print("\nThe page, beside a gradio app with two text boxes and a button")
    pairs = [(_first_html(APP), _first_html(EMPTY)) for _ in range(6)][1:]  # the first warms disks
    print(row("start to first HTML", summary(pairs), "bar 1.30"), flush=True)
    browser_at = browser_path()
    if browser_at is None:
        print("no browser on the PATH: the browser was not measured")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_at, args=FLAGS)
        drawn = [(_drawn(browser, APP), _drawn(browser, EMPTY)) for _ in range(3)]
        print(row("start to first analysis drawn", summary(drawn)), flush=True)
        clicks = zip(_pooling_clicks(browser), _trivial_clicks(browser), strict=True)
        print(row("click to redrawn plots", summary(list(clicks))), flush=True)
        slides = summary(_slides(browser))
        print(row("frame with a step of the layer, beside an idle one", slides), flush=True)
        steps = zip(_talk_steps(browser, "ArrowRight"), _talk_steps(browser, "Shift"), strict=True)
        print(row("key to the next slide of a talk, beside a key that does nothing", summary(list(steps))))
        browser.close()


def _first_html(script: str) -> float:
    start = time.perf_counter()
    with served(script, log=QUIET):
        return time.perf_counter() - start


@contextmanager
def _opened(browser: Browser, script: str, query: str = "") -> Iterator[Page]:
    """The first page of an app that has just begun."""
    with served(script, log=QUIET) as url:
        page = browser.new_page()
        page.add_init_script(path=SCRIPT)
        page.goto(f"{url}/{query}")
        yield page
        page.close()


def _drawn(browser: Browser, script: str) -> float:
    start = time.perf_counter()
    with _opened(browser, script) as page:
        expect(page.locator(DRAWN[script]).first).to_be_visible(timeout=60_000)
        return time.perf_counter() - start


def _pooling_clicks(browser: Browser) -> list[float]:
    """Seconds from choosing another pooling to the verdict and the plots that belong to it."""
    with _opened(browser, APP) as page:
        expect(page.locator(DRAWN[APP]).first).to_be_visible(timeout=60_000)
        return [_pooling_click(page, choice) for choice in ("mean", "native") * 5]


def _pooling_click(page: Page, choice: str) -> float:
    """Mean reads every token, native one: the marks of the redrawn plot tell when it is there.

    Seconds count from when the option is pressed.
    """
    page.locator("#pooling input").click()
    option = page.get_by_role("option", name=re.compile(f"^{choice} ·"))
    expect(option).to_be_visible()
    marks = """all => { const ticks = [...document.querySelectorAll("#similarity-plot .ytick text")];
        const marks = ticks.filter(tick => tick.textContent.includes("●")).length;
        return ticks.length > 1 && (all ? marks === ticks.length : marks === 1); }"""
    return _click(page, option, marks, choice == "mean")


def _slides(browser: Browser) -> list[tuple[float, float]]:
    """Seconds of a frame while the slider of the layer moves by one in each, and where nothing happens."""
    with _opened(browser, APP) as page:
        expect(page.locator(DRAWN[APP]).first).to_be_visible(timeout=60_000)
        page.evaluate("measured.slide(true, 1)")  # until each layer has been drawn
        both = "async () => [await measured.slide(true, 2), await measured.slide(false, 0.5)]"
        return [tuple(page.evaluate(both)) for _ in range(5)]


def _talk_steps(browser: Browser, key: str) -> list[float]:
    """Seconds from pressing a key to the second frame after it, on every slide of the talk but the last."""
    with _opened(browser, APP, "?talk=1") as page:
        expect(page.locator("#slide-end [data-made]")).to_have_count(1, timeout=60_000)  # every slide is made
        steps = page.locator("#talk .slide").count() + page.locator("#talk .question").count() - 1
        return [float(page.evaluate("key => measured.press(key)", key)) for _ in range(steps)]


def _trivial_clicks(browser: Browser) -> list[float]:
    """Seconds from pressing a button to a reversed text."""
    there = "text => [...document.querySelectorAll('textarea, input')].some(box => box.value === text)"
    clicks = []
    with _opened(browser, EMPTY) as page:
        for number in range(12345, 12355):
            page.get_by_label("in", exact=True).fill(str(number))
            button = page.get_by_role("button", name="go", exact=True)
            clicks.append(_click(page, button, there, str(number)[::-1]))
    return clicks


def _click(page: Page, target: Locator, effect: str, expected: object) -> float:
    """Seconds from pressing to the first frame in which the ``effect`` is as ``expected``.

    The page itself looks for it, from before the click, which returns to a script when the page has time.
    """
    page.evaluate(f"expected => {{ measured.seen = measured.see({effect}, expected); }}", expected)
    target.click()
    return float(page.evaluate("measured.seen"))
