"""Raw cosines against people's scores: as they are, and after steps that are fitted without any labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType

import numpy as np

from components.analyses.fit.classifier import standardiser
from components.analyses.fit.embedding import available
from components.analyses.fit.rows import first_alike
from components.model.backbone import Backbone
from components.model.pooling import POOLINGS
from components.results import Postprocessing
from components.types import Floats
from recipe.corpus import UNLABELLED, Example, without_leaks
from recipe.probes import embed, vectors
from recipe.statistics import Moved, Numbers, Row, estimate_moved, estimate_spearman

FLAT = 1e-4  # a direction that varies by less than this share of the one that varies most is rounding

Scored = tuple[str, str, float]  # two sentences, and people's score of their similarity
Step = Callable[[Numbers], Numbers]  # (N, D') -> (N, K), row by row


def cosine_results(backbone: Backbone, scored: Sequence[Scored], seed: int) -> list[Row]:
    """Spearman's rho of people's scores and raw cosines, for each pooling that needs no training.

    Every sentence is encoded alone. ``flatten`` counts among these: nothing of its vector is learned.
    """
    left, right, scores = _sides(scored)
    pooled = _pooled(backbone, _sentences(scored), [key for key in POOLINGS if key != "attention"])
    first, rows = first_alike(pooled), list[Row]()
    for pooling, found in pooled.items():
        rho = asdict(estimate_spearman(scores, _cosines(found[left], found[right]), seed))
        of_vector = {"backbone": backbone.spec.key, "pooling": pooling, "vector": first[pooling]}
        rows.append({"kind": "cosine", **of_vector, "measured": len(scored), **rho})
    return rows


def postprocessed_results(
    backbone: Backbone, texts: Sequence[str], scored: Sequence[Scored], seed: int
) -> list[Row]:
    """The same after each of `STEPS`, which are fitted to other ``texts``, and how far that moves rho.

    For the poolings of which nothing is learned with a probe: the others have too many numbers, or no query.
    """
    left, right, scores = _sides(scored)
    poolings = [key for key, pooling in POOLINGS.items() if not pooling.spec.learned]
    fitted = _pooled(backbone, texts, poolings)
    pooled = _pooled(backbone, _sentences(scored), poolings)
    first, moved = first_alike(pooled), dict[str, dict[Postprocessing, Moved]]()
    for pooling in dict.fromkeys(first.values()):
        plain = _cosines(pooled[pooling][left], pooled[pooling][right])
        steps = [fit(fitted[pooling].astype(np.float64)) for fit in STEPS.values()]
        after = [step(pooled[pooling].astype(np.float64)) for step in steps]
        cosines = [_cosines(found[left], found[right]) for found in after]
        moved[pooling] = dict(zip(STEPS, estimate_moved(scores, plain, cosines, seed), strict=True))
    measured = {"backbone": backbone.spec.key, "fitted": len(texts), "measured": len(scored)}
    return [
        {
            "kind": "postprocessed",
            **measured,
            "pooling": pooling,
            "vector": vector,
            "step": step,
            **asdict(found.after),
            "gain": found.gain.value,
            "gain_low": found.gain.low,
            "gain_high": found.gain.high,
        }
        for pooling, vector in first.items()
        for step, found in moved[vector].items()
    ]


def centred(fitted: Numbers) -> Step:
    """Subtracts the mean of the ``fitted`` vectors (N, D')."""
    mean = fitted.mean(axis=0)
    return lambda pooled: pooled - mean


def standardised(fitted: Numbers) -> Step:
    """Then also divides each dimension by its standard deviation there; one that is constant becomes 0."""
    scaler = standardiser(fitted)
    return lambda pooled: scaler.transform(pooled)


def whitened(fitted: Numbers) -> Step:
    """Subtracts the mean and turns and scales the axes so that the covariance is 1 (Su et al. 2021).

    Directions in which the vectors hardly vary are left out: a norm at the end of a layer makes one such
    direction, and what is there is rounding.
    """
    mean = fitted.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(fitted, rowvar=False))
    varies = variances > FLAT**2 * variances.max()
    turned = directions[:, varies] / np.sqrt(variances[varies])  # (D', K)
    return lambda pooled: (pooled - mean) @ turned


STEPS: Mapping[Postprocessing, Callable[[Numbers], Step]] = MappingProxyType(
    {"centred": centred, "standardised": standardised, "whitened": whitened}
)


def unscored_texts(examples: Sequence[Example], scored: Sequence[Scored]) -> list[str]:
    """Every text of ``examples`` once; of none that shares one with the ``scored`` pairs."""
    kept = without_leaks(examples, [Example(pair[:2], UNLABELLED) for pair in scored])
    return list(dict.fromkeys(text for example in kept for text in example.texts))


def _sentences(scored: Sequence[Scored]) -> list[str]:
    """Every sentence of the pairs, once."""
    return list(dict.fromkeys(sentence for one, other, _score in scored for sentence in (one, other)))


def _sides(scored: Sequence[Scored]) -> tuple[list[int], list[int], Numbers]:
    """Where both sentences of each pair stand among all of them, and the scores."""
    place = {sentence: index for index, sentence in enumerate(_sentences(scored))}
    left, right = [place[one] for one, _other, _score in scored], [place[other] for _, other, _ in scored]
    return left, right, np.array([score for _one, _other, score in scored])


def _pooled(backbone: Backbone, sentences: Sequence[str], poolings: Sequence[str]) -> dict[str, Floats]:
    """The vectors (N, D') of the sentences, each encoded alone, for those ``poolings`` that there are."""
    batches = embed(backbone, [(sentence,) for sentence in sentences])
    return {pooling: vectors(batches, pooling) for pooling in available(backbone, poolings)}


def _cosines(one: Numbers, other: Numbers) -> Numbers:
    """Row by row, in double precision: (N, D'), (N, D') -> (N,)."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    cosines: Numbers = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    return cosines
