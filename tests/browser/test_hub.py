"""BackboneMenu of the hub on the real app: offered, downloaded, stopped, begun again, typed in, refused."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from components.settings import ASSETS
from tests.browser.visitor import Visitor, visit
from tests.hub import Hub, hub
from tests.serving import served
from tests.tiny import checkpoint
from tests.ui.fake import XSS

SLOW = 4_000_000  # bytes a second, of models of 26 MB: huggingface_hub reports 10 MB at a time
QUIET = 60  # seconds within which a server has noticed that nobody waits for a download
LISTED = ("one", "two")
TEXT = "the film is not good"
Arrive = Callable[..., Visitor]


@dataclass(frozen=True)
class World:
    """A hub, and the app that asks it."""

    there: Hub
    address: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The real app with one bundled backbone, two listed ones of the hub, and a visitor's own ids."""
    folder = tmp_path_factory.mktemp("hub")
    for name in LISTED:
        checkpoint(folder / "org" / name, id2label={0: "no", 1: "yes"}, max_position_embeddings=200_000)
    for name in ("gated", "markup"):
        checkpoint(folder / "org" / name, id2label={0: XSS if name == "markup" else "no", 1: "yes"})
    pickled = folder / "org" / "pickled"
    checkpoint(pickled)
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    catalogue = folder / "backbones.toml"
    with hub(folder) as there:
        there.said["org/markup"] = {"cardData": {"license": f"[x](https://example.org) {XSS}"}}
        entries = [_listed(there, name) for name in LISTED]
        bundled = (
            f'[bundled]\ntitle = "Bundled"\npath = "{ASSETS / "models/bert-sentiment"}"\ntask = "sentiment"\n'
        )
        catalogue.write_text("\n".join([bundled, *entries]), "utf-8")
        settings = {"POOLSCOPE_SOURCES": "any", "POOLSCOPE_CATALOGUE": str(catalogue)}
        with served(
            "app.py", log=folder / "log", **settings, **there.environment(folder / "home")
        ) as address:
            yield World(there, address)


@pytest.fixture
def arrive(browser: BrowserContext, world: World) -> Iterator[Arrive]:
    """Opens pages at the app, and holds at the end that nothing forbidden happened in any of them."""
    visitors: list[Visitor] = []

    def open_page() -> Visitor:
        visitors.append(visit(browser, world.address, "light", 1366, 900))
        visitors[-1].sees_an_answer()
        visitors[-1].type(TEXT)
        return visitors[-1]

    yield open_page
    world.there.speed = None
    world.there.going.set()
    faults = [fault for visitor in visitors for fault in visitor.faults]
    for visitor in visitors:
        visitor.page.close()
    assert not faults


def test_a_model_is_offered_downloaded_stopped_and_begun_again(arrive: Arrive, world: World) -> None:
    visitor = arrive()
    page, there = visitor.page, world.there
    _go_to(visitor, "On the hub (2)")
    expect(page.locator("#backbone input")).to_have_value(re.compile(r"One · \d+ MB to download"))
    expect(page.locator("#offer")).to_contain_text("licence: MIT")
    expect(page.locator("#offer")).to_contain_text("What you see below is still the answer of Bundled.")
    expect(visitor.verdict).to_contain_text("BertForSequenceClassification reads")

    before = there.sent
    there.speed = SLOW
    page.locator("#download").click()
    expect(page.locator("#progress")).to_contain_text("Downloading One")
    first = _done(page.locator("#progress progress"), 0.05)
    second = _done(page.locator("#progress progress"), first + 0.1)
    there.going.clear()  # the rest would come while axe looks
    assert visitor.violations() == []
    page.locator("#cancel").click()
    expect(page.locator("#offer")).to_contain_text("Stopped.")
    expect(page.locator("#coming")).to_be_hidden()
    there.going.set()
    assert there.is_quiet(QUIET)  # the server notices between two pieces
    assert there.sent - before < _size(there, "one"), "the download went on without anyone who waits for it"

    page.locator("#download").click()
    _done(page.locator("#progress progress"), second)
    there.speed = None
    expect(page.locator("#place")).to_contain_text("On this machine (1)")
    expect(page.locator("#backbone input")).to_have_value("One")
    expect(page.locator("#offer")).to_be_hidden()
    expect(page.locator("#outputs-plot .ytick").first).to_be_visible()

    visitor = arrive()  # another page has it, too, and leaves a download as it is closed
    expect(visitor.page.locator("#place")).to_contain_text("On this machine (1)")
    _go_to(visitor, re.compile("^On the hub"))
    expect(visitor.page.locator("#offer")).to_contain_text("Two")
    before = there.sent
    there.speed = SLOW
    visitor.page.locator("#download").click()
    _done(visitor.page.locator("#progress progress"), 0.05)
    visitor.page.close()
    assert there.is_quiet(QUIET)
    assert there.sent - before < _size(there, "two")


def test_ids_are_looked_up_and_refused_with_a_reason(arrive: Arrive, world: World) -> None:
    visitor = arrive()
    page = visitor.page
    page.get_by_role("button", name="Any other model on the hub").click()
    world.there.refuse("/api/models/org/gated", 401, "GatedRepo")
    for given, reason in (
        ("../../etc", "an id of a model on the hub is expected"),
        ("org/nothing", "no public model of that name"),
        ("org/gated", "it is gated"),
        ("org/pickled", "no weights in safetensors"),
    ):
        _look_up(visitor, given)
        expect(page.locator("#lookup-refusal")).to_contain_text(reason)
        expect(page.locator("#offer")).to_be_hidden()
    visitor.in_a_window("light", 360)
    visitor.folds_out()
    _look_up(visitor, "org/markup")
    expect(page.locator("#offer")).to_contain_text("<img/src=x/onerror=pwn()>")
    expect(page.locator("#backbone .info-text")).to_contain_text("<img/src=x/onerror=pwn()>")
    assert page.locator("#backbone .info-text a").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#download").click()
    expect(page.locator("#outputs-plot")).to_contain_text("<img/src=x")
    expect(page.locator("#backbone input")).to_have_value("org/markup")
    expect(page.locator("#lookup-refusal")).to_have_text("")
    expect(page.locator("#offer")).to_be_hidden()


def _size(there: Hub, name: str) -> int:
    """Bytes of all files of a model."""
    return sum(file.stat().st_size for file in (there.folder / "org" / name).iterdir())


def _listed(there: Hub, name: str) -> str:
    size = _size(there, name)
    where = f'hub = "org/{name}"\nrevision = "{there.commit(f"org/{name}")}"\nlicence = "MIT"\nsize = {size}'
    return f'[{name}]\ntitle = "{name.title()}"\ntask = "test"\n{where}\n'


def _go_to(visitor: Visitor, place: str | re.Pattern[str]) -> None:
    visitor.page.locator("#place").get_by_text(place).click()


def _look_up(visitor: Visitor, given: str) -> None:
    box = visitor.page.get_by_label("Id of a model on the hub")
    box.fill(given)
    box.press("Enter")


def _done(bar: Locator, least: float) -> float:
    """How far a download is, once it is so far."""
    bar.page.wait_for_function(
        "least => document.querySelector('#progress progress')?.value >= least", arg=least, timeout=30_000
    )
    return float(bar.evaluate("bar => bar.value"))
