"""Pre-training texts, other ones in every epoch: runs of consecutive sentences, alone or in two parts."""

from __future__ import annotations

import random
from collections.abc import Sequence

from components.bundle.corpus import Example
from components.bundle.texts import NATURAL, natural

WORDS = (8, 45)  # of a passage, where its document has as many
NEXT, RANDOM = 0.0, 1.0  # as transformers numbers the answers about a second part


def passages(texts: Sequence[str], rng: random.Random) -> list[list[str]]:
    """The consecutive texts cut into runs, each as long as chance wants, at a border between two texts."""
    runs: list[list[str]] = []
    missing = 0
    for text in texts:
        if missing <= 0:
            runs.append([])
            missing = rng.randint(*WORDS)
        runs[-1].append(text)
        missing -= len(text.split())
    return runs


def _spelt(text: str, rng: random.Random) -> str:
    return natural(text) if rng.random() < NATURAL else text


def make_passages(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """Every passage of every document as one text."""
    return [
        Example((" ".join(_spelt(text, rng) for text in run),), NEXT)
        for example in examples
        for run in passages(example.texts, rng)
    ]


def halves(run: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """A passage in two: cut between two of its texts or, of one text, between two of its words."""
    if len(run) > 1:
        border = rng.randrange(1, len(run))
        return " ".join(run[:border]), " ".join(run[border:])
    words = run[0].split()
    border = rng.randint(1, max(1, len(words) - 1))
    return " ".join(words[:border]), " ".join(words[border:]) or words[-1]


def make_consecutive(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """Every passage in two parts; every other time the second is another passage's."""
    pairs = [
        halves([_spelt(text, rng) for text in run], rng)
        for example in examples
        for run in passages(example.texts, rng)
    ]
    return [
        Example((one, two), NEXT) if rng.random() < 0.5 else Example((one, rng.choice(pairs)[1]), RANDOM)
        for one, two in pairs
    ]
