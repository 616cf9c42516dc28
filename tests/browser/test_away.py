"""Every plot can be taken away: as images that Plotly makes, and as numbers (see tests/exhibits)."""

import re
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Route, expect

from components.inference.engine import Engine
from components.types import Query
from tests.browser.visitor import SCRIPTS, Visitor
from tests.exhibits.showing import SAY
from tests.ui.fake import XSS

TEXT = "The plot is thin, but the actors are a delight."
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def alone(visitor: Visitor) -> Visitor:
    """A visitor for whom there is no network but the app; in the dark theme, whose texts are light."""

    def only_the_app(route: Route) -> None:
        route.continue_() if urlsplit(route.request.url).netloc == visitor.origin else route.abort()

    visitor.page.route("**/*", only_the_app)
    visitor.in_a_window("dark", 1366)
    visitor.type(TEXT)
    expect(visitor.ticks("similarity", "y").filter(has_text="delight")).to_have_count(1)
    return visitor


def saved(visitor: Visitor, plot: str, form: str, folder: Path) -> Path:
    """The file behind a button or a link in the row of a plot."""
    row = visitor.page.locator(".titled", has=visitor.page.locator(f"#{plot}-heading")).locator(".away")
    file = visitor.saves(row.get_by_text(form, exact=True), folder)
    assert file.name == f"poolscope-{plot}.{form.lower()}"
    return file


def test_images_and_numbers_are_right(alone: Visitor, engine: Engine, tmp_path: Path) -> None:
    drawn = alone.plot("heatmap").locator(".main-svg").first.bounding_box()
    assert drawn
    data = saved(alone, "heatmap", "PNG", tmp_path).read_bytes()
    width, height, *colour, opacity = alone.page.evaluate(SCRIPTS["picture"], list(data))
    assert width >= 2 * drawn["width"] - 2
    assert height > 2 * drawn["height"] + 60  # the title stands above it
    assert opacity == 255

    root = ElementTree.fromstring(saved(alone, "heatmap", "SVG", tmp_path).read_text("utf-8"))
    assert root.tag == f"{SVG}svg"
    texts = ["".join(part.itertext()) for part in root.iter(f"{SVG}text")]
    analysis = engine.ask("analyze", Query("bert-sentiment", TEXT))
    for token in analysis.tokens.text:
        assert any(token in text for text in texts)
    assert SAY("ordinary.name") in texts  # in the middle of the scale
    for words in ("[CLS]", TEXT.split()[0], "BERT mini · sentiment", "pooling native"):
        assert words in " ".join(texts)
    ink = next(part.get("style", "") for part in root.iter(f"{SVG}text") if part.text or list(part))
    fill = re.findall(r"[\d.]+", ink.partition("fill: ")[2].partition(";")[0])[:3]
    contrast = np.mean([float(part) for part in fill]) - np.mean(colour)
    assert abs(contrast) > 130  # the letters can be read on it
    assert "index,token,layer 0" in saved(alone, "heatmap", "CSV", tmp_path).read_text("utf-8-sig")


def test_the_row_is_reached_by_keyboard_and_the_focus_is_seen(alone: Visitor) -> None:
    """Whatever Tab reaches is framed."""
    seen = alone.page.evaluate(
        """() => [...document.querySelectorAll("button, a[href], input, textarea, summary, [tabindex='0']")]
            .filter((one) => one.checkVisibility() && one.tabIndex >= 0).length"""
    )
    alone.page.locator("body").click(position={"x": 2, "y": 2})
    found: set[str] = set()
    for _ in range(seen):
        alone.page.keyboard.press("Tab")
        name, width = alone.page.evaluate(SCRIPTS["frame"])
        assert width >= 2 or name == "BODY", name
        found.add(name)
    assert {"PNG", "SVG", "CSV"} <= found
    assert len(found) > 20


def test_markup_in_an_image_stays_text(alone: Visitor, tmp_path: Path) -> None:
    alone.type(XSS)
    expect(alone.ticks("similarity", "y").filter(has_text="delight")).to_have_count(0)
    expect(alone.page.locator("#similarity-heading")).to_be_visible()
    root = ElementTree.fromstring(saved(alone, "similarity", "SVG", tmp_path).read_text("utf-8"))
    assert "<img/src=x/onerror=pwn()>" in "".join(root.itertext())
    names = {part.tag.removeprefix(SVG) for part in root.iter()}
    assert not {"script", "img", "image", "a"} & names
