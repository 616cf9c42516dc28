"""Every look at an answer, as the browser gets them."""

import json
import zlib
from base64 import b64decode
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Query
from components.ui.classify.looks import MOST, Drawings, Looks, key_of, packed
from components.ui.classify.question import to_reference
from components.ui.places import NOTHING
from tests.exhibits.importance.made import answered
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import SAY, Counting, Page

QUERIES = [
    Query("first", "not good"),
    Query("pair", f"so good \ud800 {XSS}", "so bad", reference="pooled"),
    Query("last", "a film", "mean", reference=1),
    Query("score", "x"),
]
ASKED = QUERIES[0]


def unpacked(text: str) -> dict[str, Any]:
    """What the browser makes of it."""
    looks: dict[str, Any] = json.loads(zlib.decompress(b64decode(text)))
    return looks


def asking(query: Query) -> dict[str, Any]:
    """The controls of a page that asks it."""
    asked = {"text": query.text, "pair": query.text_pair, "pooling": query.pooling}
    return {**asked, "backbone": query.backbone, "reference": str(query.reference)}


@pytest.mark.parametrize("query", QUERIES, ids=[query.backbone for query in QUERIES])
def test_each_look_is_what_the_server_draws(page: Page, query: Query) -> None:
    answer, analysis = page.tab.answer, FakeAnalyst().analyze(query)
    looks = unpacked(answer.bring(Looks.along(analysis, analysis, {}))[answer.packed])
    assert looks["answered"] == key_of(analysis)
    assert looks["last"] == analysis.layers
    assert looks["complete"] == [looks["own"]] == [str(query.reference)]
    every = list(product(CENTRINGS, range(analysis.layers + 1)))
    assert looks["looks"] == [f"{query.reference} {centring} {layer}" for centring, layer in every]
    for place, (centring, layer) in enumerate(every):
        shown = answered(FakeAnalyst().anatomy(query))
        updates = answer.show(shown, {LAYER.key: layer, CENTRED.key: centring}, {})
        values = [part["values"][part["at"][place]] for part in looks["parts"]]
        assert values == [updates[part] for part in answer.drawn]


@pytest.mark.parametrize("query", QUERIES, ids=[query.backbone for query in QUERIES])
def test_each_reference_is_what_the_server_answers(page: Page, query: Query) -> None:
    """Also that another reference changes nothing but what is drawn anew."""
    page.set(**asking(query))
    tab, answer = page.tab, page.tab.answer
    page.values |= {answer.layer: 1, answer.centred: "centred"}
    own = FakeAnalyst().anatomy(query)
    opened, state = {answer.head.opened: True}, {LAYER.key: 1, CENTRED.key: "centred"}
    before = answer.show(answered(own), state, opened)
    looks = unpacked(page.take(tab.look_around(page.values))[answer.packed])
    assert looks["answered"] == page.values[answer.answered]
    assert looks["around"] == ["centred 1"]
    references = ["cls", "pooled", *range(len(own.analysis.tokens.text))]
    assert looks["looks"] == [f"{reference} centred 1" for reference in references]
    kept = {answer.shown, answer.head.pointed, answer.head.stored}
    moves = {*kept, answer.answered, answer.reference, *answer.drawn}
    for place, reference in enumerate(references):
        asked = FakeAnalyst().anatomy(replace(query, reference=reference))
        updates = answer.show(answered(asked), state, opened)
        values = [part["values"][part["at"][place]] for part in looks["parts"]]
        assert values == [updates[part] for part in answer.drawn]
        assert {part for part in updates if updates[part] != before[part]} <= moves


def test_a_reference_that_is_drawn_is_looked_at_with_every_layer(page: Page) -> None:
    page.set()
    answer, query = page.tab.answer, page.values[page.tab.answer.shown].analysis.query
    page.values[answer.reference] = "2"
    looks = unpacked(page.take(page.tab.look_from(page.values))[answer.packed])
    seen = FakeAnalyst().analyze(replace(query, reference=2))
    assert looks["answered"] == page.values[answer.answered]
    assert (looks["own"], looks["complete"]) == ("cls", ["2"])
    alone = unpacked(answer.bring(Looks.along(seen, seen, {}))[answer.packed])
    assert (looks["looks"], looks["parts"]) == (alone["looks"], alone["parts"])


@pytest.mark.parametrize(("tokens", "brought"), [(MOST, MOST + 2), (MOST + 1, 0)])
def test_references_of_a_long_text_are_left_to_the_server(page: Page, tokens: int, brought: int) -> None:
    page.set(backbone="last", text=" ".join(["word"] * tokens))
    answer, analysis = page.tab.answer, page.values[page.tab.answer.shown].analysis
    assert len(analysis.tokens.text) == tokens
    looks = unpacked(page.tab.look_around(page.values)[answer.packed])
    assert len(looks["looks"]) == brought
    assert looks["around"] == [
        f"{centring} {layer}"
        for centring, layer in product(CENTRINGS, range(analysis.layers + 1))
        if not brought or (centring, layer) == ("plain", analysis.layers)
    ]


@pytest.mark.parametrize("reference", ["no such", "999", None])
def test_a_reference_that_cannot_be_had_is_left_to_a_question(page: Page, reference: object) -> None:
    page.set()
    page.values[page.tab.answer.reference] = reference
    looks = unpacked(page.tab.look_from(page.values)[page.tab.answer.packed])
    assert looks["looks"] == []
    assert looks["complete"] == [str(to_reference(reference))]


def test_what_a_look_does_not_change_is_sent_once(page: Page) -> None:
    answer, analysis = page.tab.answer, FakeAnalyst().analyze(Query("first", "not good"))
    (table,) = (place for panel in answer.panels for place in panel.places if place.name == "numbers")
    (part,) = unpacked(packed([table], Looks.along(analysis, analysis, {}), SAY))["parts"]
    assert len(part["values"]) == analysis.layers + 1


def test_an_answer_goes_by_what_was_asked_and_measured() -> None:
    keys = [key_of(FakeAnalyst().analyze(query)) for query in (*QUERIES, *QUERIES)]
    assert keys[: len(QUERIES)] == keys[len(QUERIES) :]
    assert len(set(keys)) == len(QUERIES)


def test_they_are_drawn_without_the_engine_and_dropped_with_the_answer(page: Page, analyst: Counting) -> None:
    answer = page.tab.answer
    for look in (page.tab.look, page.tab.look_from, page.tab.look_around):
        assert look(page.values) is NOTHING
    page.set()
    looks = page.take(page.tab.look(page.values))[answer.packed]
    assert unpacked(looks)["answered"] == page.values[answer.answered]
    assert len(analyst.asked) == 1
    updates = page.set(pooling="mean")
    assert updates[answer.packed] == ""
    assert updates[answer.answered] not in ("", unpacked(looks)["answered"])


def test_the_same_is_drawn_once_and_anything_else_anew() -> None:
    drawings, drawn = Drawings(), list[str]()

    def draw(name: str) -> str:
        drawn.append(name)
        return name

    def looks(**changed: Any) -> Looks:
        seen = replace(FakeAnalyst().analyze(QUERIES[0]), **changed)  # another object of the same answer
        return Looks.along(seen, seen, {"centred": "plain"})

    assert drawings.get(ASKED, looks(), lambda: draw("first")) == "first"
    assert drawings.get(ASKED, looks(), lambda: draw("never")) == "first"
    halved = FakeAnalyst().analyze(QUERIES[0]).logits / 2
    assert drawings.get(ASKED, looks(logits=halved), lambda: draw("other logits")) == "other logits"
    assert drawings.get(ASKED, (looks(), 1), lambda: draw("other controls")) == "other controls"
    assert drawn == ["first", "other logits", "other controls"]


def test_drawings_that_nobody_asked_for_lately_are_forgotten() -> None:
    drawings = Drawings(budget=10)
    for name in ("aaaa", "bbbb", "aaaa", "cccc"):
        drawings.get(ASKED, name, partial(str, name))
    assert drawings.get(ASKED, "aaaa", lambda: "anew") == "aaaa"
    assert drawings.get(ASKED, "bbbb", lambda: "anew") == "anew"
    assert drawings.get(ASKED, "a drawing longer than all", lambda: "longer than all") == "longer than all"
    assert drawings.get(ASKED, "aaaa", lambda: "anew") == "anew"


def test_what_a_visitor_s_own_head_says_is_not_kept() -> None:
    drawings, own = Drawings(), replace(ASKED, mine="a head")
    assert drawings.get(own, "labels of a table", lambda: "first") == "first"
    assert drawings.get(own, "labels of a table", lambda: "anew") == "anew"
