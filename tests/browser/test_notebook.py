"""The frame that a notebook is given draws itself, with the network off, in whatever page it stands."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from components.notebook import poolscope_show
from tests.browser.test_report import FIGURES
from tests.families.cases import boundless, tiny_model

NOTEBOOK = """<!doctype html><html lang="en" style="background: #111"><body><p>In [1]</p>
<script>window.reached = null;</script>HTML<p>In [2]</p></body></html>"""


def test_it_is_drawn_can_be_saved_and_reaches_nothing_around_it(offline: Callable[[str, int], Page]) -> None:
    text = "the film is not good at all"
    exhibits = poolscope_show(tiny_model("bert").train(), boundless(), text, theme="dark")
    page = offline(NOTEBOOK.replace("HTML", exhibits._repr_html_()), 600)
    (frame,) = page.main_frame.child_frames
    for name in FIGURES:
        expect(frame.locator(f"#{name}-plot .main-svg").first).to_be_visible()
    expect(frame.locator(".verdict")).to_contain_text("reads 1 of 9 tokens")
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("innerHeight") == exhibits.height
    assert frame.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 15, 17)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    for name, button in (("png", "[data-export=png]"), ("csv", ".away a")):
        with page.expect_download() as saved:
            frame.locator(button).first.click()
        assert saved.value.suggested_filename == f"poolscope-similarity.{name}"
    tried = "(() => { try { parent.reached = 1; return 'reached'; } catch (error) { return error.name; } })()"
    assert frame.evaluate(tried) == "SecurityError"
    assert frame.evaluate("origin") == "null"
    assert frame.evaluate("[document.scripts.length, Boolean(window.Plotly)]") == [3 + len(FIGURES), True]
