"""The README is true: its example runs, its tables and links agree with the project."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from components.engine.engine import Engine
from components.results import read_results
from components.settings import Settings
from tests.serving import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, containing: str) -> str:
    """The README's code block of ``language`` that contains some words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(text for text in blocks if containing in text)


def test_the_python_example_runs(app_url: str) -> None:
    code = block("python", "gradio_client").replace("http://127.0.0.1:7860", app_url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "BertForSequenceClassification reads ['[CLS]'] and says " in done.stdout
    assert re.search(r"\[CLS\] \+1\.000", done.stdout)


def test_the_curl_example_runs(app_url: str) -> None:
    first, second = block("bash", "curl").replace("http://127.0.0.1:7860", app_url).split("curl -sN")
    event = subprocess.run(["bash", "-c", first], capture_output=True, text=True, check=True).stdout
    (event_id,) = re.findall(r'"event_id":\s*"(\w+)"', event)
    command = "curl -sN" + second.replace("EVENT_ID", event_id)
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    assert '"architecture": "BertForSequenceClassification"' in answer


def test_every_pooling_stands_in_the_table(engine: Engine) -> None:
    table = README.split("| Pooling |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) == {spec.key for spec in engine.poolings()}


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
def test_the_accuracies_are_those_of_the_results(task: str) -> None:
    (line,) = re.findall(rf"^\| {task}, .*$", README, re.MULTILINE)
    results = read_results(ROOT / "assets" / "results.json").checkpoints
    measured = [row for row in results if row.task == task]
    shown = [f"{100 * row.accuracy:.1f}" for row in measured] + [f"{100 * measured[0].majority:.1f}"]
    assert re.findall(r"([\d.]+) %", line)[: len(shown)] == shown


def test_every_setting_stands_in_the_table() -> None:
    named = set(re.findall(r"`POOLSCOPE_(\w+)`", README.split("## Settings")[1].split("##")[0]))
    assert named == {name.upper() for name in Settings.model_fields}


def test_the_catalogue_example_is_read(tmp_path: Path) -> None:
    text = block("toml", "[my-classifier]")
    assert set(tomllib.loads(text)) == {"my-classifier"}
    file = tmp_path / "backbones.toml"
    file.write_text(text, encoding="utf-8")
    assert [spec.key for spec in Engine(Settings(catalogue=file)).backbones()] == ["my-classifier"]


def test_the_pooling_example_works() -> None:
    code = block("py", '@pooling("median')
    space: dict[str, object] = {}
    exec(
        "from __future__ import annotations\nfrom components.engine.pooling import States, pooling\n" + code,
        space,
    )
    assert space["median"].spec.key == "median"  # type: ignore[attr-defined]  # what the decorator makes


def test_the_front_matter_fits_the_requirements() -> None:
    front = yaml.safe_load(README.split("---")[1])
    requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert front["sdk_version"].rsplit(".", 1)[0] in requirements
    assert (ROOT / front["app_file"]).is_file()
    assert front["python_version"] == "3.12"
    assert len(front["short_description"]) <= 60


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_every_link_leads_to_a_file(target: str) -> None:
    assert (ROOT / target).is_file()


def test_every_module_of_the_engine_stands_in_the_layout() -> None:
    layout = README.split("## The house")[1]
    modules = {path.name for path in (ROOT / "components" / "engine").glob("*.py")}
    assert modules - {"__init__.py", "stopwatch.py"} <= set(re.findall(r"(\w+\.py)", layout))
