"""The public endpoints over HTTP, on the fake analyst."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from components.analyses.registry import analyses
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
    assert answer == FakeAnalyst().ask("analyze", Query("first", "not good")).to_json()


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


LENS = ("logits", "pooled", "warnings")
SEVERAL = json.dumps([{"text": text, "vector": [1.0, 2.0]} for text in ("not good", "not bad")])
ASKED = [  # an analysis, what it is asked, and its keys
    ("analyze", {"backbone": "first"}, KEYS),
    ("anatomy", {"backbone": "untrained"}, ["steps", "weights", "unused", "source", "code", "module"]),
    ("lens", {"backbone": "first", "text_pair": "a pair"}, ["tokens", "labels", *LENS]),
    ("trace", {"backbone": "first", "other": "not bad"}, None),
    ("importance", {"backbone": "first"}, None),
    ("padding", {"backbone": "first"}, None),
    ("detect", {"backbone": "first", "vector": "[1, 2, 3]", "prefix": "query: "}, None),
    ("detect", {"backbone": "first", "vector": [1.0, 2.0, 3.0]}, None),
    ("detect", {"backbone": "first", "text": "", "vector": SEVERAL}, None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "asked", "keys"), ASKED)
def test_an_endpoint_says_what_its_analysis_does(
    client: Client, name: str, asked: dict[str, Any], keys: list[str] | None
) -> None:
    asked = {"text": "not good", **asked}
    answer = client.predict(**asked, api_name=f"/{name}")
    query, options = analyses()[name].parted(asked)
    expected = FakeAnalyst().ask(name, query, **options).to_json()
    assert answer == expected
    assert list(answer) == list(expected) == (keys or list(expected))


def test_every_analysis_is_asked_here() -> None:
    assert {name for name, _, _ in ASKED} | {"passport"} == set(analyses())


@pytest.mark.parametrize(
    ("name", "asked", "says"),
    [
        ("anatomy", {"text": ""}, "text: '' was given"),
        ("trace", {"text": "", "other": "not bad"}, "text: '' was given"),
        ("importance", {"label": "x"}, "label: 'x' was given"),
        ("detect", {"vector": "a film"}, "vector: 'a film' was given; the numbers of one vector"),
        ("passport", {"backbone": "nothing"}, "nothing"),
    ],
)
def test_a_mistake_is_a_message(client: Client, name: str, asked: dict[str, Any], says: str) -> None:
    given = {"backbone": "first"} if name == "passport" else {"backbone": "first", "text": "not good"}
    with pytest.raises(AppError, match=says):
        client.predict(**(given | asked), api_name=f"/{name}")


def test_the_anatomy_of_a_probe(client: Client) -> None:
    asked = {"pooling": "mean", "head": "probe", "task": "topic", "api_name": "/anatomy"}
    answer = client.predict("first", "not good", **asked)
    assert [step["kind"] for step in answer["steps"]] == ["pooling", "linear"]
    assert {weight["origin"] for weight in answer["weights"]} == {"probe"}


def test_passport(client: Client) -> None:
    answer = client.predict("first", api_name="/passport")
    assert answer == FakeAnalyst().ask("passport", Query("first", "")).to_json()
    assert answer["reads"]["place"] == "first"


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
    answer = FakeAnalyst().ask("analyze", Query(backbone, "not good")).to_json()
    assert isinstance(answer["predicted"], kind)
    assert answer["head_trained"] == (backbone != "untrained")


def test_128_tokens_and_six_layers_stay_below_60_kilobytes_and_true_to_1e_6() -> None:
    analysis = FakeAnalyst().ask("analyze", Query("pair", "unquestionably " * 62, "extraordinarily " * 63))
    answer = analysis.to_json()
    assert (len(answer["tokens"]), len(answer["similarity_by_layer"])) == (128, 7)
    assert len(json.dumps(answer)) <= 60_000
    np.testing.assert_allclose(answer["similarity_by_layer"], analysis.similarity, rtol=0, atol=1e-6)


def test_it_says_what_is_ordinary_at_each_layer() -> None:
    analysis = FakeAnalyst().ask("analyze", Query("pair", "not good", layer=2))
    answer = analysis.to_json()
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
