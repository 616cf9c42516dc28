"""Vectors that poolings make of texts."""

from collections.abc import Sequence

import numpy as np

from components.inference.engine import Engine
from components.model.backbone import Backbone, alike, batch_states
from components.model.catalogue import present
from components.model.files import version
from components.model.pooling import POOLINGS
from components.model.query import counted_from_zero
from components.types import Floats


def loaded(engine: Engine, key: str) -> Backbone:
    """The checkpoint that an engine has loaded."""
    spec = present(engine.find(key))
    return engine.process.measurer.checkpoints.get(spec, version(spec))


def features(
    engine: Engine, key: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
) -> dict[str, Floats]:
    """Of N texts at one layer, by the checkpoint that an engine has loaded: (N, D') for each pooling."""
    return pooled_features(loaded(engine, key), texts, poolings, layer)


def pooled_features(
    backbone: Backbone, texts: Sequence[str], poolings: Sequence[str], layer: int
) -> dict[str, Floats]:
    """Make vectors (N, D') of N texts for each pooling, from one forward pass for all texts of one length."""
    vectors: dict[str, list[Floats]] = {key: [np.empty(0, np.float32)] * len(texts) for key in poolings}
    for rows in alike(backbone, texts):
        states = batch_states(backbone, [texts[row] for row in rows])
        states = states.upto(counted_from_zero("layer", layer, len(states.layers)))
        for key in poolings:
            for row, vector in zip(rows, POOLINGS[key](states).numpy(), strict=True):
                vectors[key][row] = vector
    return {key: np.stack(rows) for key, rows in vectors.items()}
