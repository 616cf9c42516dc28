"""Bringing a backbone of the hub onto this machine: the offer, how far it is, and the way to stop it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.view import percent, shorten, visible
from components.menus import licence, refusal
from components.texts import Texts, in_bytes
from components.types import BackboneSpec, Progress
from components.ui.places import AT_ONCE, PRIVATE, Given, Updates

LABELS = 6  # of a model that is offered
TOGETHER = 16  # visitors who wait for the hub at the same time, in each of its queues


def hub_queue(name: str) -> dict[str, Any]:
    """The queue of an event that waits for the hub, and keeps nobody else waiting."""
    return {"concurrency_id": name, "concurrency_limit": TOGETHER}


@dataclass(frozen=True, eq=False)
class Download:
    """The parts of the page about downloads; one visitor has one download at a time.

    ``offered`` and ``coming`` hold the backbone that is offered and the one on its way, or None. ``arrived``
    changes whenever another one can be asked: it holds that one, and something that never was before.
    """

    offered: gr.State
    coming: gr.State
    arrived: gr.State
    offer: gr.Row
    facts: gr.HTML
    start: gr.Button
    loading: gr.Row
    progress: gr.HTML
    cancel: gr.Button
    analyst: Analyst
    say: Texts

    @property
    def inputs(self) -> set[Any]:
        """What the page has to tell of a download, for everything that depends on it."""
        return {self.offered, self.coming}

    @property
    def outputs(self) -> list[Any]:
        """What an offer changes."""
        return [self.offered, self.offer, self.facts, self.start]

    @property
    def news(self) -> list[Any]:
        """What a download changes besides."""
        return [self.coming, self.arrived, self.loading, self.progress]

    def propose(self, spec: BackboneSpec, given: Given, said: str = "") -> Updates:
        """Offer a backbone that is not here, unless it is on its way; ``said`` is HTML to begin with."""
        coming: BackboneSpec | None = given[self.coming]
        if coming is not None and coming.key == spec.key:
            return {**self.withdraw(), self.offered: spec}
        return self._offer(spec, coming, said)

    def withdraw(self) -> Updates:
        """Offer nothing."""
        return {self.offered: None, self.offer: gr.update(visible=False)}

    def announce(self, spec: BackboneSpec) -> Updates:
        """Say that a backbone can be asked from now on."""
        return {self.arrived: (spec, secrets.token_hex(8))}

    def bring(self, given: Given) -> Iterator[Updates]:
        """Bring what is offered here, and say how far it is; who stops iterating leaves the download."""
        spec: BackboneSpec | None = given[self.offered]
        if spec is None:
            return
        yield {
            **self.withdraw(),
            self.offered: spec,
            self.coming: spec,
            self.loading: gr.update(visible=True),
            self.progress: self._progress(spec, None),
        }
        try:
            with closing(self.analyst.fetch(spec.key)) as steps:
                for step in steps:
                    yield {self.progress: self._progress(spec, step)}
            here = self.analyst.find(spec.key)
        except PoolscopeError as error:
            yield {**self._idle(), **self._offer(spec, None, refusal(error, self.say))}
        except Exception as error:
            yield {**self._idle(), **self._offer(spec, None)}
            raise gr.Error(self.say("verdict.bug")) from error
        else:
            yield {**self._idle(), **self.announce(here)}

    def stop(self, given: Given) -> Updates:
        """Say that the download was stopped; gradio ends ``bring``, and so leaves the download."""
        idle, offered = self._idle(), given[self.offered]
        if offered is None:  # another backbone is chosen by now
            return idle
        stopped = given[self.coming] is not None and offered.key == given[self.coming].key
        said = (
            f'<p class="detail" role="status">{escape(self.say("download.stopped"))}</p>' if stopped else ""
        )
        return {**idle, **self._offer(offered, None, said)}

    def connect(self) -> None:
        """Bring what is offered when it is asked for; no question to a model waits for the hub."""
        news: dict[str, Any] = {"inputs": self.inputs, "outputs": [*self.outputs, *self.news]}
        coming = self.start.click(self.bring, **news, **hub_queue("download"), **PRIVATE)
        self.cancel.click(self.stop, **news, **AT_ONCE)
        self.cancel.click(None, cancels=[coming], api_visibility="private")

    def _idle(self) -> Updates:
        """Nothing is on its way."""
        return {self.coming: None, self.loading: gr.update(visible=False)}

    def _offer(self, spec: BackboneSpec, coming: BackboneSpec | None, said: str = "") -> Updates:
        sized = spec.size is not None
        size = in_bytes(spec.size).said(self.say) if spec.size is not None else ""
        return {
            self.offered: spec,
            self.offer: gr.update(visible=True),
            self.facts: _facts(spec, coming, self.analyst.online, self.say) + said,
            self.start: gr.update(
                value=self.say("download.button" if sized else "download.button_unsized", size=size),
                visible=coming is None and self.analyst.online,
            ),
        }

    def _progress(self, spec: BackboneSpec, step: Progress | None) -> str:
        """How far it is, as HTML; None is before anything is known."""
        title, known = visible(spec.said(self.say)), step is not None and step.total > 0
        if step is None or not known:
            line, done = self.say("download.starting", title=title), 0.0
        else:
            done = min(step.done / step.total, 1)
            sizes = {"done": in_bytes(step.done).said(self.say), "total": in_bytes(step.total).said(self.say)}
            line = self.say("download.coming", title=title, percent=percent(int(100 * done) / 100), **sizes)
        label = escape(self.say("download.bar", title=title))
        bar = f'<progress max="1" value="{done:.4f}" aria-label="{label}"></progress>'
        aside = f'<p class="detail">{escape(self.say("download.meanwhile"))}</p>'
        return f'<div class="download"><p>{escape(line)}</p>{bar}{aside}</div>'


def build_download(analyst: Analyst, say: Texts) -> Download:
    """Lay both rows out, hidden."""
    with gr.Row(visible=False, elem_id="offer", elem_classes="card notice") as offer:
        facts = gr.HTML("", elem_id="offer-facts")
        start = gr.Button(say("download.button_unsized"), variant="primary", elem_id="download")
    with gr.Row(visible=False, elem_id="coming", elem_classes="card notice") as loading:
        progress = gr.HTML("", elem_id="progress")
        cancel = gr.Button(say("download.cancel"), elem_id="cancel")
    return Download(
        offered=gr.State(None),
        coming=gr.State(None),
        arrived=gr.State(None),
        offer=offer,
        facts=facts,
        start=start,
        loading=loading,
        progress=progress,
        cancel=cancel,
        analyst=analyst,
        say=say,
    )


def _facts(spec: BackboneSpec, coming: BackboneSpec | None, online: bool, say: Texts) -> str:
    """What is offered, as HTML."""
    lead = say("download.offer", title=f"<strong>{escape(visible(spec.said(say)))}</strong>")
    size = (
        say("models.size_unknown")
        if spec.size is None
        else say("models.size", size=in_bytes(spec.size).said(say))
    )
    named = [spec.location] if spec.location != spec.said(say) else []
    facts = [*named, spec.architecture, _labels(spec, say), size, licence(spec, say)]
    detail = escape(" · ".join(visible(fact) for fact in facts if fact))
    if not online:
        state = say("download.offline")
    else:
        state = say("download.other", title=visible(coming.said(say))) if coming is not None else ""
    parts = [f"<p>{lead}</p>", f'<p class="detail">{detail}</p>']
    parts += [f'<p class="detail">{escape(state)}</p>'] if state else []
    return "".join(parts)


def _labels(spec: BackboneSpec, say: Texts) -> str:
    labels = say.listed(shorten(label, 24) for label in spec.labels[:LABELS])
    rest = len(spec.labels) - LABELS
    return say("models.labels_some", labels=labels, count=rest) if rest > 0 else labels
