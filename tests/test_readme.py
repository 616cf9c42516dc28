"""What the README and the docs say of the API is true: examples run, endpoints are those served."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from tests.readme import LOCAL, PAGES, TABLE, block


@pytest.mark.parametrize(
    ("containing", "told"),
    [
        (
            "gradio_client",
            [r"BertForSequenceClassification reads \['\[CLS\]'\] and says ", r"\[CLS\] \+1\.000"],
        ),
        ("/detect", ["cls, first, native are one vector here\\.", "TEI --pooling cls"]),
        (
            "read_sheet",
            ["embed: 210 of 210", r"check: 6 of 6\n(cls|mean): 0\.\d\d, from 0\.\d\d to 0\.\d\d\n$"],
        ),
        ("poolscope_show", ["'negative': .*'positive': "]),
    ],
)
def test_an_example_in_python_runs(
    app_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    containing: str,
    told: list[str],
) -> None:
    """Here, where torch and gradio's client are loaded already."""
    code = block("api.md", "python", containing).replace(LOCAL, app_url)
    code = code.replace("poolscope.html", str(tmp_path / "poolscope.html"))
    exec(compile(code, "api.md", "exec"), {})
    printed = capsys.readouterr().out
    for pattern in told:
        assert re.search(pattern, printed), printed
    for page in tmp_path.glob("*.html"):
        assert "<!doctype html>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("analyze", lambda told: told["architecture"] == "BertForSequenceClassification"),
        ("lens", lambda told: len(told["logits"]) == len(told["pooled"])),
        ("trace", lambda told: len(told["patched"][0]) == len(told["pairs"])),
        ("importance", lambda told: len(told["erasure"]) == len(told["tokens"])),
        ("padding", lambda told: told["verdict"] == "safe"),
    ],
)
def test_the_example_in_one_request_runs(
    app_url: str, name: str, shape: Callable[[dict[str, Any]], bool]
) -> None:
    command = block("api.md", "bash", f"7860/{name}").replace(LOCAL, app_url)
    told = json.loads(subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout)
    assert shape(told), told


def test_the_curl_example_runs(app_url: str) -> None:
    first, second = block("api.md", "bash", "call/v2").replace(LOCAL, app_url).split("curl -sN")
    event = subprocess.run(["bash", "-c", first], capture_output=True, text=True, check=True).stdout
    (event_id,) = re.findall(r'"event_id":\s*"(\w+)"', event)
    command = "curl -sN" + second.replace("EVENT_ID", event_id)
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    assert '"architecture": "BertForSequenceClassification"' in answer


def endpoints() -> dict[str, tuple[str, set[str]]]:
    """The arguments of each endpoint as docs/api.md has them, and what is named in its section."""
    pattern = r"^### `(/\w+)\(([^\n]*)\)`\n(.*?)(?=^###|\Z)"
    sections = re.findall(pattern, PAGES["api.md"], re.DOTALL | re.MULTILINE)
    return {name: (arguments, set(re.findall(r"`(\w+)`", text))) for name, arguments, text in sections}


def written(parameter: dict[str, Any]) -> str:
    """An argument of an endpoint as Python has it."""
    default = json.dumps(parameter["parameter_default"])
    return parameter["parameter_name"] + (f"={default}" if parameter["parameter_has_default"] else "")


def test_the_endpoints_are_those_that_are_served_with_their_arguments(app_url: str) -> None:
    served = Client(app_url, verbose=False).view_api(return_format="dict")
    assert isinstance(served, dict)
    assert {name: arguments for name, (arguments, _named) in endpoints().items()} == {
        name: ", ".join(map(written, endpoint["parameters"]))
        for name, endpoint in served["named_endpoints"].items()
    }


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("/backbones", []),
        ("/fetch", ["bert-sentiment"]),
        ("/poolings", []),
        ("/analyze", ["bert-sentiment", "not good"]),
        ("/anatomy", ["bert-sentiment", "not good"]),
        ("/lens", ["bert-sentiment", "not good"]),
        ("/trace", ["bert-sentiment", "not good", "not bad"]),
        ("/importance", ["bert-sentiment", "not good"]),
        ("/padding", ["bert-sentiment", "not good"]),
        ("/detect", [[1.0] * 128, "bert-sentiment", "not good"]),
        ("/passport", ["bert-sentiment"]),
        ("/compare", [["bert-sentiment"], ["mean"], "not good"]),
        ("/fit", [TABLE, "text", "label", "", ["bert-sentiment"], ["mean"]]),
    ],
)
def test_every_key_of_an_answer_stands_in_its_section(app_url: str, name: str, asked: list[Any]) -> None:
    client = Client(app_url, verbose=False)
    answer = client.predict(*asked, api_name=name)
    poolings = {spec["key"] for spec in client.predict(api_name="/poolings")}
    assert keys_of(answer) - poolings <= endpoints()[name][1]


def keys_of(answer: Any) -> set[str]:
    """All keys of an answer and of what is in it, but the stages that took ``milliseconds``."""
    if isinstance(answer, list):
        return set().union(*map(keys_of, answer))
    if not isinstance(answer, dict):
        return set()
    return set(answer).union(*(keys_of(value) for key, value in answer.items() if key != "milliseconds"))
