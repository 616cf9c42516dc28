"""Reads labelled texts and pairs, and removes the evaluation texts from the training data."""

from __future__ import annotations

import csv
import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from recipe.recipes import Recipes, Source

UNLABELLED = -1.0
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.?!]) (?=[^.?!])")  # of tokenized text: a mark between spaces

Row = Mapping[str, str]  # column name -> text


@dataclass(frozen=True)
class Example:
    """One input: one text, the two of a pair, or consecutive texts of a document.

    ``label``: a class by id; of two classes also a soft label, the probability of class 1; -1
    where there is none.
    """

    texts: tuple[str, ...]
    label: float


@dataclass(frozen=True)
class Corpus:
    """Examples by name: ``training`` by source, ``evaluation`` by task.

    ``held_out``: rows of training files by task, for what decides whether a checkpoint is kept. They are
    among ``training``, from which probes and baselines learn; see `without_held_out` for checkpoints.
    ``dropped``: how many rows of a source were left out because an evaluation holds their text.
    """

    training: Mapping[str, tuple[Example, ...]]
    evaluation: Mapping[str, tuple[Example, ...]]
    dropped: Mapping[str, int]
    held_out: Mapping[str, tuple[Example, ...]] = field(default_factory=dict)

    def texts(self, sources: Iterable[str]) -> list[str]:
        """Every text of the sources, once, in the order of first appearance."""
        return list(dict.fromkeys(t for name in sources for e in self.training[name] for t in e.texts))


def _tab_separated(path: Path, columns: Sequence[str]) -> list[Row]:
    """The first line names the columns; quotation marks are ordinary characters."""
    del columns
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _comma_separated(path: Path, columns: Sequence[str]) -> list[Row]:
    """Quoted fields and no line of names."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, fieldnames=columns))


def _label_first(path: Path, columns: Sequence[str]) -> list[Row]:
    """A label, a space, a text; Latin-1."""
    with path.open(encoding="latin-1", newline="\n") as lines:
        return [dict(zip(columns, line.split(" ", 1), strict=True)) for line in lines]


def _aligned(path: Path, columns: Sequence[str]) -> list[Row]:
    """One file per column, whose name takes the place of * in the path; line n of each makes row n."""
    files = (path.with_name(path.name.replace("*", column)) for column in columns)
    texts = (file.read_text(encoding="utf-8").splitlines() for file in files)
    return [dict(zip(columns, row, strict=True)) for row in zip(*texts, strict=True)]


FORMATS: Mapping[str, Callable[[Path, Sequence[str]], list[Row]]] = {
    "tab-separated": _tab_separated,
    "comma-separated": _comma_separated,
    "label first": _label_first,
    "aligned": _aligned,
}


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of tokenized text, of at least four words each: shorter ones join the one before."""
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
    return tuple(e for e in examples if source.min_words <= len(e.texts[0].split()) <= source.max_words)


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
    held_out = {fingerprint(text) for example in evaluation for text in example.texts}
    return tuple(e for e in examples if held_out.isdisjoint(map(fingerprint, e.texts)))


def load_corpus(recipes: Recipes, folder: Path) -> Corpus:
    """All that the recipes read, without the training rows that stand in any evaluation, of whatever task.

    A source of more than its ``rows`` is subsampled at random, the same way in every run.
    Raises FileNotFoundError where a file is missing, KeyError where a column is.
    """
    evaluation = {task: read(source, folder) for task, source in recipes.evaluations.items()}
    measured = [example for rows in evaluation.values() for example in rows]
    found = {name: read(source, folder) for name, source in recipes.sources.items()}
    kept = {name: without_leaks(rows, measured) for name, rows in found.items()}
    sources = recipes.held_out.sources
    held_out = {task: without_leaks(read(source, folder), measured) for task, source in sources.items()}
    return Corpus(
        training={name: subsample(rows, recipes.sources[name].rows) for name, rows in kept.items()},
        evaluation={
            task: subsample(rows, recipes.evaluations[task].rows) for task, rows in evaluation.items()
        },
        dropped={name: len(found[name]) - len(kept[name]) for name in found},
        held_out={task: subsample(rows, sources[task].rows) for task, rows in held_out.items()},
    )


def subsample(examples: tuple[Example, ...], rows: int) -> tuple[Example, ...]:
    """At most ``rows`` of the examples, chosen at random with a fixed seed, in their order."""
    if len(examples) <= rows:
        return examples
    chosen = random.Random(len(examples)).sample(range(len(examples)), rows)
    return tuple(examples[index] for index in sorted(chosen))


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
