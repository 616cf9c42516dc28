"""A made-up answer of the detective: a match with ties, another vector, and what the checkpoint declares."""

from dataclasses import replace

from components.analyses.detect import BAR, Candidate, Detected, to_vectors
from components.analyses.ways import Way
from components.declaration import Declaration, Dense, Normalize
from components.types import Analysis

WAY = Way("cls", 2, normalised=True)


def fake_detected(analysis: Analysis, vector: object, prefix: str) -> Detected:
    """That [CLS] of the last layer made it; or, of a vector that begins with 0, that nothing did."""
    pasted = to_vectors(vector)
    numbers, count = pasted[0].vector, len(pasted)
    way = replace(WAY, layer=analysis.layers, prefix=prefix)
    same = replace(way, pooling="first"), replace(way, pooling="native"), replace(way, layer=0)
    cosine = 0.9 if numbers[0] == 0 else 0.99999
    plain = replace(way, pooling="mean", normalised=None)
    others = [
        Candidate(replace(plain, layer=layer), (), (0.8 - 0.1 * layer,) * count, 2.5, False)
        for layer in (1, 0)
    ]
    return Detected(
        query=analysis.query,
        backbone=analysis.backbone,
        layers=analysis.layers,
        width=len(numbers),
        length=1.0,
        tried=200,
        candidates=(Candidate(way, same, (cosine,) * count, 1.0, cosine > BAR), *others),
        declared=Declaration(("mean",), 8, (Dense("2_Dense", 8, 4, "Tanh", True, False), Normalize()), 128),
        prompts=(("query", "query: "),),
        warnings=analysis.warnings,
    )
