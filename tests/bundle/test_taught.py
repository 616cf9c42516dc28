from dataclasses import replace

import numpy as np
import pytest

from components.bundle.checkpoints import taught
from components.bundle.corpus import UNLABELLED, Corpus, Example
from components.bundle.recipes import Stage

CORPUS = Corpus(
    training={
        "judged": (Example(("a",), 0), Example(("b",), 1)),
        "bare": (Example(("c",), UNLABELLED), Example(("d",), UNLABELLED)),
        "unasked": (Example(("e",), 1), Example(("f",), UNLABELLED)),
    },
    evaluation={},
    dropped={},
)
STAGE = Stage(("judged", "bare", "unasked"), "texts", "labels", steps=1, batch=1, learning_rate=1e-3)
VIEWS = {"judged": np.float32([0.25, 0.5]), "bare": np.float32([0.75, 0.125])}


@pytest.mark.parametrize(("trust", "judged"), [(1.0, [0.25, 0.5]), (0.5, [0.125, 0.75])])
def test_labels_are_mixed_with_opinions(trust: float, judged: list[float]) -> None:
    examples = taught(replace(STAGE, trust=trust), CORPUS, VIEWS)
    assert [e.texts[0] for e in examples] == ["a", "b", "c", "d", "e"]  # nobody knows about the last
    assert [e.label for e in examples] == [*judged, 0.75, 0.125, 1]


def test_a_stage_that_trusts_nobody_takes_all_as_they_are() -> None:
    assert taught(STAGE, CORPUS, VIEWS) == [e for rows in CORPUS.training.values() for e in rows]
