"""Talk mode: a file of slides; each shows what the page shows in that state, made before it is needed."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode

import gradio as gr
import pytest

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State, Switch, Text, Whole
from components.exhibits.similarity import SIMILARITY
from components.exhibits.talks import parse_talks, read_talks
from components.exhibits.verdict import VERDICT
from components.types import Query
from components.ui.places import Updates, plot_value
from components.ui.talk import Show, Talk, shows_of, speaker_html
from tests.exhibits.showing import plain
from tests.serving import built
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, ComparePage, links_of, place_of

CONTROLS = (
    Control("text", Text(), "a fine film"),
    Control("backbone", OneOf(lambda: ("first", "last")), "first"),
    Control("backbones", SomeOf(lambda: ("first", "last")), ("first",)),
    Control("layer", Whole(-1, 9), -1),
    Control("centred", Switch(), False),
)
SHOWS: dict[str, State] = {"reads": {}, "grid": {"centred": True}}
PERMALINK = (
    "https://example.org/app?text=not+%3Cgood%3E+%26+%E5%A5%BD"
    "&layer=2&centred=1&backbones=last&backbones=first"
)
TALKS = f"""
What stands before the first talk is for who reads the file.

# One & all {{#one}}

Nor is this shown.

## *Look* at <b>[CLS]</b>

Which <one>?
Think.

- The <First>
- The **last**

[reads]({PERMALINK}&lang=zh) 1.5 minutes

Wait <here>
for hands.

- And look.

## 第二

[grid](?backbones=)

# {XSS}

## {XSS}

[reads](?backbone=gone)

## B

[reads](?)

{XSS}

# Empty
"""


def test_a_slide_is_a_state_with_words_and_its_link() -> None:
    one, other = parse_talks(TALKS, CONTROLS, SHOWS)
    assert (one.name, one.title, other.name, other.title[:4]) == ("one", "One & all", "talk-2", XSS[:4])
    first, second = one.steps
    assert (first.caption, first.show) == ("Look at <b>[CLS]</b>", "reads")
    assert (first.question, first.choices) == ("Which <one>?\nThink.", ("The <First>", "The last"))
    assert (first.notes, first.minutes) == (("Wait <here>", "for hands.", "And look."), 1.5)
    texts = {"text": "not <good> & 好", "backbone": "first", "backbones": ("last", "first")}
    assert first.state == {**texts, "layer": 2, "centred": True}
    assert "backbones=last&backbones=first&layer=2&centred=1" in first.link
    assert (second.caption, second.question, second.choices) == ("第二", "", ())
    assert (second.notes, second.minutes) == ((), 0)
    assert second.link == "backbones=&centred=1"  # where the grid stands on the page
    assert [step.caption for step in other.steps] == ["B"]  # the one before is about what is not here


def test_every_slide_has_its_notes_and_its_plan_in_the_speaker_s_window() -> None:
    html = str(speaker_html(parse_talks(TALKS, CONTROLS, SHOWS), SAY))
    one, other = html.split('<div data-talk="talk-2">')
    assert '<div data-talk="one"><section data-minutes="1.5" hidden><h2>Look at &lt;b&gt;' in one
    assert '<p class="ask">First a question: Which &lt;one&gt;?' in one
    assert '<ul class="choices"><li>The &lt;First&gt;</li><li>The last</li></ul><p>Wait &lt;here' in one
    assert '<p class="none">' in one
    assert one.count('data-minutes="0"') == 2  # a step without minutes, and the slide behind the last one
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img" in other


def test_a_folder_has_a_file_for_each_language(tmp_path: Path) -> None:
    assert read_talks(tmp_path, "en", CONTROLS, SHOWS) == ()
    for language in ("en", "zh"):
        (tmp_path / f"{language}.md").write_text(f"## In {language}\n\n[reads](?)\n", encoding="utf-8")
    for asked, found in (("en", "en"), ("zh", "zh"), ("fr", "en")):
        (talk,) = read_talks(tmp_path, asked, CONTROLS, SHOWS)
        assert talk.steps[0].caption == f"In {found}"
    (talk,) = read_talks(tmp_path / "zh.md", "en", CONTROLS, SHOWS)
    assert talk.steps[0].caption == "In zh"
    with pytest.raises(PoolscopeError, match="readable Markdown"):
        read_talks(tmp_path / "missing.md", "en", CONTROLS, SHOWS)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("Only words", "talk, Look: None was given; a paragraph that begins with a link"),
        ("[reads](javascript:pwn)", "talk, Look: None was given; a paragraph that begins with a link"),
        ("[cellar](?)", "talk, Look: 'cellar' was given; allowed are reads, grid"),
        ("[reads](?backbon=first)", "talk, Look: 'backbon' was given; allowed are text, backbone"),
    ],
)
def test_a_mistake_is_named_with_its_slide(rest: str, said: str) -> None:
    with pytest.raises(PoolscopeError) as caught:
        parse_talks(f"## Look\n\n{rest}\n", CONTROLS, SHOWS)
    assert said in str(caught.value)


class Slide(NamedTuple):
    """What a slide holds: HTML above the plot, the plot, HTML below it, programs."""

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
def talk_of(tmp_path: Path, whole: gr.Blocks, shows: dict[str, Show]) -> Callable[..., Talk]:
    """Makes a talk of a script, alone on a page, about the tabs of another."""
    places = {name: show.place for name, show in shows.items()}

    def make(script: str, room: bool) -> Talk:
        (tmp_path / "talk.md").write_text(script, encoding="utf-8")
        with gr.Blocks(analytics_enabled=False) as page:
            scripts = read_talks(tmp_path / "talk.md", "en", links_of(whole).controls, places)
            talk = Talk(scripts, shows, SAY, room)
        assert ("talk-room" in str(page.get_config_file())) is room  # the script that leads the phones
        return talk

    return lambda script, room=False: built(partial(make, script, room))


def slide(show: str, before: str = "", **state: Any) -> str:
    """A slide as it stands in a file; ``before``: what comes before its link."""
    return f"## Look\n\n{before}\n\n[{show}](?{urlencode(state, doseq=True)})\n\n"


def steps_of(talk: Talk, step: object = 1, **more: object) -> Iterator[Updates]:
    """What comes when the talk is begun at a step."""
    return talk.prepare(SimpleNamespace(step=step, **more))  # type: ignore[arg-type] # all that it reads


@pytest.fixture
def tell(talk_of: Callable[..., Talk]) -> Tell:
    """Gives the slides of a script: each step is what it shows, and what its link sets."""

    def told(*steps: tuple[str, dict[str, Any]]) -> list[Slide]:
        talk = talk_of("".join(slide(show, **state) for show, state in steps))
        whole = {part: value for updates in steps_of(talk) for part, value in updates.items()}
        return [
            Slide(
                whole[place.above],
                whole.get(place.plot),
                whole.get(place.below, ""),
                tuple(whole.get(code, "") for code in place.codes),
            )
            for _, place in talk.slides
        ]

    return told


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


def test_a_slide_says_what_the_page_says_and_no_markup(tell: Tell, shows: dict[str, Show]) -> None:
    look = {"layer": 1, "centred": "centred"}
    state = {"text": "so good", "backbone": "last", "pooling": "mean", **look}
    analysis = FakeAnalyst().ask("analyze", Query("last", "so good", pooling="mean"))
    reads, similarity = tell(("reads", state), ("similarity", state))
    assert reads.above == VERDICT.show(analysis, look, SAY).html
    assert similarity.figure == plot_value(SIMILARITY.show(analysis, look, SAY).figure)
    state = {"text": XSS, "backbone": "hostile", "compare_text": XSS, "poolings": "cls"}
    for slide in tell(*((show, state) for show in shows)):
        assert "<img" not in slide.above + slide.below
        assert "<script" not in slide.above + slide.below


@pytest.mark.parametrize("version", ["good", " \n"])
def test_a_comparison_on_a_slide_is_that_of_the_tab(tell: Tell, version: str) -> None:
    page = ComparePage(FakeAnalyst())
    page.set(backbones=["last", "first"], poolings=["cls", "mean"], text="not good", version_text=version)
    left = page.ask()
    asked = {"compare_text": "not good", "version_text": version}
    (grid,) = tell(("grid", {"backbones": ["last", "first"], "poolings": ["cls", "mean"], **asked}))
    for name in ("grid", "agreement"):
        assert left[place_of([page.tab.places], name).above] in grid.above


@pytest.fixture
def mixed(talk_of: Callable[..., Talk]) -> Talk:
    """A talk about the first sentence, about one of the script, about two versions, and about none."""
    own = slide("reads", text="so <b>", pair="bad")
    both = slide("grid", compare_text="not good", version_text="good")
    return talk_of(slide("reads") + own + slide("grid") + both + slide("rho"))


@pytest.mark.parametrize(("step", "first"), [(1, 1), (2, 2), (9, 1), (None, 1), ("<b>", 1)])
def test_the_slide_that_is_seen_is_made_first_and_then_the_next(
    mixed: Talk, step: object, first: int
) -> None:
    *come, end = steps_of(mixed, step)
    places = [place.above for _, place in mixed.slides]
    order = [next(n for n, place in enumerate(places, 1) if place in one) for one in come]
    assert order == [*range(first, 6), *range(1, first)]
    assert list(end) == [mixed.end]


def captions_of(talk: Talk, **more: object) -> list[str]:
    """What stands above each slide, as text."""
    whole = {part: value for updates in steps_of(talk, **more) for part, value in updates.items()}
    return [plain(whole[caption]) for caption, _ in talk.slides]


def test_a_talk_is_about_the_visitor_s_sentence_but_for_steps_with_their_own(mixed: Talk) -> None:
    own = captions_of(mixed, text="mine", pair="and <mine>")
    assert own == [
        "Look“mine” “and <mine>”", "Look“so <b>” “bad”", "Look“mine” “and <mine>”", "Look“not good” → “good”",
        "Look",
    ]  # fmt: skip
    for odd in (None, "", 7, ["x"]):
        assert captions_of(mixed, text=odd, pair=odd) == captions_of(mixed)


def test_a_step_is_opened_where_its_part_stands(mixed: Talk, shows: dict[str, Show]) -> None:
    tabs = [parse_qs(step.link).get("tab", ["classify"])[0] for step in mixed.steps]
    assert tabs == ["classify", "classify", "compare", "compare", "evidence"]
    assert shows["flow"].place == {"tab": "classify", "panel": "head"}
    assert shows["heatmap"].place == {"tab": "classify", "panel": "tokens"}


def test_the_last_slide_leads_the_audience_to_the_page(mixed: Talk) -> None:
    for link in ("https://example.org/?text=mine", None, "javascript:pwn()", "https://x/" + "x" * 3000):
        *_, end = steps_of(mixed, link=link)
        shown, there = end[mixed.end], link == "https://example.org/?text=mine"
        assert (f"<code>{link}</code>" in shown) == ("<svg" in shown) == there
        assert ('class="mistake"' in shown) != there


def test_a_slide_that_cannot_be_made_says_why_and_leaves_the_others(tell: Tell) -> None:
    first, second = tell(("reads", {"text": " "}), ("reads", {"text": "film"}))
    assert 'class="mistake"' in first.above
    assert 'class="verdict"' in second.above


def test_a_question_stands_before_its_slide_alone(talk_of: Callable[..., Talk]) -> None:
    asks = slide("reads", before=f"Which? {XSS}\n\n- This\n- {XSS}")
    talk = talk_of(asks + slide("reads"), room=True)
    first, second = (str(caption.value) for caption, _ in talk.slides)
    assert first.startswith('<h2 class="caption">Look</h2><div class="question" style="--size: 0.')
    assert '"><p>Which? &lt;' in first
    assert '<ul class="choices"><li>This</li><li>&lt;' in first
    assert "<img" not in first
    assert "question" not in second
    told = captions_of(talk)
    assert "Which?" in told[0]  # and still where the slide is made
    assert "Which?" not in told[1]
