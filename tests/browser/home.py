"""A page that tests share: each finds it as it arrived, brought back there by the page's own controls.

To load it for every test would take several seconds each, most of them in gradio's and Plotly's scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, Request, TimeoutError, expect

from tests.browser.visitor import PATIENCE, Visitor

LEFT = "#evidence, #trace, #head-view, #answered, #frames"  # what brings its own anew
CHOSEN = """() => {
    const all = {};
    for (const one of document.querySelectorAll("#tabs :is(textarea, input):not([type=number])")) {
        const block = one.closest(".block[id]");
        if (!block?.id || block.closest("LEFT")) continue;
        if (one.type === "radio" && !one.checked) continue;
        const several = [...block.querySelectorAll(".token")].map((token) => token.innerText.trim());
        all[block.id] = one.type === "checkbox" ? one.checked : several.length ? several : one.value;
    }
    return all;
}""".replace("LEFT", LEFT)  # what is typed, ticked and chosen, by the ids of the controls
SEEN = """(parts) => parts.map((part) =>
    [...document.querySelectorAll(part)].map((one) => one.textContent).join(" ")).join("\\n")"""
CLOSE = """() => {
    for (const one of document.querySelectorAll("#tabs .label-wrap.open")) one.click();
    for (const one of document.querySelectorAll("#words .words input[type=radio]")) one.checked = false;
}"""  # accordions, and the word whose pieces are shown
ANSWER = [
    "#verdict",
    *(f"#similarity-{part}" for part in ("heading", "plot .ytick", "plot .xtitle")),
    *(f"#heatmap-plot .{part}" for part in ("xtick", "ytick")),
    "#asked",
]
COMPARED = [f"#compare-{part}" for part in ("status", "agreement", "grid", "moves")] + [
    *(f"#curves-plot .{part}" for part in ("xtick", "ytick", "annotation-text")),
    "#words .names",
    "#words li .cell",
]


@dataclass(frozen=True)
class Home:
    """What is chosen and seen on arrival, once the head and the Compare tab have been looked at, too.

    The Evidence and the Questions tab are left as they are: what they show does not change the others.
    The head is left to whoever opens it: it is taken apart then, and another answer empties it.
    """

    chosen: dict[str, Any]
    answer: str
    compared: str

    @classmethod
    def of(cls, visitor: Visitor) -> Home:
        """Arrive: wait for the first answer, its head, and the first comparison."""
        page = visitor.page
        visitor.sees_an_answer()
        visitor.looks_at("head")
        expect(page.locator("#head-lead")).to_contain_text("ForSequenceClassification")
        with page.expect_request_finished(_draws, timeout=PATIENCE):
            page.get_by_role("tab", name="Compare", exact=True).click()
        expect(visitor.ticks("curves", "x")).not_to_have_count(0, timeout=PATIENCE)
        visitor.waits_for_the_server()
        return cls(page.evaluate(CHOSEN), page.evaluate(SEEN, ANSWER), page.evaluate(SEEN, COMPARED))

    def bring(self, visitor: Visitor, patience: int) -> None:
        """Bring the visitor back, to the tokens of the Classify tab in a light window of 1366 pixels.

        ``patience``: how many milliseconds what is seen may take to be as on arrival.
        """
        page = visitor.page
        page.mouse.move(0, 0)  # away from plots: Plotly stumbles where one is redrawn under the mouse
        page.keyboard.press("Escape")
        visitor.in_a_window("light", 1366)
        visitor.waits_for_the_server()
        off = self._off(page)
        if page.evaluate(SEEN, COMPARED) != self.compared or any(_compares(name) for name in off):
            self._compare(visitor, off)
        page.get_by_role("tab", name="Classify", exact=True).click()
        if page.evaluate(SEEN, ANSWER) != self.answer or not all(_compares(name) for name in off):
            self._ask(visitor, off)
        visitor.looks_at("tokens")
        page.mouse.move(0, 0)
        page.evaluate(CLOSE)
        _sees(page, ANSWER, self.answer, patience)
        _sees(page, COMPARED, self.compared, patience)
        visitor.waits_for_the_server()
        assert not self._off(page), self._off(page)

    def _off(self, page: Page) -> set[str]:
        """The ids of the controls that are not as on arrival."""
        now = page.evaluate(CHOSEN)
        return {name for name, value in self.chosen.items() if now.get(name) != value}

    def _ask(self, visitor: Visitor, off: set[str]) -> None:
        """Choose the first backbone and the head, the looks, and the first example: it chooses the rest."""
        page = visitor.page
        for menu in sorted(off & {"backbone", "head"}):
            visitor.choose(menu, self.chosen[menu])
            visitor.waits_for_the_server()
        plain = page.locator("#centred input[value=plain]")
        if "centred" in off and plain.count():  # there is none beside an answer without a reference
            plain.check()
        if "layer" in self._off(page):
            page.locator("#layer input[type=range]").press("End")
        page.locator("#examples button").first.click()

    def _compare(self, visitor: Visitor, off: set[str]) -> None:
        """Ask for the first comparison again."""
        page = visitor.page
        page.get_by_role("tab", name="Compare", exact=True).click()
        if off & {"compare-version-text", "compare-version-pair"}:
            with page.expect_request_finished(_draws, timeout=PATIENCE):
                page.locator("#compare-edit-clear").click()
            for box in ("text", "pair"):
                expect(page.locator(f"#compare-version-{box} textarea")).to_have_value("")
        for name in sorted(off):
            control = page.locator(f"#{name}")
            match name:
                case "compare-text" | "compare-pair":
                    visitor.type(self.chosen[name], name)
                case "compare-head":
                    visitor.choose(name, self.chosen[name])
                case "compare-backbones" | "compare-poolings":
                    for option in set(page.evaluate(CHOSEN)[name]) ^ set(self.chosen[name]):
                        visitor.choose(name, option)
                        page.keyboard.press("Escape")
                case "compare-centred" | "words-centred":
                    control.locator("input[value=plain]").check()
                case "words-depth":
                    control.locator("input[type=range]").press("End")
        with page.expect_request_finished(_draws, timeout=PATIENCE):
            page.locator("#compare-start").click()


def _sees(page: Page, parts: list[str], wanted: str, patience: int) -> None:
    """Wait until these parts of the page say what is ``wanted``."""
    same = f"([parts, wanted]) => ({SEEN})(parts) === wanted"
    try:
        page.wait_for_function(same, arg=[parts, wanted], timeout=patience)
    except TimeoutError as error:
        raise AssertionError(f"{page.evaluate(SEEN, parts)}\nis seen in the place of\n{wanted}") from error


def _draws(request: Request) -> bool:
    """Whether it is the one that draws all of a comparison, once it is done."""
    return "/run/predict" in request.url


def _compares(name: str) -> bool:
    """Whether the control with this id is one of the Compare tab."""
    return name.startswith(("compare", "words"))
