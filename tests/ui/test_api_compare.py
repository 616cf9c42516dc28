"""The public endpoint for comparisons over HTTP, on the fake analyst."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import gradio as gr
import numpy as np
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from components.analyses.compare import Cell, Compared
from components.errors import PoolscopeError
from components.types import Query
from components.ui.api import add_api
from components.ui.gradio_internals import block_functions
from tests.serving import built
from tests.ui.fake import FakeAnalyst

ROW = [
    "backbone", "pooling", "head", "task", "pool_layer", "predicted", "probability", "labels", "logits",
    "probabilities", "reads", "head_trained", "body_trained", "warnings", "refusal",
]  # fmt: skip


def test_compare_gives_a_row_for_each_combination_in_the_order_asked(client: Client) -> None:
    rows = client.predict(["score", "first"], ["mean", "cls"], "not good", api_name="/compare")
    assert [list(row) for row in rows] == [ROW] * 4
    asked = [("score", "mean"), ("score", "cls"), ("first", "mean"), ("first", "cls")]
    assert [(row["backbone"], row["pooling"]) for row in rows] == asked
    for row, (backbone, pooling) in zip(rows, asked, strict=True):
        alone = client.predict(backbone, "not good", pooling=pooling, api_name="/analyze")
        alike = [key for key in ROW if key not in ("probability", "reads", "refusal")]
        assert [row[key] for key in alike] == [alone[key] for key in alike]
        assert row["reads"] == alone["reads"]["positions"]
        assert row["refusal"] is None


def test_what_is_named_twice_is_answered_in_the_order_asked(client: Client) -> None:
    keys, poolings = ["score", "first", "score"], ["mean", "cls", "mean"]
    rows = client.predict(keys, poolings, "not good", api_name="/compare")
    assert [(row["backbone"], row["pooling"]) for row in rows] == list(product(keys, poolings))
    once = client.predict(keys[:2], poolings[:2], "not good", api_name="/compare")
    alone = {(row["backbone"], row["pooling"]): row for row in once}
    assert rows == [alone[combination] for combination in product(keys, poolings)]
    fitting = client.predict(["first", "broken", "first"], [], "not good", api_name="/compare")
    names = [key for key, _ in groupby(fitting, lambda row: row["backbone"])]
    assert names == ["first", "broken", "first"]
    assert [bool(row["refusal"]) for row in fitting] == [False] * 3 + [True] * 5 + [False] * 3


@pytest.mark.parametrize(("backbone", "labels"), [("first", 1), ("emotions", None), ("score", 0)])
def test_the_probability_is_that_of_what_is_predicted(backbone: str, labels: int | None) -> None:
    analysis = FakeAnalyst().ask("analyze", Query(backbone, "not good"))
    row = Cell(analysis.query, analysis).to_json()
    by_label = dict(zip(row["labels"], row["probabilities"], strict=True))
    if labels == 0:
        assert (row["predicted"], row["probability"]) == (None, None)
    elif labels == 1:
        assert row["probability"] == by_label[row["predicted"]] == max(by_label.values())
    else:
        assert row["predicted"] == [label for label, value in by_label.items() if value > 0.5] != []
        assert row["probability"] == max(by_label[label] for label in row["predicted"])


def test_several_labels_of_which_none_holds_have_no_probability() -> None:
    analysis = FakeAnalyst().ask("analyze", Query("emotions", "not good"))
    none = replace(analysis, probabilities=np.full(4, 0.3, np.float32))
    row = Cell(none.query, none).to_json()
    assert (row["predicted"], row["probability"]) == ([], None)


def test_a_combination_that_cannot_be_answered_says_why_in_its_row(client: Client) -> None:
    rows = client.predict(["first", "broken"], ["pooler", "cls"], "good", "", "probe", api_name="/compare")
    assert [list(row) for row in rows] == [ROW] * 4
    assert [bool(row["refusal"]) for row in rows] == [True, False, True, True]
    refused, answered, far, _ = rows
    assert "this checkpoint has no pooler" in refused["refusal"]
    assert "fetch it first" in far["refusal"]
    empty = {key: refused[key] for key in ROW[5:14]}
    assert list(empty.values()) == [None, None, [], [], [], [], None, None, []]
    assert (refused["backbone"], refused["pooling"], refused["head"]) == ("first", "pooler", "probe")
    assert answered["task"] == "sentiment"


def test_empty_lists_stand_for_all_that_is_here_and_fits(client: Client) -> None:
    rows = client.predict([], ["cls"], "not good", api_name="/compare")
    here = [spec["key"] for spec in client.predict(api_name="/backbones") if spec["available"]]
    assert [(row["backbone"], row["pooling"]) for row in rows] == [(key, "cls") for key in here]
    rows = client.predict(["last", "first"], [], "not good", api_name="/compare")
    assert [(row["backbone"], row["pooling"]) for row in rows] == [
        (key, pooling) for key in ("last", "first") for pooling in ("native", "cls", "mean")
    ]
    assert not any(row["refusal"] for row in rows)


def test_where_no_pooling_fits_the_rows_say_why(client: Client) -> None:
    rows = client.predict(["broken"], [], "not good", api_name="/compare")
    assert len(rows) == len(client.predict(api_name="/poolings"))
    assert all("fetch it first" in row["refusal"] for row in rows)


def test_a_comparison_of_nothing_is_a_message(client: Client, log: Path) -> None:
    with pytest.raises(AppError, match="text: '' was given"):
        client.predict(["first"], ["cls"], "", api_name="/compare")
    for wrong in ("first", 3, None):
        with pytest.raises(AppError, match=r"backbones: .* was given; a list of keys is expected"):
            client.predict(wrong, ["cls"], "good", api_name="/compare")
    assert "Traceback" not in log.read_text()


def test_two_long_lists_are_not_multiplied() -> None:
    asked = []

    class Counting(FakeAnalyst):
        def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
            asked.append(len(queries))
            raise PoolscopeError("combinations", len(queries), "errors.combinations", most=3)
            yield

    def endpoints() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as blocks:
            add_api(Counting())
        return blocks

    functions = block_functions(built(endpoints)).values()
    (compare,) = (function.fn for function in functions if function.api_name == "compare")
    with pytest.raises(gr.Error, match="at most 3"):
        compare(["first"] * 100_000, ["cls"] * 100_000, "good")
    assert asked == [1000]
