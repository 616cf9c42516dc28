"""Talk mode in a browser: a step only changes which slide is seen, and no network is needed."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from components.texts import ENGLISH, languages
from tests.browser.conftest import Open
from tests.browser.visitor import PATIENCE, SCRIPTS, Visitor
from tests.talks import slides_of

SCRIPT, PAIRS = slides_of("cls"), slides_of("pairs")
SHOWN = "#talk .slide.current"
LEAST = 0.022  # of the height of a window, letters of a slide
TOLD = ".slide[data-told]"  # of the talk that is shown
LONG = (
    "I went to see this film with my whole family, and although the plot is not bad at all, "
    "the acting is not good, nor is the music that goes on for much too long."
)


def step_of(page: Page) -> str:
    return page.locator("#talk-bar [role=status]").inner_text()


@pytest.fixture(scope="module")
def arrived(real: Open) -> Visitor:
    """A visitor who came to the talk on a phone, every slide made."""
    visitor = real("light", 360, 740, "&talk=1")
    page = visitor.page
    expect(page.locator("#slide-end .invitation")).to_be_attached(timeout=PATIENCE)
    page.wait_for_function(SCRIPTS["slides_are_drawn"], timeout=PATIENCE)
    expect(page.locator(f"#talk {TOLD} .compare-grid td.told")).not_to_have_count(0, timeout=PATIENCE)
    page.wait_for_function(SCRIPTS["fits"], timeout=PATIENCE)
    visitor.waits_for_the_server()
    return visitor


def talking(visitor: Visitor, step: int, theme: str, width: int, height: int) -> Visitor:
    """The visitor at a step of the talk, in a window in which every slide fits."""
    visitor.in_a_window(theme, width, height)
    visitor.page.keyboard.press("Home")
    for _ in range(step - 1):
        visitor.page.keyboard.press("ArrowRight")
    visitor.page.wait_for_function(SCRIPTS["fits"], timeout=PATIENCE)
    return visitor


def test_the_keys_walk_and_every_slide_fits_and_is_there_at_once(arrived: Visitor) -> None:
    visitor = talking(arrived, 1, "dark", 1920, 1080)
    page = visitor.page
    total = page.locator(f"#talk {TOLD}").count()
    assert total == len(SCRIPT) + 1  # and one with the link of the page
    asked, seen, asks = list[str](), list[str](), 0
    page.on("request", lambda request: asked.append(request.url))
    for _ in range(total):
        if page.locator(f"{SHOWN} .question").count():  # it stands there first, alone
            asks += 1
            assert page.evaluate(SCRIPTS["asks"])
            expect(page.locator(f"{SHOWN} h2.caption")).to_be_hidden()
            expect(page.locator(f"{SHOWN} .shown *:visible")).to_have_count(0)
            page.keyboard.press("ArrowRight")
        assert page.evaluate(SCRIPTS["is_there"])  # without waiting for anything
        seen.append(page.locator(f"{SHOWN} h2.caption").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(set(seen)) == total
    assert asks == sum(bool(step.question) for step in SCRIPT)
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
        for _ in range(3):  # the answer, the next question, its answer
            page.keyboard.press("PageDown")
        expect(page.locator(f"{SHOWN} .main-svg").first).to_be_visible()
        page.keyboard.press("Home")
        page.keyboard.press("PageDown")
        expect(page.locator(f"{SHOWN} .verdict")).to_be_visible()
    finally:
        page.context.set_offline(False)


def small_letters(page: Page, width: int = 1366, height: int = 768) -> list[tuple[str, int, object]]:
    """List what the last row of a hall cannot read: part, slide, and the letters."""
    small, slides = list[tuple[str, int, object]](), page.locator(f"#talk {TOLD}").count()
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(SCRIPTS["resized"])
    page.keyboard.press("Home")
    for slide in range(1, slides + 1):
        for part in ("question", "answer"):
            page.wait_for_function(SCRIPTS["is_there"], timeout=PATIENCE)
            small += [(part, slide, one) for one in page.evaluate(SCRIPTS["letters"], LEAST)]
            if page.locator(f"{SHOWN}.asking").count() or part == "answer":
                page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    return small


@pytest.mark.parametrize("tag", languages())
def test_the_last_row_of_a_hall_can_read_every_letter(real: Open, arrived: Visitor, tag: str) -> None:
    """Of the other talk in English, too: see below."""
    if tag == ENGLISH:
        assert small_letters(arrived.page) == small_letters(arrived.page, 3840, 2160) == []
        return
    visitor = real("light", 1366, 768, f"&lang={tag}&talk=cls")
    page = visitor.page
    for place, talk in enumerate(("cls", "pairs")):
        page.locator(f"{SHOWN} nav.talks button").nth(place).click()
        expect(page.locator(f"#slide-end [data-made={talk}]")).to_have_count(1, timeout=PATIENCE)
        assert small_letters(page) == []
    visitor.waits_for_the_server()
    page.close()  # a page that is behind another may not fill the screen


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
    for sideways, down, there in ((200, 10, total - 1), (200, 150, total - 1), (-200, 0, total)):
        page.evaluate(SCRIPTS["swipe"], [sideways, down])
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
    page = talking(arrived, 1, "light", 1280, 720).page
    asks = next(number for number, step in enumerate(SCRIPT, 1) if step.question)
    for key in (*str(asks), "Enter"):  # where the audience sees a question alone
        page.keyboard.press(key)
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == page.locator(f"#talk {TOLD}").count()
    width, height = map(float, re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed)[0])
    assert width / height == pytest.approx(1280 / 720, rel=0.01)
    page.emulate_media(media="print")
    expect(page.locator(f"{SHOWN} .shown .verdict")).to_be_visible()
    expect(page.locator(f"{SHOWN} .question")).to_be_hidden()
    expect(page.locator("#talk-bar")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(page.locator(f"{SHOWN} .shown .verdict")).to_be_hidden()


def test_another_talk_is_chosen_on_the_first_slide_and_has_its_own_address(arrived: Visitor) -> None:
    visitor = talking(arrived, 1, "light", 1366, 900)
    page = visitor.page
    choice = page.locator(f"{SHOWN} nav.talks button")
    expect(choice).to_have_count(2, timeout=PATIENCE)
    expect(choice.first).to_have_attribute("aria-current", "true")
    choice.last.click()
    expect(page.locator(f"{SHOWN} .question p")).to_have_text(PAIRS[0].question)
    expect(page.locator(f"{SHOWN} .question li")).to_have_text(PAIRS[0].choices)
    assert step_of(page) == f"1 / {len(PAIRS) + 1}"
    expect(page.locator("#slide-end [data-made=pairs]")).to_have_count(1, timeout=PATIENCE)
    expect(page.locator(f"#talk {TOLD} .mistake")).to_have_count(0)
    assert small_letters(page) == []
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]talk=pairs\.2(&|$)"))
    for theme, width, height in (("dark", 1920, 1080), ("light", 360, 740)):
        visitor.in_a_window(theme, width, height)
        page.wait_for_function(SCRIPTS["fits"], timeout=PATIENCE)
        page.wait_for_function(SCRIPTS["filled"], timeout=PATIENCE)
        page.keyboard.press("Home")  # which asks
        assert page.evaluate(SCRIPTS["asks"])
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        assert visitor.violations() == []
    page.reload()
    expect(page.locator(f"{SHOWN} h2.caption")).to_have_text(PAIRS[1].caption)
    page.keyboard.press("o")
    slides = page.get_by_role("dialog", name="Slides")
    expect(slides.locator("li button:visible")).to_have_count(len(PAIRS) + 1)
    assert visitor.violations() == []
    expect(slides.locator(".talks [aria-current=true]:visible")).to_have_text("Two sentences, two vectors")
    slides.locator("nav.talks button:visible").first.click()
    expect(slides).to_be_hidden()
    assert step_of(page) == f"1 / {len(SCRIPT) + 1}"
    expect(page).to_have_url(re.compile(r"[?&]talk=1(&|$)"))


def test_leaving_gives_the_page_back_and_a_step_can_be_opened_there(arrived: Visitor) -> None:
    visitor, page = arrived, arrived.page
    visitor.in_a_window("light", 1366)
    page.keyboard.press("Escape")
    visitor.sees_an_answer()
    page.keyboard.press("t")
    assert page.evaluate("document.activeElement.closest('#talk')"), "the focus is outside"
    expect(page.locator("#slide-end .invitation")).to_be_attached(timeout=PATIENCE)  # all are made
    page.keyboard.press("Escape")
    expect(page.locator("#talk")).to_be_hidden()
    assert "talk=" not in page.url
    visitor.type("t")  # a letter in a text is a letter
    expect(page.locator("#talk")).to_be_hidden()
    visitor.type(LONG)
    page.get_by_role("button", name="Talk", exact=True).click()
    for key in (*str([step.show for step in SCRIPT].index("words") + 1), "Enter", "ArrowLeft"):
        page.keyboard.press(key)  # back from a slide, the one before has its answer
    expect(page.locator(f"{SHOWN} h2.caption")).to_be_visible()
    last = page.locator(f"#talk {TOLD} .plot").last  # who leaves while slides are made cuts them off
    expect(last.locator(".main-svg").first).to_be_attached(timeout=PATIENCE)
    expect(page.locator(f"{SHOWN} .asked")).to_have_text(f"“{LONG}”")  # the visitor's own sentence
    expect(page.locator("#slide-end .invitation")).to_contain_text(
        "text=I+went", timeout=PATIENCE
    )  # all are made
    visitor.waits_for_the_server()
    page.keyboard.press("ArrowRight")
    for width, height in ((1920, 1080), (844, 390)):  # a hall, and a phone held sideways
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(SCRIPTS["resized"])
        page.wait_for_function(SCRIPTS["fits"], timeout=PATIENCE)
        words = page.evaluate(SCRIPTS["words_are"])
        assert words["size"] >= 1 / 50
        assert words["lines"] == words["named"] > 1
    page.keyboard.press("ArrowLeft")
    page.get_by_role("link", name="Open on the page").click()
    expect(visitor.verdict).to_contain_text("GPT2ForSequenceClassification", timeout=PATIENCE)
    expect(page.locator("#talk")).to_be_hidden()
    asked = parse_qs(urlsplit(page.url).query)
    assert asked == {"backbone": ["gpt2-sentiment"], "text": [LONG], "__theme": ["light"]}


def test_who_is_new_reads_a_claim_a_screen_and_ends_on_the_own_sentence(visitor: Visitor) -> None:
    page = visitor.page
    visitor.in_a_window("light", 390, 844)
    page.get_by_role("link", name="New here? Five minutes").click()
    screens = page.locator("section.screen")
    expect(screens).to_have_count(8, timeout=PATIENCE)
    expect(page.locator(".plot .main-svg").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert visitor.violations() == [], scheme
    for place in range(8):
        page.locator(".on").nth(place).focus()
        page.keyboard.press("Enter")
        expect(screens.nth(place).locator("h2").first).to_be_in_viewport()
    page.get_by_role("textbox").fill(LONG)
    page.keyboard.press("Enter")
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification reads 1 of", timeout=PATIENCE)
    assert visitor.faults == []
