"""A phone in the room: it follows the talk in its own language, votes once, and goes on to the app."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.visitor import PATIENCE
from tests.serving import eventually, served

KEY = re.compile(r"/room/lead\?key=(\S+)")
QUESTION = 1  # the slide of the second talk that asks
WIDTHS = (("light", 390), ("dark", 1366))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of an app with a room, and the key to lead it."""
    log = tmp_path_factory.mktemp("room") / "log"
    with served("app.py", log=log, POOLSCOPE_ROOM="1") as url:
        eventually(lambda: KEY.search(log.read_text()), "no key in the log")
        yield url, KEY.findall(log.read_text())[0]
    said = log.read_text(errors="replace")
    assert not [
        word for word in ("Traceback", "Loading weights", "LOAD REPORT", "UserWarning") if word in said
    ]


def opened(browser: BrowserContext, address: str, faults: list[str]) -> Page:
    page = browser.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    return page


def can_be_read(phone: Page) -> None:
    """Nothing scrolls sideways and axe finds nothing, in both themes."""
    for theme, width in WIDTHS:
        phone.set_viewport_size({"width": width, "height": 844})
        phone.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert Axe().run(phone).violations_count == 0, (theme, width)


def test_a_phone_follows_and_votes_once(browser: BrowserContext, room: tuple[str, str]) -> None:
    (url, key), faults = room, list[str]()
    phone = opened(browser, f"{url}/room?lang=zh", faults)
    expect(phone.locator("h2")).to_have_count(0)
    can_be_read(phone)
    talk = opened(browser, f"{url}/room/lead?key={key}", faults)
    expect(talk.locator("#talk.on")).to_have_count(1, timeout=PATIENCE)
    assert key not in talk.url
    talk.route("**/?talk=pairs*", lambda slow: (talk.wait_for_timeout(3_000), slow.continue_()))
    talk.goto(f"{url}/?talk=pairs.{QUESTION}")
    current = talk.locator("#talk .slide.current")
    expect(current.locator(".question li")).to_have_text(["One", "Two", "All of them"])
    expect(current.locator(".room .votes p:last-child")).to_contain_text("Votes so far: 0", timeout=PATIENCE)
    choices = phone.locator("main button")
    expect(choices).to_have_text(["一个", "两个", "全部"])
    choices.nth(0).click()
    expect(choices.nth(0)).to_have_attribute("aria-pressed", "true")
    choices.nth(2).click()
    expect(choices.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(current.locator(".room .votes p:last-child")).to_contain_text("Votes so far: 1")
    expect(current.locator(".room .votes")).to_contain_text("No phone can reach this address")
    expect(current.locator(".room .votes svg")).to_have_count(0)
    can_be_read(phone)
    expect(talk.locator("#slide-end .invitation code")).to_have_text(f"{url}/room", timeout=PATIENCE)
    talk.keyboard.press("ArrowRight")
    tally = ["One: 0 of 1", "Two: 0 of 1", "All of them: 1 of 1"]
    expect(current.locator(".room li")).to_have_text(tally)
    expect(phone.locator(".tally li").last).to_have_text("全部：1 / 1")
    can_be_read(phone)
    talk.keyboard.press("ArrowRight")
    expect(current.locator(".room li")).to_have_count(0)  # which asks, too
    expect(phone.locator("main")).to_contain_text("2")
    talk.keyboard.press("ArrowRight")
    phone.locator("#try").click()
    expect(phone).to_have_url(re.compile("backbones=bert-paraphrase"))
    for page in (phone, talk):
        page.close()
    assert faults == []
