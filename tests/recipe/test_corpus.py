from collections import Counter
from pathlib import Path

from recipe.corpus import (
    UNLABELLED,
    Corpus,
    Example,
    fingerprint,
    load_corpus,
    read,
    read_scored,
    without_leaks,
)
from recipe.probes import FOLDS
from recipe.recipes import Recipes, Source, load_recipes
from tests.recipe.labelled import LEAKED, LEAKED_SIDE, write


def test_rows_between_the_scores_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "scored.tsv", "a\tb\thow", "One  .\tTwo\t4", "Three\tFour\t3", 'Fi"ve\tSix\t2.5')
    source = Source("scored.tsv", ("a", "b"), score="how", positive=4, negative=2.5)
    assert read(source, tmp_path) == (Example(("One .", "Two"), 1), Example(('Fi"ve', "Six"), 0))
    scored = (("One .", "Two", 4.0), ("Three", "Four", 3.0), ('Fi"ve', "Six", 2.5))
    assert read_scored(source, tmp_path) == scored


def test_aligned_files_make_rows_without_labels(tmp_path: Path) -> None:
    write(tmp_path / "s1.dev", "One", "Two")
    write(tmp_path / "s2.dev", "Eins", "Zwei")
    source = Source("*.dev", ("s2", "s1"), "aligned", ("s1", "s2"))
    assert read(source, tmp_path) == (
        Example(("Eins", "One"), UNLABELLED),
        Example(("Zwei", "Two"), UNLABELLED),
    )


def test_a_file_falls_into_a_fifth_and_the_rest(tmp_path: Path) -> None:
    write(tmp_path / "rows.tsv", "text", *(f"row {i}" for i in range(500)), "Row 7 .", "ROW 8")
    fifth, rest = (
        {fingerprint(e.texts[0]) for e in read(Source("rows.tsv", ("text",), fold=fold), tmp_path)}
        for fold in ("fifth", "rest")
    )
    assert not fifth & rest
    assert len(fifth | rest) == 500
    assert 60 < len(fifth) < 140


def test_a_leak_on_either_side_is_dropped() -> None:
    held = [Example(("Held text .",), 0)]
    rows = [Example(("a", "HELD text."), 1), Example(("held  text .", "b"), 0), Example(("a", "b"), 1)]
    assert without_leaks(rows, held) == (rows[2],)


def test_planted_rows_are_dropped_from_every_file(corpus: Corpus, recipes: Recipes) -> None:
    planted = {"short phrases": 0, "long phrases": 1, "paraphrases": 1, "similarities": 1}
    assert {name: corpus.dropped[name] for name in planted} == planted
    trained = {fingerprint(text) for text in corpus.texts(recipes.sources)}
    assert trained.isdisjoint(map(fingerprint, (LEAKED, LEAKED_SIDE)))


def test_nothing_that_is_measured_is_trained_on(corpus: Corpus, recipes: Recipes) -> None:
    held = {fingerprint(text) for rows in corpus.evaluation.values() for e in rows for text in e.texts}
    assert len(held) > 100
    assert held.isdisjoint(map(fingerprint, corpus.texts(recipes.sources)))


def test_every_task_with_probes_has_enough_examples_of_each_label(data: Path) -> None:
    recipes = load_recipes()
    corpus = load_corpus(recipes, data)
    labels = {}
    for task, source in recipes.probing.sources.items():
        counts = Counter(example.label for example in corpus.training[source])
        assert min(counts.values()) >= FOLDS
        assert {example.label for example in corpus.evaluation[task]} == set(counts)
        labels[task] = set(counts)
    assert labels == {
        "sentiment": {0, 1},
        "subjectivity": {0, 1},
        "topic": {0, 1, 2, 3},
        "paraphrase": {0, 1},
    }
