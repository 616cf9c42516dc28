"""Measures: what a card asks of one backbone, a small function each, by its name in assets/questions.toml."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from components.analyst import Analyst
from components.exhibits import facts
from components.exhibits.evidence import BASE, Evidence
from components.exhibits.panels import Answered
from components.exhibits.question import Question
from components.exhibits.view import visible
from components.texts import Texts

Facts = Mapping[str, str]  # facts and cases, by name


@dataclass(frozen=True, eq=False)
class Put:
    """A ``question`` that is put to one ``backbone``; ``evidence``: what was measured of its task before."""

    question: Question
    backbone: str
    analyst: Analyst
    evidence: Evidence
    say: Texts

    @cached_property
    def shown(self) -> Answered:
        """The answer, with the head taken apart; PoolscopeError where there is none."""
        head = self.analyst.ask("anatomy", self.question.query(self.backbone, self.question.pooling))
        return Answered(self.analyst, head.analysis, {}, head)


def head(put: Put) -> Facts:
    """Say what its own head, or the question's pooling, reads and does."""
    return facts.head_facts(put.shown.anatomy, put.say)


def against(put: Put) -> Facts:
    """Say the same of a second pooling, and whether both agree."""
    other = put.analyst.ask("anatomy", put.question.query(put.backbone, put.question.against))
    return facts.against_facts(put.shown.anatomy, other, put.say)


def importance(put: Put) -> Facts:
    """Say which tokens matter."""
    return facts.importance_facts(put.shown.importance, put.say)


def padding(put: Put) -> Facts:
    """Say what padding changes."""
    return facts.padding_facts(put.shown.padding, put.say)


def results(put: Put) -> Facts:
    """Say what the results hold of the question's task and poolings."""
    titles = {task.key: task.said(put.say) for task in put.analyst.tasks()}
    found = facts.result_facts(put.evidence, put.backbone, put.question.poolings, put.say)
    return {**found, "task": visible(titles.get(put.question.task, put.question.task))}  # its title


STORED: Mapping[str, Callable[[Put], Facts]] = MappingProxyType({"results": results})  # runs no model
MEASURES: Mapping[str, Callable[[Put], Facts]] = MappingProxyType(
    {**{one.__name__: one for one in (head, against, importance, padding)}, **STORED}
)


def is_stored(question: Question) -> bool:
    """Tell whether the results alone answer it: no backbone is run."""
    return STORED.keys() >= {*question.measures}


def measured(put: Put) -> dict[str, str]:
    """Take every measure of a question on one backbone."""
    return {name: fact for one in put.question.measures for name, fact in MEASURES[one](put).items()}


def together(puts: Sequence[Put]) -> dict[str, str]:
    """Say what all backbones of a question are together, by their heads and by the results."""
    question, say = puts[0].question, puts[0].say
    heads = {} if is_stored(question) else facts.heads_facts([put.shown.anatomy for put in puts], say)
    if not question.task:
        return heads
    return heads | facts.results_facts(puts[0].evidence, (*question.poolings, BASE)[0], say)
