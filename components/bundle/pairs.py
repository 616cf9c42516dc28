"""Training pairs: real ones in both orders, and made ones, of a text and an altered copy of it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from components.bundle.corpus import Example

KEPT = (0.0, 0.15)  # share of words replaced in a copy that still matches
REPLACED = (0.3, 0.8)  # and in one that does not


def either_order(example: Example, rng: random.Random) -> Example:
    """The pair, its texts swapped every other time."""
    return Example(example.texts if rng.random() < 0.5 else example.texts[::-1], example.label)


def altered(words: Sequence[str], rng: random.Random) -> list[str]:
    """The words turned around a cut, shortened by up to 30 %, thinned by up to 20 %; at least one stays."""
    turn = rng.randrange(len(words)) if rng.random() < 0.5 else 0
    turned = [*words[turn:], *words[:turn]]
    length = max(1, round(len(words) * rng.uniform(0.7, 1.0)))
    cut = turned[:length] if rng.random() < 0.5 else turned[-length:]
    thinning = rng.uniform(0.0, 0.2)
    return [word for word in cut if rng.random() >= thinning] or cut[:1]


def matching(text: str, other: str, rng: random.Random) -> Example:
    """A text and an altered copy, in either order; label 0 where many words come from the other text."""
    label = rng.randint(0, 1)
    foreign = rng.uniform(*(KEPT if label else REPLACED))
    strange = other.split()
    copy = [rng.choice(strange) if rng.random() < foreign else word for word in altered(text.split(), rng)]
    return either_order(Example((text, " ".join(copy)), label), rng)


def vary_pairs(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """The pairs, each in either order."""
    return [either_order(example, rng) for example in examples]


def make_matching(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """As many made pairs, each from one text of an example; labels are made too."""
    texts = [rng.choice(example.texts) for example in examples]
    return [matching(text, rng.choice(texts), rng) for text in texts]
