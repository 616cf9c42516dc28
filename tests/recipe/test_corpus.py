"""Rows as they are read, kept apart from what is measured, and augmented."""

import random
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from recipe import corpus as corpora
from recipe.corpus import UNLABELLED, Corpus, Example, detokenize, fingerprint, read, without_held_out
from recipe.evidence import FOLDS
from recipe.recipes import Recipes, Source
from tests.recipe.conftest import LEAKED, LEAKED_SIDE, write

SENTENCES = tuple(f"S{i} " + "word " * (i % 13 + 1) + f"end{i}" for i in range(60))
TYPED = tomllib.loads(Path(__file__).with_name("typed.toml").read_text(encoding="utf-8"))
HELD = Example(("The plot is thin , but the actors are a delight .",), 1)


def fingerprints(rows: dict[str, tuple[Example, ...]]) -> set[str]:
    return {fingerprint(text) for examples in rows.values() for e in examples for text in e.texts}


def test_files_are_read_as_a_source_says(tmp_path: Path) -> None:
    write(tmp_path / "scored.tsv", "a\tb\thow", "One  .\tTwo\t4", "Three\tFour\t3", 'Fi"ve\tSix\t2.5')
    asked = {"file": "scored.tsv", "texts": ("a", "b"), "score": "how"}
    one, three, five = ("One .", "Two"), ("Three", "Four"), ('Fi"ve', "Six")
    between = read(Source(**asked, positive=4, negative=2.5), tmp_path)
    assert between == (Example(one, 1), Example(five, 0))
    numbers = read(Source(**asked, first=0), tmp_path)
    assert numbers == (Example(one, 4.0), Example(three, 3.0), Example(five, 2.5))
    write(tmp_path / "s1.dev", "One")
    write(tmp_path / "s2.dev", "Eins")
    aligned = read(Source(file="*.dev", texts=("s2", "s1"), format="aligned", columns=("s1", "s2")), tmp_path)
    assert aligned == (Example(("Eins", "One"), UNLABELLED),)
    write(tmp_path / "rows.tsv", "text", *(f"row {i}" for i in range(500)), "Row 7 .", "ROW 8")
    folded = (Source(file="rows.tsv", texts=("text",), fold=fold) for fold in ("fifth", "rest"))
    fifth, rest = ({fingerprint(e.texts[0]) for e in read(source, tmp_path)} for source in folded)
    assert not fifth & rest
    assert (len(fifth | rest), 60 < len(fifth) < 140) == (500, True)


def test_nothing_that_is_measured_is_trained_on(corpus: Corpus, recipes: Recipes) -> None:
    planted = {"short phrases": 0, "long phrases": 1, "paraphrases": 1, "similarities": 1}
    assert {name: corpus.dropped[name] for name in planted} == planted  # on either side of a pair
    measured, trained = fingerprints(corpus.evaluation), fingerprints(corpus.training)
    assert measured > {fingerprint(LEAKED), fingerprint(LEAKED_SIDE)}
    assert measured.isdisjoint(trained)
    reported = {source.file for task, source in recipes.evaluations.items() if task in recipes.tasks}
    held_out = {source.file for source in recipes.held_out.values()}
    assert held_out <= {source.file for source in recipes.sources.values()} - reported
    for task, source in recipes.probing.sources.items():
        counts = Counter(example.label for example in corpus.training[source])
        assert min(counts.values()) >= FOLDS
        assert {example.label for example in corpus.evaluation[task]} == set(counts)
    held = fingerprints(corpus.held_out)  # what decides which checkpoints are kept
    assert set(corpus.held_out) == set(recipes.tasks)
    assert held & trained
    learned = without_held_out(corpus, recipes.shared_words)
    assert held.isdisjoint(fingerprints(learned.training) | measured)


@pytest.mark.parametrize(("words", "kept"), [(6, [2, 3]), (5, [3]), (99, [1, 2, 3])])
def test_rows_that_share_a_text_or_a_run_of_words_are_not_learned_from(words: int, kept: list[int]) -> None:
    whole, phrase = "the plot is thin, but the actors are a delight", "but the actors are a delight"
    texts = (whole, phrase, "the actors are a delight", "the actors are not a delight at all")
    rows = tuple(Example((text,), 0) for text in texts)
    whole_corpus = Corpus({"rows": rows}, {}, {"rows": 2}, {"task": (HELD,)})
    assert without_held_out(whole_corpus, words).training["rows"] == tuple(rows[row] for row in kept)


@pytest.mark.parametrize(("tokenized", "typed"), TYPED.items())
def test_tokenized_text_is_detokenized(tokenized: str, typed: str) -> None:
    assert detokenize(tokenized) == detokenize(typed) == typed


def test_augmented_texts_keep_number_order_and_labels() -> None:
    rows = [Example((f"no {i} is n't here .",), i % 2) for i in range(1000)]
    varied = corpora.augment_texts(rows, random.Random(0))
    assert [e.label for e in varied] == [e.label for e in rows]
    assert 400 < sum("isn't" in e.texts[0] for e in varied) < 600
    joined = [e for e in varied if len(e.texts[0].split()) > 6]
    assert 5 < len(joined) < 50
    for example in joined:  # every sentence that was joined has the same label, which is that of its number
        numbers = [int(word) for word in example.texts[0].split() if word.isdigit()]
        assert {number % 2 for number in numbers} == {example.label}


def test_made_pairs_come_in_both_orders_and_share_most_words_where_they_match() -> None:
    rows = [Example((" ".join(f"{row}w{i}" for i in range(40)),), UNLABELLED) for row in range(50)]
    shared, originals = {0: [], 1: []}, {row.texts[0] for row in rows}
    pairs = corpora.make_pairs(rows, random.Random(0))
    for pair in pairs:
        one, other = (set(text.split()) for text in pair.texts)
        shared[pair.label].append(len(one & other) / min(len(one), len(other)))
    differ, match = (sum(shares) / len(shares) for shares in shared.values())
    assert differ < 0.6 < 0.85 < match
    assert 10 < sum(pair.texts[0] in originals for pair in pairs) < 40


def test_half_of_the_second_parts_are_the_next_and_half_another_s() -> None:
    pairs = corpora.make_consecutive([Example(SENTENCES, UNLABELLED)] * 40, random.Random(2))
    whole = " ".join(SENTENCES).lower()
    follows = {label: [] for label in (corpora.NEXT, corpora.RANDOM)}
    for pair in pairs:
        follows[pair.label].append(" ".join(pair.texts).lower() in whole)
    assert all(follows[corpora.NEXT])
    assert 0.4 < len(follows[corpora.NEXT]) / len(pairs) < 0.6
    assert sum(follows[corpora.RANDOM]) < 0.1 * len(follows[corpora.RANDOM])
