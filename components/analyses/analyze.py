"""The answer to a query: what the head says, which tokens it reads, and how similar these are."""

from __future__ import annotations

from components.analyses.registry import Cost, Examined, analysis
from components.types import Analysis


@analysis("backbone text text_pair pooling head layer reference task pool_layer mine", Cost())
def analyze(examined: Examined) -> Analysis:
    """Classify a text or a pair: the head's outputs, the tokens it reads, similarities to ``reference``.

    A request that cannot be answered comes back as a message that says why.
    """
    from components.analyses.measuring.analyze import analyse

    return analyse(examined)
