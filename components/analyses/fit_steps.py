"""The steps of a fit, by name, behind all that visitors ask: no answer of theirs is kept.

What runs in one loads torch or scikit-learn there.
"""

from collections.abc import Sequence
from typing import Any

from components.analyses.registry import Step


def _embed(backbone: Any, _asked: object, given: Sequence[Any]) -> Any:
    from components.analyses.fit.embedding import embed

    return embed(backbone, *given)


def _by_classifier(name: str) -> Step:
    def run(given: Sequence[Any]) -> Any:
        from components.analyses.fit import classifier

        return getattr(classifier, name)(*given)

    return Step(name, run, last=True)


EMBED = Step("embed", _embed, last=True)
DIVIDE, FOLD, WORDS, CONCLUDE = map(_by_classifier, ("divide", "fold", "words", "conclude"))
