"""The steps of a fit: plain functions of plain data, each of which a job runs. Loads scikit-learn late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from components.analyses.registry import step_of_fit

if TYPE_CHECKING:
    from components.model.backbone import Backbone


@step_of_fit
def embed(backbone: Backbone, _asked: object, given: Sequence[Any]) -> Any:
    """The vectors of a batch of texts or pairs."""
    from components.analyses.fit.embedding import embed as embedded

    return embedded(backbone, *given)


@step_of_fit
def divide(given: Sequence[Any]) -> Any:
    """The parts of rows of which folds are made."""
    from components.analyses.fit.classifier import divide as divided

    return divided(*given)


@step_of_fit
def fold(given: Sequence[Any]) -> Any:
    """How well a classifier does that was fitted on all of a fold's rows but those that it tests."""
    from components.analyses.fit.classifier import fold as folded

    return folded(*given)


@step_of_fit
def conclude(given: Sequence[Any]) -> Any:
    """All that was measured of the best combination, and of every other."""
    from components.analyses.fit.conclusion import conclude as concluded

    return concluded(*given)
