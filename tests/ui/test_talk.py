"""Talk mode: a file of slides; each shows what the page shows in that state, made before it is needed."""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode

import gradio as gr
import pytest

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, Switch, Text, Whole
from components.exhibits.similarity import SIMILARITY
from components.exhibits.talks import parse_talks, read_talks
from components.exhibits.verdict import VERDICT
from components.reach import Reach
from components.types import Query
from components.ui.places import NOTHING
from components.ui.talk import Show, Talk, reader, shows_of, speaker_html
from tests.exhibits.showing import Document, plain
from tests.serving import built
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, ComparePage, links_of

CONTROLS = (
    Control("text", Text(), "a fine film"),
    Control("backbone", OneOf(lambda: ("first", "last")), "first"),
    Control("backbones", SomeOf(lambda: ("first", "last")), ("first",)),
    Control("layer", Whole(-1, 9), -1),
    Control("centred", Switch(), False),
)
SHOWS = {"reads": {}, "grid": {"centred": True}}
SET = "text=not+%3Cgood%3E+%26+%E5%A5%BD&layer=2&centred=1&backbones=last&backbones=first"
TALKS = Path(__file__).with_name("talks.md").read_text("utf-8").replace("SET", SET).replace("XSS", XSS)


def test_a_slide_is_a_state_with_words_and_its_link() -> None:
    one, other = parse_talks(TALKS, CONTROLS, SHOWS)
    assert (one.name, one.title, other.name, other.title[:4]) == ("one", "One & all", "talk-2", XSS[:4])
    assert (one.remember, other.remember) == (("Keep <this>", "and that"), ())
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
    assert not any(tag in html for tag in ("<img", "<script"))
    assert "&lt;img" in other


def test_a_folder_has_a_file_for_each_language(tmp_path: Path) -> None:
    assert read_talks(tmp_path, "en", CONTROLS, SHOWS) == ()
    for language in ("en", "zh"):
        (tmp_path / f"{language}.md").write_text(f"## In {language}\n\n[reads](?)\n", encoding="utf-8")
    for name, asked, found in (("", "en", "en"), ("", "zh", "zh"), ("", "fr", "en"), ("zh.md", "en", "zh")):
        (talk,) = read_talks(tmp_path / name, asked, CONTROLS, SHOWS)
        assert talk.steps[0].caption == f"In {found}"
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
    with pytest.raises(PoolscopeError, match=re.escape(said)):
        parse_talks(f"## Look\n\n{rest}\n", CONTROLS, SHOWS)


@pytest.fixture(scope="module")
def shows(whole: gr.Blocks) -> dict[str, Show]:
    return shows_of(links_of(whole).tabs)


MakeTalk = Callable[..., Talk]


@pytest.fixture
def talk_of(whole: gr.Blocks, shows: dict[str, Show]) -> MakeTalk:
    """Makes a talk of slides, alone on a page, about the tabs of another."""
    places = {name: show.place for name, show in shows.items()}

    def make(*slides: str, room: bool = False) -> Talk:
        with gr.Blocks(analytics_enabled=False) as page:
            scripts = parse_talks("".join(slides), tuple(links_of(whole).controls), places)
            talk = Talk(scripts, shows, SAY, room, Reach())
        assert ("scripted.room(" in str(page.get_config_file())) is room  # the script that leads the phones
        return talk

    return lambda *slides, **more: built(lambda: make(*slides, **more))


def slide(show: str, before: str = "", **state: Any) -> str:
    """A slide as it stands in a file; ``before``: what comes before its link."""
    return f"## Look\n\n{before}\n\n[{show}](?{urlencode(state, doseq=True)})\n\n"


def prepared(talk: Talk, step: object = 1, /, **more: object) -> list[list[str | None]]:
    """Updates that come when the talk is begun at a step: slides that have come, the last one behind."""
    *come, nothing = talk.prepare(SimpleNamespace(step=step, **more))
    assert nothing is NOTHING
    return [updates[talk.slides] for updates in come]


def shown(talk: Talk, /, **more: object) -> list[str]:
    """All slides once they are made, without the one behind them."""
    *_, (*slides, _) = prepared(talk, **more)
    return [str(one) for one in slides]


def test_everything_can_be_shown_and_has_a_plot_where_one_is_laid_out(
    talk_of: MakeTalk, shows: dict[str, Show]
) -> None:
    version = {"version_text": "good", "poolings": ["cls", "mean"], "backbones": ["first", "last"]}
    talk = talk_of(*(slide(show, **version) for show in shows))
    found = shown(talk)
    for number, (show, one) in enumerate(zip(shows.values(), found, strict=True), 1):
        told, html = one.split("</div><section", 1)
        assert "Look" in told
        assert Document(html).tags - {"div", "h2"}
        assert html.count("<pre") >= len(show.exhibit.codes)
        assert html.count(f'id="slide-{number}-plot"') == html.count("data-figure") == show.exhibit.plotted
        if show.exhibit.plotted:  # the browser finds a plot's heading by its name
            named = re.findall(r'id="([^"]*)-(?:heading|description)"', html)
            assert named == [f"slide-{number}"] * 2


def test_a_slide_says_what_the_page_says_and_no_markup(talk_of: MakeTalk, shows: dict[str, Show]) -> None:
    look = {"layer": 1, "centred": "centred"}
    state = {"text": "so good", "backbone": "last", "pooling": "mean", **look}
    analysis = FakeAnalyst().ask("analyze", Query("last", "so good", pooling="mean"))
    talk = talk_of(slide("reads", **state), slide("similarity", **state))
    reads, similarity = shown(talk)
    assert str(VERDICT.show(analysis, look, SAY).html) in reads
    assert SIMILARITY.show(analysis, look, SAY).figure.to_json() in similarity.replace("\u00a0", " ")
    state = {"text": XSS, "backbone": "hostile", "compare_text": XSS, "poolings": "cls"}
    talk = talk_of(*(slide(show, **state) for show in shows))
    html = "".join(shown(talk))
    assert "<img" not in html
    assert html.count("<script") == html.count('<script type="application/json"')  # which nobody runs


@pytest.mark.parametrize("version", ["good", " \n"])
def test_a_comparison_on_a_slide_is_that_of_the_tab(talk_of: MakeTalk, version: str) -> None:
    page, asked = ComparePage(FakeAnalyst()), {"backbones": ["last", "first"], "poolings": ["cls", "mean"]}
    page.set(**asked, text="not good", version_text=version)
    left = page.ask()
    talk = talk_of(slide("grid", **asked, compare_text="not good", version_text=version))
    (grid,) = shown(talk)
    assert all(left[page.place(name).above] in grid for name in ("grid", "agreement"))


@pytest.fixture
def mixed(talk_of: MakeTalk) -> Talk:
    """A talk about the first sentence, about one of the script, about two versions, and about none."""
    own = slide("reads", text="so <b>", pair="bad")
    both = slide("grid", compare_text="not good", version_text="good")
    return talk_of(slide("reads"), own, slide("grid"), both, slide("rho"))


@pytest.mark.parametrize(("step", "first"), [(1, 1), (2, 2), (9, 1), (None, 1), ("<b>", 1)])
def test_the_slide_seen_is_made_first_and_then_the_next(mixed: Talk, step: object, first: int) -> None:
    *come, end = prepared(mixed, step)
    order = [[one is not None for one in slides[:-1]].count(True) for slides in come]
    assert order == [0, 1, 2, 3, 4, 5]
    news = [next(n for n in range(5) if now[n] != before[n]) for before, now in pairwise(come)]
    assert [place + 1 for place in news] == [*range(first, 6), *range(1, first)]
    assert (end[:-1], end[-1] != come[-1][-1]) == (come[-1][:-1], True)


def captions(talk: Talk, **more: object) -> list[str]:
    return [plain(one.partition("<section")[0]) for one in shown(talk, **more)]


def test_a_talk_is_about_the_visitor_s_sentence_but_for_steps_with_their_own(mixed: Talk) -> None:
    own = "“mine” “and <mine>”"
    told = [f"Look{about}" for about in (own, "“so <b>” “bad”", own, "“not good” → “good”", "")]
    assert captions(mixed, text="mine", pair="and <mine>") == told
    for odd in (None, 7, ["x"]):
        assert captions(mixed, text=odd, pair=odd) == captions(mixed)


def test_a_step_is_opened_where_its_part_stands(mixed: Talk, shows: dict[str, Show]) -> None:
    tabs = [parse_qs(step.link).get("tab", ["classify"])[0] for step in mixed.steps]
    assert tabs == ["classify", "classify", "compare", "compare", "evidence"]
    assert shows["lens"].place == {"tab": "classify", "panel": "head"}
    assert shows["heatmap"].place == {"tab": "classify", "panel": "tokens"}


def test_the_last_slide_leads_the_audience_to_the_page(talk_of: MakeTalk) -> None:
    talk, good = talk_of(slide("rho")), "https://example.org/?text=mine"
    for link in (good, None, "javascript:pwn()", "https://x/" + "x" * 3000):
        end = str(prepared(talk, link=link)[-1][-1])
        assert (f"<code>{link}</code>" in end) == ("<svg" in end) == (link == good)
        assert ('class="mistake"' in end) != (link == good)


def test_the_last_slide_has_what_to_remember_of_its_talk(talk_of: MakeTalk) -> None:
    told = "# A {#a}\n\n- Keep <this>\n\n", slide("reads"), "# B {#b}\n\n- And that\n\n", slide("reads")
    talk = talk_of(*told)
    for name, kept in (("a", "Keep &lt;this&gt;"), ("b", "And that")):
        begun, *_, end = (str(one[-1]) for one in prepared(talk, talk=name, link="https://x.example/"))
        assert f"<ol><li>{kept}</li></ol>" in begun  # at once
        assert f"<ol><li>{kept}</li></ol>" in end
        assert "<svg" in end


def test_a_high_figure_is_lower_on_a_slide_and_no_other(talk_of: MakeTalk) -> None:
    for text, high in (("film", False), (" ".join(["film"] * 30), True)):
        talk = talk_of(slide("similarity", text=text))
        (told,) = re.findall(r'data-figure="[^"]*">(.*?)</script>', shown(talk)[0])
        figure = SIMILARITY.show(FakeAnalyst().ask("analyze", Query("first", text)), {}, SAY).figure
        own, there = figure.layout["height"], json.loads(told)["layout"]["height"]
        assert (there < own) == high
        assert there >= 0.7 * own - 1


def test_a_slide_that_cannot_be_made_says_why_and_leaves_the_others(talk_of: MakeTalk) -> None:
    talk = talk_of(slide("reads", text=" "), slide("reads", text="film"))
    first, second = shown(talk)
    assert 'class="mistake"' in first
    assert 'class="verdict"' in second


def test_a_question_stands_before_its_slide_alone(talk_of: MakeTalk) -> None:
    talk = talk_of(slide("reads", before=f"Which? {XSS}\n\n- This\n- {XSS}"), slide("reads"), room=True)
    first, second, _ = map(str, prepared(talk, fresh=True)[0])  # before any is made
    assert first.startswith(
        '<div class="said"><h2 class="caption">Look</h2><div class="question" style="--size: 0.'
    )
    assert '"><p>Which? &lt;' in first
    assert '<ul class="choices"><li>This</li><li>&lt;' in first
    assert "<img" not in first
    assert "question" not in second
    assert ["Which?" in told for told in captions(talk)] == [True, False]  # and still where it is made


def test_a_page_to_read_is_made_once_and_none_is_kept_without_an_answer(
    whole: gr.Blocks, shows: dict[str, Show]
) -> None:
    places, controls = {name: show.place for name, show in shows.items()}, tuple(links_of(whole).controls)

    def reading(*slides: str) -> Callable[[], tuple[str, ...]]:
        return reader(parse_talks("".join(slides), controls, places)[0], shows, SAY)

    read = reading(slide("reads", text="so <good>"), slide("heatmap"))
    page = "".join(read())
    assert read() is read()
    assert [page.count(f'id="{name}"') for name in ("1", "2", "own", "screen-2-plot")] == [1, 1, 1, 1]
    assert 'href="./?text=so+%3Cgood%3E&amp;lang=en"' in page
    assert '<form action="./">' in page
    refused = reading(slide("reads"), slide("reads", text=" "))
    for _ in range(2):
        with pytest.raises(PoolscopeError, match="word"):
            refused()
