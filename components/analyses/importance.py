"""The noun of importance: several things that are called the importance of a token, side by side."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from components.analyses.registry import Cost, Run, analysis, measured
from components.texts import Sentence
from components.types import Analysis, Floats, Progress, as_json, plain

STEPS = 50  # points of the integral
SIMILARITY = "similarity"


@dataclass(frozen=True, eq=False)
class Integral:
    """Integrated gradients (Sundararajan et al. 2017) of the explained output, the same as captum's.

    ``values``: (T,) summed over the width, of the steps before ``stop``. ``change``: of the output meanwhile.
    """

    values: Floats
    change: float
    stop: int

    @property
    def delta(self) -> float:
        """By how much the sum of all values differs from the change: captum's convergence delta."""
        return float(self.values.sum()) - self.change


@dataclass(frozen=True, eq=False)
class Importance:
    """All that is called a token's importance for one output. T tokens, L layers, H heads of attention.

    ``analysis``: the answer. ``label``: the index of the output that is explained, in ``analysis.labels``.
    ``attention``: (L, H, T) from the token in the place of [CLS] to each, or None where the model gives none.
    ``rollout``: (T,) the same, rolled out through the layers (Abnar and Zuidema 2020), or None.
    ``gradient_x_input``: (T,) the output's gradient with respect to the token's embedding times it, summed
    over the width. ``integrated``: integrated gradients, or None where they were not asked for.
    ``erasure``: (T,) by how much the output's probability falls (regression: its value) when ``eraser`` takes
    the token's place; NaN for tokens that the tokenizer added, where the model fails without one of them.
    ``warnings``: what could not be had, and why. Similarity to [CLS]: the last row of
    ``analysis.similarity``.
    """

    analysis: Analysis
    label: int
    attention: Floats | None
    rollout: Floats | None
    gradient_x_input: Floats
    integrated: Integral | None
    erasure: Floats
    eraser: str
    warnings: tuple[Sentence, ...]

    def with_integral(self, parts: Sequence[Integral]) -> Self:
        """Add integrated gradients, of all their parts."""
        values: Floats = np.sum([part.values for part in parts], axis=0)
        return replace(self, integrated=replace(parts[-1], values=values))

    @property
    def answers(self) -> dict[str, Floats]:
        """Each answer that there is, by its name: (T,), more where a token matters more; erasure last."""
        every = {
            SIMILARITY: self.analysis.similarity[-1],
            "attention": None if self.attention is None else self.attention[-1].mean(axis=0),
            "rollout": self.rollout,
            "gradient_x_input": self.gradient_x_input,
            "integrated_gradients": None if self.integrated is None else self.integrated.values,
            "erasure": self.erasure,
        }
        return {name: values for name, values in every.items() if values is not None}

    @cached_property
    def agreement(self) -> dict[str, float | None]:
        """Spearman's rho between each of the others, by its name, and erasure; see `rho_with_erasure`."""
        *others, (_, erasure) = self.answers.items()
        return {name: rho_with_erasure(name, values, erasure, self.analysis) for name, values in others}

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types; attention is the mean over its heads."""
        seen, whole = self.attention, self.integrated
        return as_json(
            self,
            "tokens=analysis.tokens label similarity attention rollout gradient_x_input integrated_gradients "
            "delta erasure eraser agreement warnings",
            label=self.analysis.labels[self.label],
            similarity=plain(self.analysis.similarity[-1]),
            attention=None if seen is None else plain(seen.mean(axis=1)),
            integrated_gradients=None if whole is None else plain(whole.values),
            delta=None if whole is None else whole.delta,
        )


def spearman(one: Floats, other: Floats) -> float | None:
    """Spearman's rank correlation; None where all of one are the same, or there are fewer than two."""
    from scipy.stats import rankdata

    ranks = rankdata([one, other], axis=1)
    if ranks.shape[1] < 2 or (np.ptp(ranks, axis=1) == 0).any():
        return None
    return float(np.corrcoef(ranks)[0, 1])


def rho_with_erasure(name: str, values: Floats, erasure: Floats, analysis: Analysis) -> float | None:
    """Spearman's rho with erasure, both (T,), of a text's tokens but similarity's reference; or None."""
    own = ~analysis.tokens.special
    if name == SIMILARITY and analysis.reference is not None:
        own[analysis.reference] = False
    return spearman(values[own], erasure[own])


WEIGH, INTEGRATE = measured("importance", "weigh"), measured("importance", "integrate")


@analysis("backbone text text_pair label pooling head task", Cost(18, characters=6))
def importance(
    run: Run, seconds: float, label: str = "", integrated: bool = True
) -> Generator[Progress | Importance]:
    """Measure what is called the importance of each token for one label, and how far these agree.

    Similarity to [CLS], attention from [CLS] (layer by layer, the mean over heads) and rolled out,
    gradient x input, integrated gradients (with their convergence ``delta``), and ``erasure``: by how
    much the label's probability falls when ``eraser`` takes the token's place. ``agreement``: Spearman's
    rho of each with erasure, over the text's own tokens, but for the one that similarity is to.
    """
    found: Importance = run(WEIGH, label=label)
    yield found
    parts: list[Integral] = []
    start = 0 if integrated else STEPS
    while start < STEPS:
        yield Progress(start, STEPS)
        parts.append(run(INTEGRATE, label=label, start=start, seconds=seconds))
        start = parts[-1].stop
    if parts:
        yield found.with_integral(parts)
