"""What can be said of what was just measured as importance: facts, and cases that choose among sentences."""

from __future__ import annotations

from collections.abc import Mapping

from components.analyses.importance import Importance
from components.exhibits.draw.labels import shorten, visible, word
from components.exhibits.importance.bars import method_name, rho_text
from components.exhibits.importance.methods import Methods
from components.texts import Sentence, Texts

CASES: Mapping[str, tuple[str, ...]] = {
    "goes": ("alike", "opposed", "chance", "none", "random", "refused"),  # similarity with erasure, in order
    "named": ("same", "other", "none"),  # whether both put one token first; none: too few tokens, or no fall
}
FACTS = ("similar", "similar_after", "erased", "erased_after", "eraser", "explained", "before", "rho", "rhos")


def importance_facts(given: Importance | Sentence, say: Texts) -> dict[str, str]:
    """What can be said of one text on one model; all is empty where it was refused."""
    if isinstance(given, Sentence):
        return {**dict.fromkeys(FACTS, ""), "goes": "refused", "named": "none"}
    methods = Methods(given)
    similarity, erasure = methods.every[0], methods.every[-1]
    few = len(methods.own) < 2
    most, first = (None if few else methods.ranked(method)[0] for method in (similarity, erasure))
    rhos = (
        say("matters.rho_of", name=method_name(method, methods, say), rho=rho_text(methods, method))
        for method in methods.others
    )
    return {
        "similar": _token(methods, most),  # the token of the text most similar to [CLS]
        "similar_after": _after(methods, most),  # what the output is without it
        "erased": _token(methods, first),  # the token whose erasure makes the output fall most
        "erased_after": _after(methods, first),  # what the output is without that
        "eraser": visible(given.eraser),  # what takes the place of a token that is erased
        "explained": methods.label,  # the label whose output that is
        "before": methods.text(methods.before),  # the output as it is
        "rho": rho_text(methods, similarity),  # Spearman's rho between similarity and erasure
        "rhos": say.listed(rhos),  # the same of each answer
        "goes": methods.goes,
        "named": _named(methods, most, first),
    }


def _named(methods: Methods, most: int | None, first: int | None) -> str:
    """Whether one token is both the most similar and the one that matters most, if any does."""
    if first is None or methods.importance.erasure[first] <= 0:
        return "none"
    return "same" if most == first else "other"


def _token(methods: Methods, index: int | None) -> str:
    return "" if index is None else shorten(word(methods.labels[index]), 24)


def _after(methods: Methods, index: int | None) -> str:
    return "" if index is None else methods.text(methods.without(index))
