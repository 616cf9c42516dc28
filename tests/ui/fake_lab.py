"""A made-up fit: the further down a combination stands in the plan, the worse it is."""

from collections.abc import Generator

import numpy as np

from components.fitting import (
    CurvePoint,
    Fit,
    Miss,
    OwnHead,
    Plan,
    Ranked,
    Reached,
    Score,
    Stage,
    Table,
    packed,
    write_head,
)
from components.texts import Named, Sentence


def fake_fit(table: Table, plan: Plan) -> Generator[Stage | Fit]:
    """One stage for the texts of each backbone and one for each combination, then the whole.

    The first row is missed.
    """
    rows, poolings = len(table.texts), plan.poolings or ("native", "cls", "mean")
    ranking = tuple(_ranking(plan, poolings))
    for backbone in plan.backbones:
        yield Stage(rows, rows, "embed", backbone, notes=_notes(table, backbone))
        for place, one in enumerate((one for one in ranking if one.backbone == backbone), 1):
            reached = Reached(backbone, one.pooling, one.layer, one.accuracy.value)
            yield Stage(place, len(poolings), "fit", backbone, None if one.same_as else reached)
    classes = tuple(sorted(set(table.labels)))
    given = np.array([classes.index(label) for label in table.labels])
    predicted = given.copy()
    predicted[0] = (given[0] + 1) % len(classes)
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(confusion, (given, predicted), 1)
    yield Fit(
        table=table,
        plan=plan,
        ranking=ranking,
        majority=max(table.labels.count(label) for label in classes) / rows,
        shuffled=Score(0.5, 0.4, 0.6),
        classes=classes,
        curve=(CurvePoint(rows // 4, Score(0.6, 0.5, 0.7)), CurvePoint(rows, Score(0.9, 0.85, 0.95))),
        confusion=confusion,
        predicted=predicted,
        misses=(Miss(0, table.labels[0], classes[predicted[0]], 0.1, 0.9, True),),
        head=fake_head(table, plan, classes),
        map=np.stack([np.cos(np.arange(rows)), given + np.sin(np.arange(rows))], axis=1).astype(np.float32),
        warnings=(),
    )


def fake_head(table: Table, plan: Plan, classes: tuple[str, ...]) -> str:
    """A head of the best combination, for vectors of four numbers."""
    weight, bias = np.eye(len(classes), 4, dtype=np.float32), np.zeros(len(classes), np.float32)
    pooling = (*plan.poolings, "native")[0]
    texts = 2 if table.pairs else 1
    return write_head(OwnHead(plan.backbones[0], pooling, -1, texts, classes, packed(weight, bias)))


def _ranking(plan: Plan, poolings: tuple[str, ...]) -> Generator[Ranked]:
    """The pooling cls has the vectors of native, where both are there."""
    for place, (backbone, pooling) in enumerate((b, p) for b in plan.backbones for p in poolings):
        same = "native" if pooling == "cls" and "native" in poolings else ""
        value = 0.9 - 0.1 * (place - bool(same)) / len(poolings)
        score = Score(value, value - 0.05, value + 0.04)
        yield Ranked(backbone, pooling, 2, score, value - 0.01, None, 1 / (place + 1), 1.0, same)


def _notes(table: Table, backbone: str) -> tuple[Sentence, ...]:
    """Each backbone reads three tokens of a row."""
    cut = sum(len(text.split()) > 3 for text in table.texts)
    values = {"backbone": Named(backbone), "count": cut, "total": len(table.texts), "limit": 3}
    return (Sentence("lab.cut", **values),) if cut else ()
