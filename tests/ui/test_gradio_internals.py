"""What this app needs of gradio and gradio does not promise: each test says what no longer holds."""

import inspect
import re
import tomllib
from pathlib import Path
from unittest.mock import patch

import gradio as gr
import orjson
import pytest
from gradio.data_classes import CancelBody, PredictBody, PredictBodyInternal, ResetBody, SimplePredictBody
from gradio.routes import App
from gradio.server_messages import CloseStreamMessage, ProcessCompletedMessage
from starlette.requests import Request
from starlette.routing import Match

from components.ui import gradio_internals as internals
from components.ui.serving import page_options, script
from tests.serving import ROOT, built
from tests.ui.page import small_page

pytestmark = pytest.mark.anyio
FRONTEND = Path(gr.__file__).parent / "templates" / "frontend"


@pytest.fixture(scope="module")
def server() -> App:
    """Gradio's own server of a small page."""
    return built(lambda: App.create_app(small_page()))


def test_the_queue_begins_as_much_at_once_as_it_is_told() -> None:
    page = built(small_page)
    assert {"max_threads", "state_session_capacity"} <= vars(page).keys(), "gradio keeps them elsewhere"
    internals.widen(page, 300, 20)
    app = built(lambda: App.create_app(page.queue(default_concurrency_limit=None)))
    assert (page._queue.max_thread_count, app.state_holder.capacity) == (300, 20)


async def test_no_copy_of_the_page_is_made_for_a_session_and_states_are_kept() -> None:
    with gr.Blocks(analytics_enabled=False) as page:
        state, text = gr.State([1]), gr.Textbox()
        text.change(lambda one: (gr.update(label="new"), one), text, [text, state])
    sessions = App.create_app(page).state_holder
    told = "gradio makes no copy any more: that of spare is no longer needed"
    assert len(sessions["plain"].config_values) > 1, told
    internals.spare(page)
    session, other = sessions["one"], sessions["other"]
    (function,) = internals.block_functions(page).values()
    await page.process_api(function, ["a"], state=session)
    assert not other.config_values, "gradio copies what each component is for every visitor, in 60 ms"
    assert (session[state._id], other[state._id]) == ("a", [1])
    with patch.object(session.blocks_config, "config_for_block", return_value={}) as looked_up:
        for calls in (4, 6):
            await page.process_api(function, ["a"], state=session)
            assert looked_up.call_count == calls, "gradio looks components up otherwise"
            internals.forget(page, "one")


def test_no_table_of_all_events_is_made_after_each() -> None:
    page = built(small_page)
    built(lambda: App.create_app(page.queue()))
    records = [{"function": "upper", "status": "success", "process_time": 1.0}]
    with patch.object(page._queue, "_get_df") as made:
        for needed in (True, False):
            page._queue.events_recorded += 1
            page._queue.compute_analytics_summary(records)
            assert made.called is needed, "gradio makes it at other times"
            made.reset_mock()
            internals.spare(page)


async def test_what_is_unread_of_a_session_is_forgotten_and_what_is_under_way_is_not() -> None:
    page = small_page().queue()
    queue = page._queue
    body = PredictBodyInternal(data=["a"], fn_index=0, session_hash="ann")
    await queue.push(body, Request({"type": "http", "headers": []}), None)
    for alive in (True, False):
        for event in queue.event_ids_to_events.values():
            event.alive = alive  # False when a browser has gone
        internals.forget(page, "ann")
        assert ("ann" in queue.pending_messages_per_session) is alive
        assert ("ann" in queue.pending_event_ids_session) is alive


def test_gradio_ends_streams_in_these_words() -> None:
    said = orjson.dumps(CloseStreamMessage().model_dump(), default=str)
    assert internals.CLOSE in said
    ended = ProcessCompletedMessage(output={"data": ["x"]}, success=True, event_id="0f3")
    assert [*internals.completed(b"data: " + orjson.dumps(ended.model_dump(), default=str))] == ["0f3"]
    assert "CloseStreamMessage()" in inspect.getsource(App.create_app), "streams end in another way"
    assert '"event_id": event_id' in inspect.getsource(App.create_app), "events are named in another way"


PATHS = tomllib.loads(Path(__file__).with_name("gradio_paths.toml").read_text("utf-8"))


@pytest.mark.parametrize(("method", "path"), [(method, path) for method in PATHS for path in PATHS[method]])
def test_gradio_has_every_route_that_is_let_through(server: App, method: str, path: str) -> None:
    scope = {"type": "http", "method": method, "path": path, "headers": []}
    assert path == "/" or internals.ROUTES[method].fullmatch(path)
    served = [route for route in server.routes if route.matches(scope)[0] == Match.FULL]
    assert served, f"gradio no longer serves {method} {path}"


def test_gradio_reads_the_fields_that_a_checked_body_holds() -> None:
    session = {"data", "session_hash"}
    for body, fields in (
        (PredictBody, {*session, "fn_index", "event_data", "trigger_id"}),
        (SimplePredictBody, session),
        (CancelBody, {"event_id", "fn_index", "session_hash"}),
        (ResetBody, {"event_id"}),
    ):
        missing = fields - body.model_fields.keys()
        assert not missing, f"gradio's {body.__name__} no longer has {missing}"
        needed = {name for name, field in body.model_fields.items() if field.is_required()} - fields
        assert not needed, f"gradio's {body.__name__} needs {needed}, which no checked body holds"


def test_a_piece_of_html_fires_the_events_that_scripts_trigger() -> None:
    scripts = [path.read_text("utf-8") for path in (ROOT / "components").rglob("*.js")]
    triggered = {name for script in scripts for name in re.findall(r"trigger\(\"(\w+)\"", script)}
    assert triggered == {"input", "apply", "expand", "select"}
    missing = triggered - {str(event) for event in gr.HTML.EVENTS}
    assert not missing, f"gr.HTML no longer has the events {missing}"
    taken = inspect.signature(gr.HTML).parameters
    assert "js_on_load" in taken, "gr.HTML no longer takes js_on_load: no script of the page runs"


def test_pieces_of_the_page_only_name_scripts_which_languages_share(whole: gr.Blocks) -> None:
    runs = {getattr(part, "js_on_load", None) for part in whole.blocks.values()} - {None}
    named = {name for run in runs for name in re.findall(r"scripted\.(\w+)\(", run)}
    assert named >= {"address", "asking", "lab", "slides", "speaker", "talk", "watched"}
    assert not [run for run in runs if len(run) > 120]
    path, text = script()
    assert re.fullmatch(r"/assets/poolscope-\w{8}\.js", path)
    assert named <= set(re.findall(r"(\w+)\(element, trigger, watch, props\) \{\n", text))


def test_what_is_loaded_ahead_is_what_gradio_imports_for_a_plot() -> None:
    plotly = internals.PLOTLY
    scripts = [file.read_text("utf-8") for file in (FRONTEND / "assets").glob("*.js") if file.name != plotly]
    assert any(f"import(`./{plotly}`)" in one or f'import("./{plotly}")' in one for one in scripts), (
        "gradio imports its Plotly under another name: the page loads it twice, or late"
    )
    head = page_options()["head"]
    assert f'<link rel="modulepreload" href="./assets/{plotly}">' in head


def test_the_page_has_the_base_that_is_removed_from_it_and_the_place_of_the_first_answer() -> None:
    page = (FRONTEND / "index.html").read_bytes()
    assert page.count(b"<base ") == 1, "it has none any more: REMOVE_BASE fails, and is no longer needed"
    assert page.count(internals.APP) == 1, "the first answer no longer stands before gradio's page"


# What scripts and styles look for; what is on the page on arrival is looked for in tests/browser.
SELECTORS = tomllib.loads(Path(internals.__file__).with_name("gradio_selectors.toml").read_text("utf-8"))


def is_shipped(name: str) -> bool:
    """Whether a script or style of gradio's page has a class of this name."""
    whole = re.compile(rf"[\"'`. ]{name}(?![\w-])")
    assets = (path for path in (FRONTEND / "assets").iterdir() if path.suffix in (".js", ".css"))
    return any(whole.search(path.read_text("utf-8")) for path in assets)


@pytest.mark.parametrize("name", SELECTORS["at_times"])
def test_gradio_ships_the_classes_that_elements_have_at_times(name: str) -> None:
    assert is_shipped(name), (
        f'nothing in gradio\'s page has the class "{name}" any more: {SELECTORS["at_times"][name]}'
    )


def test_every_class_that_is_not_this_app_s_own_is_listed() -> None:
    styles = "".join(path.read_text("utf-8") for path in (ROOT / "assets").glob("*.css"))
    rules = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL))
    names = re.compile(r"\.([a-z][\w-]*)")
    used = set(names.findall(" ".join(rules)))
    ui, exhibits = ROOT / "components" / "ui", ROOT / "components" / "exhibits"
    code = [path for folder in (ui, exhibits) for path in folder.rglob("*.[pj][ys]")]
    code += (ROOT / "assets" / "templates").glob("*.html")
    own = {word for path in code for word in re.findall(r"[\w-]+", path.read_text("utf-8"))}
    listed = SELECTORS["at_times"].keys() | names.findall(" ".join(SELECTORS["on_arrival"]))
    assert [name for name in sorted(used - own - listed) if is_shipped(name)] == []
