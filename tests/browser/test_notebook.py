"""The frame that a notebook is given draws itself, with the network off, in whatever page it stands."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, expect

from components.notebook import Exhibits, poolscope_show
from tests.families.cases import boundless, tiny_model

FIGURES = ("similarity", "outputs", "heatmap", "flow", "strips", "lens", "depth")
NOTEBOOK = """<!doctype html><html lang="en" style="background: {colour}"><body><p>In [1]</p>
<script>window.reached = null;</script>{html}<p>In [2]</p></body></html>"""


@pytest.fixture(scope="module")
def exhibits() -> Exhibits:
    return poolscope_show(tiny_model("bert").train(), boundless(), "the film is not good at all")


@pytest.fixture
def opened(browser: BrowserContext, exhibits: Exhibits, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens it in a page as a notebook's; holds at the end that nothing was fetched and nothing failed."""
    assert browser.browser
    context = browser.browser.new_context(accept_downloads=True)
    context.set_offline(True)
    faults: list[str] = []

    def open_page(width: int, colour: str = "#fff") -> Page:
        file = tmp_path / "notebook.html"
        file.write_text(NOTEBOOK.format(colour=colour, html=exhibits._repr_html_()), encoding="utf-8")
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 1000})
        page.on("console", lambda said: said.type == "error" and faults.append(said.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request", lambda one: one.url.startswith(("file:", "data:", "blob:")) or faults.append(one.url)
        )
        page.goto(file.as_uri())
        return page

    yield open_page
    context.close()
    assert not faults


def inside(page: Page) -> Frame:
    (frame,) = page.main_frame.child_frames
    return frame


def test_everything_is_drawn_and_can_be_saved(opened: Callable[..., Page], exhibits: Exhibits) -> None:
    page = opened(600, "#111")
    frame = inside(page)
    for name in FIGURES:
        expect(frame.locator(f"#{name}-plot .main-svg").first).to_be_visible()
    expect(frame.locator(".verdict")).to_contain_text("reads 1 of 9 tokens")
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("innerHeight") == exhibits.height
    assert frame.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    for name, button in (("png", "[data-export=png]"), ("csv", ".away a")):
        with page.expect_download() as saved:
            frame.locator(button).first.click()
        assert saved.value.suggested_filename == f"poolscope-similarity.{name}"


def test_its_scripts_reach_nothing_around_it(opened: Callable[..., Page]) -> None:
    frame = inside(opened(900))
    expect(frame.locator("#depth-plot .main-svg").first).to_be_visible()
    tried = "(() => { try { parent.reached = 1; return 'reached'; } catch (error) { return error.name; } })()"
    assert frame.evaluate(tried) == "SecurityError"
    assert frame.evaluate("origin") == "null"
    assert frame.evaluate("[document.scripts.length, Boolean(window.Plotly)]") == [3 + len(FIGURES), True]
