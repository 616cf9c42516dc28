"""The speaker's window in a browser: it stays together with the talk, whatever happens to either."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Page, TimeoutError, expect

from tests.browser.conftest import Kept
from tests.browser.visitor import PATIENCE, Visitor, visit

KEYS = 200
SOON = 5_000  # milliseconds
SLIDE = "#talk .slide.current"
TOLD = ".slide[data-told]"  # of the talk that is shown
WALKS = {
    "ArrowRight": 1,
    "PageDown": 1,
    " ": 1,
    "ArrowLeft": -1,
    "PageUp": -1,
    "Home": -99,
    "End": 99,
    "b": 0,
}
LAID_OUT = """slide => [...slide.querySelectorAll('*')]
  .filter((one) => !one.childElementCount && one.textContent.trim() && one.checkVisibility())
  .map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [one.textContent, ...[x, y, width, height].map(Math.round), getComputedStyle(one).color];
  })"""  # each piece of text: where it stands, in pixels of its window, and its colour


@dataclass(frozen=True)
class Pair:
    """The talk on the projector, and the speaker's window."""

    talk: Visitor
    speaker: Visitor
    total: int

    def are_at(self, step: int, asking: bool = False, black: bool = False) -> None:
        """Both show this slide: the talk its question alone if ``asking``, nothing if ``black``."""
        for page, state in ((self.talk.page, "#talk-bar [role=status]"), (self.speaker.page, "#state")):
            expect(page.locator(state)).to_have_text(f"{step} / {self.total}")
        assert f"talk={step}&" in f"{self.talk.page.url}&"
        expect(self.talk.page.locator(f"{SLIDE}.asking")).to_have_count(int(asking))
        expect(self.speaker.page.locator("#asking:visible")).to_have_count(int(asking and not black))
        expect(self.speaker.page.locator("#black:visible")).to_have_count(int(black))


def pressed(talk: Page, patience: int) -> Page | None:
    """The window that S opens; None where one of that name is just being closed, and still has it."""
    try:
        with talk.expect_popup(timeout=patience) as popup:
            talk.keyboard.press("s")
        return popup.value
    except TimeoutError:
        return None


def asks_at(talk: Page) -> list[int]:
    """The slides that ask first; some do."""
    slides = talk.locator(f"#talk {TOLD}").all()
    found = [number for number, slide in enumerate(slides, 1) if slide.locator(".question").count()]
    assert found
    return found


def opened(talk: Visitor) -> Visitor:
    """The speaker's window, as S opens it, as soon as the talk has fetched it."""
    expect(talk.page.locator("head link[rel=prefetch][href*=speaker]")).to_have_count(1)
    popup = pressed(talk.page, SOON) or pressed(talk.page, PATIENCE)
    assert popup is not None
    speaker = Visitor(popup, talk.origin, talk.faults)
    speaker.page.on("pageerror", lambda error: talk.faults.append(f"speaker: {error} {error.stack}"))
    expect(speaker.page.locator("#now.drawn")).to_be_visible()
    return speaker


@pytest.fixture(scope="module")
def talks(browser: BrowserContext, fake_url: str) -> Iterator[Kept[Visitor]]:
    kept = Kept(lambda: talking(browser, fake_url))
    yield kept
    kept.close()


@contextmanager
def talking(browser: BrowserContext, url: str) -> Iterator[Visitor]:
    """A talk of which every slide is made."""
    talk = visit(browser, url, "light", 1280, 720, "&talk=2")
    expect(talk.page.locator("#slide-end .invitation")).to_have_count(1, timeout=PATIENCE)
    talk.waits_for_the_server()
    yield talk
    talk.page.close()
    assert not talk.faults


@pytest.fixture
def talk(talks: Kept[Visitor], request: pytest.FixtureRequest) -> Iterator[Visitor]:
    for visitor in talks.turn(request.node):
        visitor.page.keyboard.press("Home")
        visitor.page.keyboard.press("ArrowRight")
        yield visitor


@pytest.fixture
def pair(talk: Visitor) -> Iterator[Pair]:
    """Both at the second slide."""
    speaker = opened(talk)
    yield Pair(talk, speaker, talk.page.locator(f"#talk {TOLD}").count())
    speaker.page.close()


def test_two_windows_stay_together_whatever_is_pressed_in_either(pair: Pair) -> None:
    chance, at, asking, black = random.Random(22), 2, False, False
    asks = asks_at(pair.talk.page)
    asked: list[str] = []
    for one in (pair.talk.page, pair.speaker.page):
        one.on("request", lambda request: asked.append(request.url))
    for _ in range(KEYS):
        page = chance.choice((pair.talk.page, pair.speaker.page))
        if chance.random() < 0.1:
            key, to = "", chance.randint(1, pair.total + 1)
            for digit in (*str(to), "Enter"):
                page.keyboard.press(digit)
        else:
            key = chance.choice(list(WALKS))
            page.keyboard.press(key)
            to = at + WALKS[key]
        if key != "b":
            answers = WALKS.get(key) == 1 and asking  # the key on shows what is asked about
            back = WALKS.get(key) == -1 and at > 1  # to a slide whose answer has been seen
            at = at if answers else min(max(to, 1), pair.total)
            asking = at in asks and not answers and not back
        black = key == "b" and not black
        pair.are_at(at, asking, black)
    assert [url for url in asked if not url.startswith(("data:", "blob:", "about:"))] == []


def test_the_speaker_sees_the_slides_as_they_are_with_notes(pair: Pair) -> None:
    talk, speaker = pair.talk.page, pair.speaker.page
    for key in ("Home", "ArrowRight", "ArrowRight"):
        speaker.keyboard.press(key)
    pair.are_at(3)
    expect(speaker.locator("#next.drawn")).to_be_visible()
    now, after = (speaker.frame_locator(f"#{frame} iframe").locator(".slide") for frame in ("now", "next"))
    assert now.evaluate(LAID_OUT) == talk.locator(SLIDE).evaluate(LAID_OUT) != []
    seen = after.evaluate(LAID_OUT)
    talk.keyboard.press("ArrowRight")
    pair.are_at(4)
    assert seen == talk.locator(SLIDE).evaluate(LAID_OUT) != []
    caption = talk.locator(f"{SLIDE} h2.caption").inner_text()
    notes = speaker.get_by_role("region", name="Notes")
    expect(notes.get_by_role("heading")).to_have_text(caption)
    expect(notes.locator("p:visible").first).not_to_have_class("none")


def test_either_window_may_be_loaded_again_or_closed(pair: Pair, talks: Kept[Visitor]) -> None:
    talk, speaker = pair.talk, pair.speaker
    speaker.page.keyboard.press("ArrowRight")
    pair.are_at(3)
    began = speaker.page.evaluate("history.state.began")
    speaker.page.reload()
    pair.are_at(3)
    expect(speaker.page.locator("#now.drawn")).to_be_visible()
    asks = asks_at(talk.page)[0]
    for key in (*str(asks), "Enter"):
        speaker.page.keyboard.press(key)
    pair.are_at(asks, asking=True)
    talk.page.reload()
    pair.are_at(asks, asking=True)
    speaker.page.keyboard.press("ArrowRight")
    pair.are_at(asks)
    assert speaker.page.evaluate("history.state.began") == began > 0
    speaker.page.close()
    talk.page.keyboard.press("ArrowLeft")
    again = opened(talk)
    pair = Pair(talk, again, pair.total)
    pair.are_at(asks - 1)
    assert again.page.evaluate("history.state.began") == began
    expect(talk.page.locator("#slide-end .invitation")).to_have_count(1, timeout=PATIENCE)
    talk.waits_for_the_server()
    talks.close()
    gone = again.page.get_by_text("The talk's window does not answer.")
    expect(gone).to_be_visible()
    again.page.keyboard.press("PageDown")
    expect(again.page.locator("#state")).to_have_text(f"{asks} / {pair.total}")
    with again.page.expect_popup() as popup:
        again.page.get_by_role("link", name="Open the talk at this slide").click()
    expect(popup.value.locator("#slide-end .invitation")).to_have_count(1, timeout=PATIENCE)
    back = Visitor(popup.value, talk.origin, talk.faults)
    expect(gone).to_be_hidden()
    Pair(back, again, pair.total).are_at(asks, asking=True)
    back.page.close()
    again.page.close()


def test_the_window_opens_without_a_network(talk: Visitor) -> None:
    talk.page.context.set_offline(True)
    try:
        speaker = opened(talk)
        speaker.page.keyboard.press("ArrowRight")
        Pair(talk, speaker, talk.page.locator(f"#talk {TOLD}").count()).are_at(3)
        speaker.page.close()
    finally:
        talk.page.context.set_offline(False)


@pytest.fixture
def rehearsal(browser: BrowserContext, fake_url: str) -> Iterator[Page]:
    assert browser.browser is not None
    context = browser.browser.new_context()  # playwright's clock stands for all pages of one
    page = context.new_page()
    page.clock.install(time=0)
    page.goto(f"{fake_url}/speaker?lang=en")
    page.clock.pause_at(60_000)  # from now on time goes by as it is told
    yield page
    context.close()


def test_the_clock_says_how_far_it_is_from_the_plan(rehearsal: Page) -> None:
    pace, elapsed = rehearsal.locator("#pace"), rehearsal.locator("#elapsed")
    minutes = rehearsal.locator("#notes section").evaluate_all("all => all.map(one => +one.dataset.minutes)")
    first, second = (60 * one for one in minutes[:2])  # seconds
    assert first > 30
    expect(pace).to_have_text("The clock starts with the next step")
    rehearsal.keyboard.press("ArrowRight")
    assert elapsed.inner_text() == "0:00"
    ahead = f"{int(first // 60)}:{int(first % 60):02} ahead"
    expect(pace).to_have_text(ahead)
    rehearsal.clock.run_for(1000 * (first + second))
    assert elapsed.inner_text() == f"{int((first + second) // 60)}:{int((first + second) % 60):02}"
    expect(pace).to_have_text("On time")
    rehearsal.clock.run_for(61_000)
    expect(pace).to_have_text("1:01 behind")
    total = int(60 * sum(minutes))
    expect(rehearsal.locator("#planned")).to_contain_text(f"{total // 60}:{total % 60:02} in all")
    rehearsal.get_by_role("button", name="Reset the clock").click()
    assert elapsed.inner_text() == "0:00"
    rehearsal.keyboard.press(" ")  # is for the talk, not for the button
    expect(rehearsal.locator("#state")).to_contain_text("3 / ")


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_it_can_be_read_in_both_themes_and_languages(
    browser: BrowserContext, fake_url: str, theme: str, language: str
) -> None:
    speaker = Visitor(browser.new_page(), fake_url)
    speaker.page.goto(f"{fake_url}/speaker?lang={language}#theme={theme}")
    for width, height in ((1024, 768), (1366, 768), (360, 740)):
        speaker.page.set_viewport_size({"width": width, "height": height})
        assert speaker.violations() == []
        assert speaker.page.evaluate("document.documentElement.scrollWidth") <= width
    assert speaker.page.evaluate("document.documentElement.dataset.theme") == theme
    speaker.page.close()
