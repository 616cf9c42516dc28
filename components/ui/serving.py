"""What serving the page needs: its looks, and what guards it in public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr
from starlette.types import ASGIApp

from components.settings import Settings
from components.texts import ASSETS, ENGLISH
from components.ui import places
from components.ui.gradio_internals import (
    REMOVE_BASE,
    SAME_FOR_ALL,
    block_functions,
    current_headers,
    launch_guarded,
    let_read,
    send_changes,
    take_values,
)
from components.ui.public.locale import request_texts
from components.ui.public.middleware import PAGES, GuardMiddleware
from components.ui.public.plain import (
    AtOnceMiddleware,
    PlainMiddleware,
    document_function,
    plain_functions,
)
from components.ui.public.rate_limit import Rates
from components.ui.public.request_body import PASSPORT, REPORT, endpoints_of
from components.ui.public.response_cache import ResponseCache
from components.ui.public.status import Monitor, StatusMiddleware, monitored, monitored_stream
from components.ui.public.timeout import with_patience, with_timeout
from components.ui.shell import Site
from components.ui.talk.room import Room, RoomMiddleware

ASKING = ("model", "compare", "talk", "fit")  # concurrency ids of what has a checkpoint run
AT_WORK = 24  # questions that are given to the analyst at the same time; it lets them wait for each other
AT_ONCE = 4  # calls that need no analyst, at the same time: each takes the page's own processor
PLACES = 1  # seconds between two messages to all who wait that say how many are before them
THREADS = 80  # of gradio's own, besides those in which questions wait
SESSIONS = 1000  # visitors whose last answer is kept for redrawing it
MAX_CHARACTER_BYTES = 24  # of one character in a body: \ud83d\ude00, in either of two texts
ROW_BYTES = 2_000  # of a row of the lab's table, which its box sends twice
OTHER_BODY_BYTES = 65_536  # of a body besides its texts
# The mark of what is read, in the page itself: a browser looks for a served one again at every new address.
ICON = (
    '<link rel="icon" href="data:image/svg+xml,'
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='8' r='7' fill='%23d97706'/%3E%3C/svg%3E\">"
)


def serve(site: Site, settings: Settings, ready: Callable[[], bool]) -> None:
    """Serve a site, with every limit that ``settings`` state, and return as soon as it is there.

    ``ready`` says whether questions can be answered by now.
    """
    monitor, page, links = Monitor(), site.page, site.links
    for function in block_functions(page).values():
        if function.fn is not None:
            streams, asks = function.types_generator, function.concurrency_id in ASKING
            function.fn = _limited(function.fn, streams, settings.seconds, monitor if asks else None)
    take_values(page, lambda: request_texts(current_headers())("refusal.value"))
    send_changes(page)
    page.queue(
        max_size=settings.waiting,
        default_concurrency_limit=AT_WORK,
        status_update_rate=PLACES,
        api_open=False,
    )
    endpoints, functions = endpoints_of(page), plain_functions(page)
    for path, makers in (
        (REPORT, {tag: one.report for tag, one in links.items()}),
        (PASSPORT, {tag: one.passport for tag, one in links.items()}),
    ):
        limited = {tag: _limited(make, False, settings.seconds, monitor) for tag, make in makers.items()}
        functions[path.strip("/")] = document_function(limited)
    rates = Rates(settings.rate, settings.address_rate, settings.room, settings.proxies)

    def guard(app: ASGIApp) -> ASGIApp:
        app = PlainMiddleware(
            AtOnceMiddleware(app, AT_ONCE, settings.waiting), functions, AT_WORK, settings.waiting
        )
        max_body_bytes = MAX_CHARACTER_BYTES * settings.characters + OTHER_BODY_BYTES
        cached = ResponseCache(app, lambda path: path in PAGES or bool(SAME_FOR_ALL.fullmatch(path)))
        extent = links[ENGLISH].extent  # the same in each language
        tables = ROW_BYTES * settings.lab_rows
        guarded = GuardMiddleware(cached, endpoints, rates, max_body_bytes, settings.seconds, extent, tables)
        in_room = RoomMiddleware(guarded, Room(site.scripts)) if settings.room and site.scripts else guarded
        return StatusMiddleware(in_room, ready, monitor, settings.metrics)

    launch_guarded(page, guard, **launch_options())


def stop(site: Site, close: Callable[[], None], seconds: float) -> None:
    """Have ``close`` end what is asked, let everybody read what came of it, and serve no more.

    So many ``seconds`` are for reading.
    """
    close()
    let_read(site.page, seconds)
    site.page.close()


def _limited(
    function: Callable[..., Any], streams: bool, seconds: float, monitor: Monitor | None
) -> Callable[..., Any]:
    """A function of the page with a timeout, noted by ``monitor``; what streams says itself how far it is."""
    name = getattr(getattr(function, "func", function), "__name__", type(function).__name__)
    if streams:
        stream = with_patience(function)
        return stream if monitor is None else monitored_stream(stream, name, monitor)
    limited = with_timeout(function, seconds)
    return limited if monitor is None else monitored(limited, name, monitor)


def launch_options() -> dict[str, Any]:
    """What ``Blocks.launch`` needs to show the page as it is meant, and nothing besides."""
    return {
        "theme": _theme(),
        "head": REMOVE_BASE + ICON + places.PRELOAD + places.SCRIPT,
        "css_paths": [ASSETS / "answers.css", ASSETS / "theme.css"],
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
        "show_error": False,
        "share": False,
        "run_history": False,
        "max_threads": THREADS,
        "enable_monitoring": False,
        "pwa": False,
        "state_session_capacity": SESSIONS,
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
