"""Which talk is shown, whose sentence it is about, and the way from a slide to the page and back."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import ASKS, FILLED, FITS, PAIRS, SCRIPT, SHOWN, TOLD, step_of
from tests.browser.visitor import PATIENCE

LONG = (
    "I went to see this film with my whole family, and although the plot is not bad at all, "
    "the acting is not good, nor is the music that goes on for much too long."
)
WORDS_ARE = """() => {
  const words = document.querySelector('#talk .slide.current .words');
  const cell = words.querySelector('.cell');
  return {
    size: parseFloat(getComputedStyle(cell).fontSize) * words.closest('.shown').style.zoom / innerHeight,
    lines: new Set([...words.querySelectorAll('.head')].map((head) => head.getBoundingClientRect().y)).size,
    named: words.querySelectorAll('.names').length,
  };
}"""  # how large a letter is, in heights of the window; the lines of words, and how many have the names
ESCAPES = """() => ['Escape', 'Escape'].forEach((key) =>
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })))"""  # twice at once


def test_another_talk_is_chosen_on_the_first_slide_and_has_its_own_address(real: Open) -> None:
    visitor = real(query="&talk=1")
    page = visitor.page
    choice = page.locator(f"{SHOWN} nav.talks button")
    expect(choice).to_have_count(2, timeout=PATIENCE)
    first, other = choice.all()
    expect(first).to_have_attribute("aria-current", "true")
    other.click()
    asks = PAIRS[0].question
    expect(page.locator(f"{SHOWN} .question p")).to_have_text(asks)
    expect(page.locator(f"{SHOWN} .question li")).to_have_text(PAIRS[0].choices)
    assert step_of(page) == f"1 / {len(PAIRS) + 1}"
    expect(page.locator("#slide-end [data-made=pairs]")).to_have_count(1, timeout=PATIENCE)
    expect(page.locator(f"#talk {TOLD} .mistake")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]talk=pairs\.2(&|$)"))
    for theme, width, height in (("dark", 1920, 1080), ("light", 360, 740)):
        visitor.in_a_window(theme, width, height)
        page.wait_for_function(FITS, timeout=PATIENCE)
        page.wait_for_function(FILLED, timeout=PATIENCE)
        page.keyboard.press("Home")  # which asks
        assert page.evaluate(ASKS)
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        assert visitor.violations() == []
    page.reload()
    expect(page.locator(f"{SHOWN} h2.caption")).to_have_text(PAIRS[1].caption)
    page.evaluate(ESCAPES)
    slides = page.get_by_role("dialog", name="Slides")
    expect(slides.locator("li button:visible")).to_have_count(len(PAIRS) + 1)
    assert visitor.violations() == []
    chosen = slides.locator("nav.talks [aria-current=true]:visible")
    expect(chosen).to_have_text("Two sentences, two vectors")
    slides.locator("nav.talks button:visible").first.click()
    expect(slides).to_be_hidden()
    assert step_of(page) == f"1 / {len(SCRIPT) + 1}"
    expect(page).to_have_url(re.compile(r"[?&]talk=1(&|$)"))


def test_leaving_gives_the_page_back_and_a_step_can_be_opened_there(real: Open) -> None:
    visitor = real(query="&lang=en")
    visitor.sees_an_answer()
    page = visitor.page
    page.keyboard.press("t")
    expect(page.locator(SHOWN)).to_be_visible()
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
        page.wait_for_function(FITS, timeout=PATIENCE)
        words = page.evaluate(WORDS_ARE)
        assert words["size"] >= 1 / 50
        assert words["lines"] == words["named"] > 1
    page.keyboard.press("ArrowLeft")
    page.get_by_role("link", name="Open on the page").click()
    expect(visitor.verdict).to_contain_text("GPT2ForSequenceClassification", timeout=PATIENCE)
    expect(page.locator("#talk")).to_be_hidden()
    asked = parse_qs(urlsplit(page.url).query)
    assert asked == {"backbone": ["gpt2-sentiment"], "text": [LONG], "lang": ["en"], "__theme": ["light"]}
