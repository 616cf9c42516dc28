"""What serving the page needs: its looks, and what guards it in public."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.routes import App, ORJSONResponse
from starlette.types import ASGIApp

from components.settings import Settings
from components.texts import ASSETS
from components.ui.bodies import endpoints_of
from components.ui.door import Door
from components.ui.limits import Patience

MODEL = "model"  # the concurrency id of everything that has a checkpoint run
SESSIONS = 1000  # visitors whose last answer is kept for redrawing it
BYTES = 24  # of one character in a body at most: \ud83d\ude00, in either of two texts
REST = 65_536  # bytes of a body besides its texts
# Gradio's <base href="./"> changes nothing but that Plotly names a clip by the page's whole address. Once the
# page's state has changed that address, the browser first fetches the old one to look for the clip in it, and
# draws nothing of what is clipped meanwhile. Gradio runs this before it makes any component.
NO_BASE = "<script>document.querySelector('base').remove()</script>"
# The mark of what is read, in the page itself: a browser looks for a served one again at every new address.
ICON = (
    '<link rel="icon" href="data:image/svg+xml,'
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='8' r='7' fill='%23d97706'/%3E%3C/svg%3E\">"
)


def serve(page: gr.Blocks, settings: Settings) -> None:
    """Serve the page, with every limit that ``settings`` state, and return as soon as it is there."""
    patience, turn = Patience(settings.seconds), asyncio.Lock()
    for function in page.fns.values():
        if function.fn is not None and not function.types_generator:  # a download reports its progress itself
            function.fn = patience.bound(function.fn, turn if function.concurrency_id == MODEL else None)
    page.queue(max_size=settings.waiting, api_open=False)
    endpoints = endpoints_of(page)

    def behind_door(app: ASGIApp) -> ASGIApp:
        longest = BYTES * settings.characters + REST
        return Door(app, endpoints, settings.rate, longest, settings.seconds)

    page.launch(prevent_thread_lock=True, _app=Guarded(behind_door), **launch_options())


def launch_options() -> dict[str, Any]:
    """What ``Blocks.launch`` needs to show the page as it is meant, and nothing besides."""
    return {
        "theme": _theme(),
        "head": NO_BASE + ICON,
        "css_paths": [ASSETS / "answers.css", ASSETS / "theme.css"],
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
        "show_error": False,
        "share": False,
        "run_history": False,
        "enable_monitoring": False,
        "pwa": False,
        "state_session_capacity": SESSIONS,
    }


class Guarded(App):
    """Gradio's server with a door around all of it: around its own middleware, which lets every origin in."""

    def __init__(self, behind_door: Callable[[ASGIApp], ASGIApp]) -> None:
        super().__init__(default_response_class=ORJSONResponse)
        self._behind_door = behind_door

    def build_middleware_stack(self) -> ASGIApp:
        """The whole stack, from the door inwards."""
        return self._behind_door(super().build_middleware_stack())


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
