"""The whole page: which events are public, who waits for whom, and a page for each language."""

import gradio as gr

from components.analyses.registry import analyses
from components.fitting import Plan, Stage
from components.texts import ENGLISH, languages
from components.ui.gradio_internals import block_functions
from components.ui.lab import progress
from components.ui.public.guard import COSTS
from tests.ui.page import SAY, functions_of


def test_model_events_share_one_queue_and_only_the_api_is_public(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    others = {"backbones", "find", "fetch", "poolings", "compare", "fit"}
    public = {fn.api_name for fn in functions if fn.api_visibility == "public"}
    assert public == {*others, *analyses()}
    names = {"ask", "ask_another", "arrive", "try_example", "ask_importance", "trace_versions", *analyses()}
    asking = [fn for fn in functions if fn.name in names]
    assert len(asking) == len(names)
    assert {fn.concurrency_id for fn in asking} == {"model"}
    assert {*COSTS} - {fn.name for fn in functions} == {"tracing"}  # which is asked in a frame


def test_what_asks_the_hub_keeps_no_question_waiting(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    queues = {fn.name: fn.concurrency_id for fn in functions}
    assert queues["bring"] == queues["fetch"] == "download"
    assert queues["look_up"] == queues["find"] == "find"
    assert queues["fit_table"] == queues["fit"] == "fit"
    names = {fn._id: fn.name for fn in functions}
    cancelled = [[names[one] for one in fn.cancels] for fn in functions if fn.cancels]
    streams = ["ask_card", "ask_card"], ["ask_importance"], ["bring"], ["fit_table"], ["stream"]
    assert sorted(cancelled) == [*streams, ["trace_versions"]]


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


def test_the_lab_says_how_far_it_is() -> None:
    plan, titles = Plan(("zero", "first")), {"first": "First <b>"}
    line = progress(Stage(2, 8, "embed", "first"), plan, titles, SAY)
    assert line == "First <b> (2 of 2): 2 of 8 texts are read…"
