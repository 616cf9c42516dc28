"""The noun of the lens: what a head says of every hidden state in the place of the vector that it takes."""

from dataclasses import dataclass
from typing import Any

from components.analyses.registry import Cost, Examined, analysis
from components.types import Analysis, Floats, as_json


@dataclass(frozen=True, eq=False)
class Lens:
    """Outputs of the head of an analysis for other vectors. L layers, T tokens, K labels.

    ``logits`` and ``probabilities``: (L + 1, T, K), where its vector is the hidden state of one token at one
    layer. ``pooled`` and ``pooled_probabilities``: (L + 1, K), where its pooling is applied to a layer; the
    last row is what it says in earnest. For regression, probabilities are the raw values.
    ``norm``: the path of the module that is applied to every layer below the last, which the last has gone
    through: the norm between it and the head; "" without one.
    """

    logits: Floats
    pooled: Floats
    probabilities: Floats
    pooled_probabilities: Floats
    norm: str


@dataclass(frozen=True, eq=False)
class Looked:
    """The answer to a query, and what is seen through the lens."""

    analysis: Analysis
    lens: Lens

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types: ``logits`` for each layer, token and label."""
        keys = "tokens=analysis.tokens labels=analysis.labels logits=lens.logits pooled=lens.pooled"
        return as_json(self, f"{keys} warnings=analysis.warnings")


@analysis("backbone text text_pair pooling head task", Cost(1.5))
def lens(examined: Examined) -> Looked:
    """Point a head at every hidden state, in place of the vector that it takes: what it would say.

    ``logits[l][t]``: of hidden state t of layer l, from the embeddings (0) up; ``pooled[l]``: of what the
    pooling makes of layer l. The norm between the last layer and the head is applied to every layer.
    """
    from components.analyses.measuring.analyze import analyse
    from components.analyses.measuring.anatomy import look

    return Looked(analyse(examined), look(examined))
