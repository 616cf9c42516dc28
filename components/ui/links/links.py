"""A link reproduces the state: the page follows the one that led here, and keeps its address up to date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from components.errors import PoolscopeError
from components.figures.labels import visible
from components.figures.view import Say
from components.ui.classify import Classify
from components.ui.compare.tab import Compare
from components.ui.evidence import EvidenceTab
from components.ui.leading import CLASSIFY, COMPARE, EVIDENCE, QUESTIONS
from components.ui.links.classify import classify_controls, open_classify
from components.ui.links.compare import compare_controls
from components.ui.links.controls import Control, Linked, OneOf, State, from_link
from components.ui.links.evidence import evidence_controls
from components.ui.links.reports import Reports
from components.ui.links.share import build_share, code

Updates = dict[Any, Any]  # component -> its new value or gr.update(...) of its properties
VIEWS = ("tokens", "head")
CHANGED = "(...values) => window.poolscope?.changed(...values)"
FOLLOWED = "(...values) => window.poolscope?.followed(...values)"
SAVED = "(report) => window.poolscope.save(report)"
SHOWN = "() => document.getElementById('code')?.showModal()"


@dataclass(frozen=True, eq=False)
class Links:
    """The parts of the page that a link can set; ``code`` is the place of its QR code."""

    classify: Classify
    compare: Compare
    evidence: EvidenceTab | None
    tabs: gr.Tabs
    banner: gr.HTML
    place: gr.Column
    say: Say

    @property
    def controls(self) -> list[Control]:
        """What a link may hold."""
        return [one.control for one in self.linked]

    @property
    def linked(self) -> list[Linked]:
        """Every control of every tab; those that only the browser knows come last."""
        evidence = evidence_controls(self.evidence) if self.evidence else []
        tabs = (CLASSIFY, COMPARE, *((EVIDENCE,) if self.evidence else ()), QUESTIONS)
        return [
            *classify_controls(self.classify),
            *compare_controls(self.compare),
            *evidence,
            Linked(Control("tab", OneOf(lambda: tabs), CLASSIFY), None),
            Linked(Control("view", OneOf(lambda: VIEWS), VIEWS[0]), None),
        ]

    def connect(self) -> None:
        """Follow the link that led here, then keep the address."""
        parts: list[Any] = [one.part for one in self.linked if one.part is not None]
        with self.place:
            share, dialog = build_share(self.controls, self.say), gr.HTML("", elem_id="code-place")
            parcel = gr.Textbox("", visible="hidden", show_label=False, elem_id="parcel")
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        views = self.classify.answer.views
        share.apply(
            self.follow,
            inputs={*self.classify.inputs, self.classify.download.arrived},
            outputs=self.outputs,
            concurrency_id="model",
            api_visibility="private",
            show_progress="minimal",
            show_progress_on=[self.classify.answer.verdict],
        ).then(None, inputs=parts, js=FOLLOWED, **quiet)
        changes = [*(part.change for part in parts), self.tabs.change, views.change]
        gr.on(changes, None, inputs=parts, js=CHANGED, **quiet)
        share.download(
            self.report,
            outputs=parcel,
            concurrency_id="model",
            api_visibility="private",
            show_progress="minimal",
            show_progress_on=[share],
        ).success(None, inputs=parcel, outputs=parcel, js=SAVED, **quiet)
        share.expand(self.draw_code, outputs=dialog, queue=False, **quiet).then(None, js=SHOWN, **quiet)

    @property
    def outputs(self) -> list[Any]:
        """Everything that a link may set."""
        compare = [one.part for one in compare_controls(self.compare)]
        evidence = self.evidence.outputs if self.evidence else []
        answer = self.classify.answer
        own = [self.banner, self.tabs, self.classify.question.found, answer.views, answer.centred]
        return [*own, *self.classify.outputs, *compare, *evidence]

    def follow(self, given: Mapping[Any, Any], event: gr.EventData) -> Updates:
        """Make the page what the link says that led here, and say what of it could not be had.

        What the link leaves out stays as it is: a quick visitor may have set it by now.
        """
        state, faults = from_link(str(event.query), self.controls)
        if _set(state, classify_controls(self.classify)):
            answer, more = open_classify(self.classify, state, given)
        else:
            answer, more = self.classify.arrive(given), []
        compare = {one.part: _sent(state, one) for one in _set(state, compare_controls(self.compare))}
        places = {"tab": self.tabs, "view": self.classify.answer.views}
        chosen = [one.control.key for one in _set(state, self.linked) if one.part is None]
        tabs = {places[key]: gr.update(selected=state[key]) for key in chosen}
        said = {self.banner: self._notice(faults + more)}
        return {**answer, **compare, **self._evidence(state), **tabs, **said}

    def report(self, event: gr.EventData) -> str:
        """What is on the screen as one document; PoolscopeError where that is no answer."""
        reports = Reports(self.classify.analyst, tuple(self.controls), self.say)
        return reports.document(str(event.query), str(event.page))

    def draw_code(self, event: gr.EventData) -> str:
        """The QR code of the present link, or why there is none."""
        try:
            return code(event.link, self.say)
        except PoolscopeError as error:
            raise gr.Error(escape(visible(error.said(self.say))), print_exception=False) from error

    def _evidence(self, state: State) -> Updates:
        if self.evidence is None or not _set(state, evidence_controls(self.evidence)):
            return {}
        chosen = state["evidence_backbones"]
        task, backbones = str(state["evidence_task"]), chosen if isinstance(chosen, tuple) else ()
        return self.evidence.lead_to(task, backbones) if backbones else {}

    def _notice(self, faults: list[PoolscopeError]) -> str:
        """What could not be followed, as HTML; "" if everything was."""
        if not faults:
            return ""
        items = "".join(f"<li>{escape(visible(fault.said(self.say)))}</li>" for fault in faults)
        heading = escape(self.say("link.faults"))
        return f'<div class="notices" role="status"><strong>{heading}</strong><ul>{items}</ul></div>'


def _set(state: State, linked: Iterable[Linked]) -> list[Linked]:
    """What is not as on arrival."""
    return [one for one in linked if state[one.control.key] != one.control.default]


def _sent(state: State, one: Linked) -> Any:
    value = state[one.control.key]
    return list(value) if isinstance(value, tuple) else value
