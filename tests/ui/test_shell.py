from components.ui.shell import build, launch_options
from tests.serving import built
from tests.ui.fake import FakeAnalyst


def test_the_page_can_be_built_on_any_analyst() -> None:
    assert built(lambda: build(FakeAnalyst())).title == "Poolscope"


def test_model_events_share_one_queue_and_only_the_api_is_public() -> None:
    functions = built(lambda: build(FakeAnalyst())).fns.values()
    public = {fn.api_name for fn in functions if fn.api_visibility == "public"}
    assert public == {"backbones", "poolings", "analyze", "anatomy"}
    asking = [fn for fn in functions if fn.name in ("ask", "try_example", "analyze", "anatomy")]
    assert len(asking) == 4
    assert {fn.concurrency_id for fn in asking} == {"model"}


def test_fonts_come_from_the_visitors_own_system() -> None:
    theme = launch_options()["theme"]
    assert "http" not in f"{theme._stylesheets}{theme._font_css}"
