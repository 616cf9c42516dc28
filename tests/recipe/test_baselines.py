import numpy as np

from recipe.baselines import (
    bag_of_words,
    baseline_answers,
    baseline_results,
)
from recipe.corpus import Example
from tests.measured import made

PAIRS = (
    Example(("A cat sat", "a CAT sat."), 1),
    Example(("a cat sat", "a cat lay"), 1),
    Example(("a cat sat", "the dog lay"), 0),
    Example(("rain falls", "no word of it"), 0),
    Example(("one two three", "one four five"), 0),
)


def test_a_bag_of_words_learns_which_words_matter() -> None:
    texts = [
        f"{word} {rest}" for rest in ("film", "story", "cast", "end") for word in ("good", "bad", "dull")
    ]
    training = [Example((text,), float(text.startswith("good"))) for text in texts]
    classify = bag_of_words(training, seed=0)
    unseen = [Example(("a good joke",), 1), Example(("dull and bad",), 0)]
    assert classify(unseen).tolist() == [1, 0]
    answers = baseline_answers(training, unseen, seed=0)
    assert list(answers) == ["majority", "words"]
    assert answers["majority"].tolist() == [False, True]
    majority, words = made(baseline_results("sentiment", len(training), answers, seed=0))
    assert (majority.method, majority.trained, majority.measured, majority.value) == ("majority", 12, 2, 0.5)
    assert (words.value, words.low, words.high) == (1, 1, 1)


def test_pairs_have_baselines_of_their_own() -> None:
    answers = baseline_answers(PAIRS, PAIRS, seed=0)
    assert list(answers) == ["majority", "overlap"]
    assert np.mean(answers["majority"]) == 0.6
    assert answers["overlap"].all()
