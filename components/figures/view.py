"""What of an analysis is looked at, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from components.figures.labels import token_labels, word
from components.texts import Texts
from components.types import Analysis, Floats

Say = Texts  # looks up a sentence by its key and fills in its placeholders


@dataclass(frozen=True, eq=False)
class View:
    """One layer of an analysis, plain or centred. L layers, T tokens."""

    analysis: Analysis
    layer: int
    centred: bool = False

    @property
    def by_layer(self) -> Floats:
        """Similarities at every layer: (L + 1, T) in [-1, 1]."""
        return self.analysis.centred if self.centred else self.analysis.similarity

    @property
    def similarity(self) -> Floats:
        """Similarities at the layer under study: (T,) in [-1, 1]."""
        row: Floats = self.by_layer[self.layer]
        return row

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A readable label for each of the T tokens, not escaped."""
        query = self.analysis.query
        return token_labels(self.analysis.tokens, (query.text, query.text_pair))

    @property
    def reference(self) -> int | None:
        """Index of the token that all others are compared with, or None for the pooled vector."""
        reference = self.analysis.query.reference
        if reference == "pooled":
            return None
        return self.analysis.tokens.cls if reference == "cls" else int(reference)

    @property
    def is_pair(self) -> bool:
        """Whether tokens of a second text are there."""
        return bool((self.analysis.tokens.segment == 1).any())


def reference_name(view: View, say: Say) -> str:
    """What the tokens are compared with, not escaped, without vocabulary marks: "[CLS]" for example."""
    if view.reference is None:
        return say("similarity.pooled")
    token = word(view.labels[view.reference])
    if view.analysis.query.reference != "cls":
        return say("similarity.token", index=view.reference, token=token)
    special = view.analysis.tokens.special[view.reference]
    return say("similarity.special" if special else "similarity.stand_in", token=token)


def layer_name(view: View, say: Say) -> str:
    """The layer under study in words: "layer 2 of 6"."""
    last = view.analysis.layers
    if view.layer == 0:
        return say("similarity.embeddings", last=last)
    return say("similarity.layer", layer=view.layer, last=last)


def number(value: float, digits: int = 2) -> str:
    """A number with a real minus sign, and never "-0.00"."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def percent(probability: float) -> str:
    """A probability in percent; never rounded to a certainty that it is not."""
    value = 100 * float(probability)
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 99.9 < value < 100:
        return "> 99.9 %"
    return f"{value:.0f} %" if 1 <= value < 99 or value in (0, 100) else f"{value:.1f} %"
