"""The Lab tab: which backbone, pooling and layer suits a visitor's own table of labelled texts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.draw.labels import visible
from components.exhibits.exhibit import hint_html
from components.exhibits.lab.found import Found, so_far_html
from components.exhibits.panels import LAB as PANEL
from components.fitting import Fit, Plan, Reached, Stage
from components.texts import Sentence, Texts
from components.types import Progress
from components.ui.classify.download import hub_queue
from components.ui.lab.asking import LabAsking, build_lab_asking
from components.ui.lab.use import connect_use
from components.ui.places import AT_ONCE, PRIVATE, Given, Places, Updates, build_places, progress_html
from components.ui.tab import Surroundings, TabKind


def build_lab(around: Surroundings) -> None:
    """Lay the tab out; it is hidden where the owner allows no rows."""
    around.select.visible = bool(around.lab_rows)
    if not around.lab_rows:
        return
    say = around.say
    gr.HTML(f'<p class="lead">{escape(say("lab.lead"))}</p>')
    asking = build_lab_asking(around.analyst, around.lab_rows, say)
    with gr.Row(elem_id="lab-go"):
        start = gr.Button(say("lab.fit"), variant="primary", elem_id="lab-start", scale=0, min_width=200)
        cancel = gr.Button(say("download.cancel"), interactive=False, elem_id="lab-cancel", scale=0)
    status = gr.HTML("", elem_id="lab-status")
    with gr.Column(visible=False, elem_id="lab-found") as column:
        use = gr.Button(say("lab.use"), elem_id="lab-use")
        places = build_places(PANEL, say)
    lab = Lab(around.analyst, say, asking, start, cancel, status, column, around.mine, places)
    coming = start.click(
        lab.fit_table,
        inputs=asking.inputs,
        outputs=lab.news,
        trigger_mode="once",
        api_visibility="private",
        show_progress="hidden",
        **hub_queue("fit"),
    )
    told = json.dumps({key: _status_html(say(f"lab.{key}")) for key in ("stopped", "refused")})
    ended = (
        f"() => ({told})[document.getElementById('lab').dataset.cancelled === 'true' ? 'stopped' : 'refused']"
    )
    coming.failure(None, js=ended, outputs=[status], **PRIVATE)
    cancel.click(None, cancels=[coming], api_visibility="private")
    cancel.click(lab.stopped, outputs=lab.news, **AT_ONCE)
    connect_use(around, use, asking)


LAB = TabKind("lab", "page.lab", build_lab)


@dataclass(frozen=True, eq=False)
class Lab:
    """What the tab is made of. Nothing of a table is kept on the server once its fit has been sent.

    ``mine``: the head of the best combination, for this visitor alone.
    """

    analyst: Analyst
    say: Texts
    asking: LabAsking
    start: gr.Button
    cancel: gr.Button
    status: gr.HTML
    column: gr.Column
    mine: gr.State
    places: Places

    @property
    def news(self) -> list[Any]:
        """What a fit changes."""
        return [self.cancel, self.status, self.column, self.mine, *self.places.parts]

    def fit_table(self, given: Given) -> Iterator[Updates]:
        """Fit what is asked: how far it is, then everything that was found. Closing it cancels the rest."""
        titles = {spec.key: spec.title for spec in self.analyst.backbones()}
        try:
            table, plan, notes = self.asking.asked(given)
            yield {**self._shown(None), **self._busy(None, plan, titles)}
            begun = time.monotonic()
            started: dict[tuple[str, str], float] = {}  # when the stages of each backbone did
            last = begun
            reached: list[Reached] = []
            lost: dict[Sentence, None] = {}  # what backbones do not read
            with closing(self.analyst.fit(table, plan)) as steps:
                for step in steps:
                    if isinstance(step, Fit):
                        took = time.monotonic() - begun
                        said = [
                            self.say("lab.took", seconds=f"{took:.0f}"),
                            *(n.said(self.say) for n in notes),
                        ]
                        told = "".join(map(hint_html, said))
                        yield {**self._shown(Found(step, titles)), **self._idle(told)}
                    else:
                        since, last = started.setdefault((step.name, step.backbone), last), time.monotonic()
                        left = (last - since) * (step.total / max(step.done, 1) - 1)
                        reached += [] if step.reached is None else [step.reached]
                        lost |= dict.fromkeys(step.notes)
                        busy = self._busy(step, plan, titles, left)
                        busy[self.status] += "".join(hint_html(visible(n.said(self.say))) for n in lost)
                        busy[self.status] += so_far_html(reached, titles, plan.all_layers, self.say)
                        yield busy
        except PoolscopeError as error:
            refused = escape(visible(error.said(self.say)))
            yield self._idle(f'<p class="missing" role="alert">{refused}</p>')
        except Exception as error:
            yield self._idle("")
            raise gr.Error(self.say("verdict.bug")) from error

    def stopped(self) -> Updates:
        """Updates once it was given up."""
        return self._idle(_status_html(self.say("lab.stopped")))

    def _shown(self, found: Found | None) -> Updates:
        """What was found in its places, or none of these: what stood there is of another table."""
        if found is None:
            return {self.column: gr.update(visible=False)}
        return {
            self.column: gr.update(visible=True),
            self.mine: found.fit.head,
            **self.places.show(found, {}),
        }

    def _busy(self, step: Stage | None, plan: Plan, titles: dict[str, str], left: float = 0) -> Updates:
        """How far it is, by backbone, None where nothing is known; it can be given up.

        ``left``: seconds that the rest of this stage takes, at the rate so far.
        """
        line = self.say("lab.starting")
        if step is not None:
            far = {"done": step.done, "total": step.total}
            line = self.say(f"lab.stage_{step.name}", **far)
            if step.backbone in plan.backbones:
                place = plan.backbones.index(step.backbone) + 1
                title = visible(titles.get(step.backbone, step.backbone))
                which = self.say("lab.which", title=title, place=place, count=len(plan.backbones))
                line = self.say.together((which, line))
            if left >= 1:
                line = self.say.together((line, self.say("lab.left", seconds=f"{left:.0f}")))
        bar = progress_html(line, None if step is None else Progress(step.done, step.total))
        return {self.status: bar, self.cancel: gr.update(interactive=True)}

    def _idle(self, said: str) -> Updates:
        """Updates once nothing is under way; ``said`` is HTML."""
        return {self.status: said, self.cancel: gr.update(interactive=False)}


def _status_html(said: str) -> str:
    return f'<p role="status">{escape(said)}</p>'
