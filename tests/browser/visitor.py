"""A visitor in a real browser: what they do, and what they see."""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Page, Request, expect

PATIENCE = 60_000  # milliseconds; the first backbone may still be loading
STUMBLE = "Cannot read properties of undefined (reading '0')"  # Plotly's, of a plot redrawn while it is drawn
BESIDES = ("place", "head", "task", "pool_layer")  # what is asked one press away
TICK = 20  # milliseconds between two looks
SCRIPTS = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text("utf-8"))  # what it runs
ANYWHERE = (("light", 360), ("dark", 1366))  # themes and widths of a window


@dataclass
class Visitor:
    """One page in one browser context; ``faults`` collects what must never happen."""

    page: Page
    origin: str
    faults: list[str] = field(default_factory=list)
    asking: set[Request] = field(default_factory=set)  # what the server has not answered to its end
    questions: int = 0  # how many were asked so far

    @property
    def verdict(self) -> Locator:
        return self.page.locator("#verdict")

    def plot(self, name: str) -> Locator:
        """The plot "similarity" or "heatmap"."""
        return self.page.locator(f"#{name}-plot .js-plotly-plot")

    def ticks(self, name: str, axis: str) -> Locator:
        return self.plot(name).locator(f".{axis}tick text")

    def choose(self, menu: str, option: str) -> None:
        """Choose an option of the menu with the id ``menu`` by its whole name."""
        self.page.mouse.move(0, 0)  # away from plots: Plotly stumbles where one is redrawn under the mouse
        self.shows(menu)
        box = self.page.locator(f"#{menu} input")
        box.blur()
        box.press("ArrowDown")  # opens the list
        self.page.evaluate("() => new Promise(setTimeout)")  # a key is handled a task later
        listed = self.page.locator(f"#{menu}").get_by_role("option", name=option, exact=True)
        listed.dispatch_event("mousedown")
        box.blur()

    def looks_at(self, view: str) -> None:
        """Open the tab "tokens" or "head" of the answer."""
        self.page.locator(f"#{view}-view-button").click()

    def type(self, text: str, box: str = "text") -> None:
        self.shows(box)
        self.page.locator(f"#{box} textarea").fill(text)

    def example(self, label: str) -> None:
        self.shows("examples")
        self.page.get_by_role("button", name=label, exact=True).click()

    def shows(self, part: str) -> None:
        """Fold the question out, where ``part`` is one of it and a phone folds it, or it is in "More"."""
        fold, found = self.page.locator("#fold button[aria-expanded=false]"), self.page.locator(f"#{part}")
        if (part in BESIDES or self.page.locator(f"#asking #{part}").count()) and fold.is_visible():
            fold.click()
        if part in BESIDES and not found.is_visible():
            self.page.locator("#more > .label-wrap").click()

    def shares(self, menu: str, name: str) -> Locator:
        """Open the ``menu`` "Share" or "Save", and give what is called ``name`` in it."""
        self.page.get_by_role("button", name=menu, exact=True).click()
        return self.page.get_by_role("button", name=name)

    def sees_an_answer(self) -> None:
        """Wait until verdict and plots are there."""
        expect(self.verdict).to_contain_text("reads", timeout=PATIENCE)
        for name in ("similarity", "heatmap"):
            expect(self.plot(name).locator(".main-svg").first).to_be_visible(timeout=PATIENCE)

    def waits_for_the_server(self) -> None:
        """Let every answer come to its end: who goes away before cuts it off."""
        waited = 0
        while self.asking or self.page.evaluate("() => window.allDrawn?.().then(() => 0)") or self.asking:
            assert waited < PATIENCE, "an answer has not ended"
            self.page.wait_for_timeout(TICK)  # a stream may finish or be closed, and one waits for one event
            waited += TICK

    def sees_where_it_comes_from(self) -> None:
        """Wait until all of an answer is there: its origin is asked last, and who leaves would cut it off."""
        expect(self.plot("origin").locator(".main-svg").first).to_be_attached(timeout=PATIENCE)
        self.waits_for_the_server()

    def has_asked(self, number: int) -> None:
        """Hold that ``number`` questions are asked by now or soon, and no more once all are answered."""
        waited = 0
        while self.questions < number:
            assert waited < PATIENCE, f"{self.questions} of {number} questions were asked"
            self.page.wait_for_timeout(TICK)
            waited += TICK
        self.waits_for_the_server()
        assert self.questions == number

    def has_loaded_its_images(self) -> None:
        """Let every image that was asked for load or fail: one that fails may run what is in its onerror."""
        self.page.wait_for_function("[...document.images].every((one) => one.complete)")
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        self.page.evaluate(SCRIPTS["last_image"])

    def in_a_window(self, theme: str, width: int, height: int = 900) -> None:
        """Change the theme, as gradio's own switch does, and the size."""
        self.page.evaluate("dark => document.body.classList.toggle('dark', dark)", theme == "dark")
        self.page.set_viewport_size({"width": width, "height": height})

    def can_read_it_anywhere(self) -> None:
        """Hold that nothing scrolls sideways and axe finds nothing, whatever the window."""
        for theme, width in ANYWHERE:
            self.in_a_window(theme, width)
            self.page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
            assert self.violations() == [], (theme, width)

    def saves(self, button: Locator, folder: Path) -> Path:
        """Click what saves a file, and keep that in a folder under its own name."""
        with self.page.expect_download() as download:
            button.click()
        place = folder / download.value.suggested_filename
        download.value.save_as(place)
        return place

    @contextmanager
    def asks_no_model(self) -> Iterator[None]:
        """Hold that the server is asked within, but none of its models."""
        asked: list[str] = []

        def note(request: Request) -> None:
            if request.method == "POST":
                asked.append(request.url.partition("/gradio_api/")[2])

        self.page.on("request", note)
        yield
        self.page.remove_listener("request", note)
        assert asked
        assert not [path for path in asked if path.startswith("queue/join")]  # where models are asked

    def violations(self) -> list[str]:
        """What axe finds but for gradio's own footer, once nothing fades in or out any more."""
        self.page.wait_for_function(SCRIPTS["still"])
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(Axe().axe_script)
        violations = self.page.evaluate(SCRIPTS["axe"])
        return [f"{one['id']}: {node['html'][:200]}" for one in violations for node in one["nodes"]]


def note_faults(page: Page, faults: list[str], *allowed: str) -> None:
    """Add to ``faults`` what must not happen: errors, foreign code, requests but to what is ``allowed``."""

    def failed(error: Error) -> None:
        if error.message != STUMBLE:
            faults.append(f"error: {error} {error.stack}")

    def console(said: ConsoleMessage) -> None:
        if said.type == "error":
            faults.append(f"console: {said.text} {said.location['url']}")

    beginnings = "data:", "blob:", *allowed
    page.on("pageerror", failed)
    page.on("console", console)
    page.on("request", lambda one: one.url.startswith(beginnings) or faults.append(f"outside: {one.url}"))
    page.expose_function("pwn", lambda *_: faults.append("foreign code was run"))


def visit(
    browser: BrowserContext,
    address: str,
    theme: str = "light",
    width: int = 1366,
    height: int = 900,
    query: str = "",
) -> Visitor:
    """Open the page at ``address`` by a link with ``query``, such as "&tab=compare", and wait for nothing."""
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": height})
    visitor = Visitor(page, urlsplit(address).netloc)

    def request(request: Request) -> None:
        url = urlsplit(request.url)
        if url.path.endswith("/queue/data") or request.method == "POST":
            visitor.asking.add(request)
        if url.path.endswith("/queue/join"):
            visitor.questions += 1

    note_faults(page, visitor.faults, f"{urlsplit(address).scheme}://{visitor.origin}/")
    page.on("request", request)
    page.on("requestfinished", lambda request: visitor.asking.discard(request))
    page.on("requestfailed", lambda request: visitor.asking.discard(request))
    page.goto(f"{address}/?__theme={theme}{query}")
    return visitor
