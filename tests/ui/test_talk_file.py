"""A talk's file: slides with a caption, a question, a permalink and notes each, one after the other."""

from pathlib import Path

import pytest

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State, Switch, Text, Whole
from components.exhibits.talks import parse_talks, read_talks

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

Which one?
Think.

- The first
- The **last**

[reads]({PERMALINK}&lang=zh) 1.5 minutes

Wait <here>
for hands.

- And look.

## 第二

[grid](?backbones=)

# Other

## A

[reads](?backbone=gone)

## B

[reads](?)

# Empty
"""


def test_a_slide_is_a_state_with_words_and_its_link() -> None:
    one, other = parse_talks(TALKS, CONTROLS, SHOWS)
    assert (one.name, one.title, other.name, other.title) == ("one", "One & all", "talk-2", "Other")
    first, second = one.steps
    assert (first.caption, first.show) == ("Look at <b>[CLS]</b>", "reads")
    assert (first.question, first.choices) == ("Which one?\nThink.", ("The first", "The last"))
    assert (first.notes, first.minutes) == (("Wait <here>", "for hands.", "And look."), 1.5)
    assert first.state == {
        "text": "not <good> & 好",
        "backbone": "first",
        "backbones": ("last", "first"),
        "layer": 2,
        "centred": True,
    }
    assert "backbones=last&backbones=first&layer=2&centred=1" in first.link
    assert (second.caption, second.question, second.choices) == ("第二", "", ())
    assert (second.notes, second.minutes) == ((), 0)
    assert second.link == "backbones=&centred=1"  # where the grid stands on the page
    assert [step.caption for step in other.steps] == ["B"]  # A is about what is not here


def test_a_folder_has_a_file_for_each_language(tmp_path: Path) -> None:
    assert read_talks(tmp_path, "en", CONTROLS, SHOWS) == ()
    for language in ("en", "zh"):
        (tmp_path / f"{language}.md").write_text(f"## In {language}\n\n[reads](?)\n", encoding="utf-8")
    for asked, found in (("en", "en"), ("zh", "zh"), ("fr", "en")):
        (talk,) = read_talks(tmp_path, asked, CONTROLS, SHOWS)
        assert talk.steps[0].caption == f"In {found}"
    (talk,) = read_talks(tmp_path / "zh.md", "en", CONTROLS, SHOWS)
    assert talk.steps[0].caption == "In zh"


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


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(PoolscopeError, match="readable Markdown"):
        read_talks(tmp_path / "missing.md", "en", CONTROLS, SHOWS)
