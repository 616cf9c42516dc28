"""Made-up results of every analysis, from a made-up answer: the right shapes, and the same at every call."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from itertools import product
from math import prod
from typing import Any, get_origin, get_type_hints

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from components import fitting, own_head
from components.analyses.analyze import Cell, Compared
from components.analyses.anatomy import Anatomy, Excerpt, HeadStep, Lens, Looked, PrintedLine, Weight
from components.analyses.detect import BAR, Candidate, Detected, Way
from components.analyses.detect_score import DetectedScore, Scored, ScoreWay, to_scores
from components.analyses.importance import Importance, Integral
from components.analyses.maxsim import MaxSim
from components.analyses.padding import Padding, PaddingCase
from components.analyses.passport import Passport, Sample, Unread
from components.analyses.sees import Sees
from components.analyses.trace import Origin, Patched
from components.analyses.vectors import to_vectors
from components.errors import PoolscopeError
from components.texts import Named, Sentence
from components.types import Analysis, BackboneSpec, Declaration, Dense, Floats, Normalize, ProblemType, Query

XSS = (
    "<img/src=x/onerror=pwn()><svg/onload=pwn()><script>pwn()</script><a/href='javascript:pwn()'>x</a>"
    "{{7*7}}${pwn()}\"'&amp;</style><br>"
)
WIDTH = 8
HEADS, STEPS = 2, 50  # of attention, and of integrated gradients
MOST = 40  # combinations of a comparison
DECLARED = Declaration(("mean",), 8, (Dense("2_Dense", 8, 4, "Tanh", True, False), Normalize()))
EMPTY: Mapping[Any, Any] = {str: "", int: 0, float: 0.0, bool: False, tuple: (), Mapping: {}}


def made(kind: type[Any], /, **given: Any) -> Any:
    """A result of this kind; what is not given of it is empty, zero, or None."""
    needed = [field.name for field in fields(kind) if field.default is field.default_factory is MISSING]
    types = {name: get_origin(one) or one for name, one in get_type_hints(kind).items()}
    return kind(**{**{name: EMPTY.get(types[name]) for name in needed}, **given})


def single(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float32)


def probabilities(logits: Floats, problem_type: ProblemType) -> Floats:
    if problem_type == "single_label":
        return single(softmax(logits, axis=-1))
    return single(expit(logits) if problem_type == "multi_label" else logits)


def fake_anatomy(analysis: Analysis) -> Anatomy:
    """Dense, tanh, dropout, classifier, as in no model in particular; markup in names of the hostile one.

    An untrained head's classifier is new, a probe has a step of pooling and one of its own weights.
    """
    hostile = XSS if analysis.query.backbone == "hostile" else ""
    within, labels = f"{analysis.backbone.architecture}{hostile}", len(analysis.labels)
    steps, weights = _steps(analysis, within, hostile)
    unused = () if analysis.head_trained else (Weight(f"lm_head.weight{hostile}", (30, WIDTH), "checkpoint"),)
    declared = (
        ("", 0, f"{within}("),
        ("body", 1, "(body): Body("),
        ("body.encoder", 2, "(encoder): BodyEncoder( … )"),
        ("body.pooler", 2, "(pooler): BodyPooler("),
        (f"body.pooler.dense{hostile}", 3, f"(dense): Linear(in_features={WIDTH}, out_features={WIDTH})"),
        ("", 2, ")"),
        ("", 1, ")"),
        ("classifier", 1, f"(classifier): Linear(in_features={WIDTH}, out_features={labels})"),
        ("dropout", 1, f"(dropout): Dropout(p=0.1){hostile}"),
        ("", 0, ")"),
    )
    lines = ("    first = hidden_states[:, 0]", "    return torch.tanh(self.dense(first))")
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
        declared=tuple(PrintedLine(*one) for one in declared),
        sources=(source,),
        program=f"import torch  # {hostile}\n\nprint(torch.tensor({analysis.probabilities.tolist()}))\n",
        lens=fake_lens(analysis).lens if analysis.query.pooling != "attention" else Sentence("errors.widths"),
        module="from torch import nn\n\n\nclass Classifier(nn.Module):\n    pass\n",
    )


def _steps(analysis: Analysis, within: str, hostile: str) -> tuple[tuple[HeadStep, ...], tuple[Weight, ...]]:
    """The steps from (T, 8) made-up hidden states to the analysis' logits, and their weights."""
    total, labels, probed = len(analysis.tokens.text), len(analysis.labels), analysis.query.head == "probe"
    random = np.random.default_rng(total)
    hidden, dense = single(random.normal(size=(total, WIDTH))), single(random.normal(size=WIDTH))
    origin = ("probe" if probed else "checkpoint") if analysis.head_trained else "new"
    end, classifier = ("", "") if probed else (hostile, "classifier.")

    def linear(path: str, width: int) -> dict[str, tuple[int, ...]]:
        return {f"{path}weight{end}": (width, WIDTH), f"{path}bias{end}": (width,)}

    pooler, final = linear("body.pooler.dense.", WIDTH), linear(classifier, labels)

    def weighed(shapes: Mapping[str, tuple[int, ...]], origin: str) -> dict[str, Any]:
        return {"weights": tuple(shapes), "parameters": sum(map(prod, shapes.values())), "origin": origin}

    steps: list[tuple[str, str, str, Floats, dict[str, Any]]] = [
        ("getitem", "", "BodyPooler", hidden[0], {"picks": True}),
        ("linear", f"body.pooler.dense{hostile}", "BodyPooler", dense, weighed(pooler, "checkpoint")),
        ("tanh", "", "BodyPooler", np.tanh(dense), {}),
        ("dropout", "dropout", within, np.tanh(dense), {"idle": True}),
        ("linear", "classifier", within, analysis.logits, weighed(final, origin)),
    ]
    if probed:
        last = ("linear", "", "", analysis.logits, weighed(final, origin))
        steps, pooler = [("pooling", "", "", hidden[0], {"picks": True}), last], {}
    taken = [hidden, *(given for *_, given, _ in steps)]
    found = [Weight(name, shape, "checkpoint") for name, shape in pooler.items()]
    found += [Weight(name, shape, origin) for name, shape in final.items()]
    return tuple(
        made(HeadStep, kind=kind, path=path, within=inside, taken=before, given=given, **more)
        for before, (kind, path, inside, given, more) in zip(taken, steps, strict=False)
    ), tuple(found)


def fake_lens(analysis: Analysis) -> Looked:
    """Logits that grow into the analysis', which the last layer gives of every token that is read."""
    layers, (total, count) = analysis.layers, (len(analysis.tokens.text), len(analysis.labels))
    noise = np.random.default_rng(total).normal(size=(layers + 1, total, count))
    grown = np.linspace(0, 1, layers + 1)[:, None] * analysis.logits
    logits = grown[:, None] + noise
    logits[-1, analysis.reads.positions] = analysis.logits
    says = (probabilities(one, analysis.problem_type) for one in (logits, grown))
    return Looked(analysis, Lens(single(logits), single(grown), *says, norm="body.final_norm"))


def fake_trace(first: Analysis, second: Analysis) -> Patched:
    """Logits on the way from one answer to the other."""
    count = min(len(first.tokens.text), len(second.tokens.text))
    shares = single(np.random.default_rng(count).uniform(size=(first.layers + 1, count)))
    way = second.logits - first.logits
    return made(
        Patched,
        first=first,
        second=second,
        pairs=np.repeat(np.arange(count)[:, None], 2, axis=1),
        logits=single(first.logits + shares[:, :, None] * way),
        whole=np.broadcast_to(second.logits, (first.layers + 1, len(way))),
        shares=shares,
    )


def fake_origin(analysis: Analysis) -> Origin:
    """The last token of the text matters most, at first there and at last in what is read."""
    own = np.flatnonzero(~analysis.tokens.special).tolist()
    sure, layers = float(analysis.probabilities.max()), analysis.layers + 1
    falls = np.linspace(0, 0.8 * sure, len(own), dtype=np.float32)
    shares = np.zeros((layers, len(analysis.tokens.text)), dtype=np.float32)
    shares[:-1, own[-1]], shares[-1, analysis.reads.positions] = 0.9, 1
    label = int(np.argmax(analysis.probabilities))
    read, words = shares[:, analysis.reads.positions].sum(axis=1), tuple((place,) for place in own)
    found = Origin(analysis, label, words, falls, "[MASK]", shares, shares[:, own[-1]], read)
    none = {name: getattr(found, name)[:0] for name in ("shares", "in_word", "in_read")}
    return found if found.matters else replace(found, **none)


def fake_sees(analysis: Analysis, both_ways: bool = False) -> Sees:
    """Square of a made-up model: all, or only what comes before where it has no brackets."""
    total = len(analysis.tokens.text)
    square = np.ones((total, total), dtype=bool)
    causal = analysis.tokens.cls == total - 1 and not both_ways
    return Sees(analysis.tokens, np.tril(square) if causal else square, (), both_ways)


def fake_padding(analysis: Analysis) -> Padding:
    """Logits that padding on the left moves."""
    cases = [
        made(
            PaddingCase,
            name=name,
            logits=analysis.logits + np.float32(moved),
            largest=moved,
            reads=_read(analysis),
            reads_padding=moved > 0,
            pooled={"cls": moved, "mean": moved / 2},
            cause="head" if moved else "",
        )
        for name, moved in (("batch", 0.0), ("right", 0.0), ("left", 0.5))
    ]
    return Padding(analysis, 8, "right", tuple(cases), analysis.warnings)


def _read(analysis: Analysis) -> tuple[int, ...]:
    return tuple(analysis.reads.positions.nonzero()[0].tolist())


def fake_importance(analysis: Analysis, label: str = "", integrated: bool = True) -> Importance:
    """Numbers of the right shapes."""
    if label and label not in analysis.labels:
        raise PoolscopeError("label", label, "errors.allowed", allowed=analysis.labels)
    total = len(analysis.tokens.text)
    random = np.random.default_rng(total)
    values = single(np.random.default_rng(total + 1).normal(size=total))
    return made(
        Importance,
        analysis=analysis,
        label=analysis.labels.index(label) if label else int(np.argmax(analysis.probabilities)),
        attention=single(random.dirichlet(np.ones(total), size=(analysis.layers, HEADS))),
        rollout=single(random.dirichlet(np.ones(total))),
        gradient_x_input=single(random.normal(size=total)),
        integrated=Integral(values, float(values.sum()) + 0.0123, STEPS) if integrated else None,
        erasure=single(float(analysis.probabilities.max()) * random.uniform(-0.1, 0.9, total)),
        eraser="[MASK]",
    )


def fake_detect(analysis: Analysis, vector: object, prefix: str = "") -> Detected:
    """That [CLS] of the last layer made it, with ties; of a vector that begins with 0, that nothing did."""
    pasted = to_vectors(vector)
    count = len(pasted)
    way = Way("cls", analysis.layers, normalised=True, prefix=prefix)
    same = replace(way, pooling="first"), replace(way, pooling="native"), replace(way, layer=0)
    cosine = 0.9 if pasted[0][1][0] == 0 else 0.99999
    plain = replace(way, pooling="mean", normalised=None)
    others = [
        Candidate(replace(plain, layer=layer), (), (0.8 - 0.1 * layer,) * count, 2.5, False)
        for layer in (1, 0)
    ]
    return Detected(
        layers=analysis.layers,
        tried=200,
        candidates=(Candidate(way, same, (cosine,) * count, 1.0, cosine > BAR), *others),
        declared=replace(DECLARED, longest=128),
        prompts=(("query", "query: "),),
        warnings=analysis.warnings,
    )


def fake_detect_score(_analysis: Analysis, scores: object) -> DetectedScore:
    """That softmax of all labels made it; of a score that begins with 0, that nothing did."""
    ((_, numbers, *_), *more) = to_scores(scores)
    given = (numbers,) * (1 + len(more))
    best = Scored(ScoreWay(activation="softmax"), given, 0.0, 0, 0.001, numbers[0] != 0)
    other = Scored(ScoreWay(segments="zero", activation="none"), ((0.25,),), 0.5, 1, 2.0, False)
    return DetectedScore((best, other), 200, int(best.fits), len(given), 0, False, True, ())


def fake_maxsim(analysis: Analysis, matched: int = 2) -> MaxSim:
    """Each token is most like that in its place, and so many of the text's own more than others are."""
    total, tokens = len(analysis.tokens.text), analysis.tokens
    tokens = replace(tokens, segment=np.minimum(tokens.segment, 0))  # of one text, as each was run
    own = np.cumsum(~tokens.special)
    similarity = single(0.25 + np.eye(total) / 2)
    texts, best = replace(analysis.query, text_pair=analysis.query.text), np.arange(total)
    highest, rate = similarity[best, best], total / (total + 400)
    ordinary = single(np.where(own <= matched, 0.5, 1))
    return MaxSim(texts, tokens, tokens, similarity, best, highest, ordinary, 400, rate, ())


def fake_passport(analysis: Analysis) -> Passport:
    """Of a checkpoint with one text, whose head reads what that of the analysis does."""
    return made(
        Passport,
        backbone=replace(analysis.backbone, declared=DECLARED),
        fingerprint="00" * 32,
        parameters=1_234_567,
        layers=analysis.layers,
        width=len(analysis.pooled),
        limit=128,
        samples=(Sample(analysis.query.text, "", analysis.tokens.text, _read(analysis)),),
        equal=("cls", "first"),
        padding="moves",
        ways=(
            made(PaddingCase, name="batch", largest=0.25, cause="attention"),
            made(PaddingCase, name="left", largest=0.5, cause="head", reads_padding=True),
        ),
        ordinary=analysis.ordinary.plain,
        weights=(Weight("classifier.weight", (2, 8), "new"), Weight("classifier.bias", (2,), "constant")),
        unused=(Weight("lm_head.weight", (8, 9), "checkpoint"),),
        scripts=(Unread("Latin", "abc", ""), Unread("Greek", "αβ", "αβ"), Unread("Thai", "กข", "ก")),
    )


def fake_compare(
    specs: Sequence[BackboneSpec], ask: Callable[[Query], Analysis], queries: Sequence[Query]
) -> Generator[Compared]:
    """Each query asked alone."""
    if len(queries) > MOST:
        raise PoolscopeError("combinations", len(queries), "errors.combinations", most=MOST)
    if not queries[0].text.strip():
        raise PoolscopeError("text", queries[0].text, "errors.word")

    def cell(query: Query) -> Cell:
        try:
            return Cell(query, ask(query))
        except PoolscopeError as error:
            return Cell(query, None, error.sentence)

    known = {spec.key: spec for spec in specs}
    for key in dict.fromkeys(query.backbone for query in queries):
        yield Compared(known[key], tuple(cell(query) for query in queries if query.backbone == key))


def fake_fit(table: fitting.Table, plan: fitting.Plan) -> Iterator[fitting.Stage | fitting.Fit]:
    """One stage for the texts of each backbone and one for each combination, then the whole.

    The further down a combination stands in the plan, the worse it is; the pooling cls has the vectors of
    native, where both are there. Each backbone reads three tokens of a row. The first row is missed.
    """
    rows, poolings, ranking = len(table.texts), plan.poolings or ("native", "cls", "mean"), []
    for place, (backbone, pooling) in enumerate(product(plan.backbones, poolings)):
        same = "native" if pooling == "cls" and "native" in poolings else ""
        value = 0.9 - 0.1 * (place - bool(same)) / len(poolings)
        score = fitting.Score(value, value - 0.05, value + 0.04)
        chance = value - 0.01, None, 1 / (place + 1), 1.0
        ranking.append(fitting.Ranked(backbone, pooling, 2, score, *chance, same))
    cut = sum(len(text.split()) > 3 for text in table.texts)
    for backbone in plan.backbones:
        note = Sentence("lab.cut", backbone=Named(backbone), count=cut, total=rows, limit=3)
        yield fitting.Stage(rows, rows, "embed", backbone, notes=(note,) if cut else ())
        for place, one in enumerate((one for one in ranking if one.backbone == backbone), 1):
            reached = fitting.Reached(backbone, one.pooling, one.layer, one.accuracy.value)
            yield fitting.Stage(place, len(poolings), "fit", backbone, None if one.same_as else reached)
    classes, given = np.unique(table.labels, return_inverse=True)
    predicted, classes = given.copy(), tuple(classes.tolist())
    predicted[0] = (given[0] + 1) % len(classes)
    yield made(
        fitting.Fit,
        table=table,
        plan=plan,
        ranking=tuple(ranking),
        majority=np.bincount(given).max() / rows,
        shuffled=fitting.Score(0.5, 0.4, 0.6),
        learned=fitting.Held("macro_f1", 0.89, 0.48, True),
        words=fitting.Words(fitting.Score(0.7, 0.6, 0.8), 0.69, 0.001, 0.004),
        gain=fitting.Score(0.3, 0.2, 0.4),
        classes=classes,
        curve={rows // 4: fitting.Score(0.6, 0.5, 0.7), rows: fitting.Score(0.9, 0.85, 0.95)},
        confusion=pd.crosstab(given, predicted).reindex(columns=range(len(classes)), fill_value=0).to_numpy(),
        predicted=predicted,
        misses=(fitting.Miss(0, table.labels[0], classes[predicted[0]], 0.1, 0.9, True),),
        head=fake_head(table, plan, classes),
    )


def fake_head(table: fitting.Table, plan: fitting.Plan, classes: tuple[str, ...]) -> str:
    numbers = own_head.packed(np.eye(len(classes), 4, dtype=np.float32), np.zeros(len(classes), np.float32))
    pooling, texts = (*plan.poolings, "native")[0], 2 if table.pairs else 1
    return own_head.write_head(own_head.OwnHead(plan.backbones[0], pooling, -1, texts, classes, numbers))
