"""A talk made in the page, saved and opened again is the same talk, and hostile files get a sentence."""

import json
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State, Switch, Text, Whole
from components.exhibits.made import from_file, from_page, to_file, to_page
from components.exhibits.script import CHOICES, LONG
from components.texts import load_texts

CONTROLS = (
    Control("text", Text(), "a fine film"),
    Control("backbone", OneOf(lambda: ("first", "last")), "first"),
    Control("backbones", SomeOf(lambda: ("first", "last", "third")), ("first",)),
    Control("layer", Whole(-1, 9), -1),
    Control("centred", Switch(), False),
    Control("tab", OneOf(lambda: ("classify", "compare")), "classify"),
)
SHOWS: dict[str, State] = {"reads": {"tab": "classify"}, "grid": {"tab": "compare"}}
WORDS = st.text(st.characters(exclude_categories=["Cs"]))  # half a character is none
LANGUAGES = st.sampled_from(["en", "zh", "de-CH", "", "a.b", 'q"', "\n"])
SAID = st.dictionaries(LANGUAGES, WORDS, min_size=1)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=LONG).filter(
    str.strip
)
OFFERED = st.sampled_from(CHOICES).flatmap(  # as many in each language
    lambda count: st.dictionaries(LANGUAGES, st.lists(LINE, min_size=count, max_size=count), min_size=1)
)
ASKED = st.fixed_dictionaries({"ask": SAID}, optional={"choices": OFFERED})
STATE = st.fixed_dictionaries(
    {"show": st.sampled_from(sorted(SHOWS)), "caption": SAID},
    optional={
        "notes": SAID,
        "minutes": st.floats(0, 600, exclude_min=True),
        "text": WORDS,
        "backbone": st.sampled_from(["first", "last", "gone"]),  # of which one cannot be had
        "backbones": st.lists(st.sampled_from(["first", "last", "third"])),
        "layer": st.integers(-1, 9),
        "centred": st.booleans(),
        "tab": st.sampled_from(["classify", "compare"]),
    },
)
STEP = st.builds(operator.or_, STATE, st.just({}) | ASKED)
TALK = st.fixed_dictionaries({"step": st.lists(STEP, max_size=4)}, optional={"title": SAID})
HOSTILE = {
    "no TOML": "step = [",
    "a number": "step = 3",
    "a list of numbers": "step = [1, 2]",
    "a deep list": "step = " + "[" * 5000,
    "a table in a table": "step = [{ show = { show = 1 }, caption = { en = 'x' } }]",
    "a list to show": "[[step]]\nshow = ['reads']\ncaption.en = 'x'",
    "a huge number": "step = " + "9" * 5000,
    "captions in captions": "[[step]]\nshow = 'reads'\ncaption.en.en = 'x'",
    "an unknown key": "[[step]]\nshow = 'reads'\ncaption.en = 'x'\n__proto__ = 1",
    "no number": "[[step]]\nshow = 'reads'\ncaption.en = 'x'\nminutes = nan",
    "a title of no language": "title = 'Mine'",
    "too many": "[[step]]\n" * 101,
    "NUL": "\0",
}


@given(TALK)
def test_a_talk_made_saved_and_opened_again_is_the_same_talk(talk: dict[str, Any]) -> None:
    made = from_page(json.dumps(talk), CONTROLS, SHOWS)
    opened = from_file(to_file(made, CONTROLS), CONTROLS, SHOWS)
    assert (opened.title, opened.steps) == (made.title, made.steps)
    assert [one.number for one in opened.lost] == [one.number for one in made.lost]
    assert to_page(opened, CONTROLS, load_texts()) == to_page(made, CONTROLS, load_texts())
    assert len(made.steps) + len(made.lost) == len(talk["step"])
    held = to_page(opened, CONTROLS, load_texts())["talk"]["step"]
    for key in ("ask", "choices"):
        assert [step.get(key) for step in held] == [step.get(key) for step in talk["step"]]


@given(TALK)
def test_what_the_page_is_given_is_what_it_gives_back(talk: dict[str, Any]) -> None:
    made = from_page(json.dumps(talk), CONTROLS, SHOWS)
    there = to_page(made, CONTROLS, load_texts())["talk"]
    assert to_page(from_page(json.dumps(there), CONTROLS, SHOWS), CONTROLS, load_texts())["talk"] == there


def test_a_state_that_cannot_be_had_is_said_and_kept() -> None:
    talk = {
        "step": [
            {"show": "reads", "caption": {"en": "A"}, "backbone": ["gone"], "layer": ["3"]},
            {"show": "grid", "caption": {"en": "B"}},
        ]
    }
    made = from_page(json.dumps(talk), CONTROLS, SHOWS)
    assert [step.said("en") for step in made.steps] == ["B"]
    shown = to_page(made, CONTROLS, load_texts())
    assert shown["lost"] == {"1": "backbone: 'gone' was given; allowed are first, last."}
    assert [step["caption"]["en"] for step in shown["talk"]["step"]] == ["A", "B"]
    assert 'backbone = ["gone"]' in to_file(made, CONTROLS)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_gets_a_sentence(text: str) -> None:
    with pytest.raises(PoolscopeError) as refused:
        from_file(text, CONTROLS, SHOWS)
    assert len(refused.value.said(load_texts("zh"))) < 2000


@pytest.mark.parametrize("text", ["", "[]", "3", "[" * 5000, '{"step": 7}', '{"step": [[]]}', "\0"])
def test_what_no_editor_holds_gets_a_sentence(text: str) -> None:
    with pytest.raises(PoolscopeError):
        from_page(text, CONTROLS, SHOWS)


def test_half_a_character_can_be_saved() -> None:
    talk = '{"step": [{"show": "reads", "caption": {"en": "\\ud800"}, "text": ["\\udfff"]}]}'
    made = from_page(talk, CONTROLS, SHOWS)
    assert from_file(to_file(made, CONTROLS), CONTROLS, SHOWS).steps == made.steps
    to_file(made, CONTROLS).encode()
