"""A link made on any state that is shown opens to the same screen: on random walks through the real page."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import pytest
from playwright.sync_api import Error, TimeoutError, expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, TICK, Visitor

STATES = 4  # of one walk, one on each tab
ACTIONS = 4  # between two of its states, at most
TEXTS = (
    "The plot is not bad, but the acting is not good at all.",
    "a moving and beautiful film",
    "not <b>bad</b> & 100 % “good” + 好 😀",
    " so  so ",
)
PAIRS = ("", "", "Two plants are to be shut down.")
TABS = ("classify", "compare", "evidence", "questions")
NOTE = "#compare-stale [role=status]"  # what is typed is not what is shown
LOOK = """async () => {
    for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);  // an answer is drawn
    const seen = (part) => [...document.querySelectorAll(part)].filter((one) => one.checkVisibility());
    const name = (one) => one.closest(".block[id], .plot[id]")?.id;
    const value = (one) => one.type === "radio" || one.type === "checkbox" ? one.checked : "";
    const values = (part) => seen(part).map((one) => `${name(one)}: ${one.value} ${value(one)}`);
    const axes = (layout) => Object.keys(layout).filter((key) => /^[xy]axis/.test(key)).sort()
        .map((key) => [key, layout[key].title?.text, layout[key].ticktext]);
    return {
        tabs: seen("[role=tab][aria-selected=true]").map((one) => one.innerText),
        asked: values(":is(#compare-texts, #compare-choice, #compare-versions) :is(input, textarea)"),
        chosen: seen("#tabs .block[id]:has(input) .token").map((one) => `${name(one)}: ${one.innerText}`),
        text: seen("#asked, #tabs").map((one) => one.innerText),
        values: values("#tabs :is(input, textarea)"),
        plots: seen(".js-plotly-plot").map((one) => [name(one), one.data, axes(one.layout)]),
    };
}"""
ASKING = ("tabs", "asked", "chosen")  # what is set, not what is shown
Move = Callable[[], None]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A walk for each seed."""
    states = metafunc.config.getoption("states")
    metafunc.parametrize("seed", range(-(-states // STATES)))


def at_rest(visitor: Visitor) -> dict[str, object]:
    """All that is in sight, once nothing is asked and nothing changes any more."""
    before = None
    for _ in range(PATIENCE // TICK):
        visitor.waits_for_the_server()
        now: dict[str, object] = visitor.page.evaluate(LOOK)
        if now == before and not visitor.asking:
            return now
        before = now
    raise AssertionError("the page does not come to rest")


@dataclass
class Walk:
    """A visitor who does something at random, and what was done."""

    visitor: Visitor
    random: random.Random
    done: list[str] = field(default_factory=list)

    def goes_on(self, tab: str) -> None:
        """Go to a tab and do some things from there on, mostly until they are compared, too."""
        self._do(partial(self._press, f"#{tab}-button"))
        for _ in range(self.random.randint(1, ACTIONS)):
            self._do(self.random.choice(self._moves()))
        if self._there("compare-start") and self.random.random() < 0.75:
            self._do(partial(self._press, "#compare-start"))

    def _do(self, move: Move) -> None:
        """Do it, and wait until it has come to its end."""
        move()
        at_rest(self.visitor)

    def _moves(self) -> Sequence[Move]:
        """What can be done on the tab that is open."""
        menus = ["backbone", "pooling", "head", "task", "reference", "label", "importance-label"]
        menus += [f"evidence-{menu}" for menu in ("task", "backbones")]
        menus += [f"compare-{menu}" for menu in ("backbones", "poolings", "head")]
        moves: list[Move] = [partial(self._choose, menu) for menu in menus if self._there(menu)]
        for box, texts in (("text", (*TEXTS, "")), ("pair", PAIRS)):
            typed = [name for name in (box, f"compare-{box}", f"compare-version-{box}") if self._there(name)]
            moves += [partial(self._type, name, texts) for name in typed]
        sliders = [name for name in ("layer", "attention-head", "words-depth") if self._there(name)]
        moves += [partial(self._slide, name) for name in sliders]
        buttons = ["#examples button", "#views > .tab-wrapper [role=tab]", "#centred input"]
        buttons += ["#integrated input", "#compare-centred input", "#words-centred input"]
        buttons += [f"#compare-edit-{name}" for name in ("bring", "copy", "clear")]
        buttons.append("#question-cards button.ask")
        there = [one for one in buttons if self.visitor.page.locator(one).first.is_visible()]
        return [*moves, *(partial(self._press, one) for one in there)]

    def _there(self, name: str) -> bool:
        return self.visitor.page.locator(f"#{name}").is_visible()

    def _press(self, buttons: str) -> None:
        """One of several buttons, tabs or options."""
        every = self.visitor.page.locator(buttons)
        number = self.random.randrange(every.count())
        self.done.append(f"press {buttons} number {number}")
        every.nth(number).click()
        self.visitor.page.mouse.move(0, 0)  # away from plots: Plotly stumbles where one is redrawn under it

    def _choose(self, menu: str) -> None:
        """An option of a menu, in or out where it takes several."""
        box = self.visitor.page.locator(f"#{menu}")
        box.locator("input").blur()
        box.locator("input").focus()
        offered = box.get_by_role("option")
        expect(offered.first).to_be_visible()
        option = self.random.choice([one.get_attribute("aria-label") or "" for one in offered.all()])
        self.done.append(f"choose {option!r} of {menu}")
        self.visitor.choose(menu, option)
        self.visitor.page.keyboard.press("Escape")

    def _type(self, box: str, texts: tuple[str, ...]) -> None:
        """Another text, with Enter or, in the Compare tab, sometimes without."""
        text = self.random.choice(texts)
        asks = not box.startswith("compare") or self.random.random() < 0.7
        self.done.append(f"type {text!r} into {box}{' and ask' if asks else ''}")
        self.visitor.type(text, box)
        if asks:
            self.visitor.page.locator(f"#{box} textarea").press("Enter")

    def _slide(self, slider: str) -> None:
        key = self.random.choice(("Home", "End", "ArrowLeft", "ArrowRight"))
        self.done.append(f"{key} on {slider}")
        self.visitor.page.locator(f"#{slider} input[type=range]").press(key)


def test_the_link_of_whatever_is_shown_opens_to_the_same_screen(real: Open, seed: int) -> None:
    walk = Walk(real(), random.Random(seed))
    walk.visitor.sees_an_answer()
    at_rest(walk.visitor)
    tabs = walk.random.sample(TABS, len(TABS))
    for state in range(STATES):
        try:
            walk.goes_on(tabs[state % len(tabs)])
            again = real(query=walk.visitor.page.url.partition("__theme=light")[2])
            opens_to_the_same(walk.visitor, again)
            again.page.close()
        except (AssertionError, Error) as error:
            told = [f"seed {seed}", *walk.done, f"link {walk.visitor.page.url}", str(error)]
            raise AssertionError("\n".join(told)) from error


def opens_to_the_same(visitor: Visitor, again: Visitor) -> None:
    """Hold that a page, opened by the link of another, comes to show the same.

    Where that one says that what is typed is not what is shown, the link holds what is typed.
    """
    wanted = at_rest(visitor)
    typed = visitor.page.locator(NOTE).is_visible()
    parts = list(ASKING if typed else wanted)
    same = f"""async ([wanted, parts]) => {{
        const now = await ({LOOK})();
        return parts.every((part) => JSON.stringify(now[part]) === JSON.stringify(JSON.parse(wanted)[part]));
    }}"""
    with suppress(TimeoutError):  # what differs is said below
        again.page.wait_for_function(same, arg=[json.dumps(wanted), parts], timeout=PATIENCE)
    there = at_rest(again)
    assert {part: there[part] for part in parts} == {part: wanted[part] for part in parts}
    assert not typed or again.page.locator(NOTE).is_hidden()
    assert again.page.url == visitor.page.url
