"""What there is to look at: every exhibit of every tab, in its place. A new exhibit is a line here."""

from __future__ import annotations

from operator import attrgetter

from components.analyses.anatomy import Anatomy
from components.analyses.detect import Detected
from components.analyses.importance import Importance
from components.analyses.padding import Padding
from components.exhibits.answer.similarity import HEATMAP, SIMILARITY, TABLE
from components.exhibits.answer.verdict import HOW_TO_READ, OUTPUTS, VERDICT
from components.exhibits.answered import Answered
from components.exhibits.comparison.agreement import AGREEMENT
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.comparison.curves import CURVES
from components.exhibits.comparison.grid import GRID
from components.exhibits.comparison.table import COMPARISON_TABLE
from components.exhibits.comparison.words import WORDS
from components.exhibits.edit.moves import MOVES
from components.exhibits.edit.trace import TRACE, TRACED, Traced, traced
from components.exhibits.evidence.depths import DEPTHS
from components.exhibits.evidence.evidence import Evidence
from components.exhibits.evidence.explanations import EXPLANATIONS
from components.exhibits.evidence.intervals import ACCURACY, FINDINGS, LEGEND, PUBLISHED, RHO
from components.exhibits.evidence.tables import OWN_HEADS, PROBES, SWAPS
from components.exhibits.evidence.whitening import WHITENING
from components.exhibits.exhibit import Panel
from components.exhibits.head.flow import FLOW
from components.exhibits.head.lens import DEPTH, LENS
from components.exhibits.head.serving import DETECTIVE as VECTOR
from components.exhibits.head.serving import PADDED
from components.exhibits.head.steps import PRINTED, PROGRAMS, SENTENCE, SOURCES, STRIPS, WEIGHTS
from components.exhibits.importance.attention import ATTENTION
from components.exhibits.importance.bars import AGREES, BARS
from components.exhibits.importance.bars import SENTENCE as IMPORTANT
from components.exhibits.importance.methods import HEAD as ATTENTION_HEAD
from components.exhibits.importance.methods import INTEGRATED
from components.exhibits.lab.found import Found
from components.exhibits.lab.misses import MISSES
from components.exhibits.lab.ranking import CONFUSION, CURVE, NUMBERS, PLANE, RANKING
from components.exhibits.view import CENTRED, LABEL, LAYER
from components.texts import Sentence
from components.types import Analysis

ANSWER: Panel[Answered, Analysis] = Panel(
    key="verdict",
    title="page.classify",
    subject=attrgetter("analysis"),
    summary=VERDICT,
    rows=(),
    controls=(LAYER, CENTRED),
)
TOKENS: Panel[Answered, Analysis] = Panel(
    key="tokens",
    title="view.tokens",
    subject=attrgetter("analysis"),
    summary=None,
    rows=((SIMILARITY, OUTPUTS), (HEATMAP,), (TABLE,)),
    controls=(LAYER, CENTRED),
)
HEAD: Panel[Answered, Anatomy] = Panel(
    key="head",
    title="view.head",
    subject=attrgetter("anatomy"),
    summary=SENTENCE,
    rows=((FLOW, STRIPS), (LENS, DEPTH), (PRINTED,), (WEIGHTS,), (SOURCES,), (PROGRAMS,)),
)
PADDING: Panel[Answered, Padding | Sentence] = Panel(
    key="padding",
    title="view.padding",
    subject=attrgetter("padding"),
    summary=None,
    rows=((PADDED,),),
)
DETECTIVE: Panel[Detected | Sentence, Detected | Sentence] = Panel(
    key="detective",
    title="detective.heading",
    subject=lambda found: found,
    summary=None,
    rows=((VECTOR,),),
)
IMPORTANCE: Panel[Answered, Importance | Sentence] = Panel(
    key="importance",
    title="view.importance",
    subject=attrgetter("importance"),
    summary=IMPORTANT,
    rows=((BARS, AGREES), (ATTENTION,)),
    controls=(LABEL, INTEGRATED, ATTENTION_HEAD),
)
READING: Panel[Answered, Analysis] = Panel(
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
    rows=(
        (ACCURACY, RHO),
        (FINDINGS,),
        (PUBLISHED,),
        (DEPTHS,),
        (WHITENING,),
        (EXPLANATIONS,),
        (PROBES,),
        (OWN_HEADS,),
        (SWAPS,),
    ),
)
COMPARISON: Panel[Comparison, Comparison] = Panel(
    key="comparison",
    title="page.compare",
    subject=lambda comparison: comparison,
    summary=AGREEMENT,
    rows=((GRID,), (MOVES,), (WORDS,), (CURVES,), (COMPARISON_TABLE,)),
)
TRACING: Panel[Comparison, Traced] = Panel(
    key="tracing",
    title="trace.heading",
    subject=traced,
    summary=None,
    rows=((TRACE,),),
    controls=(TRACED,),
)
LAB: Panel[Found, Found] = Panel(
    key="lab-found",
    title="page.lab",
    subject=lambda found: found,
    summary=None,
    rows=((RANKING,), (NUMBERS,), (CURVE, CONFUSION), (PLANE,), (MISSES,)),
)
