"""Another pooling is drawn in the browser before the server answers, and as the server draws it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from playwright.sync_api import Page, Route, TimeoutError, expect

from components.exhibits.answer.similarity import SIMILARITY
from components.exhibits.answer.table import TABLE
from components.exhibits.view import LAYER
from components.texts import load_texts
from components.types import Query
from tests.browser.conftest import Open
from tests.browser.test_looks import DRAWN
from tests.browser.visitor import PATIENCE, Visitor
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
SINGLE, PAIR = "The film is not as good as the book", ("How do I cook rice?", "How is rice best cooked?")
LINKS = {
    "a text": f"&backbone=bert-sentiment&text={SINGLE}&layer=2",
    "a pair": f"&backbone=bert-paraphrase&text={PAIR[0]}&pair={PAIR[1]}&centred=centred",
    "a text in Chinese": f"&lang=zh&backbone=gpt2-sentiment&text={SINGLE}",
    "a pair in Chinese": f"&lang=zh&backbone=xlnet-paraphrase&text={PAIR[0]}&pair={PAIR[1]}",
}
NOTE = """() => {
    const { came, chosen } = window.poolings;
    const { moved } = window.looks;
    const noted = { came: 0, chosen: 0, ahead: 0, drawn: 0, looks: [] };
    window.noted = noted;
    window.poolings.came = async (...given) => { await came(...given); noted.came++; };
    window.poolings.chosen = async (...given) => {
        const values = await chosen(...given);
        noted.chosen++;
        return values;
    };
    window.looks.moved = async (...given) => {
        const values = await moved(...given);
        noted.looks.push(values.some((value) => typeof value === "string"));
        return values;
    };
    document.addEventListener("poolscope:ahead", () => noted.ahead++, true);
    for (const name of ["similarity", "outputs", "heatmap"]) {
        document.querySelector(`#${name}-plot .js-plotly-plot`).on("plotly_react", () => noted.drawn++);
    }
}"""  # how often poolings were brought, chosen and drawn ahead, and plots drawn; whether looks drew any
AT_ITS_LAYER = f"""(figures) => {{
    const layer = document.querySelector("#layer input[type=range]").value;
    return ({DRAWN})(["{SIMILARITY.name}", figures[layer]]);
}}"""  # whether the bars are those of the layer that the slider says
SHOWN = """() => {
    const plots = ["similarity", "outputs", "heatmap"].map((name) => {
        const { data, layout } = document.querySelector(`#${name}-plot .js-plotly-plot`);
        return [data, layout, document.querySelector(`#${name}-plot .main-svg`).textContent];
    });
    const places = ["#verdict .verdict", "#similarity", "#outputs", "#heatmap"];
    const links = [...document.querySelectorAll("#tokens-view .away a")].map((link) => link.href);
    return JSON.stringify([plots, links, ...places.map((place) => document.querySelector(place).innerText)]);
}"""  # all that is seen of an answer, but for its table


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_what_is_drawn_at_once_is_what_a_link_to_that_pooling_shows(real: Open, link: str) -> None:
    visitor = _opens(real, link)
    page = visitor.page
    for pooling in ("max", "native"):
        wanted = _opens(real, f"{link}&pooling={pooling}").page.evaluate(SHOWN)
        _brings(page)
        with _asking_waits(page):
            _chooses(page, pooling)
            _shows(page, wanted)
            drawn = page.evaluate("noted.drawn")
        _is_answered(visitor, pooling)
        assert page.evaluate(SHOWN) == wanted
        assert page.evaluate("noted.drawn") == drawn  # the answer has drawn nothing anew


@pytest.mark.parametrize("changed", ["text", "layer", "table", "view"])
def test_what_has_changed_since_is_left_to_the_server(fake: Open, changed: str) -> None:
    query = Query("first", "not so good", pooling="mean")
    visitor = _opens(fake, f"&backbone=first&text={query.text}")
    page = visitor.page
    _brings(page)
    change: dict[str, Callable[[], object]] = {
        "text": lambda: visitor.type("not bad"),
        "layer": lambda: page.locator("#layer input[type=number]").fill("1"),
        "table": lambda: page.get_by_role("button", name=SAY(TABLE.title)).click(),
        "view": lambda: visitor.looks_at("head"),
    }
    with _asking_waits(page):
        change[changed]()
        _chooses(page, "mean")
        assert page.evaluate("noted.ahead") == 0
    visitor.looks_at("tokens")
    asked = replace(query, text="not bad") if changed == "text" else query
    _sees(page, asked, 1 if changed == "layer" else -1)


def test_looks_at_the_answer_before_are_not_drawn_over_another_pooling(fake: Open) -> None:
    query = Query("first", "not so good", pooling="mean")
    visitor = _opens(fake, f"&backbone=first&text={query.text}&layer=1")
    page = visitor.page
    page.locator("#layer").hover()
    page.wait_for_function("document.querySelector('#looks textarea').value")
    _brings(page)
    with _asking_waits(page):
        _chooses(page, "mean")
        _sees(page, query, 1)
        page.locator("#layer input[type=number]").fill("0")
        page.wait_for_function("noted.looks.length > 0")
        assert not any(page.evaluate("noted.looks"))
    _is_answered(visitor, "mean")
    page.wait_for_function(AT_ITS_LAYER, arg=[_figure(query, layer) for layer in range(3)])


def test_a_question_that_is_refused_leaves_the_answer_before_as_it_was(fake: Open) -> None:
    visitor = _opens(fake, "&backbone=first&text=not so good")
    page = visitor.page
    before = page.evaluate(SHOWN)
    _brings(page)
    page.route("**/queue/join*", lambda route: route.fulfill(status=429, json={"detail": "Too many."}))
    _chooses(page, "mean")
    expect(page.get_by_text("Too many.")).to_be_visible()
    assert page.evaluate("noted.ahead") == 1
    _shows(page, before)
    (refused,) = visitor.faults  # the browser's own note of the answer
    assert "429" in refused
    visitor.faults.clear()
    page.unroute("**/queue/join*")
    _chooses(page, "cls")
    _is_answered(visitor, "cls")
    _sees(page, Query("first", "not so good", pooling="cls"), -1)


def test_poolings_are_brought_once_for_an_answer_and_where_they_are_seen(fake: Open) -> None:
    visitor = _opens(fake, "&backbone=first&text=not so good")
    _brings(visitor.page)
    for pooling in ("mean", "cls"):
        _chooses(visitor.page, pooling)
        _is_answered(visitor, pooling)
    assert visitor.page.evaluate("noted.came") == 1
    visitor.looks_at("head")
    visitor.type("not bad")
    expect(visitor.page.locator("#head-lead")).not_to_be_empty()
    visitor.waits_for_the_server()
    visitor.page.locator("#pooling input").focus()
    visitor.page.locator("#pooling input").blur()
    visitor.waits_for_the_server()
    assert visitor.page.evaluate("noted.came") == 1


def _opens(opened: Open, link: str) -> Visitor:
    """Open a link, and wait until its answer is there and nothing is asked any more."""
    visitor = opened(query=link)
    expect(visitor.page.locator("#answered textarea")).not_to_have_value("", timeout=PATIENCE)
    for name in ("similarity", "outputs", "heatmap"):
        expect(visitor.plot(name).locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
    visitor.waits_for_the_server()
    visitor.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    visitor.page.evaluate(NOTE)
    return visitor


def _brings(page: Page) -> None:
    """Open the menu of poolings, and wait until what each draws is here."""
    page.locator("#pooling input").focus()
    page.wait_for_function("noted.came > 0")
    page.locator("#pooling input").blur()


def _chooses(page: Page, pooling: str) -> None:
    """Choose a pooling, and wait until the page has drawn it or has left that to the server."""
    chosen = page.evaluate("noted.chosen")
    page.locator("#pooling input").focus()
    page.locator("#pooling [role=option]", has_text=f"{pooling} ·").first.dispatch_event("mousedown")
    page.locator("#pooling input").blur()
    page.wait_for_function("chosen => noted.chosen > chosen", arg=chosen)


def _sees(page: Page, query: Query, layer: int) -> None:
    """Wait until the bars are those of the answer to a query."""
    page.wait_for_function(DRAWN, arg=[SIMILARITY.name, _figure(query, layer)])


def _figure(query: Query, layer: int) -> str:
    figure = SIMILARITY.shown(FakeAnalyst().analyze(query), {LAYER.key: layer}, SAY).figure
    assert figure is not None
    return figure.to_json()


def _shows(page: Page, wanted: str) -> None:
    """Wait until what is seen is what is ``wanted``."""
    try:
        page.wait_for_function(f"wanted => ({SHOWN})() === wanted", arg=wanted)
    except TimeoutError as error:
        raise AssertionError(f"{page.evaluate(SHOWN)}\nis seen in the place of\n{wanted}") from error


def _is_answered(visitor: Visitor, pooling: str) -> None:
    """Wait until the server has answered the question, too."""
    told = "" if pooling == "native" else pooling
    page = visitor.page
    page.wait_for_function(
        "told => (new URLSearchParams(location.search).get('pooling') ?? '') === told", arg=told
    )
    visitor.waits_for_the_server()


@contextmanager
def _asking_waits(page: Page) -> Iterator[None]:
    """Let no question reach the server within."""
    held: list[Route] = []
    waits = True
    page.route("**/queue/join*", lambda route: held.append(route) if waits else route.continue_())
    yield
    waits = False
    for route in held:
        route.continue_()
