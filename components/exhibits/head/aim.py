"""What is seen through the lens of one label: the one that is chosen, else what the head says in earnest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from components.exhibits.answer.outputs import ranked
from components.exhibits.draw.labels import visible
from components.exhibits.view import number, percent
from components.lens import Lens
from components.texts import Sentence
from components.types import Analysis, Bools, Floats


class Pointed(Protocol):
    """An answer whose head was pointed at other vectors: an `Anatomy`, or what is kept of one."""

    @property
    def analysis(self) -> Analysis:
        """The answer itself."""

    @property
    def lens(self) -> Lens | Sentence:
        """What is seen, or why it cannot be had."""


@dataclass(frozen=True, eq=False)
class Aim:
    """One label of a lens. L layers, T tokens, K labels.

    ``chosen``: its name; "", or one that the head has not, for the likeliest of what it says in earnest.
    """

    analysis: Analysis
    lens: Lens
    chosen: str = ""

    @property
    def index(self) -> int:
        """The label's place among the K."""
        labels = self.analysis.labels
        return labels.index(self.chosen) if self.chosen in labels else ranked(self.analysis)[0]

    @property
    def label(self) -> str:
        """Its name, not escaped."""
        return visible(self.analysis.labels[self.index])

    @property
    def raw(self) -> bool:
        """Whether values are those of a regression, and no probabilities."""
        return self.analysis.problem_type == "regression"

    @property
    def tokens(self) -> Floats:
        """Its probability, or its raw value, at every hidden state: (L + 1, T)."""
        values: Floats = self.lens.probabilities[:, :, self.index]
        return values

    @property
    def pooled(self) -> Floats:
        """The same where the pooling is applied to each layer: (L + 1,)."""
        values: Floats = self.lens.pooled_probabilities[:, self.index]
        return values

    def says(self, probabilities: Floats) -> Bools:
        """Where a head with these (..., K) says the label: it is the likeliest, or above one half."""
        if self.analysis.problem_type == "multi_label":
            above: Bools = probabilities[..., self.index] > 0.5
            return above
        likeliest: Bools = probabilities.argmax(axis=-1) == self.index
        return likeliest

    @property
    def since(self) -> int | None:
        """The layer from which on the head says it of its own vector; None where it does not in earnest."""
        if self.raw or not self.says(self.lens.pooled_probabilities[-1]):
            return None
        silent = np.flatnonzero(~self.says(self.lens.pooled_probabilities))
        return int(silent[-1]) + 1 if len(silent) else 0

    @property
    def neutral(self) -> float:
        """The value that says nothing: that of a guess, or 0 of a regression."""
        if self.raw:
            return 0.0
        return 0.5 if self.analysis.problem_type == "multi_label" else 1 / len(self.analysis.labels)

    @property
    def ends(self) -> tuple[float, float]:
        """The values at the ends of the scale of colours."""
        if not self.raw:
            return 0.0, 1.0
        bound = float(np.abs(self.tokens).max()) or 1.0
        return -bound, bound

    @property
    def shades(self) -> Floats:
        """Where the values of the tokens lie on the scale of colours, neutral ones at 0: in [-1, 1]."""
        low, high = self.ends
        far = self.tokens - self.neutral
        shades: Floats = np.where(far < 0, far / (self.neutral - low), far / max(high - self.neutral, 1e-6))
        return shades

    def text(self, value: float) -> str:
        """A value as a reader sees it."""
        return number(value) if self.raw else percent(value)
