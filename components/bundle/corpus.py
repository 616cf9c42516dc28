"""Reads labelled texts and pairs, and keeps what is measured on out of what is trained on."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from components.bundle.formats import FORMATS
from components.bundle.recipes import Book, Source

UNLABELLED = -1.0
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.?!]) (?=[^.?!])")  # of tokenised text: a mark between spaces


@dataclass(frozen=True)
class Example:
    """One input: one text, the two of a pair, or consecutive texts of a document.

    ``label``: a class by id; of two classes also the probability of the second, as a teacher sees it; -1
    where there is none.
    """

    texts: tuple[str, ...]
    label: float


@dataclass(frozen=True)
class Corpus:
    """Examples by name: ``training`` by source, ``evaluation`` by task.

    ``dropped``: how many rows of a source were left out because an evaluation holds their text.
    """

    training: Mapping[str, tuple[Example, ...]]
    evaluation: Mapping[str, tuple[Example, ...]]
    dropped: Mapping[str, int]

    def texts(self, sources: Iterable[str]) -> list[str]:
        """Every text of the sources, once, in the order of first appearance."""
        return list(dict.fromkeys(t for name in sources for e in self.training[name] for t in e.texts))


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of tokenised text, of at least four words each: shorter ones join the one before."""
    found: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        if found and len(sentence.split()) < 4:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return tuple(found)


def label(source: Source, row: Mapping[str, str]) -> float | None:
    """A row's label by the source's rule; None where the row is left out."""
    if not source.score:
        return UNLABELLED
    score = float(row[source.score])
    if source.first is not None:
        return score - source.first
    if source.negative < score < source.positive:
        return None
    return float(score >= source.positive)


def in_fold(source: Source, texts: Iterable[str]) -> bool:
    """Whether a row belongs to the source's part of its file; spellings of one text fall together."""
    if not source.fold:
        return True
    fifth = zlib.crc32(" ".join(map(fingerprint, texts)).encode()) % 5 == 0
    return fifth == (source.fold == "fifth")


def read(source: Source, folder: Path) -> tuple[Example, ...]:
    """The examples of a source in the file's order, white space folded.

    Raises FileNotFoundError where the file is missing, KeyError where a column is.
    """
    examples = []
    for row in FORMATS[source.format](folder / source.file, source.columns):
        texts = tuple(" ".join(row[column].split()) for column in source.texts)
        value = label(source, row)
        if value is not None and in_fold(source, texts):
            examples.extend(_split(source, Example(texts, value)))
    return tuple(e for e in examples if source.shortest <= len(e.texts[0].split()) <= source.longest)


def _split(source: Source, example: Example) -> list[Example]:
    if not source.split:
        return [example]
    parts = tuple(part for text in example.texts for part in sentences(text))
    if source.split == "documents":
        return [Example(parts, example.label)]
    return [Example((part,), example.label) for part in parts]


def read_scored(source: Source, folder: Path) -> tuple[tuple[str, str, float], ...]:
    """Both texts of every row with its score as it stands, for what is measured by correlation."""
    one, two = source.texts
    rows = FORMATS[source.format](folder / source.file, source.columns)[: source.rows]
    return tuple((" ".join(r[one].split()), " ".join(r[two].split()), float(r[source.score])) for r in rows)


def fingerprint(text: str) -> str:
    """What the spellings of one text share: its letters and digits, lower-cased.

    Wider than folding white space, so that a text is also found under another tokenisation ("it 's", "it's").
    A text without letters and digits is its own fingerprint.
    """
    return _NEITHER_LETTER_NOR_DIGIT.sub("", text.lower()) or " ".join(text.split())


def without_leaks(examples: Iterable[Example], evaluation: Iterable[Example]) -> tuple[Example, ...]:
    """The examples that share no text with the evaluation, neither side of a pair."""
    held = {fingerprint(text) for example in evaluation for text in example.texts}
    return tuple(e for e in examples if held.isdisjoint(map(fingerprint, e.texts)))


def load_corpus(book: Book, folder: Path) -> Corpus:
    """All that the recipes read, without the training rows that stand in any evaluation, of whatever task.

    A source of more than its ``rows`` is thinned at random, the same way in every run.
    Raises FileNotFoundError where a file is missing, KeyError where a column is.
    """
    evaluation = {task: read(source, folder) for task, source in book.evaluations.items()}
    held = [example for rows in evaluation.values() for example in rows]
    found = {name: read(source, folder) for name, source in book.sources.items()}
    kept = {name: without_leaks(rows, held) for name, rows in found.items()}
    return Corpus(
        training={name: thinned(rows, book.sources[name].rows) for name, rows in kept.items()},
        evaluation={task: thinned(rows, book.evaluations[task].rows) for task, rows in evaluation.items()},
        dropped={name: len(found[name]) - len(kept[name]) for name in found},
    )


def thinned(examples: tuple[Example, ...], rows: int) -> tuple[Example, ...]:
    """At most ``rows`` of the examples, chosen at random with a fixed seed, in their order."""
    if len(examples) <= rows:
        return examples
    chosen = random.Random(len(examples)).sample(range(len(examples)), rows)
    return tuple(examples[index] for index in sorted(chosen))
