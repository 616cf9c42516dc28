"""What the README and the docs say of the API is true: examples run, endpoints are those served."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from components.analyses.detect import BAR
from tests.readme import LOCAL, PAGES, TABLE, block
from tests.serving import ROOT


def test_the_python_example_runs(app_url: str) -> None:
    code = block("api.md", "python", "gradio_client").replace(LOCAL, app_url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "BertForSequenceClassification reads ['[CLS]'] and says " in done.stdout
    assert re.search(r"\[CLS\] \+1\.000", done.stdout)


def test_the_example_in_one_request_runs(app_url: str) -> None:
    command = block("api.md", "bash", "7860/analyze").replace(LOCAL, app_url)
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    assert json.loads(answer)["architecture"] == "BertForSequenceClassification"


def test_the_example_of_the_lens_runs(app_url: str) -> None:
    command = block("api.md", "bash", "7860/lens").replace(LOCAL, app_url)
    answer = json.loads(subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout)
    assert len(answer["logits"]) == len(answer["pooled"])
    assert len(answer["logits"][0]) == len(answer["tokens"])


def test_the_example_of_the_trace_runs(app_url: str) -> None:
    command = block("api.md", "bash", "7860/trace").replace(LOCAL, app_url)
    answer = json.loads(subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout)
    assert len(answer["shares"]) == len(answer["whole"]) == len(answer["patched"])
    assert len(answer["patched"][0]) == len(answer["pairs"])


def test_the_example_of_importance_runs(app_url: str) -> None:
    command = block("api.md", "bash", "7860/importance").replace(LOCAL, app_url)
    answer = json.loads(subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout)
    assert len(answer["erasure"]) == len(answer["integrated_gradients"]) == len(answer["tokens"])


def test_the_example_of_padding_runs(app_url: str) -> None:
    command = block("api.md", "bash", "7860/padding").replace(LOCAL, app_url)
    answer = json.loads(subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout)
    assert answer["verdict"] == "safe"
    assert [case["cause"] for case in answer["cases"]] == ["", "", "positions", ""]


def test_the_example_of_the_detective_runs(app_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = block("api.md", "python", "/detect").replace(LOCAL, app_url)
    exec(compile(code, "api.md", "exec"), {})  # torch is loaded here already
    told = capsys.readouterr().out
    assert "cls, first, native are one vector here." in told
    assert "TEI --pooling cls" in told


def test_the_example_of_a_fit_from_code_runs() -> None:
    code = block("api.md", "python", "read_sheet")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    *stages, best = done.stdout.splitlines()
    assert "embed: 210 of 210" in stages
    assert stages[-1] == "check: 6 of 6"
    assert re.fullmatch(r"(cls|mean): 0\.\d\d, from 0\.\d\d to 0\.\d\d", best)


def test_the_example_of_the_notebook_runs(tmp_path: Path) -> None:
    code = block("api.md", "python", "poolscope_show").replace("poolscope.html", str(tmp_path / "page.html"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.search(r"'negative': .*'positive': ", done.stdout)
    assert "<!doctype html>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_bar_of_a_match_is_the_one_that_is_told() -> None:
    assert f"below a cosine of {BAR} there is no match" in " ".join(PAGES["api.md"].split())
    assert f"A cosine of {BAR} or more is a match" in " ".join(PAGES["measuring.md"].split())


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
