"""The whole page: which events are public, who waits for whom, and a page for each language."""

from types import SimpleNamespace

import gradio as gr
import pytest

from components.analyses.registry import analyses
from components.fitting import Plan, Reached, Stage
from components.texts import ENGLISH, Sentence, languages
from components.ui.gradio_internals import block_functions
from components.ui.lab import progress
from tests.ui.page import SAY, functions_of


def test_model_events_share_one_queue_and_only_the_api_is_public(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    others = {"backbones", "find", "fetch", "poolings", "compare", "fit"}
    public = {fn.api_name for fn in functions if fn.api_visibility == "public"}
    assert public == {*others, *analyses()}
    names = {"ask", "arrive", "try_example", "ask_importance", "trace_versions", *analyses()}
    asking = [fn for fn in functions if fn.name in names]
    assert len(asking) == len(names)
    assert {fn.concurrency_id for fn in asking} == {"model"}


def test_what_asks_the_hub_keeps_no_question_waiting(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    queues = {fn.name: fn.concurrency_id for fn in functions}
    assert queues["bring"] == queues["fetch"] == "download"
    assert queues["look_up"] == queues["find"] == "find"
    assert queues["fit_table"] == queues["fit"] == "fit"
    names = {fn._id: fn.name for fn in functions}
    cancelled = [[names[one] for one in fn.cancels] for fn in functions if fn.cancels]
    streams = ["ask_importance", "bring", "fit_table", "stream", "trace_versions"]
    assert sorted(cancelled) == [[one] for one in streams]


def test_every_language_has_a_page_of_its_own(whole: gr.Blocks) -> None:
    """No event of one page needs a component of another, and each page has the events of every other."""
    config = whole.get_config_file()
    assert list(config["page"]) == ["", *(tag for tag in languages() if tag != ENGLISH)]
    names = []
    for part in config["page"].values():
        here = {*part["components"], whole._id}
        events = [event for event in config["dependencies"] if event["id"] in part["dependencies"]]
        for event in events:
            targets = [component for component, _ in event["targets"]]
            assert {*event["inputs"], *event["outputs"], *filter(None, targets)} <= here
        private = [event["id"] for event in events if event["api_visibility"] != "public"]
        names.append([block_functions(whole)[one].name for one in private])
    assert all(one == names[0] for one in names)


def test_the_lab_says_what_is_left_of_each_stage_and_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((100.0, 104.0, 110.0, 111.0, 113.0))
    monkeypatch.setattr("components.ui.lab.time", SimpleNamespace(monotonic=lambda: next(clock)))
    cut = Sentence("lab.cut", backbone="First", count=1, total=8, limit=3)
    embedded = [Stage(done, 8, "embed", "first", notes=(cut,)) for done in (2, 8)]
    fitted = [Stage(1, 3, "fit", "first", Reached("first", "mean", 2, 0.9)), Stage(3, 3, "fit", "first")]
    told = progress(iter([*embedded, *fitted]), Plan(("zero", "first")), {"first": "First <b>"}, SAY)
    (_, line, _), _, (_, fit, known), (_, last, _) = told
    assert line.startswith("First <b> (2 of 2):")
    assert line.endswith("About 12 s are left of this step.")
    assert fit.endswith("About 2 s are left of this step.")
    assert known.count("1 of 8 rows") == 1
    assert "First &lt;b&gt; · mean: 90 %" in known
    assert "left" not in last
