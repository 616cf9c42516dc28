"""What may be asked, and what is said of what may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.errors import PoolscopeError
from components.model.query import checked, whole_number, with_task
from components.types import BackboneSpec, Query, TaskSpec

BACKBONES, POOLINGS, HEADS, LONGEST = ("a", "b"), ("native", "mean"), ("own",), 1000


def check(**fields: object) -> Query:
    query = Query(**{"backbone": "a", "text": "fine", **fields})  # type: ignore[arg-type]  # on purpose
    return checked(query, BACKBONES, POOLINGS, HEADS, LONGEST)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": ""}, "text: '' was given; type at least one word."),
        ({"text": " \n\t\u3000"}, "type at least one word"),
        ({"text": None}, "text: None was given; a text is expected."),
        ({"text": 3}, "text: 3 was given; a text is expected."),
        ({"text": "x" * 1001}, "it has 1,001 characters, and at most 1,000 are allowed"),
        ({"text_pair": "x" * 1001}, "text_pair: "),
        ({"backbone": "c"}, "backbone: 'c' was given; allowed are a, b."),
        ({"pooling": ["mean"]}, "pooling: ['mean'] was given; allowed are native, mean."),
        ({"head": "probe"}, "head: 'probe' was given; allowed are own."),
        ({"layer": 1.5}, "layer: 1.5 was given; a whole number is expected."),
        ({"layer": "2"}, "layer: '2' was given; a whole number is expected."),
        ({"layer": float("nan")}, "a whole number is expected."),
        ({"layer": True}, "layer: True was given; a whole number is expected."),
        ({"reference": "sep"}, "'sep' was given; allowed are cls, pooled or the index of a token."),
        ({"reference": 1.5}, "1.5 was given; allowed are cls, pooled or the index of a token."),
        ({"task": 3}, "task: 3 was given; a text is expected."),
    ],
)
def test_a_mistake_is_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(PoolscopeError) as caught:
        check(**fields)
    assert message in str(caught.value)


def test_what_is_right_passes() -> None:
    query = check(text_pair="  ", layer=2.0, reference="7", pooling="mean")
    assert (query.text_pair, query.layer, query.reference, query.pooling) == ("", 2, 7, "mean")
    assert (check(text_pair=None).text_pair, check(task=None).task) == ("", "")
    assert asked((), "", "weather", head="own") == "weather"  # which takes no task
    assert check(text="a\ud800b\udc00c😀").text == "a\ufffdb\ufffdc😀"  # lone surrogates alone
    assert (whole_number("layer", -1), whole_number("layer", 3.0)) == (-1, 3)


TASKS = tuple(
    TaskSpec(key, key, ("no", "yes"), 2 if key == "same" else 1) for key in ("mood", "topic", "same")
)


def asked(probed: tuple[str, ...], text_pair: str, task: str, head: str = "probe", own: str = "topic") -> str:
    spec = BackboneSpec("a", "A", own, "", "local", "", probes="a.safetensors", probed=probed)
    return with_task(Query("a", "fine", text_pair, head=head, task=task), spec, TASKS).task


@pytest.mark.parametrize(
    ("probed", "text_pair", "task", "found"),
    [
        (("mood", "topic", "same"), "", "", "topic"),  # the backbone's own
        (("same", "mood"), "", "", "mood"),  # its own is not held: the first in the order of the menu
        (("mood", "topic", "same"), "b", "", "same"),  # its own does not fit two texts
        (("mood", "topic", "same"), "", "mood", "mood"),
    ],
)
def test_the_task_of_a_probe(probed: tuple[str, ...], text_pair: str, task: str, found: str) -> None:
    assert asked(probed, text_pair, task) == found


@pytest.mark.parametrize(
    ("probed", "text_pair", "task", "message"),
    [
        ((), "", "", "head: 'probe' was given; this backbone has no probes: choose own."),
        (("same",), "", "", "task: '' was given; this backbone has no probe for one text: it has same."),
        (("mood",), "b", "", "task: '' was given; this backbone has no probe for two texts: it has mood."),
        (("mood",), "", "weather", "task: 'weather' was given; allowed are mood, topic, same."),
        (("mood",), "", "topic", "task: 'topic' was given; this backbone has probes for mood."),
        (("mood",), "b", "mood", "task: 'mood' was given; it takes one text, and two were given."),
        (("same",), "", "same", "task: 'same' was given; it takes two texts, and one was given."),
    ],
)
def test_a_task_that_cannot_be_had(probed: tuple[str, ...], text_pair: str, task: str, message: str) -> None:
    with pytest.raises(PoolscopeError) as caught:
        asked(probed, text_pair, task)
    assert str(caught.value) == message


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(PoolscopeError) as caught:
        check(backbone="x" * 1_000_000)
    assert len(str(caught.value)) < 150


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_a_checked_text_keeps_its_length_and_can_be_encoded(text: str) -> None:
    if text.strip():
        cleaned = check(text=text).text
        assert len(cleaned) == len(text)
        cleaned.encode("utf-8")
