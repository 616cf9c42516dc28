"""Rows held out from training: they decide whether a checkpoint is kept, and it learns from none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from recipe.corpus import Corpus, Example, without_leaks

WORD = re.compile(r"\w+")

Run = tuple[str, ...]  # consecutive words


def without_held_out(corpus: Corpus, words: int) -> Corpus:
    """The corpus that checkpoints learn from: no training row shares a text with one that is held out.

    Nor as many consecutive ``words``: where phrases of one sentence are rows of their own, a held-out phrase
    would otherwise be learned from the next.
    """
    held = [example for rows in corpus.held_out.values() for example in rows]
    taken = frozenset(run for example in held for run in runs(example, words))
    training = {
        name: tuple(row for row in without_leaks(rows, held) if taken.isdisjoint(runs(row, words)))
        for name, rows in corpus.training.items()
    }
    fewer = {name: len(rows) - len(training[name]) for name, rows in corpus.training.items()}
    dropped = {name: count + fewer[name] for name, count in corpus.dropped.items()}
    return replace(corpus, training=training, dropped=dropped)


def runs(example: Example, words: int) -> Iterator[Run]:
    """Every run of as many consecutive ``words``, lower-cased, within one text of an example."""
    for text in example.texts:
        found = WORD.findall(text.lower())
        yield from (tuple(found[start : start + words]) for start in range(len(found) - words + 1))
