import random

import pytest

from components.bundle.corpus import Example
from components.bundle.texts import EXCERPT, excerpt, natural, vary_texts


@pytest.mark.parametrize(
    ("tokenised", "typed"),
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
def test_natural_spelling(tokenised: str, typed: str) -> None:
    assert natural(tokenised) == typed
    assert natural(typed) == typed


def test_an_excerpt_is_a_run_of_words() -> None:
    text = " ".join(map(str, range(400)))
    cut = excerpt(text, random.Random(3))
    assert f" {cut} " in f" {text} "
    assert EXCERPT[0] <= len(cut.split()) <= EXCERPT[1]


def test_short_texts_stay_whole() -> None:
    text = " ".join(map(str, range(EXCERPT[1])))
    assert {excerpt(text, random.Random(seed)) for seed in range(20)} == {text}


def test_variations_keep_number_order_and_labels() -> None:
    rows = [Example((f"no {i} is n't here .",), i % 2) for i in range(1000)]
    varied = vary_texts(rows, random.Random(0))
    assert [e.label for e in varied] == [e.label for e in rows]
    typed = [e for e in varied if "isn't" in e.texts[0]]
    assert 400 < len(typed) < 600
    joined = [e for e in varied if len(e.texts[0].split()) > 6]
    assert 5 < len(joined) < 50
    for example in joined:  # every sentence that was joined has the same label, which is that of its number
        numbers = [int(word) for word in example.texts[0].split() if word.isdigit()]
        assert {number % 2 for number in numbers} == {example.label}


def test_same_seed_same_variation() -> None:
    rows = [Example((f"no {i} is n't here .",), i % 2) for i in range(100)]
    assert vary_texts(rows, random.Random(5)) == vary_texts(rows, random.Random(5))
    assert vary_texts(rows, random.Random(5)) != vary_texts(rows, random.Random(6))
