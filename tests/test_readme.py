"""What the README and the docs say is true: examples run, endpoints are those served, numbers measured."""

import json
import re
import subprocess
import tomllib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
import torch
from gradio_client import Client

from components.exhibits import panels
from components.exhibits.control import to_link
from components.exhibits.evidence import gains, select
from components.exhibits.exhibit import Panel
from components.exhibits.intervals import profiles
from components.exhibits.questions import Answers, read_questions
from components.inference.engine import Engine
from components.model.pooling import pooling
from components.results import of, read_results, table
from components.settings import Settings
from components.texts import ASSETS, load_texts
from components.types import Query
from components.ui.places import build_places
from components.ui.shell import build
from components.ui.tab import Surroundings
from tests.exhibits.asking import RESULTS as MADE_UP
from tests.exhibits.asking import shipped
from tests.exhibits.showing import checked
from tests.measured import measured
from tests.readme import GROWN, LOCAL, PAGES, TABLE, block, run_block, saying
from tests.serving import built
from tests.ui.fake import FakeAnalyst

RESULTS = read_results(ASSETS / "results.csv")
RECIPE = " ".join(PAGES["recipe.md"].split())


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
    ("name", "key"),
    [
        ("analyze", "architecture"), ("lens", "pooled"), ("trace", "patched"), ("importance", "erasure"),
        ("padding", "verdict"),
    ],
)  # fmt: skip
def test_the_example_in_one_request_runs(app_url: str, name: str, key: str) -> None:
    command = block("api.md", "bash", f"7860/{name}").replace(LOCAL, app_url)
    assert key in json.loads(subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout)


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


# What an owner writes


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
    page = built(lambda: build(shipped(), talk=file).page)
    assert "slide-1" in {block.elem_id for block in page.blocks.values()}
    head = (
        (ASSETS / "talks" / "en.md").read_text("utf-8").partition("What can be shown:")[2].partition(".")[0]
    )
    named = re.sub(r"\(.*?\)|\s", "", head).split(",")
    every = [one for one in vars(panels).values() if isinstance(one, Panel)]
    assert set(named) <= {
        exhibit.name for panel in every for exhibit in panel.exhibits if "talk" in exhibit.where
    }


# How to add something


def test_the_pooling_example_works() -> None:
    made = run_block("CONTRIBUTING.md", "def median", pooling=pooling).median
    assert made.spec.key == "median"
    hidden = torch.tensor([[[5.0, 1.0], [1.0, 2.0], [3.0, 9.0], [100.0, 100.0]]])
    mask = torch.tensor([[True, True, True, False]])
    states = SimpleNamespace(hidden=hidden, mask=mask)
    assert made(states).tolist() == [[3.0, 2.0]]


def test_the_exhibit_example_is_shown_with_its_control() -> None:
    home = run_block("CONTRIBUTING.md", "LENGTHS = Exhibit")
    say = saying(
        lengths__heading="How long?",
        lengths__words="{longest} is longest.",
        lengths__characters="characters",
        lengths__shares="as shares",
    )
    analysis = FakeAnalyst().ask("analyze", Query("first", "not good"))
    shown = home.LENGTHS.shown(analysis, {}, say)
    assert shown.data["characters"].tolist() == [len(text) for text in ("", "not", "good", "")]
    assert shown.words == "good is longest."
    assert list(checked(shown.figure).data[0].y) == shown.data["characters"].tolist()
    shares = home.LENGTHS.shown(analysis, {"length_shares": True}, say).data["characters"]
    assert shares.sum() == pytest.approx(1)
    assert to_link({"length_shares": True}, home.LENGTHS.controls) == "length_shares=1"

    def lay_out() -> Any:
        with gr.Blocks(analytics_enabled=False):
            panel = replace(panels.TOKENS, rows=((home.LENGTHS,),))
            return build_places(panel, say)

    places = built(lay_out)
    assert isinstance(places.controls[home.SHARES], gr.Checkbox)
    assert "How long?" in places.show(analysis, {})[places.places[0].above]


def test_the_tab_example_is_laid_out() -> None:
    home = run_block("CONTRIBUTING.md", "ABOUT = TabKind")

    def lay_out() -> gr.Blocks:
        with gr.Blocks(analytics_enabled=False) as page:
            banner = gr.HTML("")
            with gr.Tabs() as chosen, gr.Tab("About") as select:
                say = saying(about__text="Made by many.")
                around = Surroundings(FakeAnalyst(), table(), say, banner, select, chosen, {})
                assert home.ABOUT.build(around) is None
        return page

    page = built(lay_out)
    assert "Made by many." in [getattr(block, "value", None) for block in page.blocks.values()]


def test_the_question_example_is_answered(tmp_path: Path) -> None:
    file = tmp_path / "questions.toml"
    file.write_text(block("CONTRIBUTING.md", "toml", "[negation]"), encoding="utf-8")
    questions = read_questions(file)
    for tag, said in (("en", "It reads "), ("zh", "它读取")):
        assert said in Answers(shipped(), MADE_UP, questions, load_texts(tag)).answer("negation").card


# What was measured


def test_the_poolings_in_the_table_exist(engine: Engine) -> None:
    table = PAGES["measuring.md"].split("| Pooling |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(named) > 10
    assert set(named) <= {spec.key for spec in engine.poolings()}


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
def test_the_accuracies_are_those_of_the_results(task: str) -> None:
    (line,) = re.findall(rf"^\| {task}, .*$", PAGES["backbones.md"], re.MULTILINE)
    reached = [row for kind in ("head", "baseline") for row in measured(RESULTS, kind, task=task)]
    shown = [f"{100 * row.value:.1f}" for row in reached]
    assert re.findall(r"([\d.]+) %", line)[: len(shown)] == shown


def test_how_far_poolings_lie_apart_is_that_of_the_results() -> None:
    def spans(kind: str, training: str = "", **where: str) -> dict[str, float]:
        found = of(RESULTS, kind, **where).groupby("backbone")["value"].agg(np.ptp)
        return {key: span for key, span in found.items() if key.endswith(training)}

    topic, tuned = spans("probe", task="topic").values(), spans("probe", "-sentiment", task="sentiment")
    last = tuned.pop("gpt2-sentiment")
    bare, after = (spans("cosine", training).values() for training in ("-pretrained", "-sentiment"))
    assert f"lie {100 * min(topic):.1f} to {100 * max(topic):.1f} points apart" in RECIPE
    ends = [100 * end(tuned.values()) for end in (min, max)]
    assert f"four lie {ends[0]:.1f} to {ends[1]:.1f} points apart" in RECIPE
    assert f"GPT-2 {100 * last:.1f}:" in RECIPE
    assert f"spans {min(bare):.2f} to {max(bare):.2f} in the pre-trained backbones" in RECIPE
    assert f"and {min(after):.2f} to {max(after):.2f} in those fine-tuned for sentiment" in RECIPE


def test_how_many_lower_layers_are_better_is_that_of_the_results() -> None:
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2, int))  # those that are better, and all
    topics = 0
    for key, task in dict.fromkeys((row.backbone, row.task) for row in measured(RESULTS, "depth")):
        made_for = key.split("-")[1]
        found = profiles(select(RESULTS, task, (key,), {}), key)
        better = sum(gains(one)[0] for one in found)
        kind = made_for if made_for == "pretrained" else "own" if made_for == task else "other"
        counts[GROWN if key == GROWN else kind] += (better, sum(len(one) - 1 for one in found))
        topics += better if (kind, task) == ("pretrained", "topic") else 0
    own, other, bare, grown = (counts[kind] for kind in ("own", "other", "pretrained", GROWN))
    assert f"of its lower layers {grown[0]} of {grown[1]} are better than the last one" in RECIPE
    assert f"{own[0]} of {own[1]} are better than the last one on its own task" in RECIPE
    assert f"and {other[0]} of {other[1]} on the other three" in RECIPE
    assert f"in the pre-trained backbones {bare[0]} of {bare[1]} are, all of them on" in RECIPE
    assert topics == bare[0]


def test_what_whitening_does_is_that_of_the_results() -> None:
    every = measured(RESULTS, "postprocessed")

    def counted(step: str, grown: bool) -> tuple[int, int, int]:
        rows = [row for row in every if row.step == step and row.vector == row.pooling]
        rows = [row for row in rows if (row.backbone == GROWN) == grown]
        return sum(row.gain_low > 0 for row in rows), sum(row.gain_high < 0 for row in rows), len(rows)

    up, down, total = counted("whitened", grown=False)
    assert f"whitening raises rho for {up} of {total} vectors and lowers it for {down}" in RECIPE
    up, down, total = counted("whitened", grown=True)
    assert f"it raises {up} of {total} and lowers {down}" in RECIPE
    up, down, total = counted("centred", grown=False)
    assert f"raises rho for {up} of the miniatures' {total} vectors and lowers it for {down}" in RECIPE
    means = [
        row.gain for row in every if (row.step, row.pooling) == ("whitened", "mean") and row.backbone != GROWN
    ]
    assert f"that of `mean` rises by {min(means):.2f} to {max(means):.2f}" in RECIPE
