"""What the README and the docs say is true: examples run, endpoints are those served, numbers measured."""

import json
import re
import subprocess
import tomllib
from collections import defaultdict
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from gradio_client import Client

from components.analyses.registry import analyses
from components.exhibits import panels
from components.exhibits.averaging import averages, averages_facts
from components.exhibits.evidence import Evidence, against_base, sign, vectors
from components.exhibits.exhibit import Panel
from components.exhibits.intervals import profiles
from components.inference.engine import Engine
from components.model.pooling import pooling
from components.results import of, read_results
from components.settings import Settings
from components.texts import ASSETS
from components.ui.shell import build
from tests.exhibits.asking import shipped
from tests.measured import measured, split
from tests.readme import GROWN, LOCAL, PAGES, TABLE, block, run_block
from tests.serving import built

RESULTS = read_results(ASSETS / "results.csv")
OF = {str(key): rows for key, rows in RESULTS.groupby("backbone")}  # few rows are found faster
RECIPE, BACKBONES = (" ".join(PAGES[f"{name}.md"].split()) for name in ("recipe", "backbones"))

CASES = tomllib.loads(Path(__file__).with_name("readme.toml").read_text("utf-8"))


@pytest.mark.parametrize(("containing", "prints"), CASES["printed"].items())
def test_an_example_in_python_runs(
    app_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], containing: str, prints: str
) -> None:
    """Here, where torch and gradio's client are loaded already."""
    page = CASES["page"].get(containing, "api.md")
    code = block(page, "python", containing).replace(LOCAL, app_url)
    code = code.replace("poolscope.html", str(tmp_path / "poolscope.html"))
    exec(compile(code, "api.md", "exec"), {})
    printed = capsys.readouterr().out
    assert re.search(prints, printed, re.DOTALL), printed
    for page in tmp_path.glob("*.html"):
        assert "<!doctype html>" in page.read_text(encoding="utf-8")


def ran(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("name", "key"), CASES["keys"].items())
def test_the_example_in_one_request_runs(app_url: str, name: str, key: str) -> None:
    command = block("api.md", "bash", f"7860/{name}").replace(LOCAL, app_url)
    assert key in json.loads(ran("bash", "-c", command))


def endpoints() -> dict[str, tuple[str, set[str]]]:
    """The arguments of each endpoint as docs/api.md has them, and what is named in its section, or shared."""
    pattern = r"^### `(/\w+)\(([^\n]*)\)`\n(.*?)(?=^###|\Z)"
    sections = re.findall(pattern, PAGES["api.md"], re.DOTALL | re.MULTILINE)
    shared = PAGES["api.md"].partition("## Shared keys")[2].partition("##")[0]
    return {name: (asks, set(re.findall(r"`(\w+)`", shared + text))) for name, asks, text in sections}


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
        if name not in OWN_WORDS
    }


# Analyses without a section, which say themselves what they give.
OWN_WORDS = {f"/{name}": kind for name, kind in analyses().items() if f"/{name}" not in endpoints()}


def test_every_key_of_an_answer_stands_in_its_section_or_in_its_own_words(app_url: str) -> None:
    client = Client(app_url, verbose=False)
    named = {name: keys for name, (_arguments, keys) in endpoints().items()}
    for name, kind in OWN_WORDS.items():
        named[name] = named["/analyze"] | set(re.findall(r"`(\w+)`", kind.function.__doc__ or ""))
    poolings = {spec["key"] for spec in client.predict(api_name="/poolings")}
    own = {name[1:]: ["bert-sentiment", "not good"] for name in OWN_WORDS}
    for name, given in {**own, **CASES["asked"]}.items():
        asked = [TABLE if one == "TABLE" else [1.0] * 128 if one == "VECTOR" else one for one in given]
        assert keys_of(client.predict(*asked, api_name=f"/{name}")) - poolings <= named[f"/{name}"], name


def keys_of(answer: Any) -> set[str]:
    """All keys of an answer and of what is in it, but the stages that took ``milliseconds``."""
    if isinstance(answer, list):
        return set().union(*map(keys_of, answer))
    if not isinstance(answer, dict):
        return set()
    return set(answer).union(*(keys_of(value) for key, value in answer.items() if key != "milliseconds"))


# What an owner writes, and reads


def test_the_prices_in_the_table_are_those_that_are_asked() -> None:
    for one in (analyses()["importance"].cost, analyses()["timing"].cost):
        told = f"{one.least:g}, and 1 for every {one.characters:g} characters of more than "
        assert f"{told}{one.least * one.characters:g}" in PAGES["hosting.md"]


def test_the_catalogue_example_is_read(tmp_path: Path) -> None:
    text = block("backbones.md", "toml", "[my-classifier]")
    assert set(tomllib.loads(text)) == {"my-classifier"}
    file = tmp_path / "backbones.toml"
    file.write_text(text, encoding="utf-8")
    assert [spec.key for spec in Engine(Settings(catalogue=file)).backbones()] == ["my-classifier"]


def test_the_talk_example_is_a_step_of_a_talk(tmp_path: Path) -> None:
    text = block("talks.md", "markdown", "[similarity]")
    file = tmp_path / "talk.md"
    file.write_text(text, encoding="utf-8")
    page = built(lambda: build(shipped(), Settings(talk=file)).page)
    assert "slides" in {block.elem_id for block in page.blocks.values()}
    talk = (ASSETS / "talks" / "en.md").read_text("utf-8")
    head = talk.partition("What can be shown:")[2].partition(".")[0]
    named = re.sub(r"\(.*?\)|\s", "", head).split(",")
    every = chain.from_iterable(one.exhibits for one in vars(panels).values() if isinstance(one, Panel))
    assert set(named) <= {exhibit.name for exhibit in every if "talk" in exhibit.where}


# How to add something


def test_the_pooling_example_works() -> None:
    made = run_block("CONTRIBUTING.md", "def median", pooling=pooling).median
    assert made.spec.key == "median"
    hidden = torch.tensor([[[5.0, 1.0], [1.0, 2.0], [3.0, 9.0], [100.0, 100.0]]])
    mask = torch.tensor([[True, True, True, False]])
    states = SimpleNamespace(hidden=hidden, mask=mask)
    assert made(states).tolist() == [[3.0, 2.0]]


# What was measured


def test_the_poolings_in_the_table_exist(engine: Engine) -> None:
    table = PAGES["measuring.md"].split("| Pooling |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(named) > 10
    assert set(named) <= {spec.key for spec in engine.poolings()}


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
def test_the_accuracies_are_those_of_the_results(task: str) -> None:
    (line,) = re.findall(rf"^\| {task}, .*$", PAGES["backbones.md"], re.MULTILINE)
    baselines = measured(RESULTS, "baseline", task=task)
    few, many = np.array_split(baselines, 2)  # of as many rows as probes, of all
    assert f"{100 * few[-1].value:.1f} % if it is fitted to 2,000 rows" in BACKBONES
    shown = [f"{100 * row.value:.1f}" for row in (*measured(RESULTS, "head", task=task), *many)]
    assert re.findall(r"([\d.]+) %", line)[: len(shown)] == shown


def held(kind: str, training: str, task: str = "sentiment") -> tuple[int, int, int]:
    """How many vectors are above cls, below it, and all, of the backbones whose keys end so."""
    counts = np.zeros(3, int)
    for key in of(RESULTS, "size")["backbone"]:
        if key.endswith(training) and (training == GROWN or key != GROWN):
            chosen = Evidence(OF[key], task, (key,), {})
            rows = vectors(chosen.rhos(key) if kind == "cosine" else chosen.of(kind))
            better, worse, _, total = split(against_base(rows))
            counts += (better, worse, total)
    return tuple(counts.tolist())


def test_which_vectors_differ_from_cls_is_that_of_the_results() -> None:
    facts = averages_facts(averages(Evidence(RESULTS, "sentiment", (), {})))
    told = """Where a backbone was fine-tuned for the task ({tuned_cells} cases), `mean` less `cls` is
    {tuned_low} to {tuned_high} points of accuracy. No difference counts. In the other {others_cells} it is
    higher in {others_higher}, by {others_median} points at the median and {others_high} at most. The
    difference counts in {others_better} (in {left} if p is corrected for all {cells} cases"""
    assert " ".join(told.split()).format(**facts) in RECIPE
    better, worse, total = held("probe", "", "topic")
    told = f"{better} of the miniatures' {total} other vectors are better than `cls` and {worse} are worse"
    assert told in RECIPE
    better, worse, total = held("probe", "-sentiment")
    assert f"{better} of {total} are better and {worse} are worse" in RECIPE
    higher, lower, total = held("cosine", "-pretrained")
    assert f"higher than that of `cls` for {higher} of {total} other vectors of the pre-trained" in RECIPE
    after = held("cosine", "-sentiment")
    told = f"it is {after[0]} and {after[1]} of {after[2]}."
    assert f"lower for {lower}. In those fine-tuned for sentiment {told}" in RECIPE
    for task in ("sentiment", "subjectivity", "topic", "paraphrase"):
        better, worse, total = held("probe", GROWN, task)
        name = "topic of news" if task == "topic" else task
        found = re.search(rf"{better} and {worse} of {total}( other vectors)? on \*{name}\*", RECIPE)
        assert found, task
    higher, lower, total = held("cosine", GROWN)
    assert f"`cls` for {higher} and lower for {lower} of {total} other vectors." in RECIPE
    topic = of(RESULTS, "probe", task="topic")
    shown = (100 * topic[topic["backbone"] != GROWN].set_index("backbone")["value"]).round(1)
    apart = shown.groupby("backbone").agg(np.ptp)
    assert f"one backbone lie {apart.min():.1f} to {apart.max():.1f} points apart" in RECIPE


def test_how_many_lower_layers_are_better_is_that_of_the_results() -> None:
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2, int))  # those that are better, and all
    topics = 0
    for key, task in dict.fromkeys((row.backbone, row.task) for row in measured(RESULTS, "depth")):
        made_for = key.split("-")[1]
        found = profiles(Evidence(OF[key], task, (key,), {}), key)
        better = sum(sign(row) == "better" for one in found for row in one)
        kind = made_for if made_for == "pretrained" else "own" if made_for == task else "other"
        counts[GROWN if key == GROWN else kind] += (better, sum(len(one) - 1 for one in found))
        topics += better if (kind, task) == ("pretrained", "topic") else 0
    own, other, bare, grown = (counts[kind] for kind in ("own", "other", "pretrained", GROWN))
    assert f"Of its lower layers {grown[0]} of {grown[1]} are better than the last one" in RECIPE
    assert f"{own[0]} of {own[1]} lower layers are better than the last one on its own task" in RECIPE
    assert f"and {other[0]} of {other[1]} on the other three" in RECIPE
    assert f"In the pre-trained backbones {bare[0]} of {bare[1]} are, all of them on" in RECIPE
    assert topics == bare[0]
