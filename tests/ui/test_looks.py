"""Every look at an answer, as the browser gets them."""

import json
import zlib
from base64 import b64decode
from itertools import product
from typing import Any

import pytest

from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Query
from components.ui.classify.looks import key_of, packed
from components.ui.places import NOTHING
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, Counting, Page

QUERIES = [
    Query("first", "not good"),
    Query("pair", f"so good \ud800 {XSS}", "so bad", reference="pooled"),
    Query("last", "a film", "mean", reference=1),
    Query("score", "x"),
]


def unpacked(text: str) -> dict[str, Any]:
    """What the browser makes of it."""
    looks: dict[str, Any] = json.loads(zlib.decompress(b64decode(text)))
    return looks


@pytest.mark.parametrize("query", QUERIES, ids=[query.backbone for query in QUERIES])
def test_each_look_is_what_the_server_draws(page: Page, query: Query) -> None:
    answer, analysis = page.tab.answer, FakeAnalyst().analyze(query)
    looks = unpacked(answer.look(analysis, {})[answer.packed])
    assert looks["answered"] == key_of(analysis)
    assert (looks["centrings"], looks["layers"]) == (list(CENTRINGS), analysis.layers + 1)
    for centring, layer in product(CENTRINGS, range(analysis.layers + 1)):
        updates = answer.show(FakeAnalyst().anatomy(query), {LAYER.key: layer, CENTRED.key: centring})
        place = looks["centrings"].index(centring) * looks["layers"] + layer
        values = [part["values"][part["at"][place]] for part in looks["parts"]]
        assert values == [updates[part] for part in answer.drawn]


def test_what_a_look_does_not_change_is_sent_once(page: Page) -> None:
    answer, analysis = page.tab.answer, FakeAnalyst().analyze(Query("first", "not good"))
    (table,) = (place for panel in answer.panels for place in panel.places if place.name == "numbers")
    (part,) = unpacked(packed([table], analysis, {}, SAY))["parts"]
    assert len(part["values"]) == analysis.layers + 1


def test_an_answer_goes_by_what_was_asked_and_measured() -> None:
    keys = [key_of(FakeAnalyst().analyze(query)) for query in (*QUERIES, *QUERIES)]
    assert keys[: len(QUERIES)] == keys[len(QUERIES) :]
    assert len(set(keys)) == len(QUERIES)


def test_they_are_drawn_without_the_engine_and_dropped_with_the_answer(page: Page, analyst: Counting) -> None:
    answer = page.tab.answer
    assert page.tab.look(page.values) is NOTHING
    page.set()
    looks = page.take(page.tab.look(page.values))[answer.packed]
    assert unpacked(looks)["answered"] == page.values[answer.answered]
    assert len(analyst.asked) == 1
    updates = page.set(pooling="mean")
    assert updates[answer.packed] == ""
    assert updates[answer.answered] not in ("", unpacked(looks)["answered"])
