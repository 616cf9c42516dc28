"""A link made on any state that is shown opens to the same screen: on random walks through the real page."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest
from playwright.sync_api import BrowserContext, Error, expect

from tests.browser.conftest import Open
from tests.browser.screen import Screen
from tests.browser.visitor import Visitor, visit

STATES = 6  # of one walk
ACTIONS = 4  # between two of its states, at most
TEXTS = (
    "The plot is not bad, but the acting is not good at all.",
    "a moving and beautiful film",
    "not <b>bad</b> & 100 % “good” + 好 😀",
    "We don't know why.",
    "fine",
    " so  so ",
)
PAIRS = ("", "", "Two plants are to be shut down.", "I do not know.")
TABS = ("classify", "compare", "evidence", "questions")
ASKING = ("tabs", "asked", "chosen")  # what is set, not what is shown
Move = Callable[[], None]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A walk for each seed."""
    states = metafunc.config.getoption("states")
    metafunc.parametrize("seed", range(-(-states // STATES)))


@dataclass
class Walk:
    """A visitor who does something at random, and what was done."""

    visitor: Visitor
    screen: Screen
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
        self.screen.at_rest()

    def _moves(self) -> Sequence[Move]:
        """What can be done on the tab that is open."""
        tabs = self.visitor.page.locator("#tabs > .tab-wrapper [aria-selected=true]")
        match tabs.get_attribute("data-tab-id"):
            case "classify":
                return self._classify()
            case "compare":
                return self._compare()
            case "evidence":
                return [partial(self._choose, f"evidence-{menu}") for menu in ("task", "backbones")]
            case _:
                return [partial(self._press, "#question-cards button.ask")]

    def _classify(self) -> Sequence[Move]:
        menus = [menu for menu in ("backbone", "pooling", "head", "task", "reference") if self._there(menu)]
        moves = [partial(self._choose, menu) for menu in menus]
        moves += [partial(self._type, "text", (*TEXTS, "")), partial(self._type, "pair", PAIRS)]
        moves.append(partial(self._press, "#examples button"))
        if self._there("views"):  # not after a refusal
            moves.append(partial(self._press, "#views > .tab-wrapper [role=tab]"))
        if self._there("layer"):
            moves += [partial(self._slide, "layer"), partial(self._press, "#centred input")]
        if self._there("label"):
            moves.append(partial(self._choose, "label"))
        if self._there("importance-look"):
            moves.append(partial(self._press, "#integrated input"))
            moves += [partial(self._choose, "importance-label")] if self._there("importance-label") else []
            moves += [partial(self._slide, "attention-head")] if self._there("attention-head") else []
        return moves

    def _compare(self) -> Sequence[Move]:
        page = self.visitor.page
        moves = [partial(self._choose, f"compare-{menu}") for menu in ("backbones", "poolings", "head")]
        moves += [partial(self._type, "compare-text", TEXTS), partial(self._type, "compare-pair", PAIRS)]
        moves += [partial(self._press, f"#{name} input") for name in ("compare-centred", "words-centred")]
        buttons = ["bring", "copy"]
        if " not " in page.locator("#compare-text textarea").input_value():
            buttons.append("drop")
        if page.locator("#compare-pair textarea").input_value().strip():
            buttons.append("swap")
        if self._there("compare-version-text"):
            buttons.append("clear")
            moves.append(partial(self._type, "compare-version-text", TEXTS))
        moves += [partial(self._press, f"#compare-edit-{button}") for button in buttons]
        return [*moves, partial(self._slide, "words-depth")]

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


def test_the_link_of_whatever_is_shown_opens_to_the_same_screen(
    real: Open, browser: BrowserContext, app_url: str, seed: int
) -> None:
    visitor = real()
    visitor.sees_an_answer()
    walk = Walk(visitor, Screen(visitor), random.Random(seed))
    walk.screen.at_rest()
    tabs = walk.random.sample(TABS, len(TABS))
    for state in range(STATES):
        try:
            walk.goes_on(tabs[state % len(tabs)])
            query = visitor.page.url.partition("__theme=light")[2]
            again = visit(browser, app_url, "light", 1366, 900, query)
            try:
                opens_to_the_same(walk, again)
            finally:
                again.page.close()
        except (AssertionError, Error) as error:
            told = [f"seed {seed}", *walk.done, f"link {visitor.page.url}", str(error)]
            raise AssertionError("\n".join(told)) from error


def opens_to_the_same(walk: Walk, again: Visitor) -> None:
    """Hold that a page, opened by the link of another, comes to show the same.

    Where that one says that what is typed is not what is shown, the link holds what is typed.
    """
    wanted, address = walk.screen.at_rest(), walk.visitor.page.url
    there, note = Screen(again), "#compare-stale [role=status]"
    if walk.visitor.page.locator(note).is_visible():
        there.becomes(wanted, ASKING)
        there.at_rest()
        expect(again.page.locator(note)).to_be_hidden()
    else:
        there.becomes(wanted)
        assert there.at_rest() == wanted
    assert again.page.url == address
    assert not again.faults
