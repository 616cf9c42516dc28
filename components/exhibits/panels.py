"""Panels: every exhibit of every tab, in its place. A new exhibit is a line here.

A view of an answer that shows one analysis may stand in the file of its exhibits, as ``VIEW``.
"""

from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules
from typing import Any, cast

from components.analyses.anatomy import Anatomy
from components.analyses.importance import Importance
from components.analyst import Analyst
from components.exhibits.averaging import AVERAGING
from components.exhibits.comparison import Comparison
from components.exhibits.control import State
from components.exhibits.curves import CURVES
from components.exhibits.evidence import OWN_HEADS, PROBES, Evidence
from components.exhibits.exhibit import Panel, asked, or_why
from components.exhibits.grid import AGREEMENT, GRID
from components.exhibits.head import PRINTED, PROGRAMS, SENTENCE, SOURCES, WEIGHTS
from components.exhibits.hidden_states import DEPTH, LENS, TRACE, TRACED, Traced, traced
from components.exhibits.importance import BARS, IMPORTANT, LOOKS, integrates
from components.exhibits.intervals import ACCURACY, DEPTHS, EXPLANATIONS, LEGEND, RHO
from components.exhibits.lab import CONFUSION, CURVE, MISSES, NUMBERS, RANKING, Found
from components.exhibits.origin import WHENCE
from components.exhibits.sees import BOTH_WAYS, SEES, Sight
from components.exhibits.serving import MAXSIM, PADDED, SCORE, VECTOR
from components.exhibits.similarity import HEATMAP, SIMILARITY, TABLE
from components.exhibits.verdict import HOW_TO_READ, OUTPUTS, VERDICT
from components.exhibits.view import CENTRED, LABEL, LAYER
from components.exhibits.words import WORDS
from components.texts import Sentence
from components.types import Analysis, Query


@dataclass(frozen=True, eq=False)
class Answered:
    """The answer, and what is asked for once somebody looks at it: the head, importance, who sees whom.

    ``state``: how importance is asked for. ``dissected``: the head, where it came with the answer. ``found``:
    what else has been asked for, by the name of its analysis.
    """

    analyst: Analyst
    analysis: Analysis
    state: State
    dissected: Anatomy | None = None
    found: dict[str, Any] = field(default_factory=dict, init=False)

    @cached_property
    def anatomy(self) -> Anatomy:
        """The head taken apart; PoolscopeError where there is none."""
        return self.dissected or self.analyst.ask("anatomy", self.analysis.query)

    @cached_property
    def importance(self) -> Importance | Sentence:
        """Importance of each token, or why it cannot be had."""
        return or_why(partial(importance_of, self.analyst, self.analysis, self.state))

    @cached_property
    def sees(self) -> Sight:
        """Measure who sees whom in the text, as the checkpoint is or let see both ways."""
        options = {BOTH_WAYS.key: BOTH_WAYS.of(self.state)}
        ask = partial(self.analyst.ask, "sees", own_of(self.analysis.query), **options)
        return Sight(self.analysis, or_why(ask))


def importance_of(analyst: Analyst, analysis: Analysis, state: State) -> Importance:
    """Ask for importance in an answer, as ``state`` says; PoolscopeError says why there is none."""
    options = {"label": LABEL.of(state), "integrated": integrates(analysis, state)}
    return cast("Importance", analyst.ask("importance", asked_of(analysis.query), **options))


def own_of(query: Query) -> Query:
    """The question that is asked of the checkpoint as it is: whatever is pooled, and of which head."""
    return Query(query.backbone, query.text, query.text_pair)


def asked_of(query: Query) -> Query:
    """The question that is asked there: importance has similarity to [CLS] at the last layer beside it."""
    return replace(query, reference="cls", layer=-1)


ANSWER: Panel[Answered, Analysis] = Panel(
    "verdict", "page.classify", attrgetter("analysis"), summary=VERDICT, controls=(LAYER, CENTRED)
)
TOKENS: Panel[Answered, Analysis] = Panel(
    "tokens",
    "view.tokens",
    attrgetter("analysis"),
    rows=((SIMILARITY, OUTPUTS), (HEATMAP,), (TABLE,)),
    controls=(LAYER, CENTRED),
)
ORIGIN = Panel("origin", "origin.heading_many", asked("origin", asked_of), rows=((WHENCE,),))
SEEING: Panel[Answered, Sight] = Panel("sees", "sees.title", attrgetter("sees"), rows=((SEES,),))
HEAD: Panel[Answered, Anatomy] = Panel(
    "head",
    "view.head",
    attrgetter("anatomy"),
    summary=SENTENCE,
    rows=((PRINTED,), (LENS, DEPTH), (WEIGHTS,), (SOURCES,), (PROGRAMS,)),
)
PADDING = Panel("padding", "view.padding", asked("padding", own_of), rows=((PADDED,),))
MATCHES: Panel[Answered, Any] = Panel(
    "matches",
    "maxsim.title",
    lambda given: asked("maxsim")(given) if given.analysis.query.text_pair else None,
    rows=((MAXSIM,),),
)
DETECTIVE: Panel[Any, Any] = Panel("detective", "detective.heading", rows=((VECTOR,),))
SCORES: Panel[Any, Any] = Panel("score", "score.heading", rows=((SCORE,),))
IMPORTANCE: Panel[Answered, Importance | Sentence] = Panel(
    "importance",
    "view.importance_many",
    attrgetter("importance"),
    summary=IMPORTANT,
    rows=((BARS,),),
    controls=LOOKS,
)


@cache  # what stands in the folder does not change while it runs
def views() -> tuple[Panel[Answered, Any], ...]:
    """List the views of an answer that show one analysis, as it comes: padding, and each file's ``VIEW``."""
    package = import_module(__package__)
    names = (one.name for one in iter_modules(package.__path__, f"{package.__name__}."))
    found = (getattr(import_module(name), "VIEW", None) for name in names)
    return (PADDING, *(panel for panel in found if panel is not None))


READING: Panel[Answered, Analysis] = Panel(
    "reading", "away.reading", attrgetter("analysis"), rows=((HOW_TO_READ,),)
)
AVERAGES: Panel[Evidence, Evidence] = Panel("averages", "page.evidence", rows=((AVERAGING,),))
EVIDENCE: Panel[Evidence, Evidence] = Panel(
    "evidence",
    "page.evidence",
    summary=LEGEND,
    rows=((ACCURACY, RHO), (DEPTHS,), (EXPLANATIONS,), (PROBES,), (OWN_HEADS,)),
)
COMPARISON: Panel[Comparison, Comparison] = Panel(
    "comparison", "page.compare", summary=AGREEMENT, rows=((GRID,), (WORDS,), (CURVES,))
)
TRACING: Panel[Comparison, Traced] = Panel(
    "tracing", "trace.heading", traced, rows=((TRACE,),), controls=(TRACED,)
)
LAB: Panel[Found, Found] = Panel(
    "lab-found", "page.lab", rows=((RANKING,), (NUMBERS,), (CURVE, CONFUSION), (MISSES,))
)
