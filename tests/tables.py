"""Tables of labelled texts that tests fit."""

import numpy as np

from components.fitting import Table

GOOD = ("good", "great", "fine", "lovely", "superb", "clever")
BAD = ("bad", "awful", "dull", "poor", "silly", "tedious")
THINGS = ("film", "plot", "music", "acting", "ending", "script", "cast", "story", "scene", "joke")


def reviews(count: int, seed: int = 0) -> Table:
    """Short sentences whose label a word decides, none of them twice."""
    made = [
        (f"the {thing} is {word} and the {other} is {again}", label)
        for label, words in (("positive", GOOD), ("negative", BAD))
        for word in words
        for again in words
        for thing in THINGS
        for other in THINGS
    ]
    rows = np.random.default_rng(seed).permutation(len(made))[:count]
    return Table(tuple(made[row][0] for row in rows), (), tuple(made[row][1] for row in rows))
