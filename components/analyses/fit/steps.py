"""The steps of a fit, by their names: plain functions of plain data. Loads torch, and scikit-learn late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from components.analyses.fit.embedding import embed
from components.model.backbone import Backbone


def step(backbone: Backbone, name: str, given: Sequence[Any]) -> Any:
    """The answer of one step to what is ``given``; KeyError where none has this name."""
    if name == "embed":
        return embed(backbone, *given)
    from components.analyses.fit.classifier import divide, fold  # a second of scikit-learn
    from components.analyses.fit.conclusion import conclude

    known: dict[str, Callable[..., Any]] = {"divide": divide, "fold": fold, "conclude": conclude}
    return known[name](*given)
