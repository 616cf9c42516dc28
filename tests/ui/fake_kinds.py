"""The classifiers that are made up, of every odd kind; their poolings and tasks."""

from __future__ import annotations

from dataclasses import dataclass

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


def _spec(
    key: str,
    title: str,
    architecture: str,
    texts: int = 1,
    labels: tuple[str, ...] = LABELS,
    probed: tuple[str, ...] = (),
) -> BackboneSpec:
    return BackboneSpec(
        key,
        title,
        "made up",
        "made-up numbers",
        "local",
        key,
        texts=texts,
        probed=probed,
        architecture=architecture,
        labels=labels,
    )


KINDS = (
    Kind(
        _spec(
            "first",
            "First token · sentiment",
            "FirstForSequenceClassification",
            probed=("sentiment", "topic", "paraphrase"),
        )
    ),
    Kind(
        _spec("last", "Last token · sentiment", "LastForSequenceClassification", probed=("topic",)),
        brackets=None,
    ),
    Kind(
        _spec(
            "pair",
            "First token · paraphrase",
            "FirstForSequenceClassification",
            2,
            ("different", "same"),
            ("paraphrase", "sentiment"),
        ),
        layers=6,
    ),
    Kind(_spec("untrained", "First token · untrained", "FirstForSequenceClassification"), trained=False),
    Kind(
        _spec(
            "many",
            "First token · 40 topics",
            "FirstForSequenceClassification",
            1,
            tuple(f"topic {n}" for n in range(40)),
        ),
        layers=3,
    ),
    Kind(
        _spec(
            "emotions",
            "First token · several emotions",
            "FirstForSequenceClassification",
            1,
            ("joy", "anger", "trust", "fear"),
        ),
        problem_type="multi_label",
    ),
    Kind(
        _spec("score", "First token · a score", "FirstForSequenceClassification", 1, ("score",)),
        problem_type="regression",
    ),
    Kind(_spec("hostile", XSS, XSS, 1, (XSS, f"{XSS} again"))),
)
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
