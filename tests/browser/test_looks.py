"""Layer, centring and reference are chosen in the browser, which shows what the server would draw."""

from dataclasses import replace
from itertools import product

from playwright.sync_api import Page, Request, expect

from components.exhibits.answer.heatmap import HEATMAP
from components.exhibits.answer.similarity import SIMILARITY
from components.exhibits.answer.table import TABLE
from components.exhibits.control import State
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.texts import load_texts
from components.types import Analysis, Query
from components.ui.classify.looks import MOST
from components.ui.classify.question import to_reference
from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, Visitor
from tests.exhibits.showing import plain
from tests.ui.fake import FakeAnalyst

SAY = load_texts()
DRAWN = """([name, figure]) => {
    const plot = document.querySelector(`#${name}-plot .js-plotly-plot`);
    const { data, layout } = JSON.parse(figure);
    const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    for (const axis of [plot.layout.xaxis, plot.layout.yaxis]) delete axis?.type; // Plotly writes it there
    return same(plot.data, data) && Object.keys(layout).every((key) => same(plot.layout[key], layout[key]));
}"""  # whether a plot is drawn of this figure and of no other
COUNT_DRAWINGS = """() => {
    window.drawings = 0;
    document.querySelector("#heatmap-plot .js-plotly-plot").on("plotly_react", () => window.drawings++);
}"""  # of the whole heat map, in which a step of the layer moves a frame
HOLD_UNPACKING = """() => {
    const json = Response.prototype.json;
    const released = new Promise((release) => window.release = release);
    Response.prototype.json = async function () {
        if (this.url === "") { window.held = true; await released; } // what was packed comes from no address
        return json.call(this);
    };
}"""  # until the page is told to release it
TABLE_IS = "text => document.querySelector('#numbers table').textContent === text"
CSV_IS_IN = "html => html.includes(document.querySelector('#numbers a.download').href)"


def test_every_look_is_what_the_server_would_draw_and_is_asked_for_once(fake: Open) -> None:
    query = Query("pair", "not so good", "but not bad at all")
    visitor = fake(query=f"&text={query.text}&pair={query.text_pair}&backbone=pair&centred=centred&layer=2")
    page = visitor.page
    _opens_the_table_of(visitor, "layer 2 of 6")
    asked: list[Request] = []
    page.on("request", lambda request: request.method == "POST" and asked.append(request))
    page.evaluate(COUNT_DRAWINGS)
    analysis = FakeAnalyst().analyze(query)
    for centring, layer in product(CENTRINGS, (0, 3, analysis.layers)):
        page.locator(f"#centred input[value={centring}]").check()
        page.locator("#layer input[type=number]").fill(str(layer))
        _sees(page, analysis, {LAYER.key: layer, CENTRED.key: centring})
        page.wait_for_function(
            "link => location.search.includes(link)",
            arg=f"layer={layer}" if layer < analysis.layers else "backbone=pair",
        )
    assert len(asked) == 1
    assert page.evaluate("window.drawings") == len(CENTRINGS)


def test_every_reference_is_drawn_without_the_server_once_the_menu_is_open(fake: Open) -> None:
    query = Query("first", "not so good")
    visitor = fake(query=f"&text={query.text}&backbone=first&layer=1")
    page = visitor.page
    _opens_the_table_of(visitor, "layer 1 of 2")
    asked: list[Request] = []
    page.on("request", lambda request: request.method == "POST" and asked.append(request))
    labels = FakeAnalyst().analyze(query).tokens.text
    options = {"pooled": "the pooled vector"}
    options |= {str(index): f"{index} · {label}" for index, label in enumerate(labels)}
    for reference, option in options.items():
        visitor.choose("reference", option)
        seen = FakeAnalyst().analyze(replace(query, reference=to_reference(reference)))
        _sees(page, seen, {LAYER.key: 1})
        page.wait_for_function("link => location.search.includes(link)", arg=f"reference={reference}")
    page.locator("#layer input[type=number]").fill("0")
    _sees(page, seen, {LAYER.key: 0})
    assert len(asked) == 3  # layers of the answer; references; layers from the last of them


def test_a_reference_in_a_long_text_is_asked_of_the_server(fake: Open) -> None:
    query = Query("last", " ".join(["word"] * (MOST + 1)))
    visitor = fake(query=f"&text={query.text}&backbone=last&layer=1")
    _opens_the_table_of(visitor, "layer 1 of 2")
    visitor.choose("reference", "2 · word")
    _sees(visitor.page, FakeAnalyst().analyze(replace(query, reference=2)), {LAYER.key: 1})


def test_a_reference_chosen_while_looks_are_unpacked_is_drawn(fake: Open) -> None:
    query = Query("first", "not so good")
    visitor = fake(query=f"&text={query.text}&backbone=first&layer=1")
    page = visitor.page
    visitor.sees_an_answer()
    page.evaluate(HOLD_UNPACKING)
    page.locator("#reference input").focus()
    page.wait_for_function("window.held")
    visitor.choose("reference", "the pooled vector")
    page.evaluate("window.release()")
    page.get_by_role("button", name=SAY(TABLE.title)).click()
    _sees(page, FakeAnalyst().analyze(replace(query, reference="pooled")), {LAYER.key: 1})


def _opens_the_table_of(visitor: Visitor, layer: str) -> None:
    """Wait for the answer that is looked at as a link says, and for the page to come to rest."""
    visitor.sees_an_answer()
    expect(visitor.page.locator("#similarity-plot .xtitle")).to_contain_text(layer, timeout=PATIENCE)
    visitor.page.get_by_role("button", name=SAY(TABLE.title)).click()
    visitor.waits_for_the_server()


def _sees(page: Page, analysis: Analysis, look: State) -> None:
    """Wait until plots, words, table and CSV are those of an analysis, looked at so."""
    for exhibit in (SIMILARITY, HEATMAP):
        shown = exhibit.shown(analysis, look, SAY)
        assert shown.figure is not None
        page.wait_for_function(DRAWN, arg=[exhibit.name, shown.figure.to_json()])
        expect(page.locator(f"#{exhibit.name}-heading")).to_have_text(shown.heading)
        expect(page.locator(f"#{exhibit.name}-description")).to_have_text(shown.words)
    table = TABLE.shown(analysis, look, SAY).html
    page.wait_for_function(TABLE_IS, arg=plain(table[table.index("<table>") :]))
    page.wait_for_function(CSV_IS_IN, arg=table)
