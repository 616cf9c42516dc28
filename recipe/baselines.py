"""Classifiers without a network: what a trained head has to beat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from components.results import Baseline
from components.types import Bools, Floats, Ints
from recipe.corpus import Example
from recipe.probes import logistic_regression
from recipe.statistics import Row, estimate_accuracy

WORD = re.compile(r"\w+")

Classifier = Callable[[Sequence[Example]], Ints]  # N examples -> (N,) labels


def baseline_answers(
    training: Sequence[Example], held_out: Sequence[Example], seed: int
) -> Mapping[Baseline, Bools]:
    """Which of ``held_out`` each baseline for its number of texts has right, (N,); the strongest last."""
    pairs = len(held_out[0].texts) == 2
    fitted: dict[Baseline, Classifier] = {"majority": most_frequent_label(training)}
    if pairs:
        fitted["overlap"] = overlap_threshold(training)
    else:
        fitted["words"] = bag_of_words(training, seed)
    labels = np.array([example.label for example in held_out])
    return {kind: classify(held_out) == labels for kind, classify in fitted.items()}


def baseline_results(task: str, trained: int, answers: Mapping[Baseline, Bools], seed: int) -> list[Row]:
    """The accuracy of each baseline of a task, with its interval."""
    return [
        {
            "kind": "baseline",
            "task": task,
            "method": method,
            "trained": trained,
            "measured": len(right),
            **asdict(estimate_accuracy(right, seed)),
        }
        for method, right in answers.items()
    ]


def most_frequent_label(training: Sequence[Example]) -> Classifier:
    """Always says the most frequent label of the training examples."""
    (label, _count), *_ = Counter(int(example.label) for example in training).most_common()
    return lambda examples: np.full(len(examples), label, dtype=np.int64)


def bag_of_words(training: Sequence[Example], seed: int) -> Classifier:
    """Logistic regression on which words occur, its strength chosen by cross-validation, as a probe's is."""
    model = make_pipeline(
        CountVectorizer(binary=True, dtype=np.float64), logistic_regression(wide=False, seed=seed)
    )
    model.fit([example.texts[0] for example in training], [int(example.label) for example in training])

    def classify(examples: Sequence[Example]) -> Ints:
        labels: Ints = model.predict([example.texts[0] for example in examples])
        return labels

    return classify


def overlap_threshold(training: Sequence[Example]) -> Classifier:
    """Says 1 where the overlap of both texts reaches the threshold that is right most often in training."""
    shares, labels = word_overlap(training), np.array([example.label for example in training])
    thresholds = np.unique(shares)
    best = thresholds[int(np.argmax([np.mean((shares >= least) == labels) for least in thresholds]))]
    return lambda examples: (word_overlap(examples) >= best).astype(np.int64)


def word_overlap(examples: Sequence[Example]) -> Floats:
    """(N,) in [0, 1]: the words that both texts have, over those that either has (Jaccard 1901)."""
    return np.array([_jaccard(*map(_words, example.texts)) for example in examples], dtype=np.float32)


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0
