"""The folds of a fit, one by one: each can be fitted by another process. Light to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from components.inference.jobs import Validate
from components.lab.rows import Folded
from components.types import Floats


def folds_of(job: Validate) -> list[Validate]:
    """A job for each fold from the start of ``job`` on, without the vectors, which are sent aside."""
    bare = replace(job, vectors=job.vectors[:0], seconds=0.0)
    return [replace(bare, start=fold) for fold in range(job.start, job.folds * len(job.parts))]


def fitted_fold(job: Validate, vectors: Floats) -> Folded:
    """The fold that ``job`` starts with, on vectors (N, D')."""
    from components.lab.validation import validate  # scikit-learn

    return validate(replace(job, vectors=vectors))


def joined_folds(parts: Sequence[Folded]) -> Folded:
    """What folds gave, in their order, as if one process had fitted them all."""
    return Folded(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Folded)))
