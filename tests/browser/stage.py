"""What tests know of the talks that ship, and what a browser measures of a slide."""

from playwright.sync_api import Page

from tests.talks import slides_of

SCRIPT, PAIRS = slides_of("cls"), slides_of("pairs")
SHOWN = "#talk .slide.current"
TOLD = ".slide[data-told]"  # of the talk that is shown
FITS = """() => [...document.querySelectorAll('#talk .slide[data-told]')].every((slide) => {
  const shown = slide.querySelector('.shown'), place = shown.getBoundingClientRect();
  const boxes = [...shown.querySelectorAll('*')].filter((box) => box.clientWidth > 1); // less: not for eyes
  const cut = boxes.some((box) => box.scrollWidth > box.clientWidth + 1 &&
    getComputedStyle(box).overflowX !== 'visible');
  const right = place.left + shown.scrollWidth * shown.style.zoom;
  return !cut && place.bottom <= slide.getBoundingClientRect().bottom + 1 && right <= innerWidth + 1;
})"""
FILLED = """() => {
  const shown = document.querySelector('#talk .slide.current .shown');
  return shown.getBoundingClientRect().height > innerHeight / 2;
}"""  # whether a plot is as high as a window lets it
ASKS = """() => {
  const words = document.createRange();
  words.selectNodeContents(document.querySelector('#talk .slide.current .question'));
  const at = words.getBoundingClientRect();
  const below = document.querySelector('#talk .slide.current .asked')?.getBoundingClientRect().bottom ?? 0;
  const middle = (at.top + at.bottom) / 2 / innerHeight;
  return at.top >= below && at.left >= 0 && at.right <= innerWidth && middle > 0.3 && middle < 0.7;
}"""  # whether a question stands in the middle, and over nothing else


def step_of(page: Page) -> str:
    return page.locator("#talk-bar [role=status]").inner_text()
