"""Labelled texts and pairs: read, kept apart from what is measured, and augmented from epoch to epoch.

Single texts are respelled, joined and cut; pairs are swapped, or made of a text and an altered copy of it;
pre-training texts are runs of consecutive sentences, alone or in two parts.
"""

import csv
import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from components.texts import read_toml
from recipe.recipes import Recipes, Source

UNLABELLED = -1.0
DETOKENIZED = 0.5  # share of texts that are detokenized
JOINED = 0.02  # share of texts that others of the same label are joined to
EXCERPT = (20, 100)  # words taken of a text that is longer
KEPT = (0.0, 0.15)  # share of words replaced in a copy that still matches
REPLACED = (0.3, 0.8)  # and in one that does not
PASSAGE = (8, 45)  # words of a passage, where its document has as many
NEXT, RANDOM = 0.0, 1.0  # transformers' labels for next-sentence prediction
WORD = re.compile(r"\w+")
SPACING: list[tuple[str, str]] = read_toml(Path(__file__).with_suffix(".toml"))["spacing"]


@dataclass(frozen=True)
class Example:
    """An input: one text, the two of a pair, or consecutive texts of a document.

    ``label``: a class by id; of two also a soft label, the probability of class 1; -1 where there is none.
    """

    texts: tuple[str, ...]
    label: float


Examples = Sequence[Example]


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

    def examples(self, sources: Iterable[str]) -> list[Example]:
        """Every training example of the sources, one source after the other."""
        return [example for name in sources for example in self.training[name]]

    def texts(self, sources: Iterable[str]) -> list[str]:
        """Every text of the sources, once, in the order of first appearance."""
        return list(dict.fromkeys(text for example in self.examples(sources) for text in example.texts))


def _rows(source: Source, folder: Path) -> list[dict[str, str]]:
    """The rows of a source's file by column. FileNotFoundError where it is missing."""
    path, columns = folder / source.file, source.columns
    plain = {"dtype": str, "keep_default_na": False, "index_col": False}
    found: list[dict[str, str]]
    match source.format:
        case "tab-separated":  # the first line names the columns; quotation marks are ordinary characters
            table = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, encoding="utf-8-sig", **plain)
            found = table.to_dict("records")
        case "comma-separated":  # quoted fields and no line of names
            found = pd.read_csv(path, names=list(columns), **plain).to_dict("records")
        case "label first":  # a label, a space, a text
            with path.open(encoding="latin-1", newline="\n") as lines:
                found = [dict(zip(columns, line.split(" ", 1), strict=True)) for line in lines]
        case "aligned":  # a file per column, whose name takes the place of *; line n of each makes row n
            files = (path.with_name(path.name.replace("*", column)) for column in columns)
            texts = (file.read_text(encoding="utf-8").splitlines() for file in files)
            found = [dict(zip(columns, row, strict=True)) for row in zip(*texts, strict=True)]
    return found


def _sentences(text: str) -> list[str]:
    """The sentences of tokenized text, of at least four words each: shorter ones join the one before."""
    found: list[str] = []
    for sentence in re.split(r"(?<=[.?!]) (?=[^.?!])", text):  # a mark between spaces
        if found and len(sentence.split()) < 4:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found


def read(source: Source, folder: Path) -> tuple[Example, ...]:
    """The examples of a source in the file's order.

    Raises FileNotFoundError where the file is missing, KeyError where a column is.
    """
    examples = []
    for row in _rows(source, folder):
        texts = tuple(" ".join(row[column].split()) for column in source.texts)  # white space folded
        label: float | None = UNLABELLED
        if source.score and source.first is not None:
            label = float(row[source.score]) - source.first
        elif source.score:
            score = float(row[source.score])
            label = None if source.negative < score < source.positive else float(score >= source.positive)
        if source.fold:  # spellings of one text fall together
            fifth = zlib.crc32(" ".join(map(fingerprint, texts)).encode()) % 5 == 0
            label = label if fifth == (source.fold == "fifth") else None
        if label is not None:
            parts = tuple(part for text in texts for part in _sentences(text)) if source.split else texts
            inputs = [(part,) for part in parts] if source.split == "sentences" else [parts]
            examples += [Example(each, label) for each in inputs]
    return tuple(one for one in examples if source.min_words <= len(one.texts[0].split()) <= source.max_words)


def fingerprint(text: str) -> str:
    """Letters and digits of a text, lower-cased: what its spellings share.

    Wider than folding white space, so that a text is also found under another tokenisation ("it 's", "it's").
    A text without letters and digits is its own fingerprint.
    """
    return re.sub(r"[\W_]+", "", text.lower()) or " ".join(text.split())


def without_leaks(examples: Iterable[Example], evaluation: Iterable[Example]) -> tuple[Example, ...]:
    """The examples that share no text with the evaluation, neither side of a pair."""
    held_out = {fingerprint(text) for example in evaluation for text in example.texts}
    return tuple(one for one in examples if held_out.isdisjoint(map(fingerprint, one.texts)))


def load_corpus(recipes: Recipes, folder: Path) -> Corpus:
    """All that the recipes read, without the training rows that stand in any evaluation, of whatever task.

    A source of more than its ``rows`` is subsampled at random, the same way in every run.
    Raises FileNotFoundError where a file is missing, KeyError where a column is.
    """
    asked = (recipes.sources, recipes.evaluations, recipes.held_out)
    every = ({name: read(source, folder) for name, source in sources.items()} for sources in asked)
    found, evaluation, held_out = every
    measured = [example for rows in evaluation.values() for example in rows]
    kept = {name: without_leaks(rows, measured) for name, rows in found.items()}
    held = {task: without_leaks(rows, measured) for task, rows in held_out.items()}
    training, evaluation, held_out = (
        {name: subsample(rows, sources[name].rows) for name, rows in every.items()}
        for sources, every in zip(asked, (kept, evaluation, held), strict=True)
    )
    dropped = {name: len(found[name]) - len(kept[name]) for name in found}
    return Corpus(training, evaluation, dropped, held_out)


def subsample(examples: Examples, rows: int) -> tuple[Example, ...]:
    """At most ``rows`` of the examples, chosen at random with a fixed seed, in their order."""
    if len(examples) <= rows:
        return tuple(examples)
    chosen = random.Random(len(examples)).sample(range(len(examples)), rows)
    return tuple(examples[index] for index in sorted(chosen))


def without_held_out(corpus: Corpus, words: int) -> Corpus:
    """The corpus that checkpoints learn from: no training row shares a text with one that is held out.

    Nor as many consecutive ``words``: where phrases of one sentence are rows of their own, a held-out phrase
    would otherwise be learned from the next.
    """
    runs = CountVectorizer(ngram_range=(words, words), token_pattern=WORD.pattern).build_analyzer()
    held = [example for rows in corpus.held_out.values() for example in rows]
    taken = {run for example in held for text in example.texts for run in runs(text)}
    training, dropped = dict[str, tuple[Example, ...]](), dict[str, int]()
    for name, rows in corpus.training.items():
        left = without_leaks(rows, held)
        training[name] = tuple(row for row in left if taken.isdisjoint(chain(*map(runs, row.texts))))
        dropped[name] = corpus.dropped[name] + len(rows) - len(training[name])
    return replace(corpus, training=training, dropped=dropped)


def detokenize(text: str) -> str:
    """Tokenized lower-case text as people type it: "i do n't like it ." becomes "I don't like it.".

    The first letter is capitalised; text that is not tokenized stays as it is.
    """
    for pattern, replacement in SPACING:
        text = re.sub(pattern, replacement, text)
    return text[:1].upper() + text[1:]


def _random_spelling(rng: random.Random) -> Callable[[str], str]:
    return detokenize if rng.random() < DETOKENIZED else str


def _excerpt(text: str, rng: random.Random) -> str:
    """A run of words from anywhere in a long text; a text of at most ``EXCERPT[1]`` words stays whole."""
    words = text.split()
    length = min(len(words), rng.randint(*EXCERPT))
    start = rng.randint(0, len(words) - length)
    return " ".join(words[start : start + length]) if len(words) > EXCERPT[1] else text


def augment_texts(examples: Examples, rng: random.Random) -> list[Example]:
    """Single texts: half of them detokenized, a few joined to long ones, long ones cut.

    Only texts of the same side of 0.5 are joined; the result has the mean of their labels.
    """
    sides = {side: [one for one in examples if (one.label > 0.5) == side] for side in (False, True)}
    augmented = []
    for example in examples:
        side = sides[example.label > 0.5]
        joined = [*rng.choices(side, k=rng.randint(1, 9)), example] if rng.random() < JOINED else [example]
        spell = _random_spelling(rng)
        texts = (spell(_excerpt(one.texts[0], rng)) for one in joined)
        augmented.append(Example((" ".join(texts),), sum(one.label for one in joined) / len(joined)))
    return augmented


def augment_pairs(examples: Examples, rng: random.Random) -> list[Example]:
    """The pairs, the texts of each swapped every other time."""
    return [Example(one.texts if rng.random() < 0.5 else one.texts[::-1], one.label) for one in examples]


def _altered(words: Sequence[str], rng: random.Random) -> list[str]:
    """The words rotated, shortened by up to 30 %, and up to 20 % of them deleted; at least one stays."""
    turn = rng.randrange(len(words)) if rng.random() < 0.5 else 0
    turned = [*words[turn:], *words[:turn]]
    length = max(1, round(len(words) * rng.uniform(0.7, 1.0)))
    cut = turned[:length] if rng.random() < 0.5 else turned[-length:]
    deleted = rng.uniform(0.0, 0.2)
    return [word for word in cut if rng.random() >= deleted] or cut[:1]


def make_pairs(examples: Examples, rng: random.Random) -> list[Example]:
    """As many made pairs: a text of an example and an altered copy, in either order.

    The label is made, too: 0 where many words of the copy come from another text.
    """
    pairs, texts = [], [rng.choice(example.texts) for example in examples]
    for text in texts:
        strange = rng.choice(texts).split()
        label = rng.randint(0, 1)
        foreign = rng.uniform(*(KEPT if label else REPLACED))
        words = _altered(text.split(), rng)
        copy = " ".join(rng.choice(strange) if rng.random() < foreign else word for word in words)
        pairs += augment_pairs([Example((text, copy), label)], rng)
    return pairs


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


def _spelled_passages(examples: Examples, rng: random.Random) -> Iterator[list[str]]:
    """Every passage of every document, half of its texts detokenized."""
    for example in examples:
        for run in passages(example.texts, rng):
            yield [_random_spelling(rng)(text) for text in run]


def _halves(run: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """A passage in two: cut between two of its texts or, of one text, between two of its words."""
    if len(run) > 1:
        border = rng.randrange(1, len(run))
        return " ".join(run[:border]), " ".join(run[border:])
    words = run[0].split()
    border = rng.randint(1, max(1, len(words) - 1))
    return " ".join(words[:border]), " ".join(words[border:]) or words[-1]


def make_consecutive(examples: Examples, rng: random.Random) -> list[Example]:
    """Every passage in two parts; every other time the second is another passage's."""
    pairs = [_halves(run, rng) for run in _spelled_passages(examples, rng)]
    return [
        Example((one, two), NEXT) if rng.random() < 0.5 else Example((one, rng.choice(pairs)[1]), RANDOM)
        for one, two in pairs
    ]


# By the name that a stage of the recipe gives.
AUGMENTATIONS: Mapping[str, Callable[[Examples, random.Random], list[Example]]] = {
    "as they are": lambda examples, _: list(examples),
    "texts": augment_texts,
    "pairs": augment_pairs,
    "made pairs": make_pairs,
    "passages": lambda examples, rng: [
        Example((" ".join(run),), NEXT) for run in _spelled_passages(examples, rng)
    ],
    "consecutive passages": make_consecutive,
}
