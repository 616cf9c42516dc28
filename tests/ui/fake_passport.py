"""A made-up passport, of what an analysis says."""

from dataclasses import replace

from components.analyses.anatomy import Weight
from components.analyses.passport import PaddedWay, Passport, Sample, Unread
from components.declaration import Declaration, Dense, Normalize
from components.types import Analysis

DECLARED = Declaration(("mean",), 8, (Dense("2_Dense", 8, 4, "Tanh", True, False), Normalize()))


def fake_passport(analysis: Analysis) -> Passport:
    """Of a checkpoint with one text, whose head reads what that of the analysis does."""
    read = tuple(analysis.reads.positions.nonzero()[0].tolist())
    return Passport(
        backbone=replace(analysis.backbone, declared=DECLARED),
        fingerprint="00" * 32,
        parameters=1_234_567,
        layers=analysis.layers,
        width=len(analysis.pooled),
        limit=128,
        samples=(Sample(analysis.query.text, "", analysis.tokens.text, read),),
        equal=("cls", "first"),
        padding="moves",
        ways=(PaddedWay("batch", "moves", 0.25), PaddedWay("left", "reads_padding", 0.5)),
        ordinary=analysis.ordinary.plain,
        head_trained=False,
        body_trained=False,
        weights=(Weight("classifier.weight", (2, 8), "new"), Weight("classifier.bias", (2,), "constant")),
        unused=(Weight("lm_head.weight", (8, 9), "checkpoint"),),
        scripts=(Unread("Latin", "abc", ""), Unread("Greek", "αβ", "αβ"), Unread("Thai", "กข", "ก")),
    )
