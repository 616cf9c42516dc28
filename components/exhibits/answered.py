"""What the Classify tab shows of one question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

from components.analyses.anatomy import Anatomy
from components.analyses.importance import Importance
from components.analyses.padding import Padding
from components.analyst import Analyst
from components.errors import PoolscopeError
from components.exhibits.control import State
from components.exhibits.importance.methods import INTEGRATED
from components.exhibits.view import LABEL
from components.texts import Sentence
from components.types import Analysis, Query


@dataclass(frozen=True, eq=False)
class Answered:
    """The answer, and what is asked for once somebody looks at it: the head, importance, and padding.

    ``dissect``, ``ask`` and ``audit`` give these; they raise PoolscopeError where there is none.
    """

    analysis: Analysis
    dissect: Callable[[], Anatomy]
    ask: Callable[[], Importance]
    audit: Callable[[], Padding]

    @classmethod
    def by(cls, analyst: Analyst, analysis: Analysis, state: State) -> Answered:
        """With a head, importance as ``state`` asks for it, and padding, by ``analyst``."""
        query = analysis.query
        return cls(
            analysis,
            partial(analyst.ask, "anatomy", query),
            partial(importance_of, analyst, query, state),
            partial(padding_of, analyst, query),
        )

    @classmethod
    def apart(cls, analyst: Analyst, anatomy: Anatomy, state: State) -> Answered:
        """The same where the head was taken apart with the answer."""
        return replace(cls.by(analyst, anatomy.analysis, state), dissect=lambda: anatomy)

    @cached_property
    def anatomy(self) -> Anatomy:
        """The head taken apart; PoolscopeError where there is none."""
        return self.dissect()

    @cached_property
    def importance(self) -> Importance | Sentence:
        """What is called the importance of each token, or why it cannot be had."""
        try:
            return self.ask()
        except PoolscopeError as error:
            return error.sentence

    @cached_property
    def padding(self) -> Padding | Sentence:
        """What padding changes, or why that was not measured."""
        try:
            return self.audit()
        except PoolscopeError as error:
            return error.sentence


def padding_of(analyst: Analyst, query: Query) -> Padding:
    """What padding changes of the checkpoint's own answer to a text, whatever else ``query`` asks."""
    found: Padding = analyst.ask("padding", Query(query.backbone, query.text, query.text_pair))
    return found


def importance_of(analyst: Analyst, query: Query, state: State) -> Importance:
    """What is called importance in an answer, as ``state`` asks; PoolscopeError says why there is none."""
    options = {"label": LABEL.of(state), "integrated": INTEGRATED.of(state)}
    found: Importance = analyst.ask("importance", asked_of(query), **options)
    return found


def asked_of(query: Query) -> Query:
    """The question that is asked there: importance has similarity to [CLS] at the last layer beside it."""
    return replace(query, reference="cls", layer=-1)
