import random

from components.bundle.corpus import Example
from components.bundle.pairs import altered, make_matching, matching, vary_pairs

TEXT = " ".join(f"w{i}" for i in range(40))
OTHER = " ".join(f"x{i}" for i in range(40))


def test_a_copy_has_no_words_of_its_own() -> None:
    words = TEXT.split()
    for seed in range(50):
        copy = altered(words, random.Random(seed))
        assert set(copy) <= set(words)
        assert len(copy) == len(set(copy)) >= 0.4 * len(words)


def test_a_single_word_survives() -> None:
    assert {tuple(altered(["alone"], random.Random(seed))) for seed in range(50)} == {("alone",)}


def test_matching_copies_keep_most_words_and_others_do_not() -> None:
    for seed in range(100):
        pair = matching(TEXT, OTHER, random.Random(seed))
        copy = next(text for text in pair.texts if text != TEXT).split()
        foreign = sum(word.startswith("x") for word in copy) / len(copy)
        assert foreign < 0.4 if pair.label else foreign > 0.05


def test_made_pairs_are_as_many_as_the_examples_and_of_both_labels() -> None:
    made = make_matching([Example((TEXT, OTHER), 1)] * 100, random.Random(0))
    assert len(made) == 100
    assert 30 < sum(e.label for e in made) < 70


def test_real_pairs_come_in_both_orders_with_their_label() -> None:
    varied = vary_pairs([Example(("a", "b"), 1)] * 100, random.Random(0))
    assert {e.texts for e in varied} == {("a", "b"), ("b", "a")}
    assert {e.label for e in varied} == {1}
