import gradio as gr

from components.texts import ENGLISH, languages
from components.ui.gradio_internals import block_functions
from tests.ui.page import functions_of


def test_model_events_share_one_queue_and_only_the_api_is_public(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    public = {fn.api_name for fn in functions if fn.api_visibility == "public"}
    assert public == {
        "backbones",
        "find",
        "fetch",
        "poolings",
        "analyze",
        "anatomy",
        "lens",
        "trace",
        "importance",
        "padding",
        "detect",
        "passport",
        "compare",
        "fit",
    }
    names = ("ask", "arrive", "try_example", "analyze", "anatomy", "lens", "trace", "padding", "detect")
    asking = [fn for fn in functions if fn.name in names]
    assert len(asking) == len(names)
    assert {fn.concurrency_id for fn in asking} == {"model"}


def test_what_asks_the_hub_keeps_no_question_waiting(whole: gr.Blocks) -> None:
    functions = functions_of(whole)
    queues = {fn.name: fn.concurrency_id for fn in functions}
    assert queues["bring"] == queues["fetch"] == "download"
    assert queues["look_up"] == queues["find"] == "find"
    (bring,) = (fn for fn in functions if fn.name == "bring")
    (stream,) = (fn for fn in functions if fn.name == "stream")
    (importance,) = (fn for fn in functions if fn.name == "ask_importance")
    (trace,) = (fn for fn in functions if fn.name == "trace_versions")
    (fit,) = (fn for fn in functions if fn.name == "fit_table")
    cancelled = [fn.cancels for fn in functions if fn.cancels]
    assert cancelled == [[importance._id], [bring._id], [stream._id], [trace._id], [fit._id]]
    assert queues["fit_table"] == queues["fit"] == "fit"
    assert importance.concurrency_id == trace.concurrency_id == "model"


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
        names.append(
            [
                block_functions(whole)[event["id"]].name
                for event in events
                if event["api_visibility"] != "public"
            ]
        )
    assert all(one == names[0] for one in names)
