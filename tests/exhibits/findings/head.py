"""Findings of a head, of hidden states one by one, and of the change between two texts."""

from dataclasses import replace

import numpy as np

from components.exhibits.head import SENTENCE, WEIGHTS
from components.exhibits.hidden_states import DEPTH, LENS, TRACE
from components.exhibits.view import LABEL
from components.types import Query
from tests.exhibits.findings.row import Row, Told, Values, told
from tests.exhibits.showing import anatomy, layered, leaning, lens
from tests.ui.fake import FakeAnalyst


def layers(*positive: float, label: str = "") -> Told:
    """What is told of a head that gives its second label these probabilities, from the embeddings up."""
    return told(DEPTH, leaning(anatomy(), *positive), **{LABEL.key: label})


def several(*trust: float) -> Told:
    """The same of a head that may say several labels, and gives all others one in ten."""
    pooled = np.full((len(trust), 4), 0.1, dtype=np.float32)
    pooled[:, 2] = trust
    return told(DEPTH, layered(anatomy("emotions"), pooled))


def pointed(*positive: float) -> Told:
    """A head that would say its second label of the four tokens with these probabilities."""
    given = leaning(anatomy(), *positive[:3])
    every = lens(given).probabilities.copy()
    every[-1] = [[1 - one, one] for one in positive]
    return told(LENS, replace(given, lens=replace(lens(given), probabilities=every)))


def traced(*shares: list[float], backbone: str = "first") -> Told:
    """A trace with these shares of "[CLS] not good [SEP]", of which [CLS] is read, layer by layer."""
    found = FakeAnalyst().ask("trace", Query(backbone, "not good"), other="not bad", other_pair="")
    pairs = found.pairs[: len(shares[0])]  # those that there are
    return told(TRACE, replace(found, pairs=pairs, shares=np.array(shares, dtype=np.float32)))


def one(origin: str) -> Told:
    """The sentence of a head whose first weight has this origin, and all others are the checkpoint's."""
    first, *others = anatomy().weights
    return told(SENTENCE, replace(anatomy(), weights=(replace(first, origin=origin), *others)))


def positive(**more: object) -> Values:
    return {"label": "positive", **more}


def short(value: float) -> str:
    return f"{value:.2f}".replace("-", "−").replace("−0.00", "0.00")


SCORE = anatomy("score")
VALUES = lens(SCORE)
UNTRAINED, TRAINED = anatomy("untrained"), anatomy()
NEW = [weight.name for weight in UNTRAINED.weights if weight.origin == "new"]
ROWS = {
    "lens.heading": Row(pointed(0.9, 0.8, 0.7, 0.4), positive(count=3, total=4), told(LENS, UNTRAINED)),
    "lens.heading_raw": Row(
        told(LENS, SCORE),
        {"low": short(VALUES.probabilities[-1].min()), "high": short(VALUES.probabilities[-1].max())},
        told(LENS, TRAINED),
    ),
    "lens.heading_random": Row(told(LENS, UNTRAINED), {}, "lens.heading"),
    "depth.heading_random": Row(told(DEPTH, UNTRAINED), {}, "depth.heading"),
    "depth.heading": Row(layers(0.2, 0.6, 0.9), positive(layer=1), layers(0.2, 0.6, 0.4, label="positive")),
    "depth.heading_every": Row(layers(0.6, 0.7, 0.9), positive(), layers(0.6, 0.4, 0.9)),
    "depth.heading_last": Row(layers(0.2, 0.3, 0.9), positive(), layers(0.6, 0.3, 0.9)),
    "depth.heading_below": Row(
        layers(0.8, 0.7, 0.1, label="positive"), positive(count=2, total=3), layers(0.8, 0.7, 0.9)
    ),
    "depth.heading_never": Row(
        several(0.3, 0.2, 0.4), {"label": "trust", "total": 3}, several(0.6, 0.2, 0.4)
    ),
    "depth.heading_raw": Row(
        told(DEPTH, SCORE),
        dict(zip(("first", "last"), map(short, VALUES.pooled_probabilities[[0, -1], 0]), strict=True)),
        told(DEPTH, TRAINED),
    ),
    "trace.heading_start": Row(
        traced([0.9, 0, 0, 0], [0.8, 0.1, 0, 0], [1, 0, 0, 0]),
        {"token": "[CLS]"},
        traced([0, 0, 1, 0], [0.8, 0.1, 0, 0], [1, 0, 0, 0]),
    ),
    "trace.heading_random": Row(traced(*[[0, 0, 1, 0]] * 3, backbone="untrained"), {}, traced([], [], [])),
    "trace.heading_from": Row(
        traced([0, 0, 1, 0], [0.9, 0.8, 0, 0], [1, 0, 0, 0]),
        {"token": "[CLS]", "layer": 1},
        traced([0, 0, 1, 0], [0.9, 0, 0, 0], [0.9, 0.9, 0, 0]),
    ),
    "trace.heading_last": Row(
        traced([0, 0, 1, 0], [0.4, 0.9, 0, 0], [1, 0, 0, 0]),
        {"token": "[CLS]"},
        traced([0.9, 0, 0.8, 0], [0.4, 0.9, 0, 0], [1, 0, 0, 0]),
    ),
    "head.all_checkpoint": Row(told(SENTENCE, TRAINED), {}, "head.new"),
    "head.all_probe": Row(told(SENTENCE, anatomy(head="probe")), {}, "head.all_checkpoint"),
    "head.new": Row(
        told(SENTENCE, UNTRAINED),
        lambda say: {"names": say("head.names", names=NEW[0], last=NEW[1]), "count": 2},
        "head.all_checkpoint",
    ),
    "head.constant": Row(one("constant"), {"names": TRAINED.weights[0].name}, one("reshaped")),
    "head.reshaped": Row(one("reshaped"), {"names": TRAINED.weights[0].name}, "head.constant"),
    "head.body": Row(
        told(SENTENCE, replace(TRAINED, analysis=replace(TRAINED.analysis, body_trained=False))),
        {},
        "head.new",
    ),
    "weights.unused": Row(told(WEIGHTS, UNTRAINED), {"count": 1}, "weights.unused_none"),
    "weights.unused_probe": Row(told(WEIGHTS, anatomy(head="probe")), {}, "weights.unused"),
    "weights.unused_none": Row(told(WEIGHTS, TRAINED), {}, "weights.unused"),
}
