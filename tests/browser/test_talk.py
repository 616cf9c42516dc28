"""Talk mode in a browser: a step only changes which slide is seen, and no network is needed."""

import io
import re

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import ASKS, FITS, SCRIPT, SHOWN, TOLD, step_of
from tests.browser.visitor import PATIENCE, Visitor

IDLE = "() => new Promise((idle) => requestAnimationFrame(() => requestIdleCallback(idle)))"
SEEN = 8  # of 255 shades; letters are smoothed a little differently each time
SWIPE = """([x, y]) => {
  const shown = document.querySelector('#talk .slide.current .shown');
  const at = (clientX, clientY) => new Touch({ identifier: 1, target: shown, clientX, clientY });
  const say = (name, touches, changedTouches) =>
    shown.dispatchEvent(new TouchEvent(name, { touches, changedTouches, bubbles: true }));
  say('touchstart', [at(150, 300)], []);
  say('touchend', [], [at(150 + x, 300 + y)]);
}"""  # of one finger, by so many pixels


@pytest.fixture
def arrived(real: Open) -> Visitor:
    """A visitor who came to the talk on a phone, every slide made."""
    visitor = real("light", 360, 740, "&talk=1")
    page = visitor.page
    expect(page.locator(f"{SHOWN} h2.caption")).to_be_visible(timeout=PATIENCE)
    for place in page.locator(f"#talk {TOLD} .plot").all():
        expect(place.locator(".main-svg").first).to_be_attached(timeout=PATIENCE)
    expect(page.locator(f"#talk {TOLD} .compare-grid td.told")).not_to_have_count(0, timeout=PATIENCE)
    page.wait_for_function(FITS, timeout=PATIENCE)
    visitor.waits_for_the_server()
    return visitor


def talking(visitor: Visitor, step: int, theme: str, width: int, height: int) -> Visitor:
    """The visitor at a step of the talk, in a window in which every slide fits."""
    visitor.in_a_window(theme, width, height)
    visitor.page.keyboard.press("Home")
    for _ in range(step - 1):
        visitor.page.keyboard.press("ArrowRight")
    visitor.page.wait_for_function(FITS, timeout=PATIENCE)
    return visitor


def same(one: bytes, other: bytes) -> bool:
    """Whether two pictures differ in nothing that an eye can see."""
    pictures = (Image.open(io.BytesIO(picture)).convert("L") for picture in (one, other))
    return ImageChops.difference(*pictures).getextrema()[1] < SEEN


def test_the_keys_walk_and_every_slide_fits_and_is_there_at_once(arrived: Visitor) -> None:
    visitor = talking(arrived, 1, "dark", 1920, 1080)
    page = visitor.page
    total = page.locator(f"#talk {TOLD}").count()
    assert total == len(SCRIPT) + 1  # and one with the link of the page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    seen = [page.locator(f"{SHOWN} h2.caption").inner_text()]
    at_once: list[bytes] = []
    asks = 0
    for _ in range(total - 1):
        page.keyboard.press("ArrowRight")
        if page.locator(f"{SHOWN} .question").count():  # it stands there first, alone
            asks += 1
            expect(page.locator(f"{SHOWN} .question")).to_be_visible()
            assert page.evaluate(ASKS)
            expect(page.locator(f"{SHOWN} h2.caption")).to_be_hidden()
            expect(page.locator(f"{SHOWN} .shown *:visible")).to_have_count(0)
            page.keyboard.press("ArrowRight")
            expect(page.locator(f"{SHOWN} .question")).to_be_hidden()
        at_once.append(page.screenshot())
        assert page.locator(SHOWN).count() == 1  # without waiting for anything
        seen.append(page.locator(f"{SHOWN} h2.caption").inner_text())
    assert len(set(seen)) == total
    assert asks == sum(bool(step.question) for step in SCRIPT)
    for picture in reversed(at_once):
        page.evaluate(IDLE)
        assert same(page.screenshot(), picture)
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert asked == []
    assert step_of(page) == f"{total} / {total}"
    expect(page).to_have_url(re.compile(rf"[?&]talk={total}(&|$)"))
    page.keyboard.press("ArrowRight")  # there is nothing behind the last one
    assert step_of(page) == f"{total} / {total}"
    page.keyboard.press("Home")
    assert step_of(page) == f"1 / {total}"
    assert visitor.violations() == []
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")  # nothing old helps out
    page.context.set_offline(True)
    try:
        page.keyboard.press("PageDown")
        page.keyboard.press("PageDown")
        expect(page.locator(f"{SHOWN} .main-svg").first).to_be_visible()
        page.keyboard.press("Home")
        expect(page.locator(f"{SHOWN} .verdict")).to_be_visible()
    finally:
        page.context.set_offline(False)


def test_any_slide_is_a_few_keys_or_a_swipe_away(arrived: Visitor) -> None:
    visitor = talking(arrived, 1, "dark", 360, 740)
    page = visitor.page
    total = page.locator(f"#talk {TOLD}").count()
    page.keyboard.press("o")
    slides = page.get_by_role("dialog", name="Slides")
    captions = [text.strip() for text in page.locator(f"#talk {TOLD} h2.caption").all_text_contents()]
    assert slides.locator("li button:visible").all_inner_texts() == captions
    expect(slides.locator("li [aria-current=true]:visible")).to_have_text(captions[0])
    expect(slides.locator("li [aria-current=true]:visible")).to_be_focused()
    assert visitor.violations() == []
    slides.get_by_role("button", name=captions[2], exact=True).click()
    expect(slides).to_be_hidden()
    assert step_of(page) == f"3 / {total}"
    for button in page.locator("#talk-bar :is(button, a):visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 360
    for key in (*str(total), "Enter"):
        page.keyboard.press(key)
    assert step_of(page) == f"{total} / {total}"
    for sideways, down, there in (
        (200, 10, total - 1),
        (20, 0, total - 1),
        (200, 150, total - 1),
        (-200, 0, total),
    ):
        page.evaluate(SWIPE, [sideways, down])
        assert step_of(page) == f"{there} / {total}"
    page.keyboard.press("b")
    expect(page.locator("#talk.blank")).to_have_count(1)
    page.keyboard.press("PageUp")
    expect(page.locator("#talk.blank")).to_have_count(0)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.locator("kbd", has_text="PageDown")).to_be_visible()
    assert visitor.violations() == []
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    for there in ("true", "false"):
        page.keyboard.press("F")
        page.wait_for_function(f"Boolean(document.fullscreenElement) === {there}")
    assert step_of(page) == f"{total - 1} / {total}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_talk_is_printed_a_slide_a_page_with_every_answer(arrived: Visitor) -> None:
    visitor = talking(arrived, 1, "light", 1280, 720)
    page = visitor.page
    asks = next(number for number, step in enumerate(SCRIPT, 1) if step.question)
    for key in (*str(asks), "Enter"):  # where the audience sees a question alone
        page.keyboard.press(key)
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    total = page.locator(f"#talk {TOLD}").count()
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == total
    width, height = map(float, re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed)[0])
    assert width / height == pytest.approx(1280 / 720, rel=0.01)
    page.emulate_media(media="print")
    expect(page.locator(f"{SHOWN} .shown .verdict")).to_be_visible()
    expect(page.locator(f"{SHOWN} .question")).to_be_hidden()
    expect(page.locator("#talk-bar")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(page.locator(f"{SHOWN} .shown .verdict")).to_be_hidden()
