"""The editor of a talk: what the server answers it, and the hand-outs that it makes."""

import json
import re
from typing import Any

import pytest

from components.errors import PoolscopeError
from components.exhibits.control import to_link
from components.texts import languages
from components.ui.shell import Site, build
from components.ui.talk.editor import Editor
from tests.serving import built
from tests.ui.fake import XSS, FakeAnalyst

PAGE = "https://example.org/app"
TALK = {
    "title": {"en": "Mine", "zh": "我的"},
    "step": [
        {"show": "similarity", "caption": {"en": "Look"}, "text": ["so good"], "backbone": ["last"]},
        {
            "show": "grid",
            "caption": {"en": "Compare"},
            "ask": {"en": "Who?"},
            "notes": {"en": "A.\nB."},
            "choices": {"en": ["First", "<Last>"]},
        },
        {"show": "reads", "caption": {"en": "Gone"}, "pooling": ["gone"]},
        {"show": "reads", "caption": {"en": "Empty"}, "text": [" "]},
    ],
}


@pytest.fixture(scope="module")
def site() -> Site:
    return built(lambda: build(FakeAnalyst()))


@pytest.fixture(scope="module")
def editor(site: Site) -> Editor:
    return site.editors["en"]


def handed_out(editor: Editor, talk: object = TALK, **more: str) -> str:
    given = {"name": "", "text": "", "pair": "", "page": PAGE} | more
    return "".join(editor.hand_out(json.dumps(talk), **given))


def sheets(html: str) -> list[str]:
    return re.findall(r'<section class="sheet">.*?</section>', html, re.S)


def test_there_is_one_in_every_language(site: Site) -> None:
    assert site.editors.keys() == set(languages())


def test_what_is_offered_has_a_name_of_its_own(editor: Editor) -> None:
    """A summary that belongs to others is no slide by itself; what has no heading is named by its title."""
    offered = [show for show in editor.shows.values() if show.element]
    assert {show.exhibit.name for show in editor.shows.values() if not show.element} == {
        "agreement", "evidence-legend",
    }  # fmt: skip
    bare = [show.title(editor.say) for show in offered if show.exhibit.frame == "bare"]
    assert "What does the head read?" in bare
    assert len(bare) == len(set(bare))
    assert not {*bare} & {editor.say(f"page.{tab}") for tab in ("classify", "compare", "evidence")}


def test_what_cannot_be_had_is_said_in_the_language_of_the_page(site: Site) -> None:
    for tag in languages():
        checked = site.editors[tag].check(json.dumps(TALK))
        assert list(checked["lost"]) == ["3"]
        assert "'gone'" in checked["lost"]["3"]
        assert [step["caption"]["en"] for step in checked["talk"]["step"]] == [
            "Look", "Compare", "Gone", "Empty",
        ]  # fmt: skip
    assert (
        site.editors["zh"].check(json.dumps(TALK))["lost"]
        != site.editors["en"].check(json.dumps(TALK))["lost"]
    )


def test_a_talk_that_is_saved_and_opened_is_the_same(editor: Editor) -> None:
    checked = editor.check(json.dumps(TALK))
    assert editor.open(editor.save(json.dumps(TALK))) == checked
    assert editor.open(editor.save(json.dumps(checked["talk"]))) == checked


def test_the_talks_that_ship_can_be_opened_and_saved(editor: Editor) -> None:
    for script in editor.scripts.values():
        steps = [{"show": step.show, "caption": dict(step.caption)} for step in script.steps]
        assert len(editor.check(json.dumps({"step": steps}))["talk"]["step"]) == len(script.steps)


def test_a_hand_out_has_a_sheet_for_each_slide_with_its_link_below(editor: Editor) -> None:
    html = handed_out(editor)
    first, second, third = sheets(html)  # the one that cannot be had is none
    state = editor.check(json.dumps(TALK))["talk"]["step"][0]
    assert state == {"show": "similarity", "caption": {"en": "Look"}, "backbone": "last", "text": "so good"}
    assert "“so good”" in first
    assert f'href="{PAGE}?text=so+good&amp;backbone=last"' in first
    assert 'data-figure="slide-1"' in html
    assert "<svg" in first
    assert "tab=compare" in second
    asked = (
        '<div class="question"><p>Who?</p><ul class="choices"><li>First</li><li>&lt;Last&gt;</li></ul></div>'
    )
    assert asked in second
    assert '<div class="notes"><p>A.</p><p>B.</p></div>' in second
    assert 'class="mistake"' in third
    assert "1 / 3" in first


def test_a_hand_out_of_a_talk_that_ships_is_on_the_visitor_s_sentence(editor: Editor) -> None:
    html = handed_out(editor, name="cls", text="so good", pair="not bad")
    assert len(sheets(html)) == len(editor.scripts["cls"].steps)
    first, *_ = sheets(html)
    assert "“so good” “not bad”" in first
    assert "text=so+good&amp;pair=not+bad" in first


def test_where_no_page_is_known_no_link_is_made(editor: Editor) -> None:
    for page in ("", "javascript:pwn()", "file:///etc"):
        first, *_ = sheets(handed_out(editor, page=page))
        assert "<footer><span" in first


def test_nothing_from_a_talk_is_markup_in_a_hand_out(editor: Editor) -> None:
    said = {"en": XSS}
    step: dict[str, Any] = {"show": "reads", "caption": said, "ask": said, "notes": said, "text": [XSS]}
    html = handed_out(editor, {"title": said, "step": [step]}, page=f"{PAGE}/{XSS}")
    assert "<img" not in html
    (sheet,) = sheets(html)
    assert "<script" not in sheet


@pytest.mark.parametrize("talk", ["", "[", "7", '{"step": [{"show": "pwn"}]}'])
def test_no_talk_gets_a_sentence(editor: Editor, talk: str) -> None:
    for answer in (editor.check, editor.save):
        with pytest.raises(PoolscopeError):
            answer(talk)
    with pytest.raises(PoolscopeError):
        editor.hand_out(talk, "", "", "", PAGE)


def test_a_link_leads_to_where_the_exhibit_stands(editor: Editor) -> None:
    show = editor.shows["grid"]
    assert show.link({}, editor.controls) == to_link({"tab": "compare"}, editor.controls)
