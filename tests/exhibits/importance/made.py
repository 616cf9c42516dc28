"""Answers that have importance, made up."""

from collections.abc import Callable
from dataclasses import replace

from components.analyses.anatomy import Anatomy
from components.analyses.importance import Importance
from components.errors import PoolscopeError
from components.exhibits.answered import Answered
from components.texts import Sentence
from components.types import Analysis, Floats
from tests.ui.fake_anatomy import fake_padding
from tests.ui.fake_importance import agreed, fake_importance


def made(analysis: Analysis) -> Importance:
    """For the likeliest output; with integrated gradients for a pair."""
    return fake_importance(analysis, "", bool(analysis.query.text_pair))


def alike(one: Importance, similarity: list[float], erasure: list[float]) -> Importance:
    """The same where the tokens of the text have these similarities and fall so far when they are erased."""
    own = ~one.analysis.tokens.special
    values: Floats = one.analysis.similarity.copy()
    falls: Floats = one.erasure.copy()
    values[-1, own], falls[own] = similarity, erasure
    return agreed(replace(one, analysis=replace(one.analysis, similarity=values), erasure=falls))


def without_attention(analysis: Analysis) -> Importance:
    """The same of a model that gives no attention."""
    said = Sentence("errors.stopping")
    return agreed(replace(made(analysis), attention=None, rollout=None, warnings=(said,)))


def refused(analysis: Analysis) -> Importance:
    """None at all."""
    raise PoolscopeError("backbone", analysis.backbone.key, "errors.died")


def answered(anatomy: Anatomy, ask: Callable[[Analysis], Importance] = made) -> Answered:
    """What the Classify tab shows of an answer."""
    analysis = anatomy.analysis
    return Answered(analysis, lambda: anatomy, lambda: ask(analysis), lambda: fake_padding(analysis))
