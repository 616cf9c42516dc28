"""Vectors that poolings make of texts, by the checkpoint that an engine has loaded."""

from collections.abc import Sequence

from components.analyses.measuring.analyze import pooled_features
from components.inference.engine import Engine
from components.model.catalogue import present
from components.model.files import version
from components.types import Floats


def features(
    engine: Engine, key: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
) -> dict[str, Floats]:
    """Pooled vectors (N, D') of N texts for each pooling at one layer."""
    spec = present(engine.find(key))
    backbone = engine.process.measurer.checkpoints.get(spec, version(spec))
    return pooled_features(backbone, texts, poolings, layer)
