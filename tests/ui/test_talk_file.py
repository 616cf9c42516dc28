"""A talk's script: states of the page with a caption each."""

from pathlib import Path

import pytest

from components.errors import PoolscopeError
from components.exhibits.control import Control, OneOf, SomeOf, State, Switch, Text, Whole
from components.exhibits.script import read_talk

CONTROLS = (
    Control("text", Text(), "a fine film"),
    Control("backbone", OneOf(lambda: ("first", "last")), "first"),
    Control("backbones", SomeOf(lambda: ("first", "last")), ("first",)),
    Control("layer", Whole(-1, 9), -1),
    Control("centred", Switch(), False),
)
SHOWS: dict[str, State] = {"reads": {}, "grid": {"centred": True}}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "talk.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_step_is_a_state_and_its_link(tmp_path: Path) -> None:
    script = """
        [[step]]
        show = "reads"
        caption = { en = "Look", zh = "看" }
        text = "not <good> & 好"
        layer = 2
        centred = true
        backbones = ["last", "first"]
        notes = { en = "Wait <here>", zh = "等一下" }
        ask.en = "Which one?"
        minutes = 1.5
        [[step]]
        show = "grid"
        caption.zh = "第二"
        backbones = []
    """
    first, second = read_talk(written(tmp_path, script), CONTROLS, SHOWS).steps
    assert (first.show, first.said("en"), first.said("zh"), first.said("fr")) == (
        "reads",
        "Look",
        "看",
        "Look",
    )
    assert (first.noted("zh"), first.noted("fr"), first.minutes) == ("等一下", "Wait <here>", 1.5)
    assert (first.asked("zh"), second.asked("en")) == ("Which one?", "")
    assert (second.noted("en"), second.minutes) == ("", 0)
    assert first.state == {
        "text": "not <good> & 好",
        "backbone": "first",
        "backbones": ("last", "first"),
        "layer": 2,
        "centred": True,
    }
    assert "backbones=last&backbones=first&layer=2&centred=1" in first.link
    assert second.said("en") == "第二"
    assert second.state["backbones"] == ()
    assert second.link == "backbones=&centred=1"  # where the grid stands on the page


def test_a_step_about_what_is_not_here_is_left_out(tmp_path: Path) -> None:
    one = '[[step]]\nshow = "reads"\ncaption.en = "{caption}"\nbackbone = "{backbone}"\n'
    script = one.format(caption="A", backbone="gone") + one.format(caption="B", backbone="last")
    assert [step.said("en") for step in read_talk(written(tmp_path, script), CONTROLS, SHOWS).steps] == ["B"]


def test_a_script_without_steps_is_no_talk(tmp_path: Path) -> None:
    assert read_talk(written(tmp_path, "# nothing yet"), CONTROLS, SHOWS).steps == ()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('show = "reads"', "step 1, caption: None was given"),
        ('show = "reads"\ncaption = "Look"', "step 1, caption: 'Look' was given"),
        *(
            (
                f'show = "reads"\ncaption.en = "Look"\nnotes = {notes}',
                f"step 1, notes: {shown} was given; a text by language is needed, such as notes.en",
            )
            for notes, shown in (('"Wait"', "'Wait'"), ("{ en = 3 }", "{'en': 3}"), ("{}", "{}"), ("7", "7"))
        ),
        (
            'show = "reads"\ncaption.en = "Look"\nask = "Which?"',
            "step 1, ask: 'Which?' was given; a text by language is needed, such as ask.en",
        ),
        *(
            (
                f'show = "reads"\ncaption.en = "Look"\nminutes = {minutes}',
                f"step 1, minutes: {shown} was given; a number of minutes above 0 is needed, 600 at most",
            )
            for minutes, shown in (
                ("-1", "-1"),
                ("0", "0"),
                ("nan", "nan"),
                ("inf", "inf"),
                ("601", "601"),
                ("true", "True"),
                ('"two"', "'two'"),
                ("[2]", "[2]"),
            )
        ),
        ('caption.en = "Look"', "step 1, show: None was given; allowed are reads, grid"),
        ('show = "cellar"\ncaption.en = "Look"', "step 1, show: 'cellar' was given"),
        (
            'show = "reads"\ncaption.en = "Look"\nbackbon = "first"',
            "step 1: 'backbon' was given; allowed are",
        ),
    ],
)
def test_a_mistake_is_named_with_its_step(tmp_path: Path, step: str, said: str) -> None:
    with pytest.raises(PoolscopeError) as caught:
        read_talk(written(tmp_path, f"[[step]]\n{step}"), CONTROLS, SHOWS)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["[[step", '[[step]]\nshow = "reads"\nshow = "reads"'])
def test_what_is_no_toml_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(PoolscopeError, match="readable TOML"):
        read_talk(written(tmp_path, text), CONTROLS, SHOWS)
    with pytest.raises(PoolscopeError, match="readable TOML"):
        read_talk(tmp_path / "missing.toml", CONTROLS, SHOWS)
