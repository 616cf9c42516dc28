"""The server: gradio mounted in FastAPI, with every limit that the owner has set around it."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr
import uvicorn
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from components.admission import Admission, Line, half
from components.settings import Settings
from components.texts import ASSETS, ENGLISH
from components.ui import places
from components.ui.gradio_internals import (
    REMOVE_BASE,
    SAME_FOR_ALL,
    answer_in_json,
    block_functions,
    forget,
    hand_over,
    share_configurations,
    widen,
)
from components.ui.public.answering import for_gradio, with_patience, with_timeout
from components.ui.public.middleware import PAGES, GuardMiddleware
from components.ui.public.plain import LINE, Plain, by_language
from components.ui.public.queue import QueueMiddleware
from components.ui.public.rate_limit import Rates
from components.ui.public.request_body import PASSPORT, REPORT, Endpoint, endpoints_of
from components.ui.public.response_cache import ResponseCache
from components.ui.public.sending import document
from components.ui.public.status import Monitor, StatusMiddleware, monitored, monitored_stream
from components.ui.shell import Site
from components.ui.talk.room import Room, RoomMiddleware

ASKING = ("model", "compare", "talk", "fit")  # concurrency ids of what has a checkpoint run
AT_WORK = 24  # questions that are given to the analyst at the same time; it lets them wait for each other
AT_ONCE = 4  # calls that need no analyst, at the same time: each takes the page's own processor
UNLIMITED = 80  # at work in a line without a limit of its own
SESSIONS = 1000  # visitors whose last answer is kept for redrawing it
MAX_CHARACTER_BYTES = 24  # of one character in a body: \ud83d\ude00, in either of two texts
ROW_BYTES = 2_000  # of a row of the lab's table, which its box sends twice
OTHER_BODY_BYTES = 65_536  # of a body besides its texts
BACKLOG = 2048  # connections that wait to be accepted
PORTS = range(7860, 7960)  # of which the first that is free is taken, where the owner names none
# The mark of what is read, in the page itself: a browser looks for a served one again at every new address.
ICON = (
    '<link rel="icon" href="data:image/svg+xml,'
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='8' r='7' fill='%23d97706'/%3E%3C/svg%3E\">"
)


@dataclass(frozen=True)
class Served:
    """A site that is served: its page, what waits for it, and its server, which a thread runs."""

    page: gr.Blocks
    queue: QueueMiddleware
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self, seconds: float) -> None:
        """Serve no more, after answers that are there have been read: so many ``seconds`` later at most."""
        until = time.monotonic() + seconds
        while not self.queue.is_quiet() and time.monotonic() < until:
            time.sleep(0.02)  # nobody tells when a message has been sent
        self.page.close(verbose=False)
        self.server.should_exit = True
        self.thread.join()


def serve(site: Site, settings: Settings, ready: Callable[[], bool]) -> Served:
    """Serve a site, with every limit that ``settings`` state, and return as soon as it is there.

    ``ready`` says whether questions can be answered by now.
    """
    monitor, page = Monitor(), site.page
    endpoints = endpoints_of(page)
    lines = {str(one.concurrency_id): _line(hand_over(one)) for one in block_functions(page).values()}
    lines |= {LINE: _line(AT_WORK), "": _line(AT_ONCE)}
    admission = Admission(lines, settings.waiting)
    app = FastAPI(openapi_url=None)
    queue = QueueMiddleware(app, admission, partial(forget, page))
    plain = _limit(page, admission, queue, settings.seconds, monitor)
    for path, makers in (
        (REPORT, {tag: one.report for tag, one in site.links.items()}),
        (PASSPORT, {tag: one.passport for tag, one in site.links.items()}),
    ):
        limited = {tag: _limited(make, False, settings.seconds, monitor) for tag, make in makers.items()}
        plain[path] = Plain(by_language(limited), admission, document)
    app.router.routes.extend(Route(path, answers, methods=["POST"]) for path, answers in plain.items())
    widen(page, 2 * settings.waiting + sum(line.places for line in lines.values()), SESSIONS)
    page.queue(max_size=settings.waiting, default_concurrency_limit=None, api_open=False)
    gr.mount_gradio_app(app, page, "/", **page_options())
    share_configurations(page)
    answer_in_json(page)
    guarded = _guarded(queue, site, settings, endpoints)
    server, thread = _started(StatusMiddleware(guarded, ready, monitor, settings.metrics))
    return Served(page, queue, server, thread)


def _line(limit: int | str | None) -> Line:
    """Make the line of functions with a concurrency limit, as events state it."""
    places = limit if isinstance(limit, int) else UNLIMITED if limit is None else AT_WORK
    return Line(places, half(places))


def _limit(
    page: gr.Blocks, admission: Admission, queue: QueueMiddleware, seconds: float, monitor: Monitor
) -> dict[str, ASGIApp]:
    """Give every function of a page its turn and its timeout; gives what answers plain HTTP, by its path."""
    plain: dict[str, ASGIApp] = {}
    for function in block_functions(page).values():
        if function.fn is None:  # run by the browser alone
            continue
        asks, streams = function.concurrency_id in ASKING, function.types_generator
        run = _limited(function.fn, streams, seconds, monitor if asks else None)
        if function.api_visibility == "public" and not streams:
            plain[f"/{function.api_name}"] = Plain(run, admission)
        function.fn = for_gradio(function, run, queue)
    return plain


def _limited(
    function: Callable[..., Any], streams: bool, seconds: float, monitor: Monitor | None
) -> Callable[..., Any]:
    """Give a function a timeout, noted by ``monitor``; what streams says itself how far it is."""
    name = getattr(getattr(function, "func", function), "__name__", type(function).__name__)
    if streams:
        stream = with_patience(function)
        return stream if monitor is None else monitored_stream(stream, name, monitor)
    limited = with_timeout(function, seconds)
    return limited if monitor is None else monitored(limited, name, monitor)


def _guarded(
    app: ASGIApp, site: Site, settings: Settings, endpoints: Mapping[str | int, Endpoint]
) -> ASGIApp:
    """Put the guard around the app, and what answers before it comes to gradio."""
    max_body_bytes = MAX_CHARACTER_BYTES * settings.characters + OTHER_BODY_BYTES
    cached = ResponseCache(app, lambda path: path in PAGES or bool(SAME_FOR_ALL.fullmatch(path)))
    extent = site.links[ENGLISH].extent  # the same in each language
    tables = ROW_BYTES * settings.lab_rows
    rates = Rates(settings.rate, settings.address_rate, settings.room, settings.proxies)
    guarded = GuardMiddleware(cached, endpoints, rates, max_body_bytes, settings.seconds, extent, tables)
    return RoomMiddleware(guarded, Room(site.scripts)) if settings.room and site.scripts else guarded


def _started(app: ASGIApp) -> tuple[uvicorn.Server, threading.Thread]:
    """Begin a server in a thread, where GRADIO_SERVER_NAME and GRADIO_SERVER_PORT say, and wait for it."""
    name = os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    listening = _listening(name.strip("[]"))
    # No proxy is believed here, or a header's address would be taken for the peer's.
    config = uvicorn.Config(app, log_level="warning", proxy_headers=False, ws="none")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=[[listening]], name="server", daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server has not started: see the log")
        time.sleep(0.001)  # nobody tells
    print(f"* Running on local URL:  http://{name}:{listening.getsockname()[1]}", flush=True)
    return server, thread


def _listening(host: str) -> socket.socket:
    """Listen at the owner's port, or at the first that is free."""
    given = os.environ.get("GRADIO_SERVER_PORT")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    *others, last = [int(given)] if given else PORTS
    for port in others:
        with suppress(OSError):  # somebody else's
            return socket.create_server((host, port), family=family, backlog=BACKLOG)
    return socket.create_server((host, last), family=family, backlog=BACKLOG)


def page_options() -> dict[str, Any]:
    """List what gradio needs to show the page as it is meant, and nothing besides."""
    return {
        "theme": _theme(),
        "head": REMOVE_BASE + ICON + places.PRELOAD + places.SCRIPT,
        "css_paths": [ASSETS / "answers.css", ASSETS / "theme.css"],
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
        "show_error": False,
        "run_history": False,
        "enable_monitoring": False,
        "pwa": False,
    }


def _theme() -> gr.themes.Base:
    """Gradio's default with fonts of the visitor's system and subdued text that can still be read."""
    fonts = ["ui-sans-serif", "system-ui", "sans-serif"]
    mono = ["ui-monospace", "Consolas", "monospace"]
    theme = gr.themes.Default(primary_hue="orange", neutral_hue="slate", font=fonts, font_mono=mono)
    theme.set(
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_dark="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_hover_dark="*primary_800",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_300",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
    )
    return theme
