"""Made-up results of every analysis, from a made-up answer: the right shapes, and the same at every call."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from components import fitting
from components.analyses.anatomy import Anatomy, Declared, Excerpt, Origin, Step, Weight
from components.analyses.compare import Cell, Compared
from components.analyses.detect import BAR, Candidate, Detected, Way, to_vectors
from components.analyses.importance import Importance, Integrated
from components.analyses.lens import Lens
from components.analyses.padding import Padding, PaddingCase
from components.analyses.passport import PaddedWay, Passport, Sample, Unread
from components.analyses.trace import Patched
from components.errors import PoolscopeError
from components.texts import Named, Sentence
from components.types import Analysis, BackboneSpec, Declaration, Dense, Floats, Normalize, ProblemType, Query

WIDTH = 8
HEADS, STEPS = 2, 50  # of attention, and of integrated gradients
MOST = 40  # combinations of a comparison
WAY = Way("cls", 2, normalised=True)
DECLARED = Declaration(("mean",), 8, (Dense("2_Dense", 8, 4, "Tanh", True, False), Normalize()))


def probabilities(logits: Floats, problem_type: ProblemType) -> Floats:
    """What a head of this kind says of (…, K) logits."""
    if problem_type == "regression":
        return np.asarray(logits, dtype=np.float32)
    if problem_type == "multi_label":
        return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float32)
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True), dtype=np.float32)


def fake_anatomy(analysis: Analysis, hostile: str = "") -> Anatomy:
    """Dense, tanh, dropout, classifier, as in no model in particular; ``hostile`` goes into every name.

    An untrained head's classifier is new, a probe has a step of pooling and one of its own weights.
    """
    origin: Origin = "probe" if analysis.query.head == "probe" else "checkpoint"
    origin = origin if analysis.head_trained else "new"
    end, within = (WIDTH + 1) * len(analysis.labels), f"{analysis.backbone.architecture}{hostile}"
    steps, weights = _steps(analysis, origin, within, end, hostile)
    dense, labels = f"body.pooler.dense{hostile}", len(analysis.labels)
    unused = () if analysis.head_trained else (Weight(f"lm_head.weight{hostile}", (30, WIDTH), "checkpoint"),)
    lines = ("    first = hidden_states[:, 0]", "    return torch.tanh(self.dense(first))")
    declared = (
        ("", 0, f"{within}("),
        ("body", 1, "(body): Body("),
        ("body.encoder", 2, "(encoder): BodyEncoder( … )"),
        ("body.pooler", 2, "(pooler): BodyPooler("),
        (dense, 3, f"(dense): Linear(in_features={WIDTH}, out_features={WIDTH})"),
        ("", 2, ")"),
        ("", 1, ")"),
        ("classifier", 1, f"(classifier): Linear(in_features={WIDTH}, out_features={labels})"),
        ("dropout", 1, f"(dropout): Dropout(p=0.1){hostile}"),
        ("", 0, ")"),
    )
    source = Excerpt(
        title=f"BodyPooler.forward{hostile}",
        file="transformers/models/body/modeling_body.py",
        first=40,
        lines=(f"def forward(self, hidden_states):  # {hostile}", *lines),
        ran=(41, 42),
        picks=(41,),
    )
    return Anatomy(
        analysis=analysis,
        steps=steps,
        weights=weights,
        unused=unused,
        declared=tuple(Declared(*one) for one in declared),
        sources=(source,),
        program=f"import torch  # {hostile}\n\nprint(torch.tensor({analysis.probabilities.tolist()}))\n",
        lens=fake_lens(analysis) if analysis.query.pooling != "attention" else Sentence("errors.widths"),
        module="from torch import nn\n\n\nclass Classifier(nn.Module):\n    pass\n",
    )


def _steps(
    analysis: Analysis, origin: Origin, within: str, end: int, hostile: str
) -> tuple[tuple[Step, ...], tuple[Weight, ...]]:
    """The steps from (T, 8) made-up hidden states to the analysis' logits, and their weights."""
    total, labels = len(analysis.tokens.text), len(analysis.labels)
    random = np.random.default_rng(total)
    hidden: Floats = random.normal(size=(total, WIDTH)).astype(np.float32)
    vector, dense = hidden[0], random.normal(size=WIDTH).astype(np.float32)
    squashed: Floats = np.tanh(dense)

    def step(name: str, module: str, inside: str, given: Floats, got: Floats, **more: Any) -> Step:
        plain = {"weights": (), "parameters": 0, "origin": None, "idle": False, "picks": False}
        return Step(name, module, inside, taken=given, given=got, **{**plain, **more})

    def weigh(names: tuple[str, ...], parameters: int, origin: Origin) -> dict[str, Any]:
        return {"weights": names, "parameters": parameters, "origin": origin}

    if origin == "probe":
        names = ("weight", "bias")
        return (
            step("pooling", "", "", hidden, vector, picks=True),
            step("linear", "", "", vector, analysis.logits, **weigh(names, end, origin)),
        ), (Weight("weight", (labels, WIDTH), origin), Weight("bias", (labels,), origin))
    pooler = (f"body.pooler.dense.weight{hostile}", f"body.pooler.dense.bias{hostile}")
    final = (f"classifier.weight{hostile}", f"classifier.bias{hostile}")
    first = weigh(pooler, WIDTH * WIDTH + WIDTH, "checkpoint")
    return (
        step("getitem", "", "BodyPooler", hidden, vector, picks=True),
        step("linear", f"body.pooler.dense{hostile}", "BodyPooler", vector, dense, **first),
        step("tanh", "", "BodyPooler", dense, squashed),
        step("dropout", "dropout", within, squashed, squashed, idle=True),
        step("linear", "classifier", within, squashed, analysis.logits, **weigh(final, end, origin)),
    ), (
        Weight(pooler[0], (WIDTH, WIDTH), "checkpoint"),
        Weight(pooler[1], (WIDTH,), "checkpoint"),
        Weight(final[0], (labels, WIDTH), origin),
        Weight(final[1], (labels,), origin),
    )


def fake_lens(analysis: Analysis) -> Lens:
    """Logits that grow into the analysis', which the last layer gives of every token that is read."""
    layers, (total, count) = analysis.layers, (len(analysis.tokens.text), len(analysis.labels))
    noise = np.random.default_rng(total).normal(size=(layers + 1, total, count))
    grown = np.linspace(0, 1, layers + 1)[:, None] * analysis.logits
    logits = grown[:, None] + noise
    logits[-1, analysis.reads.positions] = analysis.logits
    return Lens(
        logits=logits.astype(np.float32),
        pooled=grown.astype(np.float32),
        probabilities=probabilities(logits, analysis.problem_type),
        pooled_probabilities=probabilities(grown, analysis.problem_type),
        norm="body.final_norm",
    )


def fake_trace(first: Analysis, second: Analysis) -> Patched:
    """Logits on the way from one answer to the other."""
    count = min(len(first.tokens.text), len(second.tokens.text))
    shares = np.random.default_rng(count).uniform(size=(first.layers + 1, count)).astype(np.float32)
    way = second.logits - first.logits
    return Patched(
        first=first,
        second=second,
        pairs=np.repeat(np.arange(count)[:, None], 2, axis=1),
        logits=(first.logits + shares[:, :, None] * way).astype(np.float32),
        whole=np.broadcast_to(second.logits, (first.layers + 1, len(way))),
        shares=shares,
        warnings=(),
    )


def fake_padding(analysis: Analysis) -> Padding:
    """Logits that padding on the left moves."""
    cases = [
        PaddingCase(
            name=name,
            logits=analysis.logits + np.float32(moved),
            probabilities=analysis.probabilities,
            largest=moved,
            reads=_read(analysis),
            reads_padding=moved > 0,
            moved=(),
            pooled={"cls": moved, "mean": moved / 2},
            cause="head" if moved else "",
        )
        for name, moved in (("batch", 0.0), ("right", 0.0), ("left", 0.5))
    ]
    return Padding(analysis, 8, "right", tuple(cases), analysis.warnings)


def _read(analysis: Analysis) -> tuple[int, ...]:
    return tuple(analysis.reads.positions.nonzero()[0].tolist())


def spearman(one: Floats, other: Floats) -> float | None:
    """Spearman's rho by pandas' ranks; None where all of one are the same."""
    ranks = [pd.Series(np.asarray(values, dtype=float)).rank() for values in (one, other)]
    return None if any(rank.nunique() < 2 for rank in ranks) else float(ranks[0].corr(ranks[1]))


def fake_importance(analysis: Analysis, label: str, integrated: bool) -> Importance:
    """Numbers of the right shapes, and what they come to against erasure."""
    total, layers = len(analysis.tokens.text), analysis.layers
    random = np.random.default_rng(total)
    attention = random.dirichlet(np.ones(total), size=(layers, HEADS)).astype(np.float32)
    given = Importance(
        analysis=analysis,
        label=analysis.labels.index(label) if label else int(np.argmax(analysis.probabilities)),
        attention=attention,
        rollout=random.dirichlet(np.ones(total)).astype(np.float32),
        gradient_x_input=random.normal(size=total).astype(np.float32),
        integrated=integral(total) if integrated else None,
        erasure=(float(analysis.probabilities.max()) * random.uniform(-0.1, 0.9, total)).astype(np.float32),
        eraser="[MASK]",
        agreement={},
        warnings=(),
    )
    return agreed(given)


def integral(total: int) -> Integrated:
    """Integrated gradients of so many tokens."""
    values: Floats = np.random.default_rng(total + 1).normal(size=total).astype(np.float32)
    return Integrated(values, -0.0123, STEPS)


def agreed(given: Importance) -> Importance:
    """The same with rho of each of its answers."""
    own, attention, integrated = ~given.analysis.tokens.special, given.attention, given.integrated
    every = {
        "similarity": given.analysis.similarity[-1],
        "attention": None if attention is None else attention[-1].mean(axis=0),
        "rollout": given.rollout,
        "gradient_x_input": given.gradient_x_input,
        "integrated_gradients": None if integrated is None else integrated.values,
    }
    there = {name: values for name, values in every.items() if values is not None}
    rhos = {name: spearman(values[own], given.erasure[own]) for name, values in there.items()}
    return replace(given, agreement=rhos)


def fake_detected(analysis: Analysis, vector: object, prefix: str) -> Detected:
    """That [CLS] of the last layer made it, with ties; of a vector that begins with 0, that nothing did."""
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
        declared=replace(DECLARED, longest=128),
        prompts=(("query", "query: "),),
        warnings=analysis.warnings,
    )


def fake_passport(analysis: Analysis) -> Passport:
    """Of a checkpoint with one text, whose head reads what that of the analysis does."""
    return Passport(
        backbone=replace(analysis.backbone, declared=DECLARED),
        fingerprint="00" * 32,
        parameters=1_234_567,
        layers=analysis.layers,
        width=len(analysis.pooled),
        limit=128,
        samples=(Sample(analysis.query.text, "", analysis.tokens.text, _read(analysis)),),
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


def fake_compare(
    specs: Sequence[BackboneSpec],
    ask: Callable[[Query], Analysis],
    queries: Sequence[Query],
    gate: Path | None,
) -> Generator[Compared]:
    """Each query asked alone, of as many backbones as the number in ``gate`` lets through so far."""
    if len(queries) > MOST:
        raise PoolscopeError("combinations", len(queries), "errors.combinations", most=MOST)
    if not queries[0].text.strip():
        raise PoolscopeError("text", queries[0].text, "errors.word")

    def cell(query: Query) -> Cell:
        try:
            return Cell(query, ask(query))
        except PoolscopeError as error:
            return Cell(query, None, error.sentence)

    groups: dict[str, list[Query]] = {}
    for query in queries:
        groups.setdefault(query.backbone, []).append(query)
    for number, (key, asked) in enumerate(groups.items(), 1):
        while gate is not None and int(gate.read_text("utf-8")) < number:
            time.sleep(0.02)
        spec = next(spec for spec in specs if spec.key == key)
        yield Compared(spec, tuple(map(cell, asked)))


def fake_fit(table: fitting.Table, plan: fitting.Plan) -> Generator[fitting.Stage | fitting.Fit]:
    """One stage for the texts of each backbone and one for each combination, then the whole.

    The further down a combination stands in the plan, the worse it is. The first row is missed.
    """
    rows, poolings = len(table.texts), plan.poolings or ("native", "cls", "mean")
    ranking = tuple(_ranking(plan, poolings))
    for backbone in plan.backbones:
        yield fitting.Stage(rows, rows, "embed", backbone, notes=_notes(table, backbone))
        for place, one in enumerate((one for one in ranking if one.backbone == backbone), 1):
            reached = fitting.Reached(backbone, one.pooling, one.layer, one.accuracy.value)
            yield fitting.Stage(place, len(poolings), "fit", backbone, None if one.same_as else reached)
    classes = tuple(sorted(set(table.labels)))
    given = np.array([classes.index(label) for label in table.labels])
    predicted = given.copy()
    predicted[0] = (given[0] + 1) % len(classes)
    confusion = np.zeros((len(classes), len(classes)), np.int64)
    np.add.at(confusion, (given, predicted), 1)
    yield fitting.Fit(
        table=table,
        plan=plan,
        ranking=ranking,
        majority=max(table.labels.count(label) for label in classes) / rows,
        shuffled=fitting.Score(0.5, 0.4, 0.6),
        classes=classes,
        curve=(
            fitting.CurvePoint(rows // 4, fitting.Score(0.6, 0.5, 0.7)),
            fitting.CurvePoint(rows, fitting.Score(0.9, 0.85, 0.95)),
        ),
        confusion=confusion,
        predicted=predicted,
        misses=(fitting.Miss(0, table.labels[0], classes[predicted[0]], 0.1, 0.9, True),),
        head=fake_head(table, plan, classes),
        map=np.stack([np.cos(np.arange(rows)), given + np.sin(np.arange(rows))], axis=1).astype(np.float32),
        warnings=(),
    )


def fake_head(table: fitting.Table, plan: fitting.Plan, classes: tuple[str, ...]) -> str:
    """A head of the best combination, for vectors of four numbers."""
    weight, bias = np.eye(len(classes), 4, dtype=np.float32), np.zeros(len(classes), np.float32)
    pooling, texts = (*plan.poolings, "native")[0], 2 if table.pairs else 1
    return fitting.write_head(
        fitting.OwnHead(plan.backbones[0], pooling, -1, texts, classes, fitting.packed(weight, bias))
    )


def _ranking(plan: fitting.Plan, poolings: tuple[str, ...]) -> Generator[fitting.Ranked]:
    """The pooling cls has the vectors of native, where both are there."""
    for place, (backbone, pooling) in enumerate((b, p) for b in plan.backbones for p in poolings):
        same = "native" if pooling == "cls" and "native" in poolings else ""
        value = 0.9 - 0.1 * (place - bool(same)) / len(poolings)
        score = fitting.Score(value, value - 0.05, value + 0.04)
        yield fitting.Ranked(backbone, pooling, 2, score, value - 0.01, None, 1 / (place + 1), 1.0, same)


def _notes(table: fitting.Table, backbone: str) -> tuple[Sentence, ...]:
    """Each backbone reads three tokens of a row."""
    cut = sum(len(text.split()) > 3 for text in table.texts)
    values = {"backbone": Named(backbone), "count": cut, "total": len(table.texts), "limit": 3}
    return (Sentence("lab.cut", **values),) if cut else ()
