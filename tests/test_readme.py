"""What the README and the docs say of the API is true: examples run, endpoints are those served."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from tests.readme import LOCAL, PAGES, TABLE, block


def printed(code: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What an example prints; it is run here, where torch and gradio's client are loaded already."""
    exec(compile(code, "api.md", "exec"), {})
    return capsys.readouterr().out


def test_the_python_example_runs(app_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(block("api.md", "python", "gradio_client").replace(LOCAL, app_url), capsys)
    assert "BertForSequenceClassification reads ['[CLS]'] and says " in told
    assert re.search(r"\[CLS\] \+1\.000", told)


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


def test_the_example_of_the_detective_runs(app_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(block("api.md", "python", "/detect").replace(LOCAL, app_url), capsys)
    assert "cls, first, native are one vector here." in told
    assert "TEI --pooling cls" in told


def test_the_example_of_a_fit_from_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    *stages, best = printed(block("api.md", "python", "read_sheet"), capsys).splitlines()
    assert "embed: 210 of 210" in stages
    assert stages[-1] == "check: 6 of 6"
    assert re.fullmatch(r"(cls|mean): 0\.\d\d, from 0\.\d\d to 0\.\d\d", best)


def test_the_example_of_the_notebook_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = block("api.md", "python", "poolscope_show").replace("poolscope.html", str(tmp_path / "page.html"))
    assert re.search(r"'negative': .*'positive': ", printed(code, capsys))
    assert "<!doctype html>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_curl_example_runs(app_url: str) -> None:
    first, second = block("api.md", "bash", "call/v2").replace(LOCAL, app_url).split("curl -sN")
    event = subprocess.run(["bash", "-c", first], capture_output=True, text=True, check=True).stdout
    (event_id,) = re.findall(r'"event_id":\s*"(\w+)"', event)
    command = "curl -sN" + second.replace("EVENT_ID", event_id)
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    assert '"architecture": "BertForSequenceClassification"' in answer


@dataclass(frozen=True)
class Section:
    """What docs/api.md says of an endpoint: its ``arguments``, and what is ``named`` there."""

    arguments: str
    named: set[str]


def endpoints() -> dict[str, Section]:
    """The sections of docs/api.md, by the name of the endpoint."""
    sections = re.findall(
        r"^### `(/\w+)\(([^\n]*)\)`\n(.*?)(?=^###|\Z)", PAGES["api.md"], re.DOTALL | re.MULTILINE
    )
    return {name: Section(arguments, set(re.findall(r"`(\w+)`", text))) for name, arguments, text in sections}


def written(parameter: dict[str, Any]) -> str:
    """An argument of an endpoint as Python has it."""
    default = json.dumps(parameter["parameter_default"])
    return parameter["parameter_name"] + (f"={default}" if parameter["parameter_has_default"] else "")


def test_the_endpoints_are_those_that_are_served_with_their_arguments(app_url: str) -> None:
    served = Client(app_url, verbose=False).view_api(return_format="dict")
    assert isinstance(served, dict)
    assert {name: section.arguments for name, section in endpoints().items()} == {
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
    assert keys_of(answer) - poolings <= endpoints()[name].named


def keys_of(answer: Any) -> set[str]:
    """All keys of an answer and of what is in it, but the stages that took ``milliseconds``."""
    if isinstance(answer, list):
        return set().union(*map(keys_of, answer))
    if not isinstance(answer, dict):
        return set()
    return set(answer).union(*(keys_of(value) for key, value in answer.items() if key != "milliseconds"))
