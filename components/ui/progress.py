"""How far an answer is: a line of words, a bar, and a button that gives it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from components.texts import Texts
from components.types import Progress
from components.ui.places import AT_ONCE, Updates


@dataclass(frozen=True, eq=False)
class ProgressBar:
    """The place of the line and of the bar, and the button."""

    status: gr.HTML
    cancel: gr.Button

    @property
    def parts(self) -> list[Any]:
        """Both."""
        return [self.status, self.cancel]

    def busy(self, line: str, step: Progress | None = None, below: str = "") -> Updates:
        """Updates that say how far it is, None where nothing is known, and let it be given up.

        ``line`` is not escaped, ``below`` is HTML.
        """
        said, far = escape(line), "" if step is None else f' max="{step.total}" value="{step.done}"'
        bar = f'<progress{far} aria-label="{said}"></progress>'
        told = f'<div class="progress" role="status"><p>{said}</p>{bar}</div>{below}'
        return {self.status: told, self.cancel: gr.update(interactive=True)}

    def idle(self, said: str = "") -> Updates:
        """Updates once nothing is under way; ``said`` is HTML."""
        return {self.status: said, self.cancel: gr.update(interactive=False)}

    def stopped(self, said: str) -> Updates:
        """Updates once it was given up; ``said`` is not escaped."""
        return self.idle(f'<p class="progress" role="status">{escape(said)}</p>')

    def connect(
        self, coming: Any, stop: Callable[..., Updates], outputs: list[Any], inputs: Iterable[Any] = ()
    ) -> None:
        """End the event ``coming`` when the button is pressed, and then ``stop``, which comes last."""
        self.cancel.click(None, cancels=[coming], api_visibility="private")
        self.cancel.click(stop, inputs=set(inputs) or None, outputs=outputs, **AT_ONCE)


def build_progress(name: str, say: Texts) -> ProgressBar:
    """Lay it out: nothing is under way."""
    status = gr.HTML("", elem_id=f"{name}-status")
    return ProgressBar(status, build_cancel(name, say))


def build_cancel(name: str, say: Texts, **size: Any) -> gr.Button:
    """Lay the button out, which gives up what is called ``name``."""
    return gr.Button(say("download.cancel"), interactive=False, elem_id=f"{name}-cancel", **size)
