"""Probes of the vectors that every pooling makes of texts, and the rows of `components.results`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import hash as digest
from numpy.typing import NDArray
from scipy.stats import bootstrap, norm, pearsonr, rankdata
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics.pairwise import paired_cosine_distances
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from torch import nn

from components.analyses.fit import Inputs, batches_of
from components.analyses.fit.classifier import ITERATIONS, STRENGTHS, fold_scaler, standardiser
from components.analyses.importance import SIMILARITY, rho_with_erasure
from components.analyses.measuring.importance import integrate, weigh
from components.analyses.timing import exact
from components.model.backbone import Backbone, available, states_of_all
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.pooling import POOLINGS, States
from components.model.probes import Probe, half, read_probe
from components.results import Baseline
from components.types import Bools, Floats, Ints, Query
from recipe.corpus import WORD, Example, Examples

EPOCHS, LEARNING_RATE, DECAY = 6, 0.02, 0.01  # of the query of the pooling attention
FOLDS = 3
RESAMPLES = 2000  # an end of the interval then moves by a few hundredths of its width from seed to seed
BASELINE = "cls"  # what the other poolings are compared with

Depth = tuple[str, int | None]  # a pooling, and the layer below the last that it pools; None is the last
Fitted = tuple[Probe, float]  # in single precision, and the strength (C) that cross-validation chose for it
Fits = Mapping[Depth, Fitted]
Batch = tuple[Ints, States]  # of B inputs, which stand at the rows (B,) of the list that they come from
Numbers = NDArray[np.floating[Any]]
Row = dict[str, object]  # of the table of results, by its columns


def embed(backbone: Backbone, inputs: Inputs) -> list[Batch]:
    """The states of single texts, or of pairs, in batches of similar length."""
    made: list[Batch] = []
    for rows in batches_of(inputs):
        found = states_of_all(backbone, [inputs[row] for row in rows])
        made += zip(np.split(rows, len(found)), found, strict=True)
    return made


def first_alike(vectors: Mapping[str, Floats]) -> dict[str, str]:
    """For each pooling's vectors (N, D') the first pooling whose are the very same, 0 and -0 being one."""
    firsts: dict[str, str] = {}
    return {pooling: firsts.setdefault(digest(found + 0), pooling) for pooling, found in vectors.items()}


def at_layer(batches: Sequence[Batch], layer: int | None) -> Sequence[Batch]:
    """Take the inputs as if ``layer`` (0 to L) were the last; None is the last."""
    return batches if layer is None else [(rows, found.upto(layer)) for rows, found in batches]


def vectors(batches: Sequence[Batch], pooling: str, query: Floats | None = None) -> Floats:
    """The pooled vectors (N, D') of all inputs, in their order. ``query``: (D,), for attention only."""
    learned = None if query is None else torch.from_numpy(query)
    parts = [POOLINGS[pooling](replace(found, query=learned)).numpy() for _rows, found in batches]
    order = np.argsort(np.concatenate([rows for rows, _found in batches]))
    return np.concatenate(parts)[order]


def logistic_regression(wide: bool, seed: int) -> LogisticRegressionCV:
    """Logistic regression with a squared penalty, its strength chosen by cross-validation.

    ``wide``: there are more numbers than examples. A fit then takes long, so that fewer and stronger
    strengths are tried, on one held-out quarter in the place of folds.
    """
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    quarter = StratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
    return LogisticRegressionCV(
        Cs=(1e-4, 1e-3) if wide else STRENGTHS,
        l1_ratios=(0.0,),  # the squared penalty alone
        cv=quarter if wide else folds,
        scoring="neg_log_loss",
        tol=1e-3 if wide else 1e-4,
        max_iter=ITERATIONS,
        use_legacy_attributes=False,
    )


def learn_query(batches: Sequence[Batch], labels: Ints, seed: int) -> Floats:
    """The query (D,) of the pooling attention, trained with a linear classifier of the ``labels`` (N,).

    Tokens are standardised over the training texts during training; the scale is then folded into the query
    and the mean dropped, since softmax does not change when all scores move by the same amount. The
    classifier is thrown away. One seed gives one query.
    """
    tokens = torch.cat([found.hidden[found.mask] for _rows, found in batches])
    mean, scale = tokens.mean(dim=0), tokens.std(dim=0).clamp(min=1e-3)
    generator = torch.Generator().manual_seed(seed)
    query = torch.zeros(len(mean), requires_grad=True)
    weight = (0.01 * torch.randn(int(labels.max()) + 1, len(mean), generator=generator)).requires_grad_()
    optimiser = torch.optim.AdamW([query, weight], lr=LEARNING_RATE, weight_decay=DECAY)
    steps = EPOCHS * len(batches)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 1 / steps, total_iters=steps)
    for _epoch in range(EPOCHS):
        for index in torch.randperm(len(batches), generator=generator).tolist():
            rows, found = batches[index]
            hidden = (found.hidden - mean) / scale  # (B, T, D)
            share = (hidden @ query).masked_fill(~found.mask, float("-inf")).softmax(dim=1)
            pooled = (hidden * share[:, :, None]).sum(dim=1)  # (B, D), as the pooling does
            loss = nn.functional.cross_entropy(pooled @ weight.T, torch.from_numpy(labels[rows]))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
            optimiser.step()
            schedule.step()
    learned: Floats = (query.detach() / scale).numpy()
    return learned


def fit_probes(
    backbone: Backbone, examples: Examples, seed: int, poolings: Sequence[str] = tuple(POOLINGS)
) -> dict[Depth, Fitted]:
    """A probe for each of ``poolings`` that the backbone can do, from one pass over labelled ``examples``.

    First those on the last layer, then those on each layer below, of which learned poolings have none. Labels
    are 0 to K - 1. Poolings that give the same vectors share one fit.
    """
    labels, batches = _labels(examples), embed(backbone, [example.texts for example in examples])
    fitted: dict[Depth, Fitted] = {}
    for layer in (None, *range(len(batches[0][1].layers) - 1)):
        given, queries = at_layer(batches, layer), dict[str, Floats]()
        known = available(backbone, poolings)
        if layer is not None:
            known = [pooling for pooling in known if not POOLINGS[pooling].spec.learned]
        elif "attention" in known:
            queries["attention"] = half(learn_query(given, labels, seed))
        pooled = {pooling: vectors(given, pooling, queries.get(pooling)) for pooling in known}
        first = first_alike(pooled)
        for pooling, found in pooled.items():
            if first[pooling] == pooling:
                scaler = standardiser(found)
                regression = logistic_regression(wide=found.shape[1] > len(found), seed=seed)
                regression.fit(scaler.transform(found), labels)
                fitted[pooling, layer] = fold_scaler(scaler, regression), float(regression.C_)
            probe, strength = fitted[first[pooling], layer]
            fitted[pooling, layer] = replace(probe, query=queries.get(pooling)), strength
    return fitted


def estimate(right: NDArray[Any], seed: int) -> Row:
    """The share of N answers that are ``right``, or the mean of N numbers, with a 95 % percentile interval.

    Not BCa: that is undefined where all are the same.
    """
    values = right.astype(np.float64)
    found = bootstrap((values,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=seed)
    low, high = map(float, found.confidence_interval)
    return {"measured": len(values), "value": float(values.mean()), "low": low, "high": high}


def sign_test(values: NDArray[Any], others: NDArray[Any]) -> Row:
    """The exact sign test of N pairs, two-sided: ties, and pairs with a NaN, count for neither.

    Of which answers are right it is McNemar's exact test.
    """
    better, worse = int((values > others).sum()), int((values < others).sum())
    return {"better": better, "worse": worse, "p": exact(better, worse)}


def rhos_against(scores: Numbers, base: Numbers, others: Sequence[Numbers], seed: int) -> list[Row]:
    """Spearman's rho of N ``scores`` and each of ``others``, and its gain over that of ``base``.

    The percentile intervals are of the same resampled pairs, and so is the standard error of the gain, from
    which its two-sided p comes: a share of the resamples could not be smaller than one of them.
    """

    def rho_and_gain(scores: Numbers, base: Numbers, other: Numbers, axis: int = -1) -> Numbers:
        """Both (2, ...) along the ``axis``."""
        given, *sides = (rankdata(side, axis=axis) for side in (scores, base, other))
        old, new = (pearsonr(given, side, axis=axis).statistic for side in sides)
        return np.stack([new, new - old])

    rows: list[Row] = []
    for sides in ((scores, base, other) for other in others):
        drawn = {"n_resamples": RESAMPLES, "method": "percentile", "rng": seed}
        found = bootstrap(sides, rho_and_gain, paired=True, vectorized=True, **drawn)
        ends = np.stack([rho_and_gain(*sides), *found.confidence_interval], axis=1)  # (2, 3)
        names = ("value", "low", "high", "gain", "gain_low", "gain_high")
        row: Row = dict(zip(names, ends.flatten().tolist(), strict=True))
        error = found.standard_error[1]
        rows.append({**row, "p": float(2 * norm.sf(abs(ends[1, 0]) / error)) if error else 1.0})
    return rows


def _labels(examples: Examples) -> Ints:
    return np.array([example.label for example in examples]).astype(np.int64)


def probe_results(
    backbone: Backbone, task: str, fitted: Fits, trained: int, examples: Examples, file: Path, seed: int
) -> list[Row]:
    """The rows of one task: the probes of ``file`` on held-out ``examples``.

    Those of the last layer are compared with `BASELINE`, those below with the same pooling of the last.
    """
    labels, batches = _labels(examples), embed(backbone, [example.texts for example in examples])
    rows: list[Row] = []
    last: dict[str, Bools] = {}
    for layer in dict.fromkeys(layer for _pooling, layer in fitted):
        probes = {pooling: read_probe(file, task, pooling, layer) for pooling, at in fitted if at == layer}
        right, first = probe_answers(at_layer(batches, layer), labels, probes)
        last = last or right
        for pooling, answers in right.items():
            row: Row = {"kind": "depth", "layer": layer, **sign_test(answers, last[pooling])}
            if layer is None:
                row = {"kind": "probe", "trained": trained, "width": probes[pooling].weight.shape[1]}
                row |= {"strength": fitted[pooling, None][1], **sign_test(answers, right[BASELINE])}
            of_pooling = {"backbone": backbone.spec.key, "task": task, "pooling": pooling}
            rows.append({**row, **of_pooling, **estimate(answers, seed), "vector": first[pooling]})
    return rows


def probe_answers(
    batches: Sequence[Batch], labels: Ints, probes: Mapping[str, Probe]
) -> tuple[dict[str, Bools], dict[str, str]]:
    """Tell which of N ``labels`` each probe has right, (N,), by pooling; and the first of equal vectors."""
    found = {pooling: vectors(batches, pooling, probe.query) for pooling, probe in probes.items()}
    logits = {pooling: found[pooling] @ probe.weight.T + probe.bias for pooling, probe in probes.items()}
    return {pooling: each.argmax(axis=1) == labels for pooling, each in logits.items()}, first_alike(found)


def last_answers(backbone: Backbone, task: str, examples: Examples, file: Path) -> dict[str, Bools]:
    """Tell which of N ``examples`` each probe of ``file`` on the last layer has right, (N,), by pooling."""
    batches = embed(backbone, [example.texts for example in examples])
    probes = {pooling: read_probe(file, task, pooling) for pooling in available(backbone)}
    return probe_answers(batches, _labels(examples), probes)[0]


def pair_results(task: str, right: Mapping[str, Mapping[str, Bools]]) -> list[Row]:
    """A row for each two backbones, and each pooling of both: their answers to the same N examples.

    ``right``: (N,) by backbone and pooling; those of "" are the own head's.
    """
    return [
        {"kind": "pair", "backbone": one, "other": other, "task": task, "pooling": pooling}
        | {"measured": len(answers), **sign_test(answers, right[other][pooling])}
        for one, other in combinations(right, 2)
        for pooling, answers in right[one].items()
        if pooling in right[other]
    ]


def paired(
    backbone: Backbone, pairs: Examples, poolings: Sequence[str]
) -> tuple[dict[str, Floats], dict[str, Numbers]]:
    """The vectors (S, D') of all S sentences by pooling, and the cosines (N,) of the two of each pair.

    Every sentence is encoded alone. Cosines are in double precision.
    """
    sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in pair.texts))
    place = {sentence: index for index, sentence in enumerate(sentences)}
    left, right = ([place[pair.texts[side]] for pair in pairs] for side in (0, 1))
    batches = embed(backbone, [(one,) for one in sentences])
    pooled = {pooling: vectors(batches, pooling) for pooling in poolings}
    double = {pooling: found.astype(np.float64) for pooling, found in pooled.items()}
    return pooled, {key: 1 - paired_cosine_distances(one[left], one[right]) for key, one in double.items()}


def pair_soft_labels(teacher: Backbone, pairs: Mapping[str, Examples], calibration: str) -> dict[str, Floats]:
    """The probability that each pair of each source matches: (N,).

    Logistic regression on the cosine of the two sentence vectors, the teacher's mean-pooled final hidden
    states, fitted to the labels of the source ``calibration`` (Platt scaling).
    """
    cosines = {source: paired(teacher, rows, ("mean",))[1]["mean"][:, None] for source, rows in pairs.items()}
    regression = LogisticRegression().fit(cosines[calibration], _labels(pairs[calibration]))
    return {name: regression.predict_proba(found)[:, 1].astype(np.float32) for name, found in cosines.items()}


def cosine_results(backbone: Backbone, scored: Examples, seed: int) -> list[Row]:
    """Spearman's rho of scores and raw cosines, of each pooling that needs no training.

    ``flatten`` counts among these: nothing of its vector is learned.
    """
    scores = np.array([pair.label for pair in scored])
    pooled, cosines = paired(backbone, scored, [key for key in available(backbone) if key != "attention"])
    rhos = rhos_against(scores, cosines[BASELINE], [*cosines.values()], seed)
    first, by_pooling = first_alike(pooled), dict(zip(cosines, rhos, strict=True))
    told: Row = {"kind": "cosine", "backbone": backbone.spec.key, "measured": len(scored)}
    return [
        {**told, "pooling": pooling, "vector": first[pooling], **by_pooling[first[pooling]]}
        for pooling in pooled
    ]


def agreement_results(backbone: Backbone, task: str, examples: Examples, seed: int) -> list[Row]:
    """A row for each method and layer: how alike it and erasure rank the tokens of classified texts."""
    found = [_rhos_with_erasure(backbone, example) for example in examples]
    rhos = {method: np.array([one.get(method) for one in found], dtype=np.float64) for method in found[0]}
    last = rhos[SIMILARITY, max(layer or 0 for name, layer in rhos if name == SIMILARITY)]
    of_task = {"kind": "agreement", "backbone": backbone.spec.key, "task": task}
    rows: list[Row] = []
    for (name, layer), values in rhos.items():
        tested = estimate(values[~np.isnan(values)], seed) | sign_test(values, last)
        rows.append({**of_task, "method": name, "layer": layer, **tested})
    return rows


def _rhos_with_erasure(backbone: Backbone, example: Example) -> dict[tuple[str, int | None], float | None]:
    """Spearman's rho with erasure of each method and layer; None where all tokens rank alike."""
    text, pair = example.texts[0], example.texts[1] if len(example.texts) > 1 else ""
    with repeatable(backbone.model):
        examined = examine(backbone, Query(backbone.spec.key, text, pair))
        importance = weigh(examined, "").with_integral([integrate(examined, "")])
    analysis, erasure = importance.analysis, importance.erasure
    found: dict[tuple[str, int | None], float | None] = {}
    for layer, row in enumerate(analysis.similarity):
        found[SIMILARITY, layer] = rho_with_erasure(SIMILARITY, row, erasure, analysis)
    for layer, heads in enumerate(() if importance.attention is None else importance.attention, start=1):
        found["attention", layer] = rho_with_erasure("attention", heads.mean(axis=0), erasure, analysis)
    whole = [name for name in importance.agreement if name not in (SIMILARITY, "attention")]
    return found | {(name, None): importance.agreement[name] for name in whole}


def baseline_answers(training: Examples, held_out: Examples, seed: int) -> Mapping[Baseline, Bools]:
    """Tell what of ``held_out`` each baseline for its number of texts has right, (N,); the strongest last.

    majority: the most frequent label of training. words: logistic regression on which words occur, its
    strength chosen as a probe's is. overlap: 1 where the texts of a pair have so large a share of their words
    in common that this is right most often in training.
    """
    known, labels = _labels(training), _labels(held_out)
    majority = Counter(known.tolist()).most_common(1)[0][0] == labels
    if len(held_out[0].texts) == 2:
        shares, asked = word_overlap(training), word_overlap(held_out)
        thresholds = np.unique(shares)
        best = thresholds[int(np.argmax([np.mean((shares >= least) == known) for least in thresholds]))]
        return {"majority": majority, "overlap": (asked >= best) == labels}
    words = CountVectorizer(binary=True, dtype=np.float64)
    model = make_pipeline(words, logistic_regression(wide=False, seed=seed))
    model.fit([example.texts[0] for example in training], known)
    return {"majority": majority, "words": model.predict([one.texts[0] for one in held_out]) == labels}


def word_overlap(examples: Examples) -> Floats:
    """(N,) in [0, 1]: the words that both texts have, over those that either has (Jaccard 1901)."""
    sides = ([set(WORD.findall(text.lower())) for text in example.texts] for example in examples)
    shares = [len(one & other) / len(one | other) if one | other else 1.0 for one, other in sides]
    return np.array(shares, dtype=np.float32)
