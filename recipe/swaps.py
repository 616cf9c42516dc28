"""What a checkpoint's own head says of vectors that it was not trained on, on a whole test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from components.analyses.fit.embedding import available
from components.analyses.fit.rows import first_alike
from components.model.backbone import Backbone
from components.model.heads import NATIVE, pooled, swapped_head, swaps
from components.model.pooling import POOLINGS
from components.types import Ints
from recipe.corpus import Example
from recipe.probes import embed, vectors
from recipe.statistics import Row, compared


def swap_results(backbone: Backbone, task: str, examples: Sequence[Example], seed: int) -> list[Row]:
    """A row for each pooling that the own head can be given in the place of its own vector.

    What gives that very vector for every example is no swap, and has no row.
    """
    labels = np.array([example.label for example in examples])
    answers, first = swap_answers(backbone, examples)
    own, of_task = answers[NATIVE] == labels, {"backbone": backbone.spec.key, "task": task}
    return [
        {
            "kind": "swap",
            **of_task,
            "pooling": pooling,
            "vector": first[pooling],
            **compared(found == labels, own, seed),
        }
        for pooling, found in answers.items()
        if first[pooling] != NATIVE
    ]


def swap_answers(
    backbone: Backbone, examples: Sequence[Example]
) -> tuple[Mapping[str, Ints], Mapping[str, str]]:
    """The likeliest label (N,) of each example by pooling, that of the own vector ("native") first.

    And for each of these poolings the first one whose vectors are the very same.
    """
    batches = embed(backbone, [example.texts for example in examples])
    fitting = [key for key in POOLINGS if not (POOLINGS[key].spec.learned or POOLINGS[key].spec.wide)]
    given = [NATIVE, *(key for key in available(backbone, fitting) if swaps(backbone, key))]
    first = first_alike({key: vectors(batches, key) for key in given})
    answers = {key: np.empty(len(examples), dtype=np.int64) for key in given}
    for batch in batches:
        head, hidden = batch.states.reads.head, batch.states.hidden
        for key, found in answers.items():
            read = head if key == NATIVE else swapped_head(head, pooled(POOLINGS[key], batch.states))
            found[batch.rows] = read(hidden).argmax(dim=1).numpy()
    return answers, first
