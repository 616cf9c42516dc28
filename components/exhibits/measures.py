"""Measures: what a card asks of one backbone, a small function each, by its name in assets/questions.toml."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from components.analyses.detect_score import DetectedScore, to_scores
from components.analyses.maxsim import MaxSim
from components.analyses.sees import Sees
from components.analyses.timing import Timed
from components.analyses.trace import Patched
from components.analyst import Analyst
from components.exhibits import facts
from components.exhibits.evidence import BASE, LEVEL, Evidence, against_base, vectors
from components.exhibits.hidden_states import settled, trace_story
from components.exhibits.panels import PADDING, Answered
from components.exhibits.question import QuestionCard
from components.exhibits.serving import maxsim
from components.exhibits.view import counted, number, visible
from components.texts import Texts

CaseFacts = Mapping[str, str]  # facts and cases, by name


@dataclass(frozen=True, eq=False)
class Put:
    """A ``question`` that is put to one ``backbone``.

    ``evidence``: what was measured before for the question's task and backbones.
    """

    question: QuestionCard
    backbone: str
    analyst: Analyst
    evidence: Evidence
    say: Texts

    @cached_property
    def shown(self) -> Answered:
        """The answer, with the head taken apart; PoolscopeError where there is none."""
        head = self.ask("anatomy")
        return Answered(self.analyst, head.analysis, {}, head)

    def ask(self, name: str, **options: object) -> Any:
        """Ask for the analysis ``name`` of the question's text; PoolscopeError where there is none."""
        return self.analyst.ask(name, self.question.query(self.backbone), **options)


def timing(put: Put) -> CaseFacts:
    """Say how long an answer takes with the question's pooling, and with the second one."""
    found: Timed = put.ask("timing", against=put.question.against)
    told = []
    for took in (*found.whole.T, *found.pooled.T):
        low, median, high = map("{:.3g}".format, np.percentile(took, (25, 50, 75)))
        told.append(put.say("questions.took", median=median, low=low, high=high))
    whole, whole_other, alone, alone_other = told  # all of an answer with each, and the pooling alone
    longer = float(np.median(np.diff(found.whole))) > 0
    return {
        **{"whole": whole, "whole_other": whole_other, "alone": alone, "alone_other": alone_other},
        "rounds": str(len(found.whole)),  # how many turns each had
        "chance": str(LEVEL),  # the p below which a difference counts
        "slower": "no" if found.p >= LEVEL else "yes" if longer else "less",
    }


def sees(put: Put) -> CaseFacts:
    """Say which tokens each one sees; of a text of one token nothing can be told."""
    found, added = put.shown.sees.found, int(put.shown.analysis.tokens.special.sum())
    shape = found.shape if isinstance(found, Sees) and len(found.sees) > 1 else ""
    return {
        "added": str(added),  # special tokens that are put in
        "adds": "some" if added else "none",
        "seen": (found.says if isinstance(found, Sees) else found).said(put.say),  # by each token
        "sees": {"": "untold", "causal": "before", "all": "both"}.get(shape, "other"),
    }


def carried(put: Put) -> CaseFacts:
    """Say which tokens carry the change to another text, layer by layer, and whether it ends in [CLS]."""
    found: Patched = put.ask("trace", other=put.question.texts[0])
    since, cls = settled(found), found.first.tokens.cls
    gathers = "yes" if since and found.first.reads.indices == [cls] else "no"
    return {
        "story": trace_story(found, put.say).striptags(),  # where the change is, from the embeddings up
        "gathers": "random" if found.first.random else gathers,
    }


def pasted(put: Put) -> CaseFacts:
    """Say what made the scores of some texts, which stand as JSON in the question's first other text."""
    scores = put.question.texts[0]
    found: DetectedScore = put.ask("detect_score", scores=scores)
    return {
        "pasted": put.say.listed(f"{score:g}" for _, each, *_ in to_scores(scores) for score in each),
        "detected": found.says[0].said(put.say),  # what made them, or why that cannot be told
        "made": "known" if found.match else "unknown",
    }


def matches(put: Put) -> CaseFacts:
    """Say which tokens of the text find a match in the second one."""
    found: MaxSim = put.ask("maxsim")
    shown = maxsim(found, {}, put.say)
    return {
        "matched": shown.heading,  # how many do
        "told": shown.words.removeprefix(shown.heading).strip(),  # which, and what that is held against
        "finds": "some" if found.beyond_chance else "none",
    }


def rho(put: Put) -> CaseFacts:
    """Say how well the cosines of both poolings follow people, and whether the second does so better."""
    rows, poolings = vectors(put.evidence.rhos(put.backbone)), put.question.poolings
    found = {pooling: row for row in (*rows, *against_base(rows)) for pooling in row.poolings}
    told = [f"{pooling} {number(found[pooling].value)}" for pooling in poolings if pooling in found]
    second = found.get(poolings[1])
    held = second is not None and BASE not in second.poolings and second.corrected < LEVEL
    return {
        "rhos_of": put.say.listed(told) or put.say("questions.unmeasured"),  # Spearman's rho of each pooling
        "chance": str(LEVEL),  # the p below which a difference counts
        "scored": counted(next((row.measured for row in rows), 0)),  # pairs that people scored
        "follows": ("better" if found[poolings[1]].gain > 0 else "worse") if held else "alike",
    }


STORED = frozenset({"results", "rho"})  # measures that run no model
MEASURES: Mapping[str, Callable[[Put], CaseFacts]] = MappingProxyType(
    {
        "head": lambda put: facts.head_facts(put.shown.anatomy, put.say),
        "importance": lambda put: facts.importance_facts(put.shown.importance, put.say),
        "padding": lambda put: facts.padding_facts(PADDING.subject(put.shown), put.say),
        "results": lambda put: facts.result_facts(put.evidence, put.backbone, put.question.poolings, put.say),
        **{one.__name__: one for one in (timing, sees, carried, pasted, matches, rho)},
    }
)


def is_stored(question: QuestionCard) -> bool:
    """Tell whether the results alone answer it: no backbone is run."""
    return STORED.issuperset(question.measures)


def measured(put: Put) -> dict[str, str]:
    """Take every measure of a question on one backbone; ``task`` is the title of that."""
    titles = {task.key: put.say.name(task.title) for task in put.analyst.tasks()}
    found = {name: fact for one in put.question.measures for name, fact in MEASURES[one](put).items()}
    return {**found, "task": visible(titles.get(put.question.task, put.question.task))}


def together(puts: Sequence[Put]) -> dict[str, str]:
    """Say what all backbones of a question are together, by their heads and by the results."""
    question, say = puts[0].question, puts[0].say
    heads = {} if is_stored(question) else facts.heads_facts([put.shown.anatomy for put in puts], say)
    if not question.task:
        return heads
    return heads | facts.results_facts(puts[0].evidence, next(iter(question.poolings), BASE), say)
