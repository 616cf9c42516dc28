"""A made-up fit: the further down a combination stands in the plan, the worse it is."""

from collections.abc import Generator

import numpy as np

from components.fitting import CurvePoint, Fit, Miss, Plan, Ranked, Score, Stage, Table


def fake_fit(table: Table, plan: Plan) -> Generator[Stage | Fit]:
    """Two stages for each backbone, then the whole. The first row is missed."""
    rows, poolings = len(table.texts), plan.poolings or ("native", "cls", "mean")
    for backbone in plan.backbones:
        yield Stage(rows, rows, "embed", backbone)
        yield Stage(len(poolings), len(poolings), "fit", backbone)
    classes = tuple(sorted(set(table.labels)))
    given = np.array([classes.index(label) for label in table.labels])
    predicted = given.copy()
    predicted[0] = (given[0] + 1) % len(classes)
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(confusion, (given, predicted), 1)
    yield Fit(
        table=table,
        plan=plan,
        ranking=tuple(_ranking(plan, poolings)),
        majority=max(table.labels.count(label) for label in classes) / rows,
        shuffled=Score(0.5, 0.4, 0.6),
        classes=classes,
        curve=(CurvePoint(rows // 4, Score(0.6, 0.5, 0.7)), CurvePoint(rows, Score(0.9, 0.85, 0.95))),
        confusion=confusion,
        predicted=predicted,
        misses=(Miss(0, table.labels[0], classes[predicted[0]], 0.1, 0.9, True),),
        map=np.stack([np.cos(np.arange(rows)), given + np.sin(np.arange(rows))], axis=1).astype(np.float32),
        warnings=(),
    )


def _ranking(plan: Plan, poolings: tuple[str, ...]) -> Generator[Ranked]:
    """The pooling cls has the vectors of native, where both are there."""
    for place, (backbone, pooling) in enumerate((b, p) for b in plan.backbones for p in poolings):
        same = "native" if pooling == "cls" and "native" in poolings else ""
        value = 0.9 - 0.1 * (place - bool(same)) / len(poolings)
        score = Score(value, value - 0.05, value + 0.04)
        yield Ranked(backbone, pooling, 2, score, value - 0.01, None, 1 / (place + 1), 1.0, same)
