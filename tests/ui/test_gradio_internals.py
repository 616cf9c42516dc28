"""What this app needs of gradio and gradio does not promise: each test says what no longer holds."""

import asyncio
import inspect
import re
import subprocess
import sys
from pathlib import Path

import gradio as gr
import httpx
import pytest
from gradio.context import LocalContext
from gradio.data_classes import CancelBody, PredictBody, ResetBody, SimplePredictBody
from gradio.routes import App
from gradio.state_holder import SessionState
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Match
from starlette.types import Scope

from components.ui import gradio_internals
from components.ui.gradio_internals import (
    PLOTLY,
    ROUTES,
    CandidDropdown,
    CandidSlider,
    GuardedApp,
    block_functions,
    current_headers,
    current_scope,
    send_changes,
)
from components.ui.serving import launch_options
from tests.serving import ROOT, built
from tests.ui.page import small_page

FRONTEND = Path(gr.__file__).parent / "templates" / "frontend"
HOST = "http://app.example"
PREFLIGHT = {"Origin": "http://other.example", "Access-Control-Request-Method": "POST"}


@pytest.fixture(scope="module")
def server() -> App:
    """Gradio's own server of a small page."""
    return built(lambda: App.create_app(small_page()))


def test_the_page_loads_gradio_without_parsing_its_components() -> None:
    """In a process of its own: here gradio is loaded already."""
    code = "import ast; del ast.get_source_segment; import components.ui; import gradio"
    tried = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert tried.returncode == 0, f"gradio makes stubs in another way, each time it is loaded: {tried.stderr}"
    assert inspect.getfile(gr.Textbox).endswith("textbox.py")


def test_a_given_server_is_the_one_that_is_served() -> None:
    parameters = inspect.signature(gr.Blocks.launch).parameters
    assert "_app" in parameters, "Blocks.launch no longer takes the server as _app: GuardedApp is not served"
    missing = launch_options().keys() - parameters.keys()
    assert not missing, f"Blocks.launch no longer takes {missing}"


def test_the_guard_is_around_the_whole_server() -> None:
    async def preflight() -> httpx.Response:
        app = App.create_app(small_page(), app=GuardedApp(lambda _: PlainTextResponse("guarded")))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOST) as client:
            return await client.options("/", headers=PREFLIGHT)

    answer = asyncio.run(preflight())
    assert answer.text == "guarded", (
        "gradio.routes.App no longer builds its middleware in build_middleware_stack: nothing guards the app"
    )


def test_a_function_of_the_page_says_what_it_is() -> None:
    (function,) = block_functions(built(small_page)).values()
    told = {
        "fn": function.fn is str.upper,
        "inputs": len(function.inputs) == 1,
        "api_name": function.api_name == "upper",
        "api_visibility": function.api_visibility == "public",
        "concurrency_id": function.concurrency_id == "model",
        "types_generator": function.types_generator is False,
        "page": function.page == "",
    }
    moved = [name for name, holds in told.items() if not holds]
    assert not moved, f"gradio's BlockFunction no longer has what was asked for as {moved}"


def test_gradio_calls_the_function_that_was_put_in_place_of_another() -> None:
    page = built(small_page)
    (function,) = block_functions(page).values()
    function.fn = str.lower

    async def call() -> object:
        return (await page.process_api(function, ["A"]))["data"]

    assert asyncio.run(call()) == ["a"], "gradio no longer calls BlockFunction.fn: no answer has a timeout"


def test_a_function_finds_the_request_that_it_answers() -> None:
    scope: Scope = {"type": "http", "headers": [(b"referer", b"http://app.example/zh")], "arrived": 7}
    found = []

    def look(text: str) -> str:
        found.append((current_scope().get("arrived"), current_headers().get("referer")))
        return text

    page = built(small_page)
    (function,) = block_functions(page).values()
    function.fn = look

    async def call() -> None:
        await page.process_api(function, ["A"], request=gr.Request(Request(scope)))

    asyncio.run(call())
    assert found == [(7, "http://app.example/zh")], (
        "LocalContext.request no longer holds the request: no timeout counts from when it came"
    )
    assert LocalContext.request.get(None) is None
    assert not current_scope()
    assert not current_headers()


def test_no_copy_of_the_page_is_made_for_a_visitor() -> None:
    async def called() -> tuple[SessionState, SessionState, list[object]]:
        app = App.create_app(small_page(), app=GuardedApp(lambda inner: inner))
        page, session = app.get_blocks(), app.state_holder["visitor"]
        (function,) = block_functions(page).values()
        function.fn = lambda text: gr.update(value=text.upper(), label="new")
        for _ in range(2):  # the second time, the box is the visitor's own
            given = (await page.process_api(function, ["a"], state=session))["data"]
        assert app.state_holder["visitor"] is session
        return session, SessionState(page), given

    session, plain, given = asyncio.run(called())
    assert len(plain.config_values) > 1, "gradio makes no copy any more: Session is no longer needed"
    assert session.config_values == {}, "gradio copies what each component is for every visitor, in 60 ms"
    assert given[0]["value"] == "A"
    assert "new" in [getattr(block, "label", "") for block in session.blocks_config.blocks.values()]
    assert "new" not in [getattr(block, "label", "") for block in plain.blocks_config.blocks.values()]


@pytest.mark.parametrize("answer", ["texts", "properties", "states", "nothing"])
def test_only_what_an_answer_changes_is_made_anew(answer: str) -> None:
    """What is sent is what gradio sends."""

    async def called(spare: bool) -> tuple[object, object, list[str]]:
        with gr.Blocks(analytics_enabled=False) as page:
            html, code, state = gr.HTML(), gr.Code(), gr.State(1)
            menus = [CandidDropdown(["a"], label=label) for label in ("one", "two")]
            answers = {
                "texts": {html: "<p>", code: "a = 1 "},
                "properties": {menus[0]: gr.update(label="new", value="a")},
                "states": {state: 2, html: "", menus[1]: "a"},
                "nothing": gr.skip(),
            }
            gr.Button().click(lambda: answers[answer], None, [html, code, state, *menus])
        if spare:
            send_changes(page)
        (function,), session = block_functions(page).values(), SessionState(page)
        before = dict(session.blocks_config.blocks)
        sent = [
            {**one, "props": None} if isinstance(one, dict) else one  # gradio marks an update of HTML twice
            for one in (await page.process_api(function, [], state=session))["data"]
        ]
        after = session.blocks_config.blocks
        return sent, session[state._id], [one.label for one in menus if after[one._id] is not before[one._id]]

    *same, made = asyncio.run(called(spare=True))
    *theirs, every = asyncio.run(called(spare=False))
    assert same == theirs
    assert made == (["one"] if answer == "properties" else [])
    assert set(every) > set(made), (
        "gradio makes no component anew that stays as it is: send_changes is not needed"
    )


def test_a_visitor_s_session_keeps_states() -> None:
    async def kept() -> tuple[object, object]:
        with gr.Blocks(analytics_enabled=False) as page:
            state = gr.State([1])
        sessions = App.create_app(page, app=GuardedApp(lambda inner: inner)).state_holder
        sessions["one"][state._id] = [2]
        return sessions["one"][state._id], sessions["other"][state._id]

    assert asyncio.run(kept()) == ([2], [1])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"), ("GET", "/config"), ("GET", "/config/"), ("GET", "/theme.css"),
        ("GET", "/assets/index.js"), ("GET", "/static/img/logo.svg"), ("GET", "/svelte/svelte.js"),
        ("GET", "/favicon.ico"), ("GET", "/robots.txt"), ("GET", "/manifest.json"),
        ("GET", "/gradio_api/info"), ("GET", "/gradio_api/info/"), ("GET", "/gradio_api/app_id"),
        ("GET", "/gradio_api/app_id/"), ("GET", "/gradio_api/startup-events"),
        ("GET", "/gradio_api/theme.css"), ("GET", "/gradio_api/queue/data"),
        ("GET", "/gradio_api/queue/status"), ("GET", "/gradio_api/heartbeat/x"),
        ("GET", "/gradio_api/call/upper/x"), ("GET", "/gradio_api/call/v2/upper/x"), ("HEAD", "/"),
        ("POST", "/gradio_api/queue/join"), ("POST", "/gradio_api/call/upper"),
        ("POST", "/gradio_api/call/upper/"), ("POST", "/gradio_api/call/v2/upper"),
        ("POST", "/gradio_api/call/v2/upper/"), ("POST", "/gradio_api/run/upper"),
        ("POST", "/gradio_api/run/upper/"), ("POST", "/gradio_api/api/upper"),
        ("POST", "/gradio_api/api/upper/"), ("POST", "/gradio_api/cancel"), ("POST", "/gradio_api/reset"),
        ("POST", "/gradio_api/reset/"),
    ],
)  # fmt: skip
def test_gradio_has_every_route_that_is_let_through(server: App, method: str, path: str) -> None:
    scope = {"type": "http", "method": method, "path": path, "headers": []}
    assert path == "/" or ROUTES["GET" if method == "HEAD" else method].fullmatch(path)
    assert any(route.matches(scope)[0] == Match.FULL for route in server.routes), (
        f"gradio no longer serves {method} {path}"
    )


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


def test_what_is_loaded_ahead_is_what_gradio_imports_for_a_plot() -> None:
    scripts = [file.read_text("utf-8") for file in (FRONTEND / "assets").glob("*.js") if file.name != PLOTLY]
    assert any(f"import(`./{PLOTLY}`)" in one or f'import("./{PLOTLY}")' in one for one in scripts), (
        "gradio imports its Plotly under another name: the page loads it twice, or late"
    )
    head = launch_options()["head"]
    assert f'<link rel="modulepreload" href="./assets/{PLOTLY}">' in head


def test_the_page_has_the_base_that_is_removed_from_it() -> None:
    assert (FRONTEND / "index.html").read_text("utf-8").count("<base ") == 1, (
        "gradio's page has no <base> any more: REMOVE_BASE fails, and is no longer needed"
    )


def test_a_menu_takes_what_a_browser_sends_and_is_a_dropdown_to_it() -> None:
    menu = CandidDropdown([("One", "1")], value="1", filterable=False, multiselect=True, render=False)
    plain = gr.Dropdown([("One", "1")], value="1", render=False)
    with pytest.raises(gr.Error, match="not in the list"):  # what all of this is for
        plain.preprocess("2")
    for sent in ("1", "2", ["1", "2"], {"a": 1}, None):
        assert menu.preprocess(sent) == sent
    assert menu.get_block_name() == "dropdown", "gradio no longer names a template after its parent"
    assert type(menu)(**{**menu.constructor_args, "render": False}).preprocess("2") == "2"
    files = Path(gradio_internals.__file__).parent.glob("*.pyi")
    assert not [*files], "gradio writes a stub beside its source"


def test_so_does_a_slider_whose_bounds_an_answer_may_change() -> None:
    with pytest.raises(gr.Error, match="maximum"):  # what it is for
        gr.Slider(0, 2, 1, render=False).preprocess(6)
    slider = CandidSlider(0, 2, 1, render=False)
    assert slider.preprocess(6) == 6
    assert slider.get_block_name() == "slider"
