"""The public endpoints over HTTP, on the fake analyst."""

import json
import tomllib
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from components.analyses.analyze import Cell, Compared
from components.analyses.registry import analyses
from components.errors import PoolscopeError
from components.own_head import MINE
from components.types import Query
from components.ui.api import add_api
from components.ui.gradio_internals import block_functions
from tests.public.asking import ask, client_of
from tests.serving import built
from tests.ui.fake import FakeAnalyst

CASES = tomllib.loads(Path(__file__).with_name("api.toml").read_text("utf-8"))
KEYS = CASES["keys"]
CSV = "text,stars,note\n" + "\n".join(f"text {row},{row % 2},x" for row in range(40))
NOT_GOOD = {"backbone": "first", "text": "not good"}


@pytest.fixture(scope="module")
def client(fake_url: str) -> Client:
    return Client(fake_url, verbose=False)


def test_backbones_and_poolings(client: Client) -> None:
    listed = client.predict(api_name="/backbones")
    first, far = listed[0], client.predict("far", api_name="/find")
    assert far in listed
    assert list(first) == KEYS["backbones"]
    assert (first["key"], first["source"], first["available"]) == ("first", "local", True)
    assert (first["licence"], first["size"], first["declared"]) == ("", None, None)
    assert first["probes"] == list(FakeAnalyst().backbones()[0].probed)
    assert (far["source"], far["available"], far["labels"]) == ("hub", False, [])
    assert (far["licence"], far["size"]) == ("Apache-2.0", 268_064_743)
    found = client.predict("org/found", api_name="/find")
    assert (list(found), found["key"], found["size"]) == (KEYS["backbones"], "org/found", None)
    pooling = client.predict(api_name="/poolings")[0]
    assert list(pooling) == KEYS["poolings"]
    assert (pooling["key"], pooling["learned"]) == ("native", False)


def test_a_download_is_told_step_by_step_and_then_asked(client: Client) -> None:
    with pytest.raises(AppError, match="fetch it first"):
        client.predict("far", "not good", api_name="/analyze")
    job = client.submit("far", api_name="/fetch")
    last, news = job.result(), job.outputs()
    assert [one["done"] for one in news] == sorted(one["done"] for one in news)
    assert last == news[-1] == {"done": 268_064_743, "total": 268_064_743}
    assert len(news) > 2
    assert client.predict("far", "not good", api_name="/analyze")["backbone"] == "far"
    assert client.submit("far", api_name="/fetch").result() == {"done": 0, "total": 0}


def test_analyze_by_name_by_position_and_by_curl(client: Client, fake_url: str) -> None:
    answer = client.predict("pair", "a", "b", "mean", "own", 3, "1", "", 2, api_name="/analyze")
    assert (answer["layer"], answer["pool_layer"], answer["similarity"][1]) == (3, 2, 1)
    assert [token["segment"] for token in answer["tokens"]] == [None, 0, None, 1, None]
    with client_of(fake_url) as curl:
        answers = [ask(curl, backbone="first"), client.predict(**NOT_GOOD, api_name="/analyze")]
        times = [one.pop("milliseconds") for one in answers]
        assert answers[0] == answers[1]
        assert [*times[0]] == [*times[1]] == ["answer"]
        assert times[0] != times[1]  # the fake one gives the same analysis, as one that is kept
        assert "text: '' was given" in ask(curl, backbone="first", text="")["error"]


def test_the_task_is_the_probes_and_of_nobody_else(client: Client) -> None:
    asked = {**NOT_GOOD, "task": "topic"}
    probe, own = (client.predict(head=head, **asked, api_name="/analyze") for head in ("probe", "own"))
    assert (probe["task"], own["task"]) == ("topic", "")
    assert probe["labels"] == ["world", "sports", "business"]
    steps = client.predict(**asked, head="probe", pooling="mean", api_name="/anatomy")["steps"]
    assert [step["kind"] for step in steps] == ["pooling", "linear"]


ASKED = [(name, asked) for each in CASES["asked"] for name, asked in each.items()]
KNOWN = dict(ASKED)
ASKED += [(name, NOT_GOOD) for name in analyses() if name not in KNOWN]


@pytest.mark.parametrize(("name", "asked"), ASKED)
def test_an_endpoint_says_what_its_analysis_does(client: Client, name: str, asked: dict[str, Any]) -> None:
    def ask(*query: Any, **options: Any) -> dict[str, Any]:
        return dict(FakeAnalyst().ask(*query, **options).to_json())

    expected = analyses()[name].endpoint(ask)(**asked)
    answer = client.predict(**asked, api_name=f"/{name}")
    assert answer.keys() == expected.keys()
    assert {**answer, "milliseconds": 0} == {**expected, "milliseconds": 0}  # those are of each time
    assert list(expected) == KEYS.get(name, list(expected))


@pytest.mark.parametrize(("name", "asked", "says"), CASES["mistakes"])
def test_a_mistake_is_a_message(
    client: Client, fake_log: Path, name: str, asked: dict[str, Any], says: str
) -> None:
    with pytest.raises(AppError, match=says):
        client.submit(**asked, api_name=f"/{name}").result()
    assert "Traceback" not in fake_log.read_text()


@pytest.mark.parametrize(
    ("backbone", "kind"), [("first", str), ("emotions", list), ("score", type(None)), ("untrained", str)]
)
def test_predicted_and_its_probability_follow_the_kind_of_problem(backbone: str, kind: type) -> None:
    analysis = FakeAnalyst().ask("analyze", Query(backbone, "not good"))
    answer, row = analysis.to_json(), Cell(analysis.query, analysis).to_json()
    assert isinstance(answer["predicted"], kind)
    assert row["predicted"] == answer["predicted"]
    assert answer["head_trained"] == (backbone != "untrained")
    by_label = dict(zip(row["labels"], row["probabilities"], strict=True))
    if kind is str:
        assert row["probability"] == by_label[row["predicted"]] == max(by_label.values())
    elif kind is list:
        assert row["predicted"] == [label for label, value in by_label.items() if value > 0.5] != []
        assert row["probability"] == max(by_label[label] for label in row["predicted"])
        none = replace(analysis, probabilities=np.full(4, 0.3, np.float32))
        row = Cell(none.query, none).to_json()
        assert (row["predicted"], row["probability"]) == ([], None)


def test_128_tokens_and_six_layers_stay_below_60_kilobytes_and_true_to_1e_6() -> None:
    query = Query("pair", "unquestionably " * 62, "extraordinarily " * 63, layer=2)
    analysis = FakeAnalyst().ask("analyze", query)
    answer = analysis.to_json()
    assert (len(answer["tokens"]), len(answer["similarity_by_layer"])) == (128, 7)
    assert len(json.dumps(answer)) <= 60_000
    for key, exact in {
        "similarity_by_layer": analysis.similarity,
        "centred": analysis.centred[2],
        "standardised": analysis.standardised[2],
        "ordinary": analysis.ordinary.of("plain"),
        "ordinary_centred": analysis.ordinary.of("centred"),
        "ordinary_standardised": analysis.ordinary.of("standardised"),
        "area": analysis.area.of("plain"),
    }.items():
        np.testing.assert_allclose(answer[key], exact, rtol=0, atol=1e-6)


def test_compare_gives_a_row_for_each_combination_in_the_order_asked(client: Client) -> None:
    keys, poolings = ["score", "first", "score"], ["mean", "cls", "mean"]
    rows = client.predict(keys, poolings, "not good", api_name="/compare")
    assert [list(row) for row in rows] == [KEYS["compare"]] * 9
    assert [(row["backbone"], row["pooling"]) for row in rows] == list(product(keys, poolings))
    alike = [key for key in KEYS["compare"] if key not in ("probability", "reads", "refusal")]
    for row in rows[:5]:
        alone = client.predict(row["backbone"], "not good", pooling=row["pooling"], api_name="/analyze")
        assert [row[key] for key in alike] == [alone[key] for key in alike]
        assert (row["reads"], row["refusal"]) == (alone["reads"]["positions"], None)
    fitting = client.predict(["first", "broken", "first"], [], "not good", api_name="/compare")
    names = [key for key, _ in groupby(fitting, lambda row: row["backbone"])]
    assert names == ["first", "broken", "first"]
    assert [bool(row["refusal"]) for row in fitting] == [False] * 3 + [True] * 5 + [False] * 3


def test_a_combination_that_cannot_be_answered_says_why_in_its_row(client: Client) -> None:
    rows = client.predict(["first", "broken"], ["pooler", "cls"], "good", "", "probe", api_name="/compare")
    assert [list(row) for row in rows] == [KEYS["compare"]] * 4
    refused, answered, far, _ = rows
    assert "this checkpoint has no pooler" in refused["refusal"]
    assert "fetch it first" in far["refusal"]
    empty = {key: refused[key] for key in KEYS["compare"][5:14]}
    assert list(empty.values()) == [None, None, [], [], [], [], None, None, []]
    assert (refused["backbone"], refused["pooling"], refused["head"]) == ("first", "pooler", "probe")
    assert (answered["task"], answered["refusal"]) == ("sentiment", None)


def test_empty_lists_stand_for_all_that_is_here_and_fits(client: Client) -> None:
    rows = client.predict([], ["cls"], "not good", api_name="/compare")
    here = [spec["key"] for spec in client.predict(api_name="/backbones") if spec["available"]]
    assert [(row["backbone"], row["pooling"]) for row in rows] == [(key, "cls") for key in here]
    rows = client.predict(["last", "first"], [], "not good", api_name="/compare")
    fitting = product(("last", "first"), ("native", "cls", "mean"))
    assert [(row["backbone"], row["pooling"]) for row in rows] == list(fitting)
    assert not any(row["refusal"] for row in rows)


def test_two_long_lists_are_not_multiplied() -> None:
    asked: list[int] = []

    class Refusing(FakeAnalyst):
        def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
            asked.append(len(queries))
            raise PoolscopeError("combinations", len(queries), "errors.combinations", most=3)

    def endpoints() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as blocks:
            add_api(Refusing(), 2000)
        return blocks

    functions = block_functions(built(endpoints)).values()
    (compare,) = (function.fn for function in functions if function.api_name == "compare")
    with pytest.raises(PoolscopeError, match="at most 3"):
        compare(["first"] * 100_000, ["cls"] * 100_000, "good")
    assert asked == [1000]


def test_a_fit_says_how_far_it_is_and_then_everything(client: Client) -> None:
    table = f"{CSV}\n,1,x\ntext 1,0,x"
    job = client.submit(table, "text", "stars", "", ["bert-sentiment"], ["native", "cls"], api_name="/fit")
    answer = job.result()
    *stages, last = job.outputs()
    assert last == answer
    assert {tuple(stage)[:4] for stage in stages} == {("done", "total", "stage", "backbone")}
    first = answer["rows"][0]
    (reached,) = (stage["reached"] for stage in stages if "reached" in stage)
    assert reached == {name: first[name] for name in ("backbone", "pooling", "layer", "accuracy")}
    assert (answer["n"], answer["classes"], answer["folds"]) == (41, ["0", "1"], 5)
    assert [row["same_as"] for row in answer["rows"]] == ["", "native"]
    assert first["low"] <= first["accuracy"] <= first["high"]
    assert answer["learning_curve"][-1]["rows"] == 41
    assert [sum(row) for row in answer["confusion"]] == [21, 20]
    assert answer["warnings"] == [
        "Rows without a text or a label: 1. They are left out.",
        "Rows that repeat a text: 1. The same texts always stand in one fold.",
        "Texts with different labels in different rows: 1. No classifier can get all of them right.",
    ]


def test_what_a_fit_gave_answers_over_the_api(client: Client) -> None:
    fit = client.predict(CSV, "text", "stars", "", ["first"], ["mean"], api_name="/fit")
    ask = {"backbone": "first", "text": "not good", "pooling": "mean", "head": MINE}
    answer = client.predict(**ask, mine=fit["head"], api_name="/analyze")
    assert (answer["labels"], answer["head"], answer["task"]) == (fit["classes"], MINE, "")
    with pytest.raises(AppError, match="in no link and in no other session"):
        client.predict(**ask, api_name="/analyze")
