import pytest

from components.types import Query
from components.ui.classify.question import to_query, to_reference


@pytest.mark.parametrize(
    ("given", "reference"),
    [
        ("cls", "cls"),
        ("pooled", "pooled"),
        (3, 3),
        ("3", 3),
        (" 3 ", 3),
        ("-1", -1),
        (None, ""),
        (True, "True"),
        ("²", "²"),
    ],
)
def test_a_reference_is_a_name_or_an_index(given: object, reference: object) -> None:
    assert to_reference(given) == reference


def test_whatever_a_browser_sends_becomes_a_query() -> None:
    sent = {
        "text": "a",
        "pair": None,
        "backbone": ["x"],
        "pooling": 5,
        "head": 7,
        "task": True,
        "reference": {},
    }
    assert to_query(sent) == Query("['x']", "a", "", "5", "7", reference="{}", task="True")
    assert to_query({"backbone": "x", "text": "a"}) == Query("x", "a")
