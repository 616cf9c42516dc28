"""The whole page: which events are public, who waits for whom, and a page for each language."""

import gradio as gr

from components.analyses.registry import analyses
from components.texts import ENGLISH, languages
from components.ui.gradio_internals import block_functions
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst
from tests.ui.page import functions_of


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
    assert cancelled == [["ask_importance"], ["bring"], ["stream"], ["trace_versions"], ["fit_table"]]


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


def test_without_a_room_nothing_of_it_is_there(whole: gr.Blocks) -> None:
    assert "talk-room" not in str(whole.get_config_file())
    page = built(lambda: build(FakeAnalyst(), room=True).page)
    assert "talk-room" in str(page.get_config_file())
