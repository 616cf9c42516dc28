"""Reports of real analyses, opened from a file with the network off."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect
from torch.nn.functional import cosine_similarity
from transformers import AutoModel, AutoTokenizer

from components.analyses.analyze import Compared
from components.exhibits.comparison import Comparison
from components.exhibits.exhibit import Panel
from components.exhibits.panels import ANSWER, COMPARISON, HEAD, LAB, READING, TOKENS, Answered
from components.exhibits.report import Made, report
from components.exhibits.view import number
from components.inference.engine import Engine
from components.texts import ASSETS
from components.types import Query
from tests.browser.test_hostile import TRICKS
from tests.browser.visitor import Visitor
from tests.exhibits.answers import found
from tests.exhibits.showing import SAY
from tests.ui.fake import FakeAnalyst

WHEN = datetime(2026, 11, 21, tzinfo=UTC)
PANELS: tuple[Panel[Any, Any], ...] = (ANSWER, TOKENS, HEAD, READING)
FIGURES = tuple(
    one.name for panel in PANELS for one in panel.exhibits if one.plotted and "report" in one.where
)
WIDTH = 360  # pixels
TEXT = "The plot is thin, but the actors are a delight."


def analysed(engine: Engine | FakeAnalyst, query: Query) -> str:
    anatomy = engine.ask("anatomy", query)
    answer = Answered(engine, anatomy.analysis, {}, anatomy)
    return "".join(report(PANELS, answer, {}, lambda _: {"Text": query.text}, Made(WHEN), SAY))


def sees_all(page: Page, names: tuple[str, ...] = FIGURES) -> None:
    for name in names:
        expect(page.locator(f"#{name}-plot .main-svg").first).to_be_visible()


def can_be_read(page: Page) -> None:
    """Nothing scrolls sideways, and axe finds nothing in the dark nor in the light."""
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        violations = Axe().run(page).response["violations"]
        found = [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in violations]
        assert found == [], scheme


def test_it_opens_without_a_network_and_its_plots_can_be_taken_away(
    engine: Engine, offline: Callable[[str, int], Page], tmp_path: Path
) -> None:
    page = offline(analysed(engine, Query("bert-sentiment", TEXT)), WIDTH)
    sees_all(page)
    expect(page.locator(".verdict")).to_contain_text("reads 1 of 14 tokens")
    expect(page.locator(".verdict .says")).to_have_css("column-width", "auto")  # one row of tokens
    expect(page.locator("#similarity-plot .ytick text").filter(has_text="delight")).to_have_count(1)
    can_be_read(page)
    visitor = Visitor(page, "")
    for plot in FIGURES:
        image = visitor.saves(page.locator(f'button[data-plot="{plot}"][data-export="png"]'), tmp_path)
        assert image.read_bytes()[1:4] == b"PNG"
    table = visitor.saves(page.locator('a[download="poolscope-heatmap.csv"]'), tmp_path)
    assert table.read_text("utf-8-sig").startswith("index,token,layer 0")


def test_its_reader_chooses_layer_and_centring(engine: Engine, offline: Callable[[str, int], Page]) -> None:
    """The bars are cosines of the hidden states of transformers, and words and axis follow."""
    page = offline(analysed(engine, Query("bert-sentiment", TEXT)), WIDTH)
    folder, axis = ASSETS / "models/bert-sentiment", page.locator("#similarity-plot .xtitle")
    ids = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    states = AutoModel.from_pretrained(folder)(**ids, output_hidden_states=True).hidden_states
    for layer in (1, 4):
        page.locator("#look [name=layer]").fill(str(layer))
        expect(axis).to_contain_text(f"layer {layer} of 4")
        drawn = page.evaluate("document.querySelector('#similarity-plot > div').data[0].x")
        cosines = cosine_similarity(states[layer][0], states[layer][0, :1]).tolist()
        assert drawn == pytest.approx(cosines, abs=1e-4)
        expect(page.locator("#similarity-description")).to_contain_text(f"{number(min(cosines))} at least")
    page.locator("#look [value=standardised]").check()
    page.locator("#heatmap-plot .nsewdrag").click(position={"x": 40, "y": 150})  # on its lowest row
    expect(axis).to_contain_text("embeddings")
    expect(axis).to_contain_text("standardised cosine")
    can_be_read(page)


def test_a_hostile_checkpoint_is_inert_and_nothing_can_be_run(
    offline: Callable[[str, int], Page], browser: BrowserContext, tmp_path: Path
) -> None:
    """Even where markup got in, the document's own policy would stop it."""
    html = analysed(FakeAnalyst(), Query("hostile", " ".join(TRICKS[::12])))
    page = offline(html, WIDTH)
    sees_all(page)
    for name, part in (("similarity", ".point path"), ("heatmap", ".nsewdrag")):
        page.locator(f"#{name}-plot {part}").first.hover(force=True)
        expect(page.locator(f"#{name}-plot .hoverlayer .hovertext")).to_have_count(1)
    spoilt = html.replace("</header>", "<script>window.ran = true</script></header>", 1)
    file = tmp_path / "spoilt.html"
    file.write_text(
        spoilt.replace("<main>", '<main><b onclick="window.ran = true">b</b>', 1), encoding="utf-8"
    )
    page = browser.new_page()
    page.goto(file.as_uri())
    sees_all(page)
    page.locator("b").first.click()
    assert page.evaluate("window.ran") is None
    page.close()


def test_a_comparison_and_a_hostile_fit_open_too(engine: Engine, offline: Callable[[str, int], Page]) -> None:
    specs = [spec for spec in engine.backbones() if spec.key in ("bert-sentiment", "gpt2-sentiment")]
    poolings = ("native", "mean", "concat_last4_cls")

    def asked(text: str) -> tuple[Compared, ...]:
        queries = [Query(spec.key, text, pooling=pooling) for spec in specs for pooling in poolings]
        return tuple(engine.compare(queries))

    version = asked("The plot is thin, the actors a delight.")
    given = Comparison(tuple(specs), poolings, asked(TEXT), "done", version)
    made = Made(WHEN, "https://example.org/?a=b")
    page = offline("".join(report([COMPARISON], given, {}, lambda _: {"Text": TEXT}, made, SAY)), WIDTH)
    sees_all(page, ("curves",))
    expect(page.locator(".compare-grid td")).to_have_count(6)
    page.locator(".words label", has_text="delight").hover()
    expect(page.locator(".words .pieces:visible")).to_contain_text("delight")
    can_be_read(page)
    tricks = report([LAB], found()[2], {}, lambda _: {"Table": TRICKS[0]}, Made(WHEN), SAY)
    page = offline("".join(tricks), WIDTH)
    sees_all(page, ("lab-ranking", "lab-curve"))
    expect(page.locator(".numbers tbody tr").first).to_be_visible()
    can_be_read(page)
