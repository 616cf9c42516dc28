"""A table over the API: how far it is, what comes of it, and what is said of tables that are none."""

from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TABLE = "text,stars,note\n" + "\n".join(f"text {row},{row % 2},x" for row in range(40))
CELLS = ["", "=1+1", "nan", '"', "\t", "\ufffd", "\0", "a", "b", "1", "2", "text", "{", "😀", "1e999"]


def test_a_fit_says_how_far_it_is_and_then_everything(client: Client) -> None:
    job = client.submit(TABLE, "text", "stars", "", ["bert-sentiment"], ["native", "cls"], api_name="/fit")
    answer = job.result()
    *stages, last = job.outputs()
    assert last == answer
    assert stages
    assert {tuple(stage)[:4] for stage in stages} == {("done", "total", "stage", "backbone")}
    first = answer["rows"][0]
    (reached,) = (stage["reached"] for stage in stages if "reached" in stage)
    assert reached == {name: first[name] for name in ("backbone", "pooling", "layer", "accuracy")}
    assert (answer["n"], answer["classes"], answer["folds"]) == (40, ["0", "1"], 5)
    assert [row["same_as"] for row in answer["rows"]] == ["", "native"]
    assert first["low"] <= first["accuracy"] <= first["high"]
    assert answer["learning_curve"][-1]["rows"] == 40
    assert [sum(row) for row in answer["confusion"]] == [20, 20]


def test_rows_that_are_left_out_are_named(client: Client) -> None:
    table = f"{TABLE}\n,1,x\ntext 1,0,x"
    answer = client.predict(table, "text", "stars", "", ["bert-sentiment"], ["cls"], api_name="/fit")
    assert answer["n"] == 41
    assert answer["warnings"] == [
        "Rows without a text or a label: 1. They are left out.",
        "Rows that repeat a text: 1. The same texts always stand in one fold.",
        "Texts with different labels in different rows: 1. No classifier can get all of them right.",
    ]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["", "text", "stars"], "paste a table"),
        ([TABLE, "review", "stars"], "there is no such column"),
        ([TABLE, "text", "text"], "different columns"),
        ([TABLE, "text", "stars", "", "bert"], "list"),
        ([TABLE, "text", "stars", "", [], [], "first"], "last and all"),
    ],
)
def test_a_table_that_cannot_be_fitted_is_refused(client: Client, asked: list[Any], said: str) -> None:
    with pytest.raises(AppError, match=said):
        client.predict(*asked, api_name="/fit")


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=st.lists(st.lists(st.sampled_from(CELLS), max_size=3).map(",".join), max_size=6).map("\n".join))
def test_an_odd_table_gets_a_sentence(client: Client, table: str) -> None:
    """A refusal names the part that is wrong, as ``field: given; what is allowed``; a fault does not."""
    with pytest.raises(AppError, match=" was given; "):
        client.predict(table, "no such text", "no such label", api_name="/fit")
