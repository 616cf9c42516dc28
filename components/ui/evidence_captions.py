"""Headings of the plots of the evidence, and what they show in words, as escaped HTML."""

from __future__ import annotations

from collections.abc import Mapping

from components.figures.evidence import Estimate, Evidence
from components.figures.intervals import MARKS, Format, share
from components.figures.labels import visible
from components.figures.view import Say, number
from components.ui.away import away
from components.ui.captions import titled
from components.ui.evidence_table import csv_text
from components.ui.findings import ends

Estimates = Mapping[str, Mapping[str, Estimate]]  # backbone -> pooling -> number


def accuracy_heading(evidence: Evidence, say: Say, name: str = "accuracy") -> str:
    """Accuracy under the probe: as a heading, and its ends in words."""
    estimates = {key: evidence.accuracies(key) for key in evidence.backbones}
    described = _description(evidence, estimates, share, say)
    return titled(name, say("evidence.accuracy_heading"), described, _row(name, evidence, say))


def rho_heading(evidence: Evidence, say: Say, name: str = "rho") -> str:
    """Rho of the raw cosine: as a heading, and its ends in words."""
    estimates = {key: evidence.rhos(key) for key in evidence.backbones}
    described = _description(evidence, estimates, number, say)
    return titled(name, say("evidence.rho_heading"), described, _row(name, evidence, say))


def _row(name: str, evidence: Evidence, say: Say) -> str:
    """Both plots have one table; an image names the backbones with their shapes."""
    signs = zip(evidence.backbones, MARKS, strict=False)
    names = "  ".join(f"{sign} {visible(evidence.titles[key])}" for key, (_, _, sign) in signs)
    about = say("away.about_evidence", task=visible(evidence.task), backbones=names)
    return away(name, csv_text(evidence, say), about, say)


def _description(evidence: Evidence, estimates: Estimates, shown: Format, say: Say) -> str:
    """The lowest and the highest value of each backbone that has any."""
    spans = []
    for key, found in estimates.items():
        if found:
            (lowest, low), (highest, high) = ends(found)
            values = {"low": shown(low), "high": shown(high)}
            names = {"lowest": visible(lowest), "highest": visible(highest)}
            spans.append(say("evidence.span", backbone=visible(evidence.titles[key]), **values, **names))
    if not spans:
        return say("evidence.unmeasured_all")
    return say("evidence.description", count=len(evidence.poolings), spans=say("list.semicolon").join(spans))
