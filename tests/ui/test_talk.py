"""Talk mode: every slide shows what the page shows in that state, made before it is needed."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.figures.similarity import similarity
from components.figures.view import View
from components.results import write_results
from components.texts import languages, load_texts
from components.types import Query
from components.ui.evidence import Evidences
from components.ui.links.links import Links
from components.ui.shell import build
from components.ui.talk.slides import PLOTTED, SHOWS, Stage
from components.ui.talk.talk import Talk
from components.ui.verdict import verdict
from tests.serving import built
from tests.ui.asking import RESULTS
from tests.ui.compare_page import Page
from tests.ui.fake import XSS, FakeAnalyst

SAY = load_texts()


@pytest.fixture(scope="module")
def arrival(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every control is on arrival."""
    path = tmp_path_factory.mktemp("talk") / "results.json"
    write_results(RESULTS, path)
    blocks = built(lambda: build(FakeAnalyst(), path))
    (follow,) = (fn for fn in blocks.fns.values() if fn.name == "follow" and not fn.page)
    links: Links = follow.fn.__self__  # type: ignore[union-attr] # a bound method
    return {control.key: control.default for control in links.controls}


def stage(analyst: FakeAnalyst) -> Stage:
    titles = {spec.key: spec.title for spec in analyst.backbones()}
    return Stage(analyst, Evidences(RESULTS, titles, SAY), SAY)


@pytest.mark.parametrize("show", SHOWS)
def test_every_part_can_be_shown_and_has_a_plot_where_one_is_laid_out(
    arrival: dict[str, Any], show: str
) -> None:
    slide = stage(FakeAnalyst()).slide(show, arrival, "slide-3")
    assert slide.above
    assert (slide.figure is not None) == (show in PLOTTED)
    if show in PLOTTED:  # the browser finds a plot's heading by its name
        assert re.findall(r'id="([^"]*)-(?:heading|description)"', slide.above) == ["slide-3"] * 2


def test_a_slide_says_what_the_page_says(arrival: dict[str, Any]) -> None:
    state = {**arrival, "text": "so good", "backbone": "last", "pooling": "mean", "layer": 1, "centred": True}
    analysis = FakeAnalyst().analyze(Query("last", "so good", pooling="mean"))
    view = View(analysis, 1, True)
    assert stage(FakeAnalyst()).slide("reads", state, "x").above == verdict(view, SAY)
    assert stage(FakeAnalyst()).slide("similarity", state, "x").figure == similarity(view, SAY)


@pytest.mark.parametrize("version", ["good", " \n"])
def test_a_comparison_on_a_slide_is_that_of_the_tab(arrival: dict[str, Any], version: str) -> None:
    page = Page(FakeAnalyst())
    page.set(backbones=["first", "last"], poolings=["cls", "mean"], text="not good", version_text=version)
    left = page.ask()
    state = {
        **arrival,
        "backbones": ("first", "last"),
        "poolings": ("cls", "mean"),
        "compare_text": "not good",
        "version_text": version,
    }
    above = stage(FakeAnalyst()).slide("grid", state, "x").above
    assert left[page.tab.grid] in above
    assert left[page.tab.agreement] in above


def made(blocks: Any) -> Talk:
    (prepare,) = (fn for fn in blocks.fns.values() if fn.name == "prepare" and not fn.page)
    talk: Talk = prepare.fn.__self__
    return talk


def slides(talk: Talk, step: object) -> Iterator[dict[Any, Any]]:
    return talk.prepare(SimpleNamespace(step=step))  # type: ignore[arg-type] # all that it reads


@pytest.mark.parametrize(
    ("step", "order"), [(1, [1, 2, 3]), (2, [2, 3, 1]), (9, [1, 2, 3]), (None, [1, 2, 3]), ("<b>", [1, 2, 3])]
)
def test_the_slide_that_is_seen_is_made_first_and_then_the_next(
    tmp_path: Path, step: object, order: list[int]
) -> None:
    script = tmp_path / "talk.toml"
    one = '[[step]]\nshow = "{show}"\ncaption.en = "Look <here>"\ntext = "film"\n'
    script.write_text("".join(one.format(show=show) for show in ("reads", "similarity", "grid")))
    blocks = built(lambda: build(FakeAnalyst(), talk=script))
    talk = made(blocks)
    (prepare,) = (fn for fn in blocks.fns.values() if fn.name == "prepare" and not fn.page)
    come = list(slides(talk, step))
    assert [next(n for n, place in enumerate(talk.places, 1) if place.above in one) for one in come] == order
    for updates in come:
        assert set(updates) <= set(prepare.outputs)
    captions = [
        str(part.value)
        for part in blocks.blocks.values()
        if 'class="caption"' in str(getattr(part, "value", ""))
    ]
    assert len(captions) == 3 * len(languages())
    assert all("Look &lt;here&gt;" in caption for caption in captions)


def test_a_slide_that_cannot_be_made_says_why_and_leaves_the_others(tmp_path: Path) -> None:
    script = tmp_path / "talk.toml"
    good, bad = 'text = "film"', 'text = " "'
    one = '[[step]]\nshow = "reads"\ncaption.en = "Look"\n{text}\n'
    script.write_text(one.format(text=bad) + one.format(text=good))
    first, second = slides(made(built(lambda: build(FakeAnalyst(), talk=script))), 1)
    assert any('class="mistake"' in str(value) for value in first.values())
    assert any('class="verdict"' in str(value) for value in second.values())


def test_nothing_from_a_script_or_a_checkpoint_is_markup(arrival: dict[str, Any]) -> None:
    state = {**arrival, "text": XSS, "backbone": "many", "compare_text": XSS}
    for show in SHOWS:
        slide = stage(FakeAnalyst()).slide(show, state, "x")
        assert "<img" not in slide.above + slide.below
        assert "<script" not in slide.above + slide.below


def test_without_steps_there_is_no_talk(tmp_path: Path) -> None:
    script = tmp_path / "talk.toml"
    script.write_text("")
    blocks = built(lambda: build(FakeAnalyst(), talk=script))
    assert not [fn for fn in blocks.fns.values() if fn.name == "prepare"]
