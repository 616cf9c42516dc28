"""The classifiers that are made up, of every odd kind; their poolings and tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.types import BackboneSpec, PoolingSpec, ProblemType, TaskSpec
from tests.ui.fake_hub import FINDABLE, LISTED
from tests.ui.markup import XSS as XSS

LABELS = ("negative", "positive")


@dataclass(frozen=True)
class Kind:
    """What sets one fake classifier apart from the others."""

    spec: BackboneSpec
    layers: int = 2
    brackets: tuple[str, str] | None = ("[CLS]", "[SEP]")  # special tokens around texts, or none at all
    problem_type: ProblemType = "single_label"
    trained: bool = True


def _kind(
    key: str,
    title: str,
    labels: tuple[str, ...] = LABELS,
    texts: int = 1,
    probed: tuple[str, ...] = (),
    architecture: str = "FirstForSequenceClassification",
    **how: Any,
) -> Kind:
    spec = BackboneSpec(
        *(key, title, "made up", "made-up numbers", "local", key),
        texts=texts, probed=probed, architecture=architecture, labels=labels,
    )  # fmt: skip
    return Kind(spec, **how)


KINDS = (
    _kind("first", "First token · sentiment", probed=("sentiment", "topic", "paraphrase")),
    _kind(
        "last", "Last token · sentiment",
        probed=("topic",), architecture="LastForSequenceClassification", brackets=None,
    ),
    _kind(
        "pair", "First token · paraphrase", ("different", "same"), 2, ("paraphrase", "sentiment"), layers=6
    ),
    _kind("untrained", "First token · untrained", trained=False),
    _kind("many", "First token · 40 topics", tuple(f"topic {n}" for n in range(40)), layers=3),
    _kind(
        "emotions", "First token · several emotions", ("joy", "anger", "trust", "fear"),
        problem_type="multi_label",
    ),
    _kind("score", "First token · a score", ("score",), problem_type="regression"),
    _kind("hostile", XSS, (XSS, f"{XSS} again"), architecture=XSS),
)  # fmt: skip
HUB = tuple(Kind(spec) for spec in (*LISTED, *FINDABLE))
POOLINGS = (
    PoolingSpec("native", "native · what the checkpoint's own head reads", "Whatever the own head reads."),
    PoolingSpec("cls", "cls · the [CLS] token", "The token in the place of [CLS]."),
    PoolingSpec("mean", "mean · average of all tokens", "The average over all tokens."),
    PoolingSpec("pooler", "pooler · the checkpoint's own pooler", "None of these has one."),
    PoolingSpec("attention", "attention · learned weights", "An average with learned weights.", learned=True),
)
OWN = ("native", "cls")  # what every one of these own heads was trained on
TASKS = (
    TaskSpec("sentiment", "sentiment", ("negative", "positive"), 1),
    TaskSpec("topic", "topic of news", ("world", "sports", "business"), 1),
    TaskSpec("paraphrase", "paraphrase", ("not a paraphrase", "paraphrase"), 2),
)
