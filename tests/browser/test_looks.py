"""The layer and the centring are chosen in the browser, which shows what the server would draw."""

from itertools import product

from playwright.sync_api import Request, expect

from components.exhibits.answer.heatmap import HEATMAP
from components.exhibits.answer.similarity import SIMILARITY
from components.exhibits.answer.table import TABLE
from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.texts import load_texts
from components.types import Query
from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE
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
TABLE_IS = "text => document.querySelector('#numbers table').textContent === text"
CSV_IS_IN = "html => html.includes(document.querySelector('#numbers a.download').href)"


def test_every_look_is_what_the_server_would_draw_and_is_asked_for_once(fake: Open) -> None:
    text, pair = "not so good", "but not bad at all"
    visitor = fake(query=f"&text={text}&pair={pair}&backbone=pair&centred=centred&layer=2")
    page = visitor.page
    visitor.sees_an_answer()
    expect(page.locator("#similarity-plot .xtitle")).to_contain_text("layer 2 of 6", timeout=PATIENCE)
    page.get_by_role("button", name=SAY(TABLE.title)).click()
    visitor.waits_for_the_server()
    asked: list[Request] = []
    page.on("request", lambda request: request.method == "POST" and asked.append(request))
    analysis = FakeAnalyst().analyze(Query("pair", text, pair))
    for centring, layer in product(CENTRINGS, (0, 3, analysis.layers)):
        look = {LAYER.key: layer, CENTRED.key: centring}
        page.locator(f"#centred input[value={centring}]").check()
        page.locator("#layer input[type=number]").fill(str(layer))
        for exhibit in (SIMILARITY, HEATMAP):
            shown = exhibit.shown(analysis, look, SAY)
            assert shown.figure is not None
            page.wait_for_function(DRAWN, arg=[exhibit.name, shown.figure.to_json()])
            expect(page.locator(f"#{exhibit.name}-heading")).to_have_text(shown.heading)
            expect(page.locator(f"#{exhibit.name}-description")).to_have_text(shown.words)
        table = TABLE.shown(analysis, look, SAY).html
        page.wait_for_function(TABLE_IS, arg=plain(table[table.index("<table>") :]))
        page.wait_for_function(CSV_IS_IN, arg=table)
        page.wait_for_function(
            "link => location.search.includes(link)",
            arg=f"layer={layer}" if layer < analysis.layers else "backbone=pair",
        )
    assert len(asked) == 1
