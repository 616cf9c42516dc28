"""Rows that decide whether a checkpoint is kept: from training files, and learned from by none."""

import pytest

from components.results import table as results_of
from recipe.__main__ import table
from recipe.corpus import Corpus, Example, fingerprint, without_held_out
from recipe.recipes import Recipes, load_recipes
from recipe.steps import HeadRecord

HELD = Example(("The plot is thin , but the actors are a delight .",), 1)


def corpus(*texts: str) -> Corpus:
    rows = tuple(Example((text,), 0) for text in texts)
    return Corpus({"rows": rows}, {"task": (Example(("measured",), 0),)}, {"rows": 2}, {"task": (HELD,)})


def kept(words: int, *texts: str) -> list[str]:
    return [row.texts[0] for row in without_held_out(corpus(*texts), words).training["rows"]]


def test_rows_that_share_a_text_or_a_run_of_words_are_not_learned_from() -> None:
    whole, phrase = "the plot is thin, but the actors are a delight", "but the actors are a delight"
    shorter, other = "the actors are a delight", "the actors are not a delight at all"
    assert kept(6, whole, phrase, shorter, other) == [shorter, other]
    assert kept(5, whole, phrase, shorter, other) == [other]
    assert kept(99, whole, phrase) == [phrase]  # the text itself, however long a run has to be


def test_held_out_rows_come_from_training_files_and_are_never_reported(corpus: Corpus) -> None:
    recipes = load_recipes()
    assert set(recipes.held_out.sources) == set(recipes.tasks)
    reported = {source.file for task, source in recipes.evaluations.items() if task in recipes.tasks}
    trained = {source.file for source in recipes.sources.values()}
    assert {source.file for source in recipes.held_out.sources.values()} <= trained - reported
    measured = {fingerprint(text) for rows in corpus.evaluation.values() for e in rows for text in e.texts}
    held = {fingerprint(text) for rows in corpus.held_out.values() for e in rows for text in e.texts}
    assert held
    assert measured.isdisjoint(held)


def test_checkpoints_learn_from_none_of_them(corpus: Corpus, recipes: Recipes) -> None:
    learned = without_held_out(corpus, recipes.held_out.shared_words)
    held = {fingerprint(text) for rows in corpus.held_out.values() for e in rows for text in e.texts}
    assert held & set(map(fingerprint, corpus.texts(recipes.sources)))
    assert held.isdisjoint(map(fingerprint, learned.texts(recipes.sources)))


@pytest.mark.parametrize(("reported", "held_out", "missed"), [(0.99, 0.5, True), (0.5, 0.99, False)])
def test_a_bar_is_missed_on_held_out_rows_alone(reported: float, held_out: float, missed: bool) -> None:
    row = {"kind": "head", "backbone": "bert-sentiment", "task": "sentiment", "value": reported}
    said = table(load_recipes(), results_of([row]), {"bert-sentiment": HeadRecord(held_out, 800, 0)})
    assert ("missed" in said) == missed
