"""What is said of the combinations that are fitted while others are still to come."""

import re

from components.exhibits.lab import so_far_html
from components.fitting import Reached
from components.texts import load_texts
from tests.ui.fake import XSS

SAY = load_texts()
TITLES = {"first": XSS[:20], "second": "Second"}
SCORES = {"cls": 0.5, "mean": 0.9, "max": 0.7, "gem": 0.6, "native": 0.65}
REACHED = [
    *(Reached("first", pooling, 2, accuracy) for pooling, accuracy in SCORES.items()),
    Reached("second", "mean", 3, 0.8),
]


def test_the_best_five_are_named_the_best_one_first_with_the_layer_where_there_are_several() -> None:
    shown = so_far_html(REACHED, TITLES, False, SAY)
    assert "Best of the 6 vectors that are fitted so far" in shown
    assert re.findall(r"· (\w+): (\d+) %</li>", shown) == [
        *(("mean", "90"), ("mean", "80"), ("max", "70"), ("native", "65"), ("gem", "60"))
    ]
    assert "<img" not in shown
    assert "Second · mean · layer 3: 80 %" in so_far_html(REACHED, TITLES, True, SAY)
    assert so_far_html([], TITLES, False, SAY) == ""
