"""What there is to look at: every exhibit of every tab, in its place. A new exhibit is a line here."""

from __future__ import annotations

from operator import attrgetter

from components.anatomy import Anatomy
from components.exhibits.answer.heatmap import HEATMAP
from components.exhibits.answer.outputs import OUTPUTS
from components.exhibits.answer.similarity import SIMILARITY
from components.exhibits.answer.table import TABLE
from components.exhibits.answer.verdict import HOW_TO_READ, VERDICT
from components.exhibits.comparison.agreement import AGREEMENT
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.comparison.curves import CURVES
from components.exhibits.comparison.grid import GRID
from components.exhibits.comparison.table import COMPARISON_TABLE
from components.exhibits.comparison.words import WORDS
from components.exhibits.edit.moved_words import MOVES
from components.exhibits.evidence.evidence import Evidence
from components.exhibits.evidence.findings import FINDINGS, PUBLISHED
from components.exhibits.evidence.intervals import ACCURACY, LEGEND, RHO
from components.exhibits.evidence.swaps import SWAPS
from components.exhibits.evidence.table import OWN, PROBES
from components.exhibits.exhibit import Panel
from components.exhibits.head.depth import DEPTH
from components.exhibits.head.flow import FLOW
from components.exhibits.head.lens import LENS
from components.exhibits.head.printed import PRINTED
from components.exhibits.head.sentence import SENTENCE
from components.exhibits.head.sources import PROGRAMS, SOURCES
from components.exhibits.head.strips import STRIPS
from components.exhibits.head.weights import WEIGHTS
from components.exhibits.view import CENTRED, LAYER
from components.types import Analysis

ANSWER: Panel[Anatomy, Analysis] = Panel(
    key="verdict",
    title="page.classify",
    subject=attrgetter("analysis"),
    summary=VERDICT,
    rows=(),
    controls=(LAYER, CENTRED),
)
TOKENS: Panel[Anatomy, Analysis] = Panel(
    key="tokens",
    title="view.tokens",
    subject=attrgetter("analysis"),
    summary=None,
    rows=((SIMILARITY, OUTPUTS), (HEATMAP,), (TABLE,)),
    controls=(LAYER, CENTRED),
)
HEAD: Panel[Anatomy, Anatomy] = Panel(
    key="head",
    title="view.head",
    subject=lambda anatomy: anatomy,
    summary=SENTENCE,
    rows=((FLOW, STRIPS), (LENS, DEPTH), (PRINTED,), (WEIGHTS,), (SOURCES,), (PROGRAMS,)),
)
READING: Panel[Anatomy, Analysis] = Panel(
    key="reading",
    title="away.reading",
    subject=attrgetter("analysis"),
    summary=None,
    rows=((HOW_TO_READ,),),
)
EVIDENCE: Panel[Evidence, Evidence] = Panel(
    key="evidence",
    title="page.evidence",
    subject=lambda evidence: evidence,
    summary=LEGEND,
    rows=((ACCURACY, RHO), (FINDINGS,), (PUBLISHED,), (PROBES,), (OWN,), (SWAPS,)),
)
COMPARISON: Panel[Comparison, Comparison] = Panel(
    key="comparison",
    title="page.compare",
    subject=lambda comparison: comparison,
    summary=AGREEMENT,
    rows=((GRID,), (MOVES,), (WORDS,), (CURVES,), (COMPARISON_TABLE,)),
)
