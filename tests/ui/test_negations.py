"""Taking a negation out of a text."""

import pytest

from components.ui.compare.version import load_negations


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("The plot is not bad, but it is not good.", "The plot is bad, but it is not good."),
        ("Not bad at all", "Bad at all"),
        ("not", ""),
        ("it is good? not!", "it is good? !"),
        ("I don't like it", "I do like it"),
        ("I don’t like it", "I do like it"),
        ("Can't complain", "Can complain"),
        ("they WON'T come", "they Will come"),
        ("it cannot work", "it can work"),
        ("a film without a plot", "a film a plot"),
        ("a knot, a note and nothing", None),
        ("", None),
    ],
)
def test_the_first_negation_goes_and_the_rest_stays(given: str, left: str | None) -> None:
    assert load_negations().drop(given) == left
