"""Layer and centring are chosen in the browser, which shows what the server would draw."""

from itertools import product

from playwright.sync_api import Page, Request, expect

from components.exhibits.control import State
from components.exhibits.similarity import HEATMAP, SIMILARITY, TABLE
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Analysis, Query
from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, SCRIPTS
from tests.exhibits.showing import SAY, plain
from tests.ui.fake import FakeAnalyst

TABLE_IS = "text => document.querySelector('#numbers table').textContent.replaceAll('\\u00a0', ' ') === text"
CSV_IS_IN = "html => html.includes(document.querySelector('#numbers a.download').href)"


def test_every_frame_is_what_the_server_would_draw_and_asks_nothing(fake: Open) -> None:
    query = Query("pair", "not so good", "but not bad at all")
    visitor = fake(query=f"&text={query.text}&pair={query.text_pair}&backbone=pair&centred=centred&layer=2")
    page = visitor.page
    visitor.sees_an_answer()
    expect(page.locator("#similarity-plot .xtitle")).to_contain_text("layer 2 of 6", timeout=PATIENCE)
    page.get_by_role("button", name=SAY(TABLE.title)).click()
    visitor.sees_where_it_comes_from()
    asked: list[Request] = []
    page.on("request", lambda request: request.method == "POST" and asked.append(request))
    page.evaluate(SCRIPTS["count_drawings"])
    analysis = FakeAnalyst().ask("analyze", query)
    for centring, layer in product(CENTRINGS, (0, 3, analysis.layers)):
        page.locator(f"#centred input[value={centring}]").check()
        page.locator("#layer input[type=number]").fill(str(layer))
        _sees(page, analysis, {LAYER.key: layer, CENTRED.key: centring})
        page.wait_for_function(
            "link => location.search.includes(link)",
            arg=f"layer={layer}" if layer < analysis.layers else "backbone=pair",
        )
    assert asked == []
    assert page.evaluate("window.drawings") == len(CENTRINGS)


def _sees(page: Page, analysis: Analysis, look: State) -> None:
    """Wait until plots, words, table and CSV are those of an analysis, looked at so."""
    for exhibit in (SIMILARITY, HEATMAP):
        shown = exhibit.shown(analysis, look, SAY)
        assert shown.figure is not None
        page.wait_for_function(SCRIPTS["drawn"], arg=[exhibit.name, shown.figure.to_json()])
        expect(page.locator(f"#{exhibit.name}-heading")).to_have_text(shown.heading)
        expect(page.locator(f"#{exhibit.name}-description")).to_have_text(shown.words)
    table = TABLE.shown(analysis, look, SAY).html
    page.wait_for_function(TABLE_IS, arg=plain(table[table.index("<table>") :]))
    page.wait_for_function(CSV_IS_IN, arg=table)
