"""A talk made in the page, and talks handed out: on the screen, offline and printed."""

import re
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PAIRS, SCRIPT
from tests.browser.visitor import PATIENCE, Visitor

OWN = "a wonderful film"
LETTER = {"width": 816, "height": 1056}
FOOT = 72  # points from the lower edge of the paper, within which links begin
CUT = """() => [...document.querySelectorAll('.sheet')].flatMap((sheet, index) => {
  const paper = sheet.getBoundingClientRect();
  const inside = [...sheet.querySelectorAll('*')].filter((one) => one.getClientRects().length &&
    !one.closest('svg') && one.clientWidth > 1).map((one) => one.getBoundingClientRect());
  const foot = sheet.querySelector('footer').getBoundingClientRect();
  const card = sheet.querySelector('.stage > .card').getBoundingClientRect();
  const out = inside.some((one) => one.right > paper.right + 1 || one.bottom > paper.bottom + 1 ||
    one.left < paper.left - 1);
  const hidden = [...sheet.querySelectorAll('pre, .scroll')].some((one) =>
    one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible');
  return out || hidden || card.bottom > foot.top + 1 || sheet.scrollHeight > sheet.clientHeight + 1
    ? [index + 1] : [];
})"""  # the sheets on which something is cut off, or lies over something else


def adding(visitor: Visitor, name: str, caption: str) -> None:
    """Add what is shown to the talk."""
    dialog = visitor.page.locator("#editor dialog")
    dialog.locator("select").select_option(name)
    dialog.locator("form input").fill(caption)
    dialog.locator("form button").click()
    expect(dialog.get_by_role("status")).to_contain_text("Added as slide")


def captions(page: Page) -> list[str]:
    return [box.input_value() for box in page.locator("#editor li > label > input").all()]


def test_a_talk_is_made_kept_saved_and_opened_again(real: Open, tmp_path: Path) -> None:
    visitor = real(query="&lang=en")
    page = visitor.page
    visitor.sees_an_answer()
    visitor.type(OWN)
    page.locator("#text textarea").press("Enter")
    page.wait_for_function("new URLSearchParams(location.search).get('text') === 'a wonderful film'")
    expect(visitor.ticks("similarity", "y").filter(has_text="wonderful")).to_have_count(1)  # and is answered
    page.get_by_role("button", name="Add to talk").click()
    offered = page.locator("#editor select option").all_inner_texts()
    assert offered[0] == page.locator("#editor form input").input_value() == "What does the head read?"
    assert {page.locator(f"#{name}-heading").inner_text() for name in ("similarity", "heatmap")} <= {*offered}
    assert "Take it home" not in offered  # which stands in another view
    adding(visitor, "similarity", "How alike")
    adding(visitor, "reads", "Who is read")
    page.get_by_role("button", name="Up: Who is read").click()
    assert captions(page) == ["Who is read", "How alike"]
    page.locator("#editor li summary").first.click()
    page.locator("#editor li").first.get_by_label("Question that comes first").fill("Which?")
    page.get_by_label("Title of the talk").fill("Mine")
    for theme, width, height in (("dark", 1920, 1080), ("light", 1024, 768), ("light", 390, 740)):
        visitor.in_a_window(theme, width, height)
        assert visitor.violations() == []
        assert page.evaluate("document.querySelector('#editor dialog').scrollWidth <= innerWidth")
    page.reload()
    page.get_by_role("button", name="Add to talk").click()
    expect(page.locator("#editor li")).to_have_count(2)
    assert captions(page) == ["Who is read", "How alike"]
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as TOML").click()
    file = tmp_path / "talk.toml"
    saved.value.save_as(file)
    written = tomllib.loads(file.read_text(encoding="utf-8"))
    assert written == {
        "title": {"en": "Mine"},
        "step": [
            {"show": "reads", "caption": {"en": "Who is read"}, "ask": {"en": "Which?"}, "text": OWN},
            {"show": "similarity", "caption": {"en": "How alike"}, "text": OWN},
        ],
    }
    page.get_by_role("button", name="Delete all").click()
    expect(page.locator("#editor li")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    assert captions(page) == ["Who is read", "How alike"]
    page.get_by_role("button", name="Delete: How alike").click()
    expect(page.locator("#editor li")).to_have_count(1)
    page.locator("#editor input[type=file]").set_input_files(file)
    expect(page.locator("#editor li")).to_have_count(2)
    assert captions(page) == ["Who is read", "How alike"]
    hostile = tmp_path / "hostile.toml"
    hostile.write_text("[[step]]\nshow = '<img src=x onerror=pwn()>'\ncaption.en = 'x'")
    page.locator("#editor input[type=file]").set_input_files(hostile)
    expect(page.locator("#editor").get_by_role("status")).to_contain_text("talk, step 1, show: '<img")
    expect(page.locator("#editor li")).to_have_count(2)  # nothing is lost
    (refused,) = visitor.faults  # the browser's own note of the answer
    assert "400 (Bad Request)" in refused
    visitor.faults.clear()
    gone = tmp_path / "gone.toml"
    gone.write_text("[[step]]\nshow = 'reads'\ncaption.en = 'Old'\nbackbone = 'gone'")
    page.locator("#editor input[type=file]").set_input_files(gone)
    expect(page.locator("#editor .lost")).to_contain_text(
        "This slide cannot be had any more: backbone: 'gone'"
    )
    page.get_by_role("button", name="Delete all").click()


def test_the_choices_of_a_question_are_written_saved_and_opened_again(fake: Open, tmp_path: Path) -> None:
    page = (visitor := fake(query="&lang=en")).page
    page.get_by_role("button", name="Add to talk").click()
    adding(visitor, "reads", "Who is read")
    step = page.locator("#editor li").first
    step.locator("summary").click()
    step.get_by_label("Question that comes first").fill("Which?")
    choices, wrong = step.get_by_label("Its choices"), step.locator(".wrong")
    for given, said in (
        ("This", "2 to 6 texts are expected"),
        ("This\n" + 81 * "x", "at most 80 characters"),
    ):
        choices.fill(given)
        choices.blur()
        expect(wrong).to_contain_text(said)
        (refused,) = visitor.faults  # the browser's own note of the answer
        assert "400 (Bad Request)" in refused
        visitor.faults.clear()
    choices.fill(" This\n\nThat one\n")
    choices.blur()
    expect(wrong).to_have_text("")
    for theme, width in (("dark", 1024), ("light", 390)):
        visitor.in_a_window(theme, width)
        assert visitor.violations() == []
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as TOML").click()
    file = tmp_path / "talk.toml"
    saved.value.save_as(file)
    (written,) = tomllib.loads(file.read_text(encoding="utf-8"))["step"]
    assert (written["ask"], written["choices"]) == ({"en": "Which?"}, {"en": ["This", "That one"]})
    page.get_by_role("button", name="Delete all").click()
    expect(page.locator("#editor li")).to_have_count(0)
    page.locator("#editor input[type=file]").set_input_files(file)
    step.locator("summary").click()
    expect(choices).to_have_value("This\nThat one")
    page.get_by_role("button", name="Delete all").click()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), [("pairs", PAIRS), ("cls", SCRIPT)])
def test_a_talk_that_is_handed_out_opens_offline_and_fits_its_pages(
    real: Open, tmp_path: Path, name: str, steps: list[object]
) -> None:
    visitor = real(query=f"&talk={name}.2")
    page = visitor.page
    expect(page.locator(f"#slide-end [data-made={name}]")).to_have_count(1, timeout=PATIENCE)
    page.keyboard.press("o")
    with page.expect_download(timeout=PATIENCE) as sent:
        page.get_by_role("button", name="As one file").locator("visible=true").click()
    file = tmp_path / "talk.html"
    sent.value.save_as(file)
    page.keyboard.press("Escape")  # of the list
    expect(page.get_by_role("dialog", name="Slides")).to_be_hidden()
    expect(page.locator("#talk")).to_be_visible()
    assert page.context.browser
    context = page.context.browser.new_context(viewport={"width": 1366, "height": 900})
    context.set_offline(True)
    paper, asked = context.new_page(), []
    paper.on("request", lambda one: asked.append(one.url))
    paper.on("pageerror", lambda error: asked.append(str(error)))
    paper.goto(file.as_uri())
    expect(paper.locator(".sheet")).to_have_count(len(steps))
    expect(paper.locator("#slide-2-plot .main-svg").first).to_be_visible()
    for width, notes in ((1366, False), (1024, True), (390, False)):
        paper.set_viewport_size({"width": width, "height": 800})
        paper.locator("#notes").set_checked(notes)
        paper.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        assert paper.evaluate(CUT) == [], f"{width} pixels"
    paper.set_viewport_size({"width": 1366, "height": 800})
    paper.wait_for_function("document.querySelector('main').style.zoom === '1'")
    paper.locator("#slide-2-plot .nsewdrag").first.hover()
    expect(paper.locator("#slide-2-plot .hoverlayer text").first).to_be_visible()  # it is alive
    paper.locator("body").press("Home")
    paper.keyboard.press("PageDown")
    pages = paper.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", pages)) == len(steps)
    paper.evaluate("addEventListener('resize', (event) => event.stopImmediatePropagation(), true)")
    paper.set_viewport_size(LETTER)  # as a printer has it until it knows the paper
    paper.emulate_media(media="print")
    assert paper.evaluate(CUT) == [], "printed"
    links = [[float(side) for side in one.split()] for one in re.findall(rb"/Rect\s*\[([^\]]*)\]", pages)]
    feet = [one for one in links if one[1] < FOOT]
    assert len(feet) >= len(steps)  # no sheet was made smaller than its paper
    assert [url for url in asked if not url.startswith((file.as_uri(), "data:", "blob:"))] == []
    context.close()
