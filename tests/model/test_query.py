"""What may be asked, and what is said of what may not."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from components.errors import PoolscopeError
from components.model.query import checked, whole_number, with_task
from components.types import BackboneSpec, Query, TaskSpec

TABLES = tomllib.loads(Path(__file__).with_name("queries.toml").read_text(encoding="utf-8"))
BACKBONES, POOLINGS, HEADS, LONGEST = ("a", "b"), ("native", "mean"), ("own",), 1000


def check(**fields: object) -> Query:
    query = Query(**{"backbone": "a", "text": "fine", **fields})  # type: ignore[arg-type]  # on purpose
    return checked(query, BACKBONES, POOLINGS, HEADS, LONGEST)


@pytest.mark.parametrize("case", TABLES["mistakes"])
def test_a_mistake_is_named(case: dict[str, Any]) -> None:
    with pytest.raises(PoolscopeError) as caught:
        check(**case["fields"])
    assert case["says"] in str(caught.value)


def test_a_long_text_or_value_is_refused_in_a_short_message() -> None:
    says = "it has 1,001 characters, and at most 1,000 are allowed"
    for fields in ({"text": "x" * 1001}, {"text_pair": "x" * 1001}, {"backbone": "x" * 1_000_000}):
        with pytest.raises(PoolscopeError, match=says if "backbone" not in fields else "allowed") as caught:
            check(**fields)
        assert len(str(caught.value)) < 250


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


@pytest.mark.parametrize("case", TABLES["tasks"])
def test_the_task_of_a_probe(case: dict[str, Any]) -> None:
    given = tuple(case["probed"]), case.get("pair", ""), case.get("task", "")
    if "found" in case:
        assert asked(*given) == case["found"]
        return
    with pytest.raises(PoolscopeError) as caught:
        asked(*given)
    assert str(caught.value) == case["says"]


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_a_checked_text_keeps_its_length_and_can_be_encoded(text: str) -> None:
    if text.strip():
        cleaned = check(text=text).text
        assert len(cleaned) == len(text)
        cleaned.encode("utf-8")
