"""The frames of an answer are what the server draws of it at each layer and with each centring."""

import json
from dataclasses import replace
from itertools import product
from unittest.mock import patch

import pytest

from components.exhibits.view import CENTRED, CENTRINGS, LAYER
from components.types import Query
from components.ui.classify import frames
from components.ui.classify.frames import Frames, key_of
from components.ui.places import NOTHING
from tests.exhibits.answers import answered
from tests.ui.fake import XSS, FakeAnalyst
from tests.ui.page import Page

QUERIES = [
    Query("first", "not good"),
    Query("pair", f"so good \ud800 {XSS}", "so bad", reference="pooled"),
    Query("last", "a film", "mean", reference=1),
    Query("score", "x"),
]


@pytest.mark.parametrize("query", QUERIES, ids=[query.backbone for query in QUERIES])
def test_each_frame_is_what_the_server_draws(page: Page, query: Query) -> None:
    answer, anatomy = page.tab.answer, FakeAnalyst().ask("anatomy", query)
    analysis = anatomy.analysis
    places = answer._looked_at()
    found = json.loads(Frames().of(places, analysis, {}, answer.say))
    assert (found["answered"], found["last"]) == (key_of(analysis), analysis.layers)
    for index, (centring, layer) in enumerate(product(CENTRINGS, range(analysis.layers + 1))):
        updates = answer.show(answered(anatomy), {LAYER.key: layer, CENTRED.key: centring}, {})
        values = [part["values"][part["at"][index]] for part in found["parts"]]
        assert values == [updates[part] for place in places for part in place.parts]
        assert all(len(set(part["values"])) == len(part["values"]) for part in found["parts"])


def test_an_answer_sends_its_frames_and_a_refusal_none(page: Page) -> None:
    page.set(text="not good")
    answer = page.tab.answer
    sent = page.take(answer.send_frames(page.values))
    assert json.loads(sent[answer.frames])["answered"] == page.values[answer.answered]
    page.set(text="")
    assert answer.send_frames(page.values) is NOTHING


def test_answers_with_the_same_key_look_the_same() -> None:
    one = FakeAnalyst().ask("analyze", QUERIES[0])
    assert key_of(one) == key_of(FakeAnalyst().ask("analyze", QUERIES[0]))
    assert key_of(one) != key_of(FakeAnalyst().ask("analyze", replace(QUERIES[0], pooling="mean")))


def test_the_same_is_drawn_once_and_a_visitor_s_own_head_is_not_kept(page: Page) -> None:
    answer, kept = page.tab.answer, Frames()
    analysis = FakeAnalyst().ask("analyze", QUERIES[0])
    mine = replace(analysis, query=replace(analysis.query, mine="{}"))
    with patch.object(frames, "frames_json", wraps=frames.frames_json) as draw:
        for one in (analysis, analysis, mine, mine):
            kept.of(answer._looked_at(), one, {}, answer.say)
    assert draw.call_count == 3
    assert len(kept.kept) == 1
