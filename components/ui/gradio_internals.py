"""Gradio's private ground: what this app needs of gradio beyond what its documentation promises, and why.

Its queue is in gradio_queue.py. Any release of gradio may change it. tests/ui/test_gradio_internals.py checks
it; tests/browser/test_internals.py checks what gradio_selectors.toml lists, what scripts and styles look for.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import re
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.context import LocalContext
from gradio.routes import App, ORJSONResponse
from gradio.state_holder import SessionState, StateHolder
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Scope

from components.ui.gradio_queue import keep_fair, wait_until_quiet
from components.ui.gradio_streams import Listeners

C = TypeVar("C", bound=gr.components.Component)
logger = logging.getLogger(__name__)

# Serving


class GuardedApp(App):
    """Gradio's server inside of another middleware.

    The documented ways to add a middleware put it inside of gradio's own CORS middleware, which answers
    preflight requests of every origin wherever the host is not this machine.
    """

    def __init__(self, guard: Callable[[ASGIApp], ASGIApp]) -> None:
        untold = {"tracing": False, "metrics": False, "logs": False}  # or each request asks who wants to know
        super().__init__(default_response_class=ORJSONResponse, telemetry=untold)
        self._guard = guard
        self.state_holder = Sessions()

    def build_middleware_stack(self) -> ASGIApp:
        """Starlette calls this once, before the first request."""
        return self._guard(super().build_middleware_stack())


class Session(SessionState):
    """What is kept of a visitor: the states and components of a page, and no copy of their configurations.

    Gradio makes one of every component when a visitor first asks, and of each that an answer changes, for
    links of its own that this page does not have: 60 ms and a megabyte for every program that calls once.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        # ``blocks`` says there of which components a copy is made.
        super().__init__(cast(gr.Blocks, SimpleNamespace(default_config=blocks.default_config, blocks=())))

    def __setitem__(self, key: int, value: Any) -> None:
        """Keep the value of a state, or a component that an answer has changed."""
        if isinstance(self.blocks_config.blocks.get(key), gr.State):
            super().__setitem__(key, value)  # which also notes for how long it is kept
        else:
            self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        """Make no copy."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Make no copy."""


class Sessions(StateHolder):
    """A `Session` for each visitor."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # gradio's own is not annotated

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = Session(self.blocks)
        return super().__getitem__(session_id)


def launch_guarded(page: gr.Blocks, guard: Callable[[ASGIApp], ASGIApp], **options: Any) -> None:
    """``page.launch(**options)`` with ``guard`` around the whole server; returns as soon as it is served."""
    os.environ["FORWARDED_ALLOW_IPS"] = ""  # or uvicorn takes a header's address for the peer's
    keep_fair(page._queue)
    page.launch(
        prevent_thread_lock=True, _app=GuardedApp(lambda app: guard(Listeners(app, page._queue))), **options
    )
    if page.mcp_server_obj is not None:  # only where the owner has turned it on
        as_text = page.mcp_server_obj.types.TextContent
        vars(page.mcp_server_obj)["postprocess_output_data"] = partial(_in_json, as_text)


def _in_json(as_text: Callable[..., Any], data: list[Any], _root_url: str) -> list[Any]:
    """What a tool answers: gradio writes it as Python does, in which None is no null."""
    return [as_text(type="text", text=json.dumps(value, ensure_ascii=False)) for value in data]


def let_read(page: gr.Blocks, seconds: float) -> None:
    """Return when all who listen have read their answers: a queue that is closed says nothing more."""
    wait_until_quiet(page._queue, seconds)


def take_values(page: gr.Blocks, refusal: Callable[[], str]) -> None:
    """Have values taken by the loop itself; what a component does not take is refused as ``refusal`` says.

    Gradio has another thread look at each value, and raises what its components raise of it, which stands in
    the log with what was typed.
    """
    preprocess = page.preprocess_data

    async def taking(
        function: BlockFunction, inputs: list[Any], state: SessionState | None, explicit: bool = False
    ) -> list[Any]:
        as_sent = copy.copy(function)
        as_sent.preprocess = False
        values = await preprocess(as_sent, inputs, state, explicit)
        try:
            return [_taken(part, value, state) for part, value in zip(function.inputs, values, strict=True)]
        except Exception as error:  # whatever components raise, as gradio does
            logger.info("refused: a value that a component does not take")
            raise gr.Error(refusal(), print_exception=False) from error

    page.preprocess_data = taking  # type: ignore[method-assign,assignment]  # of this page alone


def _taken(part: Any, value: Any, state: SessionState | None) -> Any:
    """A value as functions get it: by a component as the visitor has it by now."""
    if isinstance(part, gr.State):
        return value
    own = state[part._id] if state is not None and part._id in state else part
    if isinstance(own, gr.Dataset) and not (type(value) is int and 0 <= value < len(own.samples or ())):
        raise IndexError(value)  # any value is an index to gradio
    return own.preprocess(value)


def send_changes(page: gr.Blocks) -> None:
    """Let gradio work on those outputs alone that an answer changes, and on no text.

    It makes each of the others anew, in a quarter of a millisecond, and has another thread look at each text.
    """
    postprocess = page.postprocess_data

    async def changes(function: BlockFunction, found: Any, state: SessionState | None) -> list[Any]:
        parts = function.outputs
        updates = {} if found == gr.skip() else found
        if not isinstance(found, dict) or not found or not updates.keys() <= set(parts):
            given: list[Any] = await postprocess(function, found, state)
            return given
        sent = {part: part.postprocess(new) for part, new in updates.items() if _is_text(part, new)}
        rest = [part for part in parts if part in updates and part not in sent]
        if rest:
            fewer = copy.copy(function)
            fewer.outputs = rest
            made = await postprocess(fewer, {part: updates[part] for part in rest}, state)
            sent |= dict(zip(rest, made, strict=True))
        return [sent.get(part, None if isinstance(part, gr.State) else gr.skip()) for part in parts]

    page.postprocess_data = changes  # type: ignore[method-assign,assignment]  # of this page alone


def _is_text(part: Any, new: object) -> bool:
    """Whether ``new`` is sent to a component as it is, or nearly so."""
    return isinstance(new, str) and isinstance(part, gr.HTML | gr.Textbox | gr.Code)


def block_functions(page: gr.Blocks) -> dict[int, BlockFunction]:
    """The functions behind a page's events and endpoints, by the number under which the page calls them.

    ``fn`` is replaced by one with a timeout. Read are ``inputs``, ``name``, ``api_name``, ``api_visibility``,
    ``concurrency_id`` and ``types_generator``; by tests also ``page``, the path of a language's page.
    """
    return page.fns


# The request that is being answered: a function whose parameter it is would be callable by gradio alone.


def current_scope() -> Scope:
    """The ASGI scope of the request whose event is being answered; empty outside of one."""
    request = LocalContext.request.get(None)
    return {} if request is None or request.request is None else request.request.scope


def current_headers() -> Headers:
    """The headers of the request whose event is being answered; none outside of one."""
    scope = current_scope()
    return Headers(scope=scope) if scope else Headers()


@contextmanager
def answering(scope: Scope) -> Iterator[None]:
    """Within, the request of ``scope`` is the one that is being answered, as if gradio had called."""
    before = LocalContext.request.set(gr.Request(Request(scope)))
    try:
        yield
    finally:
        LocalContext.request.reset(before)


# Routes, as regular expressions of whole paths. All others stay closed.

CALL_BY_NAME = re.compile(r"/gradio_api/call/v2/(\w+)/?")  # the body holds an endpoint's values by name
CALL_BY_POSITION = re.compile(r"/gradio_api/call/(\w+)/?")  # the body holds them in a list, "data"
QUEUE_EVENT = re.compile(r"/gradio_api/(queue/join|(run|api)/\w+/?)")  # the page: a list, "fn_index", ...
RUN = re.compile(r"/gradio_api/(run|api)/\w+/?")  # the same, answered in one response
CANCEL_OR_RESET = re.compile(r"/gradio_api/(cancel|reset)/?")  # the page: nobody waits for an answer any more
RUNS_A_FUNCTION = re.compile(r"/gradio_api/(queue/join|call/|mcp)")  # as the beginning of a path
READS_QUERY = re.compile(r"/theme\.css|/gradio_api/(queue/data|theme\.css|mcp(/.*)?)")
# Gradio keeps what it told the first who asked of the whole app, with the address that they called it by; of
# one page it does not. All endpoints are the first page's.
FIXED_QUERIES = {"/gradio_api/info": b"page=", "/gradio_api/info/": b"page="}
ROUTES: Mapping[str, re.Pattern[str]] = {  # by method; MCP answers only where the owner has turned it on
    "GET": re.compile(
        r"/(assets|static|svelte)/[^\\\0]+|/(favicon\.ico|robots\.txt|manifest\.json|theme\.css|config/?)"
        r"|/gradio_api/(info/?|app_id/?|startup-events|theme\.css|queue/(data|status)|heartbeat/\w+)"
        r"|/gradio_api/call/(v2/)?\w+/\w+|/gradio_api/mcp(/.*)?"
    ),
    "POST": re.compile(
        r"/gradio_api/(queue/join|(call|call/v2|run|api)/\w+/?|cancel|reset/?)|/gradio_api/mcp(/.*)?"
    ),
    "DELETE": re.compile(r"/gradio_api/mcp(/.*)?"),
}
SAME_FOR_ALL = re.compile(r"/(assets|static|svelte)/[^\\\0]+|/theme\.css")  # whoever asks, and with the pages
QUEUE_FULL = 503  # the status that gradio answers with when no more questions may wait


def is_unknown_stream(error: RuntimeError) -> bool:
    """Whether a visitor asked for the answers to a question that nobody asked.

    Gradio says so in the stream, and then raises an HTTPException although the response has begun.
    """
    return isinstance(error.__cause__, HTTPException)


# Menus and sliders


def _as_sent(_part: gr.components.Component, payload: Any) -> Any:
    """What the browser sent."""
    return payload


def _candid(kind: type[C]) -> type[C]:
    """Components that take what a browser sends.

    Gradio's own raise an error if that is not among the choices or within the bounds that they have by then;
    but an answer may change these while an event that still holds it is on its way. Whoever reads the value
    says what is wrong with it.

    They are made without gradio's metaclass, which writes a .pyi file beside the source of every component
    class. To the browser they are of the same ``kind``: ``is_template`` makes gradio name them after it.
    """
    own = {"__module__": __name__, "is_template": True, "preprocess": _as_sent}
    made: type[C] = ABCMeta.__new__(type(kind), f"Candid{kind.__name__}", (kind,), own)
    return made


CandidDropdown = _candid(gr.Dropdown)
CandidSlider = _candid(gr.Slider)

# The page in the browser

# <base href="./"> changes nothing but that Plotly names a clip by the page's whole address. Once the page's
# state has changed that address, the browser first fetches the old one to look for the clip in it, and draws
# nothing of what is clipped meanwhile. Gradio runs this before it makes any component.
REMOVE_BASE = "<script>document.querySelector('base').remove()</script>"


# What gradio's page imports for its first plot: 1.3 MB, which it would ask for once that plot is laid out.
PLOTLY = next((Path(gr.__file__).parent / "templates" / "frontend" / "assets").glob("PlotlyPlot-*.js")).name


def scripted_html(html: str, script: Path, elem_id: str) -> gr.HTML:
    """A piece of HTML whose ``script`` runs once, when it is on the page.

    To the script, ``element`` is that piece; ``trigger(event, data)`` fires the component's event of that
    name on the server, whose function gets ``data`` as attributes of a `gr.EventData`.
    """
    return gr.HTML(html, js_on_load=script.read_text(encoding="utf-8"), elem_id=elem_id)


def error_text(message: str, headers: Headers) -> str:
    """``message`` as the one who asked shows it: gradio's page, which sends its origin, shows it as HTML."""
    return escape(message) if "origin" in headers else message
