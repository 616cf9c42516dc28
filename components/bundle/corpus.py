"""Reads labelled texts and pairs, and keeps what is measured on out of what is trained on."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from components.bundle.recipes import Book, Source


@dataclass(frozen=True)
class Example:
    """One labelled input: one text, or the two of a pair."""

    texts: tuple[str, ...]
    label: int


@dataclass(frozen=True)
class Corpus:
    """Examples by name: ``training`` by source, ``evaluation`` by task.

    ``dropped``: how many rows of a source were left out because an evaluation holds their text.
    """

    training: Mapping[str, tuple[Example, ...]]
    evaluation: Mapping[str, tuple[Example, ...]]
    dropped: Mapping[str, int]

    @property
    def texts(self) -> list[str]:
        """Every text that is trained on, once, in the order of first appearance."""
        return list(dict.fromkeys(t for rows in self.training.values() for e in rows for t in e.texts))


def read(source: Source, folder: Path) -> tuple[Example, ...]:
    """The examples of a source in the file's order, white space folded.

    Raises FileNotFoundError where the file is missing, KeyError where a column is.
    """
    with (folder / source.file).open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    examples = []
    for row in rows:
        score = float(row[source.score])
        if score >= source.positive or score <= source.negative:
            texts = tuple(" ".join(row[column].split()) for column in source.texts)
            examples.append(Example(texts, int(score >= source.positive)))
    return tuple(examples)


def fingerprint(text: str) -> str:
    """What the spellings of one text share: its letters and digits, lower-cased.

    Wider than folding white space, so that a text is also found under another tokenisation ("it 's", "it's").
    A text without letters and digits is its own fingerprint.
    """
    return "".join(filter(str.isalnum, text.lower())) or " ".join(text.split())


def without_leaks(examples: Iterable[Example], evaluation: Iterable[Example]) -> tuple[Example, ...]:
    """The examples that share no text with the evaluation, neither side of a pair."""
    held = {fingerprint(text) for example in evaluation for text in example.texts}
    return tuple(e for e in examples if held.isdisjoint(map(fingerprint, e.texts)))


def load_corpus(book: Book, folder: Path) -> Corpus:
    """All that the recipes read, without the training rows that stand in any evaluation, of whatever task.

    Raises FileNotFoundError where a file is missing, KeyError where a column is.
    """
    evaluation = {task: read(source, folder) for task, source in book.evaluations.items()}
    held = [example for rows in evaluation.values() for example in rows]
    found = {name: read(source, folder) for name, source in book.sources.items()}
    kept = {name: without_leaks(rows, held) for name, rows in found.items()}
    return Corpus(
        training={name: rows[: book.rows] for name, rows in kept.items()},
        evaluation={task: rows[: book.rows] for task, rows in evaluation.items()},
        dropped={name: len(found[name]) - len(kept[name]) for name in found},
    )
