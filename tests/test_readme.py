"""The README and the pages of docs are true: their examples run, their tables agree with what is measured."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
import torch
from gradio_client import Client
from statsmodels.stats.proportion import proportions_ztest

from components.bundle.__main__ import arguments
from components.detect import BAR
from components.engine.engine import Engine
from components.engine.pooling import pooling
from components.exhibits import panels
from components.exhibits.control import to_link
from components.exhibits.evidence.evidence import select
from components.exhibits.evidence.explained import explained
from components.exhibits.evidence.profiles import profiles
from components.exhibits.exhibit import Panel
from components.exhibits.questions.answers import Answers
from components.exhibits.questions.question import read_questions
from components.results import Results, read_results
from components.settings import Settings
from components.texts import Texts, load_texts
from components.types import Query
from components.ui.places import build_places
from components.ui.shell import build
from components.ui.tab import Surroundings
from tests.exhibits.questions.asking import RESULTS, shipped
from tests.exhibits.showing import checked
from tests.serving import ROOT, built
from tests.ui.fake import FakeAnalyst

PAGES = {
    page.name: page.read_text(encoding="utf-8")
    for page in (*(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "README.md")
}
LOCAL = "http://127.0.0.1:7860"
TABLE = "text,label\n" + "\n".join(
    f"a {'good' if i % 2 else 'bad'} film of {i} hours,{i % 2}" for i in range(40)
)
SAY = load_texts()
GROWN = "all-minilm-l6-v2"  # the full-grown encoder


def block(page: str, language: str, containing: str) -> str:
    """The code block of a page in ``language`` that contains some words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)
    return next(text for text in blocks if containing in text)


def run_block(page: str, containing: str, **given: object) -> SimpleNamespace:
    """What a block of Python defines; its annotations stay texts, as in every module."""
    space: dict[str, Any] = dict(given)
    exec(compile(block(page, "py", containing), page, "exec", annotations.compiler_flag), space)
    return SimpleNamespace(**space)


def saying(**texts: str) -> Texts:
    """English with some more sentences, by their keys: ``a__b`` stands for a.b."""
    return replace(
        SAY, entries={**SAY.entries, **{key.replace("__", "."): one for key, one in texts.items()}}
    )


# The API


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


# Tables


def test_the_poolings_in_the_table_exist(engine: Engine) -> None:
    table = PAGES["measuring.md"].split("| Pooling |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    assert len(named) > 10
    assert set(named) <= {spec.key for spec in engine.poolings()}


@pytest.mark.parametrize("task", ["sentiment", "paraphrase"])
def test_the_accuracies_are_those_of_the_results(task: str) -> None:
    (line,) = re.findall(rf"^\| {task}, .*$", PAGES["backbones.md"], re.MULTILINE)
    results = read_results(ROOT / "assets" / "results.json")
    measured = [row for row in (*results.checkpoints, *results.baselines) if row.task == task]
    shown = [f"{100 * row.accuracy:.1f}" for row in measured]
    assert re.findall(r"([\d.]+) %", line)[: len(shown)] == shown


def test_no_accuracy_in_the_table_is_told_from_another() -> None:
    rows = read_results(ROOT / "assets" / "results.json").checkpoints
    for task in ("sentiment", "paraphrase"):
        right = [(round(row.accuracy * row.measured), row.measured) for row in rows if row.task == task]
        ps = [proportions_ztest(*zip(*pair, strict=True))[1] for pair in combinations(right, 2)]
        assert len(ps) == 10
        assert min(ps) * 10 > 0.05  # the first step of Holm's correction
    assert "of the ten differences between two of the five, none counts" in PAGES["backbones.md"]


def test_how_far_poolings_lie_apart_is_that_of_the_results() -> None:
    results = read_results(ROOT / "assets" / "results.json")

    def spans(rows: Iterable[Any], value: str, scale: float) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for row in rows:
            found.setdefault(row.backbone, []).append(scale * getattr(row, value))
        return {key: max(values) - min(values) for key, values in found.items()}

    topic = spans((row for row in results.probes if row.task == "topic"), "accuracy", 100).values()
    every = spans((row for row in results.probes if row.task == "sentiment"), "accuracy", 100)
    tuned = {key: span for key, span in every.items() if key.endswith("-sentiment")}
    last = tuned.pop("gpt2-sentiment")
    rho = spans(results.cosines, "rho", 1)
    bare = [span for key, span in rho.items() if key.endswith("-pretrained")]
    after = [span for key, span in rho.items() if key.endswith("-sentiment")]
    said = " ".join(PAGES["recipe.md"].split())
    assert f"lie {min(topic):.1f} to {max(topic):.1f} points apart" in said
    assert f"four lie {min(tuned.values()):.1f} to {max(tuned.values()):.1f} points apart" in said
    assert f"GPT-2 {last:.1f}:" in said
    assert f"spans {min(bare):.2f} to {max(bare):.2f} in the pre-trained backbones" in said
    assert f"and {min(after):.2f} to {max(after):.2f} in those fine-tuned for sentiment" in said


def test_how_many_lower_layers_are_better_is_that_of_the_results() -> None:
    results = read_results(ROOT / "assets" / "results.json")
    counts: dict[str, list[int]] = {"own": [0, 0], "other": [0, 0], "pretrained": [0, 0], GROWN: [0, 0]}
    topics = 0
    for key, task in dict.fromkeys((row.backbone, row.task) for row in results.depths):
        made_for = key.split("-")[1]
        found = profiles(select(results, task, (key,), {}), key)
        better = sum(one.counts[0] for one in found)
        kind = made_for if made_for == "pretrained" else "own" if made_for == task else "other"
        kind = GROWN if key == GROWN else kind
        counts[kind] = [counts[kind][0] + better, counts[kind][1] + sum(len(one.lower) for one in found)]
        topics += better if (kind, task) == ("pretrained", "topic") else 0
    said = " ".join(PAGES["recipe.md"].split())
    own, other, bare, grown = counts.values()
    assert f"of its lower layers {grown[0]} of {grown[1]} are better than the last one" in said
    assert f"{own[0]} of {own[1]} are better than the last one on its own task" in said
    assert f"and {other[0]} of {other[1]} on the other three" in said
    assert f"in the pre-trained backbones {bare[0]} of {bare[1]} are, all of them on" in said
    assert topics == bare[0]


def test_what_the_full_grown_encoder_reaches_is_that_of_the_results() -> None:
    results = read_results(ROOT / "assets" / "results.json")
    said = " ".join(PAGES["recipe.md"].split())
    (size,) = (row for row in results.sizes if row.backbone == GROWN)
    assert f"of {size.layers} layers, {size.width} wide and with {size.parameters / 1e6:.1f} million" in said
    assert (
        f"{size.layers} layers, {size.width} wide, {size.parameters / 1e6:.1f} million"
        in PAGES["backbones.md"]
    )
    spans = {}
    for task in ("sentiment", "subjectivity", "topic", "paraphrase"):
        found = [row.accuracy for row in results.probes if (row.backbone, row.task) == (GROWN, task)]
        spans[task] = f"{100 * (max(found) - min(found)):.1f}"
    one, two, three, four = spans.values()
    assert (
        f"lie {one} points apart on *sentiment*, {two} on *subjectivity*, {three} on *topic of news*" in said
    )
    assert f"and {four} on *paraphrase*" in said
    rhos = [row.rho for row in results.cosines if row.backbone == GROWN]
    assert f"spans {max(rhos) - min(rhos):.2f}, from {min(rhos):.2f} to {max(rhos):.2f}" in said


def test_what_whitening_does_is_that_of_the_results() -> None:
    every = read_results(ROOT / "assets" / "results.json").postprocessed
    said = " ".join(PAGES["recipe.md"].split())

    def counted(step: str, grown: bool) -> tuple[int, int, int]:
        rows = [row for row in every if row.step == step and row.vector == row.pooling]
        rows = [row for row in rows if (row.backbone == GROWN) == grown]
        return sum(row.gain_low > 0 for row in rows), sum(row.gain_high < 0 for row in rows), len(rows)

    up, down, total = counted("whitened", grown=False)
    assert f"whitening raises rho for {up} of {total} vectors and lowers it for {down}" in said
    up, down, total = counted("whitened", grown=True)
    assert f"it raises {up} of {total} and lowers {down}" in said
    up, down, total = counted("centred", grown=False)
    assert f"raises rho for {up} of the miniatures' {total} vectors and lowers it for {down}" in said
    means = [r.gain for r in every if (r.step, r.pooling) == ("whitened", "mean") and r.backbone != GROWN]
    assert f"that of `mean` rises by {min(means):.2f} to {max(means):.2f}" in said


def test_how_many_models_of_the_hub_there_are() -> None:
    catalogue = tomllib.loads((ROOT / "assets" / "backbones.toml").read_text(encoding="utf-8"))
    assert sum("hub" in entry for entry in catalogue.values()) == 25
    assert "Twenty-five are listed" in PAGES["backbones.md"]
    assert "Twenty-five **models of the hub**" in PAGES["README.md"]


def test_how_close_answers_come_to_erasure_is_that_of_the_results() -> None:
    found = explained(read_results(ROOT / "assets" / "results.json").agreements)
    last = [one.similarity.rho for one in found]
    whole = [row.rho for one in found for row in one.rows if row.method == "integrated_gradients"]
    closest = [max(one.others, key=lambda row: row.rho) for one in found]
    said = " ".join(PAGES["recipe.md"].split())
    span = f"{min(last):.2f} to {max(last):.2f} on average".replace("-", "−")
    assert f"Similarity at the last layer reaches {span}" in said
    assert f"integrated gradients {min(whole):.2f} to {max(whole):.2f}" in said
    assert {row.method for row in closest} == {"integrated_gradients"}
    assert all(one.closer for one in found)


# What an owner writes


def test_the_catalogue_example_is_read(tmp_path: Path) -> None:
    text = block("backbones.md", "toml", "[my-classifier]")
    assert set(tomllib.loads(text)) == {"my-classifier"}
    file = tmp_path / "backbones.toml"
    file.write_text(text, encoding="utf-8")
    assert [spec.key for spec in Engine(Settings(catalogue=file)).backbones()] == ["my-classifier"]


def test_the_talk_example_is_a_step_of_a_talk(tmp_path: Path) -> None:
    text = block("talks.md", "toml", "[[step]]")
    file = tmp_path / "talk.toml"
    file.write_text(text, encoding="utf-8")
    page = built(lambda: build(shipped(), talk=file).page)
    assert "slide-1" in {block.elem_id for block in page.blocks.values()}
    named = re.findall(r"show = .*: ([\w, ]+) \.\.\.", text)[0].split(", ")
    every = [one for one in vars(panels).values() if isinstance(one, Panel)]
    assert set(named) <= {exhibit.name for panel in every for exhibit in panel.exhibits}


def test_the_recipe_s_command_is_understood() -> None:
    lines = [shlex.split(line, comments=True) for line in block("recipe.md", "bash", "--data").splitlines()]
    (given,) = [line[3:] for line in lines if line[1:3] == ["-m", "components.bundle"] and "--data" in line]
    assert arguments(()).parse_args(given).jobs == 2


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
    analysis = FakeAnalyst().analyze(Query("first", "not good"))
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
                around = Surroundings(FakeAnalyst(), Results(), say, banner, select, chosen, {})
                assert home.ABOUT.build(around) is None
        return page

    page = built(lay_out)
    assert "Made by many." in [getattr(block, "value", None) for block in page.blocks.values()]


def test_the_question_example_is_answered(tmp_path: Path) -> None:
    file = tmp_path / "questions.toml"
    file.write_text(block("CONTRIBUTING.md", "toml", "[negation]"), encoding="utf-8")
    questions = read_questions(file)
    for tag, said in (("en", "It reads "), ("zh", "它读取")):
        assert said in Answers(shipped(), RESULTS, questions, load_texts(tag)).answer("negation").card
