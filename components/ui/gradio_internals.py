"""Gradio's undocumented ground: all that this app needs of gradio beyond its documentation, and why.

Any release of gradio may change it: tests/ui/test_gradio_internals.py says what moved. gradio_routes.toml
lists its paths, gradio_selectors.toml what scripts and styles look for.
"""

import re
import tomllib
from collections.abc import Iterator
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

    Replaced is ``fn``; read are how many ``inputs``, names, visibility, queue and ``types_generator``.
    """
    return page.fns


def widen(page: gr.Blocks, events: int, sessions: int) -> None:
    """Begin so many ``events`` at once, keep so many ``sessions``: what ``launch`` takes, and no mount."""
    page.state_session_capacity, page.max_threads, page._queue.max_thread_count = sessions, events, events


def spare(page: gr.Blocks) -> None:
    """Copy no configuration for each session (60 ms, 1 MB), and make no table of all events after each."""
    page._queue.ANAYLTICS_CACHE_FREQUENCY = 10**12
    vars(page.state_holder)["blocks"] = SimpleNamespace(default_config=page.default_config, blocks=())


def forget(page: gr.Blocks, session: str, unread: bool = True) -> None:
    """Drop the values that a session sent and was sent, for links that are not offered; its state stays.

    That goes LASTING seconds after its page closed; what is ``unread``, too, if nothing is under way.
    """
    if state := page.state_holder.session_data.get(session):
        state.config_values.clear()  # nor are they looked up again, 0.4 ms each
        vars(state).update(dict.fromkeys(("_update_value_in_config", "_update_config"), lambda *_: None))
        state.STATE_TTL_WHEN_CLOSED = LASTING
    if not unread:
        return
    queue = page._queue
    events = map(queue.event_ids_to_events.get, queue.pending_event_ids_session.get(session, ()))
    if not any(event is not None and event.alive for event in events):
        queue.pending_messages_per_session.pop(session, None)
        queue.pending_event_ids_session.pop(session, None)


def tools_of(page: gr.Blocks) -> Any:
    """Find the server of the Model Context Protocol, of the package mcp; None where the owner has none."""
    return page.mcp_server_obj and page.mcp_server_obj.mcp_server


def lend_request(request: gr.Request) -> None:
    """Tell ``spaces``, in this context, whose request it is: it looks where gradio's queue notes it."""
    LocalContext.request.set(request)


LASTING = 600  # seconds that state outlives its page, which may have lost its network
TABLES = tomllib.loads(Path(__file__).with_name("gradio_routes.toml").read_text("utf-8")).values()
ROUTES, PATHS = ({name: re.compile("|".join(parts)) for name, parts in table.items()} for table in TABLES)
CLOSE = b'"msg":"close_stream"'  # all that the page has asked is answered: it closes the stream
COMPLETED = re.compile(rb'"msg":"process_completed","event_id":"(\w+)"')
JOINED = re.compile(rb'\{"event_id":"(\w+)"')  # the answer to a question that goes through the queue


def streamed(scope: Scope) -> tuple[str, str] | None:
    """Find whose answers a request streams: a session, or an event; None if it streams none."""
    stream = PATHS["stream"].fullmatch(scope["path"]) if scope["method"] == "GET" else None
    query = parse_qs(scope["query_string"].decode("latin-1"))
    return (query.get("session_hash", [""])[-1], stream[1] or "") if stream else None


def completed(chunk: bytes) -> Iterator[str]:
    """Find the events that end with a chunk of a page's stream."""
    return (found[1].decode() for found in COMPLETED.finditer(chunk))


# The page in the browser: <base href="./"> makes the browser fetch the page anew for each plot's clip once
# the address has changed, and draw nothing meanwhile; and a plot's script, 1.3 MB, is asked for too late.
APP = b"<gradio-app"  # where the page is put, in its HTML
REMOVE_BASE = "<script>document.querySelector('base').remove()</script>"
PLOTLY = next((Path(gr.__file__).parent / "templates" / "frontend" / "assets").glob("PlotlyPlot-*.js")).name
