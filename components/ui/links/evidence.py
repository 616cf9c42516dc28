"""What a link says of the Evidence tab."""

from __future__ import annotations

from components.ui.evidence import EvidenceTab
from components.ui.links.controls import Control, Linked, OneOf, SomeOf


def evidence_controls(tab: EvidenceTab) -> list[Linked]:
    """What can be set in the tab."""
    evidences = tab.evidences
    return [
        Linked(Control("evidence_task", OneOf(lambda: evidences.tasks), evidences.first.task), tab.task),
        Linked(
            Control("evidence_backbones", SomeOf(lambda: evidences.backbones), evidences.first.backbones),
            tab.backbones,
        ),
    ]
