"""Requests that make no sense, and some that nearly do."""

import json

from hypothesis import strategies as st

from tests.public.asking import QUESTION

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(exclude_categories=()))
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=9), st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
names = st.sampled_from(
    ("data", "fn_index", "session_hash", "event_data", "trigger_id", "batched", "event_id",
    "simple_format",
     "vector", "prefix", "backbone", "text", "text_pair", "pooling", "head", "layer", "reference", "task",
     "talk", "name", "page")
)  # fmt: skip
forms = st.one_of(
    st.dictionaries(names, values),
    st.builds(lambda data, rest: {**rest, "data": data, "session_hash": "x"},
    st.lists(values, max_size=9),
              st.dictionaries(names, values)),
    st.builds(lambda rest: {**QUESTION, **rest}, st.dictionaries(names, values)),
    values,
)  # fmt: skip
bodies = st.one_of(
    st.binary(max_size=99),
    forms.map(json.dumps),
    st.builds(lambda form, end: json.dumps(form)[:end], forms, st.integers(0, 50)),
)
posts = st.sampled_from(
    ("queue/join", "run/predict", "api/analyze", "call/analyze", "call/v2/analyze", "call/v2/anatomy",
     "call/ask", "call/backbones", "call/v2/poolings", "cancel", "reset", "call/v2/", "call/%00", "call/..")
).map("/gradio_api/{}".format) | st.sampled_from(
    ("/analyze", "/anatomy", "/lens", "/trace", "/importance", "/padding", "/detect", "/passport", "/compare",
     "/find", "/fetch", "/fit")
)  # fmt: skip
ODD_VALUES = (
    *(None, True, -1, 0, 10**9, 1.5, "", "x", "[CLS]", "9" * 400, [], ["x"], [1], ["bert-sentiment"] * 3),
    "not good " * 3,
)
ODD_EVENTS = (
    *(None, {}, {"query": 1}, {"query": "layer=x&backbone=%00"}, {"query": "?" * 50, "page": 3, "whole": 7}),
    *({"link": 5}, {"index": "a", "value": {}}, {"key": []}, {"_data": {"a": 1}}, "x", 1, []),
)
