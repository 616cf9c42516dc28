"""Which tokens matter, by several answers, on a whole test set: how alike they and erasure rank tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from threadpoolctl import threadpool_limits

from components.analyses.importance import Importance, spearman
from components.analyses.measuring.importance import integrate, weigh
from components.model.backbone import Backbone
from components.model.examine import examine
from components.model.torch_internals import repeatable
from components.types import Floats, Query
from recipe.corpus import Example
from recipe.statistics import Numbers, Row, estimate_mean, sign_test

SIMILARITY = "similarity"

Method = tuple[str, int | None]  # its name, and the layer that it looks at; None looks at all


def agreement_results(backbone: Backbone, task: str, examples: Sequence[Example], seed: int) -> list[Row]:
    """A row for each method and layer, on texts that a fine-tuned backbone classifies.

    Runs on one thread, so that one seed gives the same numbers.
    """
    with threadpool_limits(1):
        found = [_rhos(backbone, example) for example in examples]
    rhos = {
        method: np.array([each.get(method, np.nan) for each in found]) for method in dict.fromkeys(found[0])
    }
    compared = rhos[SIMILARITY, max(layer or 0 for name, layer in rhos if name == SIMILARITY)]
    return [_row(backbone.spec.key, task, method, values, compared, seed) for method, values in rhos.items()]


def methods(importance: Importance) -> Mapping[Method, Floats]:
    """Every answer to "which token matters" but erasure: (T,) for each."""
    similarity, attention = importance.analysis.similarity, importance.attention
    found: dict[Method, Floats | None] = {
        **{(SIMILARITY, layer): row for layer, row in enumerate(similarity)},
        **{
            ("attention", layer): heads.mean(axis=0)
            for layer, heads in enumerate(() if attention is None else attention, start=1)
        },
        ("rollout", None): importance.rollout,
        ("gradient_x_input", None): importance.gradient_x_input,
        ("integrated_gradients", None): None
        if importance.integrated is None
        else importance.integrated.values,
    }
    return {method: values for method, values in found.items() if values is not None}


def _rhos(backbone: Backbone, example: Example) -> dict[Method, float]:
    """Spearman's rho with erasure of each method for one example; NaN where all tokens rank alike."""
    text, pair = (*example.texts, "")[:2]
    with repeatable(backbone.model):
        examined = examine(backbone, Query(backbone.spec.key, text, pair))
        importance = weigh(examined, "").with_integral([integrate(examined, "")])
    own = ~importance.analysis.tokens.special
    rhos = {
        method: spearman(values[own], importance.erasure[own])
        for method, values in methods(importance).items()
    }
    return {method: np.nan if rho is None else rho for method, rho in rhos.items()}


def _row(backbone: str, task: str, method: Method, rhos: Numbers, compared: Numbers, seed: int) -> Row:
    known = rhos[~np.isnan(rhos)]
    name, layer = method
    answer = {"backbone": backbone, "task": task, "method": name, "layer": layer, "measured": len(known)}
    mean, test = estimate_mean(known, seed), sign_test(rhos, compared)
    return {"kind": "agreement", **answer, **asdict(mean), **asdict(test)}
