"""The server: gradio mounted in FastAPI, with every limit that the owner has set around it."""

import asyncio
import inspect
import logging
import os
import socket
import sys
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import gradio as gr
import uvicorn
from fastapi import FastAPI
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from components.admission import Admission
from components.errors import PoolscopeError
from components.exhibits.report import figures_scripts
from components.reach import Reach, bracketed, host_of, is_near, reach_of
from components.settings import Settings
from components.texts import ASSETS, ENGLISH, load_texts, read_toml
from components.ui import gradio_internals as internals, places
from components.ui.api import openapi
from components.ui.public import answering, requests
from components.ui.public.guard import GuardMiddleware
from components.ui.public.heads import BoundedProtocol
from components.ui.public.monitor import Monitor, monitored
from components.ui.public.queue import QueueMiddleware
from components.ui.public.requests import DOCUMENTS, DRAWN, EXPLAIN, endpoints_of, page_path
from components.ui.public.response_cache import ADDRESS, HERE, OWN, ResponseCache
from components.ui.shell import Site
from components.ui.talk import Room, RoomMiddleware, encoded

OTHERS = 80  # events at work in a line that is not named here
# Concurrency ids of what has a checkpoint run, and how many run at a time. The analyst lets those of 24
# wait for each other; each comparison and each talk takes the engine for one question after the other.
ASKING = {"model": 24, "origin": 24, "compare": 2, "talk": 2, "fit": 16}
PLACES = {**ASKING, "find": 16, "download": 16, DRAWN: 4, "": 2}  # the last: by the page's own processor
SESSIONS = 1000  # visitors whose last answer is kept for redrawing it
BACKLOG = 2048  # connections that wait to be accepted
PORTS = range(7860, 7960)  # of which the first that is free is taken, where the owner names none
HEAD = Path(__file__).with_name("head.html")  # the mark of what is read: a served one is fetched again
HOW = "set GRADIO_SERVER_NAME=0.0.0.0 or, where that is set, POOLSCOPE_URL to its address in the network"
logger = logging.getLogger(__name__)
STRONGER = ":root:root:root"  # than gradio's own rules


def serve(site: Site, settings: Settings, ready: Callable[[], bool]) -> Callable[[float], None]:
    """Serve a site within what ``settings`` state; ``ready`` says whether questions can be answered.

    What it gives serves no more, as soon as the answers that are there have been read, or in so many seconds.
    """
    monitor, page = Monitor(), site.page
    endpoints = endpoints_of(page)
    named = {str(one.concurrency_id) for one in internals.block_functions(page).values()} | {*PLACES}
    places = {name: PLACES.get(name, OTHERS) for name in named}
    admission = Admission(places, settings.waiting)
    app = FastAPI(openapi_url=None)
    queue = QueueMiddleware(app, admission, partial(internals.forget, page))
    public = _limit(page, queue, settings.seconds, monitor)
    plain = {name: answering.PlainHTTP(run, admission) for name, run in public.items()}
    functions = {f"/{name}": run for name, run in public.items() if not inspect.isasyncgenfunction(run)}
    app.router.routes.extend(Route(path, plain[path[1:]], methods=["POST"]) for path in functions)
    poolings = [spec.key for spec in site.links[ENGLISH].analyst.poolings()]
    described = JSONResponse(openapi(functions, poolings, settings.characters))
    app.router.routes.append(Route(requests.OPENAPI, described))
    app.router.routes.extend(_documents(site, admission, settings.seconds, monitor))
    for (path, text), kind in ((style_sheet(), "css"), (script(), "javascript")):
        app.router.routes.append(Route(path, Response(text, media_type=f"text/{kind}")))
    internals.widen(page, 2 * settings.waiting + sum(places.values()), SESSIONS)
    with warnings.catch_warnings():  # gradio tells each app of several pages so, also where it is off
        warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
        gr.mount_gradio_app(app, page, "/", **page_options())
    internals.spare(page)
    listening = _listening(host_of())
    address = f"http://{bracketed(host_of())}:{listening.getsockname()[1]}"
    if tools := internals.tools_of(page):
        answering.answer_tools(tools, endpoints, plain)
    cached = _cached(queue, site, ready, settings.url or address)
    guard = GuardMiddleware(cached, endpoints, settings, site.links[ENGLISH].extent, tools is not None)
    talked = RoomMiddleware(guard, Room(site.scripts), settings.room) if site.scripts else guard
    guarded = monitored(talked, monitor, ready, settings)

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(asyncio.CancelledError):  # a stream has no end: it is cut where the server has to end
            await (guarded if scope["type"] == "http" else app)(scope, receive, send)  # or the app's lifespan

    server, thread = _started(served, listening, [str(network) for network in settings.proxies])
    print(f"* Running on local URL:  {address}", flush=True)
    if settings.room and site.scripts:
        _tell_phones(f"{address}/room", reach_of(settings))

    def stop(seconds: float) -> None:
        until = time.monotonic() + seconds
        while not queue.is_quiet() and time.monotonic() < until:
            time.sleep(0.02)  # nobody tells when a message has been sent
        page.close(verbose=False)
        server.should_exit = True
        thread.join()

    return stop


def _limit(
    page: gr.Blocks, queue: QueueMiddleware, seconds: float, monitor: Monitor
) -> dict[str, Callable[..., Any]]:
    """Give every function of a page its turn and its timeout; gives those of public endpoints, by name."""
    known: dict[str, Callable[..., Any]] = {}
    for function in internals.block_functions(page).values():
        if function.fn is None:  # run by the browser alone
            continue
        asks = function.concurrency_id in ASKING
        watch = partial(monitor.question, str(function.name)) if asks else nullcontext
        public = function.api_visibility == "public"
        say = load_texts() if public else None  # programs read English, whoever asks
        run: Callable[..., Any]
        if function.types_generator:  # it says itself how far it is
            run = answering.in_steps(function.fn, watch, say)
        else:
            run = answering.with_timeout(function.fn, seconds, watch, say)
        if public:
            known[str(function.api_name)] = run
        function.fn = answering.for_gradio(function.fn, run, queue)
    return known


def _documents(site: Site, admission: Admission, seconds: float, monitor: Monitor) -> Iterator[Route]:
    """Route to what answers with a document: of a link, of one exhibit in a frame, and the page to read."""

    def timed(name: str, make: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        return answering.with_timeout(make, seconds, partial(monitor.question, name))

    def linked(name: str, **more: Any) -> Callable[..., Awaitable[Any]]:  # in the language of who asks
        makers = {tag: timed(name, partial(getattr(one, name), **more)) for tag, one in site.links.items()}
        return lambda asker, **texts: makers[asker.say.language.tag](asker, **texts)

    for path, document in DOCUMENTS.items():
        answers = answering.PlainHTTP(linked(document.name), admission, answering.document)
        yield Route(path, answers, methods=["POST"])
    path, text = _kept("\n".join(figures_scripts()), "js")
    yield Route(path, Response(text, media_type="text/javascript"))
    kept = partial(HTMLResponse, headers={"Cache-Control": "public, max-age=600"})
    shown = answering.PlainHTTP(linked("embed", script=f".{path}"), admission, kept, read=True)
    yield Route(requests.EMBED, shown, methods=["GET"])
    for tag, explain in site.readers.items():
        answers = answering.PlainHTTP(timed("explain", explain), admission, answering.document, read=True)
        yield Route(page_path(tag, EXPLAIN), answers, methods=["GET"])


def _cached(app: ASGIApp, site: Site, ready: Callable[[], bool], url: str) -> ASGIApp:
    """Keep what is the same for every visitor; in pages their first answer stands, as soon as it is there.

    ``url``: by which examples call the app.
    """
    first: dict[str, bytes] = {}
    style = f'<link rel="stylesheet" href=".{style_sheet()[0]}">'.encode()  # its first paint needs no script
    runs = f'<script src=".{script()[0]}"></script>'.encode()  # gradio would not wait for one of its head

    def answer() -> None:
        while not ready():
            time.sleep(0.1)  # nobody tells
        for tag, links in site.links.items():
            try:
                html = links.first_answer()
            except PoolscopeError as error:  # the page says it, too
                logger.info("no first answer: %s", error)
                html = Markup()
            first[page_path(tag)] = html.encode()

    pages, explained = {*map(page_path, site.links)}, {page_path(tag, EXPLAIN) for tag in site.readers}
    same, examples = internals.PATHS["same_for_all"], internals.PATHS["names_address"]

    def version(path: str) -> str | None:
        if path in pages:
            return "answered" if path in first else "waiting"
        return "" if path in explained or same.fullmatch(path) else None

    def finish(path: str, body: bytes) -> bytes:
        if path not in pages:  # a program calls by the address that it knows
            return body.replace(ADDRESS, url.encode() if examples.fullmatch(path) else b"")
        before, script = style + first.get(path, b"") + runs, b"<script>"
        body = body.replace(ADDRESS, OWN).replace(script, HERE + script, 1)
        return body.replace(internals.APP, before + internals.APP, 1)

    threading.Thread(target=answer, daemon=True).start()
    return ResponseCache(app, version, finish=finish)


def _started(
    app: ASGIApp, listening: socket.socket, proxies: list[str]
) -> tuple[uvicorn.Server, threading.Thread]:
    """Begin a server in a thread, and wait for it.

    Whom the ``proxies``, networks of those that are believed, name as the visitor is the client of a request.
    """
    # What is wrong with a message to a tool is said to who sends it; mcp would write all of it to the log.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(lambda told: "mcp" not in Path(told.pathname).parts)
    config = uvicorn.Config(
        app, http=BoundedProtocol, log_level="error", forwarded_allow_ips=proxies, ws="none"
    )  # a warning would be a line of the log for whatever anybody sends
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=[[listening]], name="server", daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server has not started: see the log")
        time.sleep(0.001)  # nobody tells
    return server, thread


def _tell_phones(room: str, reach: Reach) -> None:
    """Print where phones find the ``room``, in a terminal with its QR code; or what to do."""
    there = reach.link(room, "/room")
    if is_near(there):
        print(f"* No phone can reach {there}: {HOW}", flush=True)
        return
    print(f"* For phones in this network:  {there}  (another address: POOLSCOPE_URL)", flush=True)
    if sys.stdout.isatty():
        encoded(there).terminal(compact="utf" in sys.stdout.encoding.lower())


def _listening(host: str) -> socket.socket:
    """Listen where GRADIO_SERVER_PORT says, or at the first of PORTS that is free."""
    given = os.environ.get("GRADIO_SERVER_PORT")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    *others, last = [int(given)] if given else PORTS
    for port in others:
        with suppress(OSError):  # somebody else's
            return socket.create_server((host, port), family=family, backlog=BACKLOG)
    return socket.create_server((host, last), family=family, backlog=BACKLOG)


def style_sheet() -> tuple[str, str]:
    """Give the path and the text of the page's style sheet, which browsers keep until it is another one.

    The page's first paint needs no script: no rule waits for a class that gradio adds.
    """
    base, *rules = ((ASSETS / f"{name}.css").read_text("utf-8") for name in ("base", "answers", "theme"))
    return _kept(f"{base}{STRONGER} {{ {''.join(rules)} }}", "css")


def script() -> tuple[str, str]:
    """Give the path and the text of the page's script, which every language shares."""
    return _kept(places.script(), "js")


def _kept(text: str, kind: str) -> tuple[str, str]:
    return f"/assets/poolscope-{sha256(text.encode()).hexdigest()[:8]}.{kind}", text


def page_options() -> dict[str, Any]:
    """List what gradio needs to show the page as it is meant, and nothing besides."""
    # The fonts of the visitor's system, and subdued text that can still be read.
    theme = read_toml(ASSETS / "theme.toml")
    styled = gr.themes.Default(**theme["base"]).set(**theme["values"])
    head = internals.REMOVE_BASE + HEAD.read_text("utf-8") + places.PRELOAD
    off = dict.fromkeys(("ssr_mode", "show_error", "run_history", "enable_monitoring", "pwa"), False)
    return {"theme": styled, "head": head, "footer_links": ["api", "settings"], **off}
