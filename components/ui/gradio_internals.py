"""Gradio's undocumented ground: all that this app needs of gradio beyond its documentation, and why.

Any release of gradio may change it. tests/ui/test_gradio_internals.py says what moved;
tests/browser/test_internals.py checks what gradio_selectors.toml lists, what scripts and styles look for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from gradio.block_function import BlockFunction as BlockFunction  # for those who name its type
from gradio.context import LocalContext
from starlette.types import Scope


def block_functions(page: gr.Blocks) -> dict[int, BlockFunction]:
    """List the functions behind a page's events and endpoints, by the number under which it calls them.

    Replaced is ``fn``. Read are ``inputs``, ``inputs_as_dict``, ``name``, ``api_name``, ``api_visibility``,
    ``queue``, ``concurrency_id``, ``concurrency_limit`` and ``types_generator``.
    """
    return page.fns


def hand_over(function: BlockFunction) -> int | str | None:
    """Let a function get values as a browser sends them, at once; gives how many it wanted at a time.

    As if its event were declared with ``preprocess=False`` and ``concurrency_limit=None``.
    """
    limit, function.preprocess, function.concurrency_limit = function.concurrency_limit, False, None
    return limit


def widen(page: gr.Blocks, events: int, sessions: int) -> None:
    """Begin so many ``events`` at once, keep so many ``sessions``: what ``launch`` takes, and no mount."""
    page.max_threads, page.state_session_capacity = events, sessions


def share_configurations(page: gr.Blocks) -> None:
    """Keep no copy of a page's configuration for each session: 60 ms and a megabyte for a program's call."""
    less = SimpleNamespace(default_config=page.default_config, blocks=())  # of which a copy is made
    vars(page.state_holder)["blocks"] = less


def forget(page: gr.Blocks, session: str) -> None:
    """Drop what a session has not read, unless something of it is under way: gradio keeps it for good."""
    queue = page._queue
    events = map(queue.event_ids_to_events.get, queue.pending_event_ids_session.get(session, ()))
    if not any(event is not None and event.alive for event in events):
        queue.pending_messages_per_session.pop(session, None)
        queue.pending_event_ids_session.pop(session, None)


def answer_in_json(page: gr.Blocks) -> None:
    """Let tools of the Model Context Protocol answer in JSON, not as Python writes values."""
    if server := page.mcp_server_obj:  # only where the owner has turned it on
        vars(server)["postprocess_output_data"] = partial(_in_json, server.types.TextContent)


def _in_json(as_text: Callable[..., Any], data: list[Any], _root_url: str) -> list[Any]:
    return [as_text(type="text", text=json.dumps(value, ensure_ascii=False)) for value in data]


def lend_request(request: gr.Request) -> None:
    """Tell ``spaces``, in this context, whose request it is: it looks where gradio's queue notes it."""
    LocalContext.request.set(request)


# What a page and the server say to each other of answers.
CLOSE = b'"msg":"close_stream"'  # all that the page has asked is answered: it closes the stream
COMPLETED = re.compile(rb'"msg":"process_completed","event_id":"(\w+)"')
STREAM = re.compile(r"/gradio_api/(?:queue/data|call/(?:v2/)?\w+/(\w+))/?")  # a page's, a program's


def streamed(scope: Scope) -> tuple[str, str] | None:
    """Whose answers a request streams: a session, or an event; None if it streams none."""
    stream = STREAM.fullmatch(scope["path"]) if scope["method"] == "GET" else None
    if stream is None:
        return None
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return query.get("session_hash", [""])[0], stream[1] or ""


def completed(chunk: bytes) -> Iterator[str]:
    """Find the events that end with a chunk of a page's stream."""
    return (found[1].decode() for found in COMPLETED.finditer(chunk))


# Routes, as regular expressions of whole paths. All others stay closed.
CALL = re.compile(
    r"/gradio_api/call/(v2/)?(\w+)/?"
)  # v2: the body holds values by name, else in a list, "data"
EVENT = re.compile(r"/gradio_api/(queue/join|(?:run|api)/\w+/?)")  # the page: a list, "fn_index", ...
CANCEL_OR_RESET = re.compile(r"/gradio_api/(cancel|reset)/?")  # the page: nobody waits for an answer any more
READS_QUERY = re.compile(r"/theme\.css|/gradio_api/(queue/data|theme\.css|mcp(/.*)?)")
# Gradio keeps what it told the first who asked of the whole app, with the address that they called it by; of
# one page it does not. All endpoints are the first page's.
FIXED_QUERIES = {"/gradio_api/info": b"page=", "/gradio_api/info/": b"page="}
SAME_FOR_ALL = re.compile(r"/(assets|static|svelte)/[^\\\0]+|/theme\.css")  # whoever asks, and with the pages
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

# The page in the browser: <base href="./"> makes the browser fetch the page anew for each plot's clip once
# the address has changed, and draw nothing meanwhile; and a plot's script, 1.3 MB, is asked for too late.
REMOVE_BASE = "<script>document.querySelector('base').remove()</script>"
PLOTLY = next((Path(gr.__file__).parent / "templates" / "frontend" / "assets").glob("PlotlyPlot-*.js")).name
