"""Whether accuracies of several backbones differ by more than chance, from what is shown of them."""

from __future__ import annotations

from itertools import combinations
from math import erfc, sqrt

from components.exhibits.evidence.evidence import LEVEL, Estimate, Estimates
from components.results import holm


def proportions_p(one: Estimate, other: Estimate) -> float:
    """The p of the two-sided z test of two accuracies, pooled, as if of different examples (Fleiss 1981).

    Where both were measured on the same examples, and mostly go wrong on the same, the true p is smaller.
    """
    examples = one.examples + other.examples
    pooled = (one.value * one.examples + other.value * other.examples) / examples
    deviation = sqrt(pooled * (1 - pooled) * (1 / one.examples + 1 / other.examples))
    return 1.0 if deviation == 0 else erfc(abs(one.value - other.value) / deviation / sqrt(2))


def differing(accuracies: Estimates) -> int:
    """How many of all pairs differ at p below `LEVEL`, corrected by Holm's method for the number of pairs."""
    ps = [proportions_p(one, other) for one, other in combinations(accuracies.values(), 2)]
    return sum(p < LEVEL for p in holm(ps))
