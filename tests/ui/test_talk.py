"""Talk mode: every slide shows what the page shows in that state, made before it is needed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode

import gradio as gr
import pytest

from components.exhibits.control import Control
from components.exhibits.similarity import SIMILARITY
from components.exhibits.talks import read_talks
from components.exhibits.verdict import VERDICT
from components.texts import languages, load_texts
from components.types import Query
from components.ui.places import Updates, plot_value
from components.ui.shell import build
from components.ui.talk.talk import Show, Talk, build_talk, shows_of
from tests.exhibits.showing import plain
from tests.serving import built
from tests.ui.compare_page import Page
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import function_of, links_of, place_of

SAY = load_texts()


@dataclass(frozen=True)
class Slide:
    """What a slide holds: HTML above the plot, the plot, HTML below it."""

    above: str
    figure: Any
    below: str
    codes: tuple[str, ...]


Tell = Callable[..., list[Slide]]


@pytest.fixture(scope="module")
def shows(whole: gr.Blocks) -> dict[str, Show]:
    """Everything that a talk may show."""
    return shows_of(links_of(whole).tabs)


@pytest.fixture
def tell(tmp_path: Path, whole: gr.Blocks, shows: dict[str, Show]) -> Tell:
    """Gives the slides of a script: each step is what it shows, and what its link sets."""
    return partial(told, tmp_path / "talk.md", links_of(whole).controls, shows)


def slide(show: str, caption: str = "Look", before: str = "", **state: Any) -> str:
    """A slide as it stands in a file; ``before``: what comes before its link."""
    return f"## {caption}\n\n{before}\n\n[{show}](?{urlencode(state, doseq=True)})\n\n"


def talk_of(script: Path, controls: list[Control[Any]], shows: dict[str, Show]) -> Talk | None:
    """The talk alone on a page, about the tabs of another."""

    def make() -> Talk | None:
        with gr.Blocks(analytics_enabled=False):
            places = {name: show.place for name, show in shows.items()}
            return build_talk(read_talks(script, "en", controls, places), shows, SAY, room=False)

    return built(make)


def slides_of(talk: Talk, step: object, **more: object) -> Iterator[Updates]:
    """What comes when the talk is begun at a step."""
    return talk.prepare(SimpleNamespace(step=step, **more))  # type: ignore[arg-type] # all that it reads


def told(
    script: Path, controls: list[Control[Any]], shows: dict[str, Show], *steps: tuple[str, dict[str, Any]]
) -> list[Slide]:
    script.write_text("".join(slide(show, **state) for show, state in steps), encoding="utf-8")
    talk = talk_of(script, controls, shows)
    assert talk is not None
    assert len(talk.slides) == len(steps)
    whole: dict[Any, Any] = {}
    for updates in slides_of(talk, 1):
        whole |= updates
    return [
        Slide(
            whole[place.above],
            None if place.plot is None else whole[place.plot],
            "" if place.below is None else whole[place.below],
            tuple(whole.get(code, "") for code in place.codes),
        )
        for place in (slide.place for slide in talk.slides)
    ]


def test_everything_can_be_shown_and_has_a_plot_where_one_is_laid_out(
    tell: Tell, shows: dict[str, Show]
) -> None:
    version = {"version_text": "good", "poolings": ["cls", "mean"], "backbones": ["first", "last"]}
    slides = tell(*((show, version) for show in shows))
    for number, (show, slide) in enumerate(zip(shows.values(), slides, strict=True), 1):
        assert slide.above or show.exhibit.codes
        assert bool(slide.figure) == show.exhibit.plotted
        assert len(slide.codes) == len(show.exhibit.codes)
        assert all(slide.codes)
        if show.exhibit.plotted:  # the browser finds a plot's heading by its name
            named = re.findall(r'id="([^"]*)-(?:heading|description)"', slide.above)
            assert named == [f"slide-{number}"] * 2


def test_a_slide_says_what_the_page_says(tell: Tell) -> None:
    state = {"text": "so good", "backbone": "last", "pooling": "mean", "layer": 1, "centred": "centred"}
    analysis = FakeAnalyst().ask("analyze", Query("last", "so good", pooling="mean"))
    look = {"layer": 1, "centred": "centred"}
    reads, similarity = tell(("reads", state), ("similarity", state))
    assert reads.above == VERDICT.show(analysis, look, SAY).html
    assert similarity.figure == plot_value(SIMILARITY.show(analysis, look, SAY).figure)


@pytest.mark.parametrize("version", ["good", " \n"])
def test_a_comparison_on_a_slide_is_that_of_the_tab(tell: Tell, version: str) -> None:
    page = Page(FakeAnalyst())
    page.set(backbones=["last", "first"], poolings=["cls", "mean"], text="not good", version_text=version)
    left = page.ask()
    asked = {"compare_text": "not good", "version_text": version}
    (grid,) = tell(("grid", {"backbones": ["last", "first"], "poolings": ["cls", "mean"], **asked}))
    for name in ("grid", "agreement"):
        assert left[place_of([page.tab.places], name).above] in grid.above


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> gr.Blocks:
    """The whole page with a talk of three steps."""
    script = tmp_path_factory.mktemp("talk") / "talk.md"
    shown = ("reads", "similarity", "grid")
    script.write_text("".join(slide(show, "Look <here>", text="film") for show in shown))
    return built(lambda: build(FakeAnalyst(), talk=script).page)


@pytest.mark.parametrize(
    ("step", "order"), [(1, [1, 2, 3]), (2, [2, 3, 1]), (9, [1, 2, 3]), (None, [1, 2, 3]), ("<b>", [1, 2, 3])]
)
def test_the_slide_that_is_seen_is_made_first_and_then_the_next(
    talking: gr.Blocks, step: object, order: list[int]
) -> None:
    prepare = function_of(talking, "prepare")
    talk: Talk = prepare.fn.__self__
    *come, end = slides_of(talk, step)
    assert [
        next(n for n, slide in enumerate(talk.slides, 1) if slide.place.above in one) for one in come
    ] == order
    assert list(end) == [talk.end]
    for updates in come:
        assert set(updates) <= set(prepare.outputs)
    captions = [
        str(part.value)
        for part in talking.blocks.values()
        if 'class="caption"' in str(getattr(part, "value", ""))
    ]
    told = [caption for caption in captions if "Look &lt;here&gt;" in caption]
    assert len(told) == 3 * len(languages())
    assert len(captions) == 4 * len(languages())  # and the one behind the last step


def captions_of(talk: Talk, **more: object) -> list[str]:
    """What stands above each slide, as text."""
    whole: dict[Any, Any] = {}
    for updates in slides_of(talk, 1, **more):
        whole |= updates
    return [plain(whole[slide.caption]) for slide in talk.slides]


@pytest.fixture
def mixed(tmp_path: Path, whole: gr.Blocks, shows: dict[str, Show]) -> Talk:
    """A talk about the first sentence, about one of the script, about two versions, and about none."""
    script = tmp_path / "talk.md"
    script.write_text(
        slide("reads") + slide("reads", text="so <b>", pair="bad") + slide("grid")
        + slide("grid", compare_text="not good", version_text="good") + slide("rho")
    )  # fmt: skip
    talk = talk_of(script, links_of(whole).controls, shows)
    assert talk is not None
    return talk


def test_a_talk_is_about_the_visitor_s_sentence_but_for_steps_with_their_own(mixed: Talk) -> None:
    own = captions_of(mixed, text="mine", pair="and <mine>")
    assert own == [
        "Look“mine” “and <mine>”", "Look“so <b>” “bad”", "Look“mine” “and <mine>”", "Look“not good” → “good”",
        "Look",
    ]  # fmt: skip
    for odd in (None, "", 7, ["x"]):
        assert captions_of(mixed, text=odd, pair=odd) == captions_of(mixed)


def test_a_step_is_opened_where_its_part_stands(mixed: Talk, shows: dict[str, Show]) -> None:
    assert [parse_qs(step.link).get("tab", ["classify"])[0] for step in mixed.steps] == [
        "classify", "classify", "compare", "compare", "evidence",
    ]  # fmt: skip
    assert shows["flow"].place == {"tab": "classify", "panel": "head"}
    assert shows["heatmap"].place == {"tab": "classify", "panel": "tokens"}


@pytest.mark.parametrize(
    "link", ["https://example.org/?text=mine", None, "javascript:pwn()", "https://x/" + "x" * 3000]
)
def test_the_last_slide_leads_the_audience_to_the_page(mixed: Talk, link: object) -> None:
    *_, end = slides_of(mixed, 1, link=link)
    shown = end[mixed.end]
    if link == "https://example.org/?text=mine":
        assert "<svg" in shown
        assert f"<code>{link}</code>" in shown
    else:
        assert 'class="mistake"' in shown
        assert "<svg" not in shown


def test_a_slide_that_cannot_be_made_says_why_and_leaves_the_others(tell: Tell) -> None:
    first, second = tell(("reads", {"text": " "}), ("reads", {"text": "film"}))
    assert 'class="mistake"' in first.above
    assert 'class="verdict"' in second.above


def test_nothing_from_a_script_or_a_checkpoint_is_markup(tell: Tell, shows: dict[str, Show]) -> None:
    state = {"text": XSS, "backbone": "hostile", "compare_text": XSS, "poolings": "cls"}
    for slide in tell(*((show, state) for show in shows)):
        assert "<img" not in slide.above + slide.below
        assert "<script" not in slide.above + slide.below


def test_a_question_stands_before_its_slide_alone(
    tmp_path: Path, whole: gr.Blocks, shows: dict[str, Show]
) -> None:
    script = tmp_path / "talk.md"
    asks = slide("reads", before=f"Which? {XSS}\n\n- This\n- {XSS}")
    script.write_text(asks + slide("reads"), encoding="utf-8")
    talk = talk_of(script, links_of(whole).controls, shows)
    assert talk is not None
    first, second = (str(slide.caption.value) for slide in talk.slides)
    assert first.startswith('<h2 class="caption">Look</h2><div class="question" style="--size: 0.')
    assert '"><p>Which? &lt;' in first
    assert '<ul class="choices"><li>This</li><li>&lt;' in first
    assert "<img" not in first
    assert "question" not in second
    told = captions_of(talk)
    assert "Which?" in told[0]  # and still where the slide is made
    assert "Which?" not in told[1]
