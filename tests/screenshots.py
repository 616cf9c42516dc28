"""`make pictures`: the README's pictures, of the real page as it is today."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.serving import ROOT, browser_path, served

LIMIT = 60_000  # milliseconds
SETTLED = 1500  # milliseconds, after which nothing is redrawn any more
EDIT = "&version_text=The+plot+is+bad%2C+but+the+acting+is+good."
Shown = Callable[[Page], None]


def main() -> None:
    """Take all of them anew."""
    flags = ["--no-sandbox", "--disable-gpu"]
    with served("app.py", log=Path(os.devnull)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=flags)
        for name, width, height in (("screenshot", 1366, 1150), ("thumbnail", 1200, 630)):
            page = browser.new_page(viewport={"width": width, "height": height})
            take(page, f"{address}/?__theme=light", name, _answered)
        for name, (query, shown) in SHOTS.items():
            for where, width, height, scale in (("", 1920, 1080, 1), ("-phone", 390, 844, 2)):
                window = {"width": width, "height": height}
                page = browser.new_page(viewport=window, device_scale_factor=scale)
                take(page, f"{address}/?__theme=light{query}", f"screenshots/{name}{where}", shown)
        browser.close()


def take(page: Page, address: str, name: str, shown: Shown) -> None:
    """A picture of the page at an address, once it is ``shown``."""
    page.goto(address)
    shown(page)
    page.wait_for_timeout(SETTLED)
    page.screenshot(path=ROOT / "assets" / f"{name}.png")
    page.close()


def _answered(page: Page) -> None:
    expect(page.locator("#heatmap-plot .main-svg").first).to_be_visible(timeout=LIMIT)


def _compared(page: Page) -> None:
    expect(page.locator("#compare-cancel")).to_be_disabled(timeout=LIMIT)
    expect(page.locator("#compare-grid td.told")).to_have_count(30, timeout=LIMIT)
    expect(page.locator("#curves-plot .scatterlayer .trace")).to_have_count(5, timeout=LIMIT)
    page.wait_for_timeout(SETTLED)
    page.evaluate("scrollTo(0, document.querySelector('#compared').getBoundingClientRect().top - 14)")


def _traced(page: Page) -> None:
    _compared(page)
    page.locator("#trace-start").click()
    _scrolled(page, "#trace-plot")


def _averaged(page: Page) -> None:
    """Shown as a plot on a wide screen, as a table on a narrow one."""
    expect(
        page.locator("#averaging-plot .main-svg, #averaging .narrow table").filter(visible=True)
    ).not_to_have_count(0, timeout=LIMIT)


def _fitted(page: Page) -> None:
    page.get_by_role("button", name="Sample: support tickets").click()
    expect(page.locator("#lab-notes")).to_contain_text("210 rows", timeout=LIMIT)
    page.get_by_role("button", name="Fit", exact=True).click()
    expect(page.locator("#lab-status")).to_contain_text("This took", timeout=5 * LIMIT)
    _scrolled(page, "#lab-ranking-plot")


def _scrolled(page: Page, plot: str) -> None:
    """To a plot, and the heading above it."""
    expect(page.locator(f"{plot} .main-svg").first).to_be_visible(timeout=LIMIT)
    page.wait_for_timeout(SETTLED)
    page.evaluate("plot => scrollTo(0, document.querySelector(plot).getBoundingClientRect().top - 190)", plot)


def _talking(page: Page) -> None:
    expect(page.locator("#talk .slide.current.asking")).to_be_visible(timeout=LIMIT)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#talk .slide.current .main-svg").first).to_be_visible(timeout=LIMIT)
    expect(page.locator("#talk .compare-grid td.told")).not_to_have_count(0, timeout=LIMIT)


SHOTS: dict[str, tuple[str, Shown]] = {  # of a link with a query, when that is shown
    "compare": ("&tab=compare", _compared),
    "edit": (f"&tab=compare{EDIT}", _compared),
    "lens": ("&panel=head", partial(_scrolled, plot="#lens-plot")),
    "importance": ("&panel=importance", partial(_scrolled, plot="#matters-plot")),
    "averaging": ("&tab=evidence", _averaged),
    "trace": (f"&tab=compare{EDIT}", _traced),
    "lab": ("&tab=lab", _fitted),
    "talk": ("&talk=2", _talking),
}

if __name__ == "__main__":
    main()
