"""The trace between two versions of a text: of which backbone it is asked, and what is shown of it."""

from __future__ import annotations

from components.errors import PoolscopeError
from components.exhibits.comparison.comparison import Comparison
from components.exhibits.control import Control, State, Text
from components.patching import Patched
from components.texts import Sentence

TRACED = Control("traced", Text(), "", "trace.backbone")  # a backbone's key; the first of a comparison for ""

Traced = Patched | Sentence | None  # the trace, why there is none, or that nobody can ask for one


def traced_backbone(comparison: Comparison, state: State) -> str:
    """The key of the backbone whose trace ``state`` asks for; the first where that one is not compared."""
    keys = [spec.key for spec in comparison.backbones]
    return TRACED.of(state) if TRACED.of(state) in keys else keys[0]


def traced(comparison: Comparison) -> Traced:
    """The trace between the two versions of a comparison; asks for it."""
    if comparison.trace is None:
        return None
    try:
        return comparison.trace()
    except PoolscopeError as error:
        return error.sentence
