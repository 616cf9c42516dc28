import random

import pytest

from recipe.augmentation import (
    NEXT,
    PASSAGE,
    RANDOM,
    augment_pairs,
    augment_texts,
    detokenize,
    make_consecutive,
    passages,
)
from recipe.corpus import UNLABELLED, Example

TEXT = " ".join(f"w{i}" for i in range(40))
OTHER = " ".join(f"x{i}" for i in range(40))
SENTENCES = tuple(f"S{i} " + "word " * (i % 13 + 1) + f"end{i}" for i in range(60))
DOCUMENT = Example(SENTENCES, UNLABELLED)


@pytest.mark.parametrize(
    ("tokenized", "typed"),
    [
        ("i do n't like it .", "I don't like it."),
        ("it 's bad , is n't it ?", "It's bad, isn't it?"),
        ("we 're sure they 'll say they 've won", "We're sure they'll say they've won"),
        ("you ca n't , i 'm told", "You can't, I'm told"),
        ("a `` great '' day ( or two ) ...", 'A "great" day (or two)...'),
        ("the actors ' best ` joke '", "The actors' best 'joke'"),
        ("this is gon na cost $ 5 , or 3 %", "This is gonna cost $5, or 3%"),
        ("not good", "Not good"),
        ("", ""),
    ],
)
def test_tokenized_text_is_detokenized(tokenized: str, typed: str) -> None:
    assert detokenize(tokenized) == typed
    assert detokenize(typed) == typed


def test_augmented_texts_keep_number_order_and_labels() -> None:
    rows = [Example((f"no {i} is n't here .",), i % 2) for i in range(1000)]
    varied = augment_texts(rows, random.Random(0))
    assert [e.label for e in varied] == [e.label for e in rows]
    typed = [e for e in varied if "isn't" in e.texts[0]]
    assert 400 < len(typed) < 600
    joined = [e for e in varied if len(e.texts[0].split()) > 6]
    assert 5 < len(joined) < 50
    for example in joined:  # every sentence that was joined has the same label, which is that of its number
        numbers = [int(word) for word in example.texts[0].split() if word.isdigit()]
        assert {number % 2 for number in numbers} == {example.label}


def test_real_pairs_come_in_both_orders_with_their_label() -> None:
    varied = augment_pairs([Example(("a", "b"), 1)] * 100, random.Random(0))
    assert {e.texts for e in varied} == {("a", "b"), ("b", "a")}
    assert {e.label for e in varied} == {1}


def test_passages_hold_every_sentence_once_in_order() -> None:
    runs = passages(SENTENCES, random.Random(0))
    assert [sentence for run in runs for sentence in run] == list(SENTENCES)
    assert all(len(" ".join(run[:-1]).split()) < PASSAGE[1] for run in runs)  # the last may stand out
    assert len(runs) > 5


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
