"""What a click on a question does beyond its card: the page shows where the answer was measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from components.ui.classify import Classify
from components.ui.evidence import EvidenceTab
from components.ui.questions import Questions

CLASSIFY, COMPARE, EVIDENCE, QUESTIONS = "classify", "compare", "evidence", "questions"  # ids of tabs


@dataclass(frozen=True, eq=False)
class Leading:
    """The parts of the page that a question leads to."""

    questions: Questions
    classify: Classify
    evidence: EvidenceTab | None
    tabs: gr.Tabs
    banner: gr.HTML

    def connect(self) -> None:
        """Every card leads to its answer."""
        beyond = [self.banner, self.tabs, self.classify.answer.views, *self.classify.outputs]
        beyond += self.evidence.outputs if self.evidence else []
        for key, card in self.questions.cards.items():
            card.button.click(
                partial(self.lead, key),
                outputs=[card.answer, *beyond],
                concurrency_id="model",
                api_visibility="private",
                show_progress="minimal",
                show_progress_on=[card.answer],
            )

    def lead(self, key: str) -> dict[Any, Any]:
        """Answer one question in its card and above the tabs, and show where the answer was measured."""
        answered, updates = self.questions.ask(key)
        if not answered.view:  # it could not be answered, and the card says why
            return updates
        updates |= {self.banner: answered.banner}
        if answered.anatomy is not None:
            shown = self.classify.lead_to(answered.anatomy)
            views = {self.classify.answer.views: gr.update(selected=answered.view)}
            return {**updates, self.tabs: gr.update(selected=CLASSIFY), **views, **shown}
        if self.evidence is None:
            return updates
        shown = self.evidence.lead_to(answered.task, answered.backbones)
        return {**updates, self.tabs: gr.update(selected=EVIDENCE), **shown}
