"""The answers to "which token matters", and the order in which each of them puts the tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from components.analyses.importance import Importance
from components.exhibits.control import Control, Switch, Whole
from components.exhibits.draw.labels import visible
from components.exhibits.view import indices, labels_of, number, percent
from components.types import Analysis, Floats

SIMILARITY = "similarity"
ERASURE = "erasure"  # what the others are held against
CHANCE = 1.96  # deviations that two unrelated orders stay within 95 times in 100

MOST_HEADS = 1000
INTEGRATED = Control("integrated", Switch(), False, "matters.integrated", "matters.integrated_info")
HEAD = Control("attention_head", Whole(0, MOST_HEADS), 0, "matters.head")  # 0: the mean over heads


Goes = Literal["alike", "opposed", "chance", "none", "random"]


@dataclass(frozen=True, eq=False)
class Method:
    """One answer: a number for each of the T tokens, more where the token matters more."""

    name: str
    values: Floats


@dataclass(frozen=True, eq=False)
class Methods:
    """All answers of one text, held against erasure. T tokens, n of them of the text itself."""

    importance: Importance

    @property
    def analysis(self) -> Analysis:
        """What was answered."""
        return self.importance.analysis

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A readable label for each of the T tokens, not escaped."""
        return labels_of(self.analysis)

    @property
    def label(self) -> str:
        """The name of the output that is explained, not escaped."""
        return visible(self.analysis.labels[self.importance.label])

    @property
    def raw(self) -> bool:
        """Whether outputs are those of a regression, and no probabilities."""
        return self.analysis.problem_type == "regression"

    @cached_property
    def own(self) -> list[int]:
        """The n tokens of the text: without what the tokenizer added."""
        return indices(~self.analysis.tokens.special)

    @cached_property
    def every(self) -> tuple[Method, ...]:
        """The answers that there are, erasure last."""
        given = self.importance
        found: Mapping[str, Floats | None] = {
            SIMILARITY: self.analysis.similarity[-1],
            "attention": None if given.attention is None else given.attention[-1].mean(axis=0),
            "rollout": given.rollout,
            "gradient_x_input": given.gradient_x_input,
            "integrated_gradients": None if given.integrated is None else given.integrated.values,
            ERASURE: given.erasure,
        }
        return tuple(Method(name, values) for name, values in found.items() if values is not None)

    @property
    def others(self) -> tuple[Method, ...]:
        """Those that are held against erasure."""
        return self.every[:-1]

    def ranked(self, method: Method) -> list[int]:
        """The tokens of the text, the one that matters most first; of similarity without [CLS] itself."""
        same = self.analysis.tokens.cls if method.name == SIMILARITY else None
        compared = [index for index in self.own if index != same]
        return sorted(compared, key=lambda index: -float(method.values[index]))

    def rho(self, method: Method) -> float | None:
        """Spearman's rho between a method and erasure over the tokens of the text."""
        return self.importance.agreement.get(method.name)

    @property
    def chance(self) -> float:
        """How far from 0 rho is for two unrelated orders of n tokens, 95 times in 100.

        Its variance is then 1 / (n - 1), whatever the orders are (Kendall and Gibbons 1990).
        """
        return min(1.0, CHANCE / (len(self.own) - 1) ** 0.5) if len(self.own) > 1 else 1.0

    @property
    def goes(self) -> Goes:
        """Whether similarity orders the tokens as erasure does, beyond what chance gives."""
        rho = self.rho(self.every[0])
        if self.analysis.random:
            return "random"
        if rho is None:
            return "none"
        return "chance" if abs(rho) <= self.chance else "alike" if rho > 0 else "opposed"

    @property
    def before(self) -> float:
        """The explained output of the text as it is: a probability, or a raw value."""
        return float(self.analysis.probabilities[self.importance.label])

    def without(self, index: int) -> float:
        """The explained output where a token is replaced."""
        return float(np.float64(self.before) - self.importance.erasure[index])

    def text(self, value: float) -> str:
        """An output as a reader sees it."""
        return number(value) if self.raw else percent(min(max(value, 0.0), 1.0))
