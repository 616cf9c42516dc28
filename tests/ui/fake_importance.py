"""Made-up importance of an answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from components.analyses.importance import Importance, Integrated
from components.types import Analysis, Floats

HEADS, STEPS = 2, 50


def spearman(one: Floats, other: Floats) -> float | None:
    """Spearman's rho by pandas' ranks; None where all of one are the same."""
    ranks = [pd.Series(np.asarray(values, dtype=float)).rank() for values in (one, other)]
    return None if any(rank.nunique() < 2 for rank in ranks) else float(ranks[0].corr(ranks[1]))


def fake_importance(analysis: Analysis, label: str, integrated: bool) -> Importance:
    """Numbers of the right shapes, and what they come to against erasure."""
    total, layers = len(analysis.tokens.text), analysis.layers
    random = np.random.default_rng(total)
    attention = random.dirichlet(np.ones(total), size=(layers, HEADS)).astype(np.float32)
    given = Importance(
        analysis=analysis,
        label=analysis.labels.index(label) if label else int(np.argmax(analysis.probabilities)),
        attention=attention,
        rollout=random.dirichlet(np.ones(total)).astype(np.float32),
        gradient_x_input=random.normal(size=total).astype(np.float32),
        integrated=integral(total) if integrated else None,
        erasure=(float(analysis.probabilities.max()) * random.uniform(-0.1, 0.9, total)).astype(np.float32),
        eraser="[MASK]",
        agreement={},
        warnings=(),
    )
    return agreed(given)


def integral(total: int) -> Integrated:
    """Made-up integrated gradients of so many tokens."""
    values: Floats = np.random.default_rng(total + 1).normal(size=total).astype(np.float32)
    return Integrated(values, -0.0123, STEPS)


def agreed(given: Importance) -> Importance:
    """The same with rho of each of its answers."""
    own = ~given.analysis.tokens.special
    every = {
        "similarity": given.analysis.similarity[-1],
        "attention": None if given.attention is None else given.attention[-1].mean(axis=0),
        "rollout": given.rollout,
        "gradient_x_input": given.gradient_x_input,
        "integrated_gradients": None if given.integrated is None else given.integrated.values,
    }
    rhos = {
        name: spearman(values[own], given.erasure[own])
        for name, values in every.items()
        if values is not None
    }
    return replace(given, agreement=rhos)
