"""Data augmentation: how the examples of a training stage change from epoch to epoch.

Single texts are respelled, joined and cut; pairs are swapped, or made of a text and an altered copy of it;
pre-training texts are runs of consecutive sentences, alone or in two parts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from recipe.corpus import Example

DETOKENIZED = 0.5  # share of texts that are detokenized
JOINED = 0.02  # share of texts that others of the same label are joined to
EXCERPT = (20, 100)  # words taken of a text that is longer
KEPT = (0.0, 0.15)  # share of words replaced in a copy that still matches
REPLACED = (0.3, 0.8)  # and in one that does not
PASSAGE = (8, 45)  # words of a passage, where its document has as many
NEXT, RANDOM = 0.0, 1.0  # transformers' labels for next-sentence prediction

# The spacing of tokenized English, undone one rule after the other.
_SPACING = (
    (re.compile(r"``\s*|\s*''"), '"'),  # quotation marks as the Penn Treebank writes them
    (re.compile(r"(?<!\S)` "), "'"),
    (re.compile(r" (?=n't\b|'(?:s|re|ve|ll|d|m)\b)"), ""),  # do n't, it 's
    (re.compile(r"(?<=\b[gw][oa]n) (?=na\b)|(?<=\bgot) (?=ta\b)"), ""),  # gon na, wan na, got ta
    (re.compile(r" (?=[,;:!?%)\]]|\.(?:\s|$)|\.\.\.|'(?:\s|$))"), ""),  # none before closing marks
    (re.compile(r"(?<=[(\[$]) "), ""),  # none after opening marks
    (re.compile(r"\bi\b(?!\.)"), "I"),
)


def detokenize(text: str) -> str:
    """Tokenized lower-case text as people type it: "i do n't like it ." becomes "I don't like it.".

    The first letter is capitalised; text that is not tokenized stays as it is.
    """
    for pattern, replacement in _SPACING:
        text = pattern.sub(replacement, text)
    return text[:1].upper() + text[1:]


def _random_spelling(rng: random.Random) -> Callable[[str], str]:
    return detokenize if rng.random() < DETOKENIZED else str


def excerpt(text: str, rng: random.Random) -> str:
    """A run of words from anywhere in a long text; a text of at most ``EXCERPT[1]`` words stays whole."""
    words = text.split()
    length = min(len(words), rng.randint(*EXCERPT))
    start = rng.randint(0, len(words) - length)
    return " ".join(words[start : start + length]) if len(words) > EXCERPT[1] else text


def augment_texts(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """Single texts: half of them detokenized, a few joined to long ones, long ones cut.

    Only texts of the same side of 0.5 are joined; the result has the mean of their labels.
    """
    sides = {side: [e for e in examples if (e.label > 0.5) == side] for side in (False, True)}
    augmented = []
    for example in examples:
        side = sides[example.label > 0.5]
        joined = [*rng.choices(side, k=rng.randint(1, 9)), example] if rng.random() < JOINED else [example]
        spell = _random_spelling(rng)
        texts = (spell(excerpt(e.texts[0], rng)) for e in joined)
        augmented.append(Example((" ".join(texts),), sum(e.label for e in joined) / len(joined)))
    return augmented


def either_order(example: Example, rng: random.Random) -> Example:
    """The pair, its texts swapped every other time."""
    return Example(example.texts if rng.random() < 0.5 else example.texts[::-1], example.label)


def altered(words: Sequence[str], rng: random.Random) -> list[str]:
    """The words rotated, shortened by up to 30 %, and up to 20 % of them deleted; at least one stays."""
    turn = rng.randrange(len(words)) if rng.random() < 0.5 else 0
    turned = [*words[turn:], *words[:turn]]
    length = max(1, round(len(words) * rng.uniform(0.7, 1.0)))
    cut = turned[:length] if rng.random() < 0.5 else turned[-length:]
    deleted = rng.uniform(0.0, 0.2)
    return [word for word in cut if rng.random() >= deleted] or cut[:1]


def made_pair(text: str, other: str, rng: random.Random) -> Example:
    """A text and an altered copy, in either order; label 0 where many words come from the other text."""
    label = rng.randint(0, 1)
    foreign = rng.uniform(*(KEPT if label else REPLACED))
    strange = other.split()
    copy = [rng.choice(strange) if rng.random() < foreign else word for word in altered(text.split(), rng)]
    return either_order(Example((text, " ".join(copy)), label), rng)


def augment_pairs(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """The pairs, each in either order."""
    return [either_order(example, rng) for example in examples]


def make_pairs(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """As many made pairs, each from one text of an example; labels are made too."""
    texts = [rng.choice(example.texts) for example in examples]
    return [made_pair(text, rng.choice(texts), rng) for text in texts]


def passages(texts: Sequence[str], rng: random.Random) -> list[list[str]]:
    """The consecutive texts cut into runs of random length (`PASSAGE`), each cut between two texts."""
    runs: list[list[str]] = []
    missing = 0
    for text in texts:
        if missing <= 0:
            runs.append([])
            missing = rng.randint(*PASSAGE)
        runs[-1].append(text)
        missing -= len(text.split())
    return runs


def make_passages(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """Every passage of every document as one text."""
    return [
        Example((" ".join(_random_spelling(rng)(text) for text in run),), NEXT)
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
        halves([_random_spelling(rng)(text) for text in run], rng)
        for example in examples
        for run in passages(example.texts, rng)
    ]
    return [
        Example((one, two), NEXT) if rng.random() < 0.5 else Example((one, rng.choice(pairs)[1]), RANDOM)
        for one, two in pairs
    ]


Augmentation = Callable[[Sequence[Example], random.Random], list[Example]]

# By the name that a stage of the recipe gives.
AUGMENTATIONS: Mapping[str, Augmentation] = {
    "as they are": lambda examples, _: list(examples),
    "texts": augment_texts,
    "pairs": augment_pairs,
    "made pairs": make_pairs,
    "passages": make_passages,
    "consecutive passages": make_consecutive,
}
