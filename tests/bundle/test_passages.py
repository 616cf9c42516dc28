import random

from components.bundle.corpus import UNLABELLED, Example
from components.bundle.passages import NEXT, RANDOM, WORDS, halves, make_consecutive, make_passages, passages

SENTENCES = tuple(f"S{i} " + "word " * (i % 13 + 1) + f"end{i}" for i in range(60))
DOCUMENT = Example(SENTENCES, UNLABELLED)


def test_passages_hold_every_sentence_once_in_order() -> None:
    runs = passages(SENTENCES, random.Random(0))
    assert [sentence for run in runs for sentence in run] == list(SENTENCES)
    assert all(len(" ".join(run[:-1]).split()) < WORDS[1] for run in runs)  # the last may stand out
    assert len(runs) > 5


def test_a_passage_is_one_text() -> None:
    for example in make_passages([DOCUMENT] * 20, random.Random(1)):
        assert len(example.texts) == 1
        assert example.texts[0]


def test_half_of_the_second_parts_are_the_next_and_half_another_s() -> None:
    pairs = make_consecutive([DOCUMENT] * 40, random.Random(2))
    whole = " ".join(SENTENCES).lower()
    for pair in pairs:
        if pair.label == NEXT:
            assert " ".join(pair.texts).lower() in whole
    labels = [pair.label for pair in pairs]
    assert set(labels) == {NEXT, RANDOM}
    assert 0.4 < labels.count(NEXT) / len(labels) < 0.6
    strange = [pair for pair in pairs if pair.label == RANDOM and " ".join(pair.texts).lower() not in whole]
    assert len(strange) > 0.9 * labels.count(RANDOM)


def test_one_sentence_is_cut_between_words() -> None:
    rng = random.Random(3)
    assert halves(["alone"], rng) == ("alone", "alone")
    for _ in range(20):
        one, two = halves(["a b c d"], rng)
        assert f"{one} {two}" == "a b c d"
        assert one
        assert two
