"""The public endpoints over HTTP, on the fake analyst."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from components.as_json import (
    anatomy_json,
    detected_json,
    importance_json,
    lens_json,
    padding_json,
    to_json,
    trace_json,
)
from components.passport.passport import passport_json
from components.types import Query
from tests.ui.fake import FakeAnalyst

KEYS = [
    "backbone", "architecture", "pooling", "head", "task", "layer", "pool_layer", "tokens", "cls_index",
    "similarity",
    "similarity_by_layer", "centred", "standardised", "ordinary", "ordinary_centred", "ordinary_standardised",
    "labels", "logits", "probabilities", "predicted", "reads", "head_trained",
    "body_trained", "warnings", "milliseconds",
]  # fmt: skip
SPEC = [
    "key", "title", "architecture", "task", "source", "labels", "available", "probes", "licence", "size",
    "declared",
]  # fmt: skip


def test_the_endpoints_are_the_public_ones_and_no_others(client: Client) -> None:
    assert set(client.view_api(return_format="dict")["named_endpoints"]) == {
        "/backbones",
        "/find",
        "/fetch",
        "/poolings",
        "/analyze",
        "/anatomy",
        "/lens",
        "/trace",
        "/importance",
        "/padding",
        "/detect",
        "/passport",
        "/compare",
        "/fit",
    }


def test_backbones(client: Client) -> None:
    listed = client.predict(api_name="/backbones")
    first, far = listed[0], next(one for one in listed if one["key"] == "far")
    assert list(first) == SPEC
    assert (first["key"], first["source"], first["available"]) == ("first", "local", True)
    assert (first["licence"], first["size"], first["declared"]) == ("", None, None)
    assert first["probes"] == list(FakeAnalyst().backbones()[0].probed)
    assert (far["source"], far["available"], far["labels"]) == ("hub", False, [])
    assert (far["licence"], far["size"]) == ("Apache-2.0", 268_064_743)


def test_a_model_is_found_by_key_and_by_id(client: Client) -> None:
    listed = client.predict(api_name="/backbones")
    assert client.predict("far", api_name="/find") in listed
    found = client.predict("org/found", api_name="/find")
    assert (list(found), found["key"], found["size"]) == (SPEC, "org/found", None)
    with pytest.raises(AppError, match="check its spelling"):
        client.predict("nobody/nothing", api_name="/find")


def test_a_download_is_told_step_by_step_and_then_asked(client: Client) -> None:
    with pytest.raises(AppError, match="fetch it first"):
        client.predict("far", "not good", api_name="/analyze")
    job = client.submit("far", api_name="/fetch")
    last = job.result()
    news = job.outputs()
    assert [one["done"] for one in news] == sorted(one["done"] for one in news)
    assert last == news[-1] == {"done": 268_064_743, "total": 268_064_743}
    assert len(news) > 2
    assert client.predict("far", "not good", api_name="/analyze")["backbone"] == "far"
    assert client.submit("far", api_name="/fetch").result() == {"done": 0, "total": 0}


def test_a_download_that_fails_says_why(client: Client, log: Path) -> None:
    with pytest.raises(AppError, match="the hub does not answer in time"):
        client.submit("broken", api_name="/fetch").result()
    with pytest.raises(AppError, match="check its spelling"):
        client.submit("nobody/nothing", api_name="/fetch").result()
    assert "Traceback" not in log.read_text()


def test_curl_follows_a_download(address: str) -> None:
    events = _events(address, "fetch", ["org/found"])
    assert [name for name, _ in events[:-1]] == ["generating"] * (len(events) - 1)
    assert [one[0]["done"] for _, one in events[:-1]] == [0, 200, 400, 600, 800, 1000]
    assert events[-1][0] == "complete"


def test_poolings(client: Client) -> None:
    first = client.predict(api_name="/poolings")[0]
    assert list(first) == ["key", "title", "summary", "learned", "wide", "declared"]
    assert (first["key"], first["learned"]) == ("native", False)


def test_analyze_with_defaults_by_name(client: Client) -> None:
    answer = client.predict(backbone="first", text="not good", api_name="/analyze")
    assert list(answer) == KEYS
    assert answer == to_json(FakeAnalyst().analyze(Query("first", "not good")))


def test_analyze_by_position(client: Client) -> None:
    answer = client.predict("pair", "a", "b", "mean", "own", 3, "1", "", 2, api_name="/analyze")
    assert (answer["layer"], answer["pool_layer"]) == (3, 2)
    assert answer["similarity"][1] == 1
    assert [token["segment"] for token in answer["tokens"]] == [None, 0, None, 1, None]


def test_the_task_is_the_probes_and_of_nobody_else(client: Client) -> None:
    asked = {"backbone": "first", "text": "not good", "task": "topic", "api_name": "/analyze"}
    probe, own = client.predict(head="probe", **asked), client.predict(head="own", **asked)
    assert (probe["task"], own["task"]) == ("topic", "")
    assert probe["labels"] == ["world", "sports", "business"]


def test_anatomy(client: Client) -> None:
    answer = client.predict("untrained", "not good", api_name="/anatomy")
    assert list(answer) == ["steps", "weights", "unused", "source", "code", "module"]
    assert answer == anatomy_json(FakeAnalyst().anatomy(Query("untrained", "not good")))
    assert answer["steps"][1] == {
        "name": "body.pooler.dense",
        "kind": "linear",
        "in_shape": [8],
        "out_shape": [8],
        "parameters": 72,
        "origin": "checkpoint",
    }
    assert [weight["origin"] for weight in answer["weights"]] == ["checkpoint"] * 2 + ["new"] * 2
    assert answer["unused"] == [{"name": "lm_head.weight", "shape": [30, 8]}]
    assert (answer["source"][0]["ran"], answer["source"][0]["picks"]) == ([41, 42], [41])


def test_the_anatomy_of_a_probe(client: Client) -> None:
    asked = {"pooling": "mean", "head": "probe", "task": "topic", "api_name": "/anatomy"}
    answer = client.predict("first", "not good", **asked)
    assert [step["kind"] for step in answer["steps"]] == ["pooling", "linear"]
    assert {weight["origin"] for weight in answer["weights"]} == {"probe"}


def test_a_mistake_about_an_anatomy_is_a_message(client: Client) -> None:
    with pytest.raises(AppError, match="text: '' was given"):
        client.predict("first", "", api_name="/anatomy")


def test_trace(client: Client) -> None:
    answer = client.predict("first", "not good", "not bad", api_name="/trace")
    assert answer == trace_json(FakeAnalyst().trace(Query("first", "not good"), "not bad", ""))
    assert np.shape(answer["patched"]) == (3, len(answer["pairs"]), 2)
    assert np.shape(answer["shares"]) == (3, len(answer["pairs"]))
    with pytest.raises(AppError, match="text: '' was given"):
        client.predict("first", "", "not bad", api_name="/trace")


def test_importance(client: Client) -> None:
    answer = client.predict("first", "not good", api_name="/importance")
    assert answer == importance_json(FakeAnalyst().importance(Query("first", "not good"), "", True))
    assert np.shape(answer["attention"]) == (2, len(answer["tokens"]))
    with pytest.raises(AppError, match="label: 'x' was given"):
        client.predict("first", "not good", "", "x", api_name="/importance")


def test_detect(client: Client) -> None:
    for vector in ("[1, 2, 3]", [1.0, 2.0, 3.0]):
        answer = client.predict(vector, "first", "not good", "", "query: ", api_name="/detect")
        assert answer == detected_json(FakeAnalyst().detect(Query("first", "not good"), vector, "query: "))
    assert answer["match"]["pooling"] == "cls"
    assert [way["pooling"] for way in answer["ties"]] == ["first", "native", "cls"]
    assert client.predict("0 1", "first", "not good", api_name="/detect")["match"] is None
    several = json.dumps([{"text": text, "vector": [1.0, 2.0]} for text in ("not good", "not bad")])
    answer = client.predict(several, "first", "", api_name="/detect")
    assert answer == detected_json(FakeAnalyst().detect(Query("first", ""), several, ""))
    assert len(answer["match"]["cosines"]) == 2
    with pytest.raises(AppError, match="vector: 'a film' was given; the numbers of one vector"):
        client.predict("a film", "first", "not good", api_name="/detect")


def test_passport(client: Client) -> None:
    answer = client.predict("first", api_name="/passport")
    assert answer == passport_json(FakeAnalyst().passport("first"))
    assert answer["reads"]["place"] == "first"
    with pytest.raises(AppError, match="nothing"):
        client.predict("nothing", api_name="/passport")


def test_padding(client: Client) -> None:
    answer = client.predict("first", "not good", api_name="/padding")
    assert answer == padding_json(FakeAnalyst().padding(Query("first", "not good")))
    assert [case["name"] for case in answer["cases"]] == ["batch", "right", "left"]
    assert answer["says"][1] == "Padded on the left, the head reads padding, and a logit moves by 0.5."
    with pytest.raises(AppError, match="text: '' was given"):
        client.predict("first", "", api_name="/padding")


def test_lens(client: Client) -> None:
    answer = client.predict("first", "not good", "a pair", api_name="/lens")
    assert list(answer) == ["tokens", "labels", "logits", "pooled", "warnings"]
    assert answer == lens_json(FakeAnalyst().lens(Query("first", "not good", "a pair")))
    assert np.shape(answer["logits"]) == (3, len(answer["tokens"]), 2)
    assert np.shape(answer["pooled"]) == (3, 2)
    whole = client.predict("first", "not good", "a pair", api_name="/analyze")
    assert {name: answer[name] for name in ("tokens", "labels", "warnings")}.items() <= whole.items()
    assert answer["pooled"][-1] == whole["logits"]
    with pytest.raises(AppError, match="text: '' was given"):
        client.predict("first", "", api_name="/lens")


@pytest.mark.parametrize("reference", ["cls", "pooled", 2, "2"])
def test_every_kind_of_reference(client: Client, reference: str | int) -> None:
    answer = client.predict("first", "not good", reference=reference, api_name="/analyze")
    assert len(answer["similarity"]) == 4


def test_a_mistake_comes_back_as_its_message(client: Client, log: Path) -> None:
    with pytest.raises(AppError, match="backbone: 'none' was given; it is not in the list"):
        client.predict("none", "not good", api_name="/analyze")
    assert "Traceback" not in log.read_text()


def test_curl_sees_answer_and_mistake(address: str) -> None:
    assert _curl(address, ["first", "not good"])["backbone"] == "first"
    assert "text: '' was given" in _curl(address, ["first", ""])["error"]


@pytest.mark.parametrize(
    ("backbone", "kind"), [("first", str), ("emotions", list), ("score", type(None)), ("untrained", str)]
)
def test_predicted_follows_the_kind_of_problem(backbone: str, kind: type) -> None:
    answer = to_json(FakeAnalyst().analyze(Query(backbone, "not good")))
    assert isinstance(answer["predicted"], kind)
    assert answer["head_trained"] == (backbone != "untrained")


def test_128_tokens_and_six_layers_stay_below_60_kilobytes_and_true_to_1e_6() -> None:
    analysis = FakeAnalyst().analyze(Query("pair", "unquestionably " * 62, "extraordinarily " * 63))
    answer = to_json(analysis)
    assert (len(answer["tokens"]), len(answer["similarity_by_layer"])) == (128, 7)
    assert len(json.dumps(answer)) <= 60_000
    np.testing.assert_allclose(answer["similarity_by_layer"], analysis.similarity, rtol=0, atol=1e-6)


def test_it_says_what_is_ordinary_at_each_layer() -> None:
    analysis = FakeAnalyst().analyze(Query("pair", "not good", layer=2))
    answer = to_json(analysis)
    for key, centring in (("", "plain"), ("_centred", "centred"), ("_standardised", "standardised")):
        band = analysis.ordinary.of(centring)
        assert band.shape == (7, 3)
        np.testing.assert_allclose(answer[f"ordinary{key}"], band, rtol=0, atol=1e-6)
    np.testing.assert_allclose(answer["centred"], analysis.centred[2], rtol=0, atol=1e-6)
    np.testing.assert_allclose(answer["standardised"], analysis.standardised[2], rtol=0, atol=1e-6)


def _curl(address: str, data: list[str]) -> dict[str, object]:
    """What two calls of curl would print: one posts the question, one reads the answer."""
    ((_, answer),) = _events(address, "analyze", [*data, "", "native", "own", -1, "cls", "", -1, ""])
    return answer[0] if isinstance(answer, list) else answer


def _events(address: str, endpoint: str, arguments: list[object]) -> list[tuple[str, Any]]:
    """The name and the data of every event that comes back."""
    request = urllib.request.Request(
        f"{address}/gradio_api/call/{endpoint}",
        json.dumps({"data": arguments}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        event = json.load(response)["event_id"]
    with urllib.request.urlopen(f"{address}/gradio_api/call/{endpoint}/{event}") as response:
        lines = response.read().decode().splitlines()
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    return list(zip(names, data, strict=True))
