from components.ui.serving import launch_options
from components.ui.shell import build
from tests.serving import built
from tests.ui.fake import FakeAnalyst


def test_the_page_can_be_built_on_any_analyst() -> None:
    assert built(lambda: build(FakeAnalyst())).title == "Poolscope"


def test_model_events_share_one_queue_and_only_the_api_is_public() -> None:
    functions = built(lambda: build(FakeAnalyst())).fns.values()
    public = {fn.api_name for fn in functions if fn.api_visibility == "public"}
    assert public == {"backbones", "find", "fetch", "poolings", "analyze", "anatomy", "compare"}
    names = ("ask", "arrive", "try_example", "analyze", "anatomy")
    asking = [fn for fn in functions if fn.name in names]
    assert len(asking) == len(names)
    assert {fn.concurrency_id for fn in asking} == {"model"}


def test_what_asks_the_hub_keeps_no_question_waiting() -> None:
    functions = built(lambda: build(FakeAnalyst())).fns.values()
    queues = {fn.name: fn.concurrency_id for fn in functions}
    assert queues["bring"] == queues["fetch"] == "download"
    assert queues["look_up"] == queues["find"] == "find"
    (bring,) = (fn for fn in functions if fn.name == "bring")
    (stream,) = (fn for fn in functions if fn.name == "stream")
    assert [fn.cancels for fn in functions if fn.cancels] == [[bring._id], [stream._id]]


def test_fonts_come_from_the_visitors_own_system() -> None:
    theme = launch_options()["theme"]
    assert "http" not in f"{theme._stylesheets}{theme._font_css}"
