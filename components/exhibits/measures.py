"""Measures: what a card asks of one backbone, a small function each, by its name in assets/questions.toml."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.linalg import norm

from components.analyses.timing import Timed
from components.analyses.trace import Patched
from components.analyst import Analyst
from components.exhibits import facts
from components.exhibits.evidence import (
    BASE,
    LEVEL,
    Evidence,
    against_base,
    corrected,
    gains,
    vectors,
)
from components.exhibits.facts import ARROW
from components.exhibits.head import counted, short
from components.exhibits.hidden_states import settled, trace_story
from components.exhibits.panels import Answered
from components.exhibits.question import Question
from components.exhibits.view import number, percent, visible
from components.results import Row, Table, beside, each, exact, of
from components.texts import Texts

Facts = Mapping[str, str]  # facts and cases, by name


@dataclass(frozen=True, eq=False)
class Put:
    """A ``question`` that is put to one ``backbone``.

    ``table``: all that was measured before, ``evidence``: that of the question's task and backbones.
    """

    question: Question
    backbone: str
    analyst: Analyst
    evidence: Evidence
    table: Table
    say: Texts

    @cached_property
    def shown(self) -> Answered:
        """The answer, with the head taken apart; PoolscopeError where there is none."""
        head = self.analyst.ask("anatomy", self.question.query(self.backbone, self.question.pooling))
        return Answered(self.analyst, head.analysis, {}, head)


def timing(put: Put) -> Facts:
    """Say how long an answer takes with the question's pooling, and with the second one."""
    asked = put.question.query(put.backbone, put.question.pooling)
    found: Timed = put.analyst.ask("timing", asked, against=put.question.against)
    told = []
    for took in (*found.whole.T, *found.pooled.T):
        low, median, high = map(short, np.percentile(took, (25, 50, 75)))
        told.append(put.say("questions.took", median=median, low=low, high=high))
    whole, whole_other, alone, alone_other = told  # all of an answer with each, and the pooling alone
    longer = float(np.median(np.diff(found.whole))) > 0
    return {
        **{"whole": whole, "whole_other": whole_other, "alone": alone, "alone_other": alone_other},
        "rounds": str(len(found.whole)),  # how many turns each had
        "chance": str(LEVEL),  # the p below which a difference counts
        "slower": "no" if found.p >= LEVEL else "yes" if longer else "less",
    }


def blind(put: Put) -> Facts:
    """Say whether the first tokens stay as they are when the second half of the text is left out."""
    text, analysis = put.question.text, put.shown.analysis
    first = replace(put.question.query(put.backbone, put.question.pooling), reference=0)
    texts = (text, text[: text.index(" ", len(text) // 2)])
    whole, half = (put.analyst.ask("analyze", replace(first, text=one)).similarity[:, 1] for one in texts)
    return {
        "added": str(added := int(analysis.tokens.special.sum())),  # special tokens that are put in
        "adds": "some" if added else "none",
        "sees": "before" if np.allclose(whole, half, atol=1e-5) else "both",
    }


def nearness(put: Put) -> Facts:
    """Say how near the text is to each of the question's other texts, with each of its poolings."""
    told = []
    for pooling in put.question.poolings:
        asked = put.question.query(put.backbone, pooling)
        texts = (replace(asked, text=one) for one in (put.question.text, *put.question.texts))
        text, *others = (put.analyst.ask("analyze", one).pooled for one in texts)
        near = (number(float(text @ one / (norm(text) * norm(one) or 1))) for one in others)
        told.append(put.say("questions.nearness", pooling=pooling, cosines=put.say.listed(near)))
    return {"nearness": put.say("list.semicolon").join(told)}  # the cosines, pooling by pooling


def probes(put: Put) -> Facts:
    """Say what probes on each of the question's poolings say, layer by layer."""
    question, layers = put.question, range(put.shown.analysis.layers + 1)
    asked = [
        replace(question.query(put.backbone, pooling), head="probe", task=question.task, pool_layer=layer)
        for pooling in question.poolings
        for layer in layers
    ]
    (answered,) = put.analyst.compare(asked)
    rows = [answered.cells[at : at + len(layers)] for at in range(0, len(asked), len(layers))]
    told = []
    for pooling, row in zip(question.poolings, rows, strict=True):
        answers = [cell.analysis for cell in row if cell.analysis]
        label = answers[-1].predicted[0] if answers else ""
        depths = ARROW.join(percent(one.probabilities[one.labels.index(label)]) for one in answers)
        told.append(put.say("questions.probed", pooling=pooling, label=visible(label), depths=depths))
    return {"probed": put.say("list.semicolon").join(told)}  # pooling by pooling, from layer 0 up


def carried(put: Put) -> Facts:
    """Say which tokens carry the change to another text, layer by layer, and whether it ends in [CLS]."""
    asked = put.question.query(put.backbone, put.question.pooling)
    found: Patched = put.analyst.ask("trace", asked, other=put.question.texts[0])
    since, cls = settled(found), found.first.tokens.cls
    gathers = "yes" if since and found.first.reads.indices == [cls] else "no"
    return {
        "story": trace_story(found, put.say).striptags(),  # where the change is, from the embeddings up
        "gathers": "random" if found.first.random else gathers,
    }


def rho(put: Put) -> Facts:
    """Say how well the cosines of both poolings follow people, and whether the second does so better."""
    rows, poolings = vectors(put.evidence.rhos(put.backbone)), put.question.poolings
    found = {pooling: row for row in (*rows, *against_base(rows)) for pooling in row.poolings}
    told = [f"{pooling} {number(found[pooling].value)}" for pooling in poolings if pooling in found]
    held = getattr(found.get(poolings[1]), "corrected", 1.0) < LEVEL
    return {
        "rhos_of": put.say.listed(told) or put.say("questions.unmeasured"),  # Spearman's rho of each pooling
        "chance": str(LEVEL),  # the p below which a difference counts
        "scored": counted(next((row.measured for row in rows), 0)),  # pairs that people scored
        "follows": ("better" if found[poolings[1]].gain > 0 else "worse") if held else "alike",
    }


def duel(put: Put) -> Facts:
    """Hold the question's first pooling against the second, for each task, on all backbones with results.

    They were tested against cls alone. The errors of both may differ in so many examples as those of either
    differ from cls together: with these, p is as large as it can be.
    """
    one, other = put.question.poolings[:2]
    told, better = [], set[str]()
    every = each(of(put.table, "probe", pooling=[one, other]))
    for task in dict.fromkeys(row.task for row in every):
        rows = {(row.backbone, row.pooling): row for row in every if row.task == task}
        keys = [key for key, pooling in rows if pooling == one and (key, other) in rows]
        pairs = [(rows[key, one], rows[key, other]) for key in keys]
        held = corrected([at_most(*pair) for pair in pairs])
        above, below, _ = gains(held)
        better |= {task} if above else set()
        more = sum(row.value > against.value for row, against in pairs)
        counts = {"more": more, "count": len(pairs), "above": above, "below": below}
        told.append(put.say("questions.duel", task=visible(put.say.name(task)), **counts))
    return {
        "duels": put.say("list.semicolon").join(told),  # task by task
        "wins": "here" if put.question.task in better else "elsewhere" if better else "nowhere",
    }


def at_most(one: Row, other: Row) -> Row:
    """A pooling held against another one of the same backbone, with p at most as large as it says."""
    ahead = round(one.measured * (one.value - other.value))
    apart = max(abs(ahead), sum(row.better + row.worse for row in (one, other) if row.better is not None))
    better, worse = (apart + ahead) // 2, (apart - ahead) // 2
    return beside(one, better=better, worse=worse, p=exact(better, worse))


STORED: Mapping[str, Callable[[Put], Facts]] = MappingProxyType(  # run no model
    {
        "results": lambda put: facts.result_facts(put.evidence, put.backbone, put.question.poolings, put.say),
        "rho": rho,
        "duel": duel,
    }
)
MEASURES: Mapping[str, Callable[[Put], Facts]] = MappingProxyType(
    {
        "head": lambda put: facts.head_facts(put.shown.anatomy, put.say),
        "importance": lambda put: facts.importance_facts(put.shown.importance, put.say),
        "padding": lambda put: facts.padding_facts(put.shown.padding, put.say),
        **{one.__name__: one for one in (timing, blind, nearness, probes, carried)},
        **STORED,
    }
)


def is_stored(question: Question) -> bool:
    """Tell whether the results alone answer it: no backbone is run."""
    return STORED.keys() >= {*question.measures}


def measured(put: Put) -> dict[str, str]:
    """Take every measure of a question on one backbone; ``task`` is the title of that."""
    titles = {task.key: task.said(put.say) for task in put.analyst.tasks()}
    found = {name: fact for one in put.question.measures for name, fact in MEASURES[one](put).items()}
    return {**found, "task": visible(titles.get(put.question.task, put.question.task))}


def together(puts: Sequence[Put]) -> dict[str, str]:
    """Say what all backbones of a question are together, by their heads and by the results."""
    question, say = puts[0].question, puts[0].say
    heads = {} if is_stored(question) else facts.heads_facts([put.shown.anatomy for put in puts], say)
    if not question.task:
        return heads
    return heads | facts.results_facts(puts[0].evidence, (*question.poolings, BASE)[0], say)
