"""The speaker's window in a browser: it stays together with the talk, whatever happens to either."""

import random
import time
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, SCRIPTS, Visitor

KEYS = 40
SLIDE = "#talk .slide.current"
TOLD = ".slide[data-told]"  # of the talk that is shown
WALKS = {"ArrowRight": 1, "PageDown": 1, " ": 1, "ArrowLeft": -1, "PageUp": -1, "b": 0}
WALKS |= {"Home": -99, "End": 99}


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


def asks_at(talk: Page) -> list[int]:
    """The slides that ask first; some do."""
    slides = talk.locator(f"#talk {TOLD}").all()
    found = [number for number, slide in enumerate(slides, 1) if slide.locator(".question").count()]
    assert found
    return found


def opened(talk: Visitor) -> Visitor:
    """The speaker's window, as S opens it."""
    with talk.page.expect_popup() as popup:
        talk.page.keyboard.press("s")
    return beside(talk, popup.value)


def beside(talk: Visitor, popup: Page) -> Visitor:
    speaker = Visitor(popup, talk.origin, talk.faults)
    popup.on("pageerror", lambda error: talk.faults.append(f"speaker: {error} {error.stack}"))
    expect(popup.locator("#now.drawn")).to_be_visible()
    return speaker


@pytest.fixture(scope="module")
def talk(fake: Open) -> Visitor:
    """A talk of which every slide is made, at its second one."""
    talk = fake("light", 1280, 720, "&talk=2")
    expect(talk.page.locator("#slide-end .invitation")).to_have_count(1, timeout=PATIENCE)
    talk.waits_for_the_server()
    return talk


@pytest.fixture(scope="module")
def pair(talk: Visitor) -> Pair:
    """Both at the second slide."""
    return Pair(talk, opened(talk), talk.page.locator(f"#talk {TOLD}").count())


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
    for key in ("Home", *["ArrowRight"] * 5):  # each slide asks first
        speaker.keyboard.press(key)
    pair.are_at(3)
    expect(speaker.locator("#next.drawn")).to_be_visible()
    now, after = (speaker.frame_locator(f"#{frame} iframe").locator(".slide") for frame in ("now", "next"))
    assert now.evaluate(SCRIPTS["laid_out"]) == talk.locator(SLIDE).evaluate(SCRIPTS["laid_out"]) != []
    seen = after.evaluate(SCRIPTS["laid_out"])
    for _ in range(2):
        talk.keyboard.press("ArrowRight")
    pair.are_at(4)
    assert seen == talk.locator(SLIDE).evaluate(SCRIPTS["laid_out"]) != []
    caption = talk.locator(f"{SLIDE} h2.caption").inner_text()
    notes = speaker.get_by_role("region", name="Notes")
    expect(notes.get_by_role("heading")).to_have_text(caption)
    expect(notes.locator("p:visible").first).not_to_have_class("none")


def test_the_clock_says_how_far_it_is_from_the_plan(pair: Pair) -> None:
    talk, speaker = pair.talk.page, pair.speaker.page
    pace, elapsed = speaker.locator("#pace"), speaker.locator("#elapsed")
    minutes = speaker.locator("#notes [data-talk=cls] section").evaluate_all(
        "all => all.map(one => +one.dataset.minutes)"
    )
    first, second, third, *_ = (60 * one for one in minutes)  # seconds
    assert min(first, second, third) > 30
    for key in ("2", "Enter", "ArrowRight"):
        speaker.keyboard.press(key)
    speaker.get_by_role("button", name="Reset the clock").click()
    expect(pace).to_have_text("The clock starts with the next step")
    expect(elapsed).to_have_text("0:00")
    speaker.keyboard.press(" ")  # is for the talk, not for the button
    pair.are_at(3, asking=True)
    expect(pace).to_contain_text(" ahead")
    for passed, said in ((first + second + 5, "On time"), (first + second + third + 61, "1:0")):
        talk.evaluate(
            "began => { document.getElementById('talk').dataset.began = began }", now() - 1000 * passed
        )
        expect(pace).to_contain_text(said)
    expect(pace).to_contain_text("behind")
    total = int(60 * sum(minutes))
    expect(speaker.locator("#planned")).to_contain_text(f"{total // 60}:{total % 60:02} in all")


def now() -> int:
    """Milliseconds of Date.now()."""
    return time.time_ns() // 1_000_000


def test_it_opens_without_a_network_and_can_be_read_in_both_themes(pair: Pair) -> None:
    talk = pair.talk
    pair.speaker.page.close()
    for theme in ("light", "dark"):
        talk.in_a_window(theme, 1280, 720)
        talk.page.context.set_offline(True)
        try:
            speaker = opened(talk)
            speaker.page.keyboard.press("Home")
            Pair(talk, speaker, pair.total).are_at(1, asking=True)
        finally:
            talk.page.context.set_offline(False)
        for width, height in ((1366, 768), (360, 740)):
            speaker.page.set_viewport_size({"width": width, "height": height})
            assert speaker.violations() == []
            assert speaker.page.evaluate("document.documentElement.scrollWidth") <= width
        assert speaker.page.evaluate("document.documentElement.dataset.theme") == theme
        speaker.page.close()


def test_either_window_may_be_loaded_again_or_closed(pair: Pair) -> None:
    talk = pair.talk
    speaker = opened(talk)
    pair = Pair(talk, speaker, pair.total)
    for key in ("2", "Enter"):
        speaker.page.keyboard.press(key)
    pair.are_at(2, asking=2 in asks_at(talk.page))
    began = talk.page.locator("#talk").get_attribute("data-began")
    assert began
    asks = asks_at(talk.page)[2]
    for key in (*str(asks), "Enter"):
        speaker.page.keyboard.press(key)
    pair.are_at(asks, asking=True)
    talk.page.reload()
    pair.are_at(asks, asking=True)
    speaker.page.keyboard.press("ArrowRight")
    pair.are_at(asks)
    speaker.page.close()
    talk.page.keyboard.press("ArrowLeft")
    again = opened(talk)
    pair = Pair(talk, again, pair.total)
    pair.are_at(asks - 1)
    assert talk.page.locator("#talk").get_attribute("data-began") == began
    expect(talk.page.locator("#slide-end .invitation")).to_have_count(1, timeout=PATIENCE)
    talk.waits_for_the_server()
    talk.page.close()
    gone = again.page.get_by_text("The talk's window is closed")
    expect(gone).to_be_visible()
    expect(again.page.locator("#notes section:visible")).to_have_count(pair.total)
    with again.page.expect_popup() as popup:
        again.page.get_by_role("link", name="Open the talk at this slide").click()
    expect(popup.value.locator("#slide-end .invitation")).to_have_count(1, timeout=PATIENCE)
    back = Visitor(popup.value, talk.origin, talk.faults)
    expect(gone).to_be_hidden()
    Pair(back, again, pair.total).are_at(asks - 1, asking=True)
    back.page.close()
