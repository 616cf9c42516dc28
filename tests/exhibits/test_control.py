"""What can be set, what a link says of it, and what is made of that."""

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, strategies as st

from components.exhibits.control import Control, OneOf, SomeOf, Switch, Text, Whole, from_link, to_link
from components.exhibits.view import CENTRED
from tests.exhibits.showing import CASES

BACKBONES = ("bert-sentiment", "org/name", "a&b=c", "ü,+ %26", "gpt2")
CONTROLS = (
    Control("text", Text(), "a fine film"),
    Control("pair", Text(), ""),
    Control("backbone", OneOf(lambda: BACKBONES), "bert-sentiment"),
    Control("backbones", SomeOf(lambda: BACKBONES), BACKBONES[:2]),
    Control("layer", Whole(-1, 200), -1),
    Control("marked", Switch(), False),
    CENTRED,
)
ARRIVAL = {control.key: control.default for control in CONTROLS}


@pytest.mark.parametrize(
    ("query", "key", "said"), [*CASES["mistakes"], ("layer=" + "9" * 5000, "layer", "was given")]
)
def test_a_mistake_is_named_and_leaves_the_rest(query: str, key: str, said: str) -> None:
    state, (fault,) = from_link(f"{query}&pair=kept", CONTROLS)
    assert (fault.field, state) == (key, {**ARRIVAL, "pair": "kept"})
    assert said in str(fault)


@pytest.mark.parametrize(("query", "state"), CASES["foreign"])
def test_what_was_written_by_others_or_long_ago_is_read(query: str, state: dict[str, Any]) -> None:
    assert from_link(query, CONTROLS) == ({**ARRIVAL, **state}, [])


@pytest.mark.parametrize("key", ["poling", "", "<b>", "x" * 5000])
def test_a_name_of_nothing_is_said_with_those_that_look_most_like_it(key: str) -> None:
    state, faults = from_link(urlencode([(key, "mean"), ("layer", "2")]), CONTROLS)
    assert [fault.field for fault in faults] == ["name"]
    assert str(faults[0]).startswith("name in the link: '" + key[:20])
    assert state == {**ARRIVAL, "layer": 2}
    (misspelt,) = from_link("layr=2", CONTROLS)[1]
    assert "allowed are layer, " in str(misspelt)
    assert len(from_link("&".join(f"x{number}=1" for number in range(900)), CONTROLS)[1]) == 6
    many, faults = from_link("layer=2&" * 2000, CONTROLS)
    assert (many["layer"], [fault.field for fault in faults]) == (-1, ["link"])


@given(st.text(max_size=100))
def test_whatever_comes_every_control_has_a_value(query: str) -> None:
    state, _ = from_link(query, CONTROLS)
    assert list(state) == [control.key for control in CONTROLS]
    assert from_link(to_link(state, CONTROLS), CONTROLS) == (state, [])


@pytest.mark.parametrize(
    ("key", "sent", "taken"),
    [
        *CASES["sent"],
        ("backbones", ["gpt2"], ("gpt2",)),
        ("backbones", [3, None], ("3", "None")),
        ("backbones", "gpt2", BACKBONES[:2]),
        pytest.param("layer", 10**400, 200, id="no float is as large"),
    ],
)
def test_whatever_a_browser_sends_is_a_value_of_the_controls_type(key: str, sent: Any, taken: Any) -> None:
    control = next(control for control in CONTROLS if control.key == key)
    found = control.of({key: sent})
    assert (found, type(found)) == (taken, type(taken))
