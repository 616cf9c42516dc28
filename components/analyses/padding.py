"""The noun of a padding audit: what a model says of one text alone, padded, and in a batch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from components.analyses.registry import Cost, Examined, analysis, measuring
from components.texts import Sentence
from components.types import Analysis, Floats, as_json

Cause = Literal["", "head", "attention", "positions", "unknown"]
Verdict = Literal["safe", "moves", "reads_padding", "alone"]


@dataclass(frozen=True, eq=False)
class PaddingCase:
    """A text with padding beside it. T tokens, K labels.

    ``name``: "batch", beside a longer text, as the tokenizer itself pads; "right" or "left", where the
    padding stands; or "left_positions", on the left with position ids that count the text's own tokens.
    ``logits``: (K,). ``largest``: the largest difference of a logit from what is said
    of the text alone. ``reads``: the indices of the tokens that the head reads; ``reads_padding``: whether it
    reads what was padded, too. ``moved``: the indices of the tokens whose final hidden state is another one.
    ``pooled``: how far the vector of each pooling lies from that of the text alone, in lengths of the latter.
    ``cause``: why logits moved, as measured: the "head" reads other positions; the tokens attend to padding
    ("attention"); the tokens' "positions" are counted from the padding; "unknown"; "" where none moved.
    """

    name: str
    logits: Floats
    largest: float
    reads: tuple[int, ...]
    reads_padding: bool
    moved: tuple[int, ...]
    pooled: Mapping[str, float]
    cause: Cause

    @property
    def verdict(self) -> Verdict:
        """Tell what it shows of the model."""
        return "reads_padding" if self.reads_padding else "moves" if self.cause else "safe"


@dataclass(frozen=True, eq=False)
class Padding:
    """Changes that padding makes, beside the ``analysis`` of the text alone.

    ``padded``: how many tokens were put beside it. ``side``: where the tokenizer itself pads. ``alone``: why
    there is no batch, the first of the ``cases``; there are none where it cannot pad, or the model fails.
    """

    analysis: Analysis
    padded: int
    side: str
    cases: tuple[PaddingCase, ...]
    warnings: tuple[Sentence, ...]
    alone: Sentence | None = None

    @property
    def verdict(self) -> Verdict:
        """Tell whether the model is safe in a batch, padded with its pad token."""
        return "alone" if self.alone or not self.cases else self.cases[0].verdict

    @property
    def pooled(self) -> Mapping[str, float]:
        """Distances by which each pooling's vector moves in a batch; see `PaddingCase`."""
        return {} if self.verdict == "alone" else self.cases[0].pooled

    @property
    def says(self) -> tuple[Sentence, ...]:
        """The verdict in words, and what each other way to pad does."""
        first, side, others = self.alone or Sentence("padding.alone"), "", self.cases
        if self.verdict != "alone":
            side, others, batch = self.side, self.cases[1:], self.cases[0]
            first = Sentence(f"padding.{batch.verdict}", **_told(batch), way=Sentence(f"padding.{side}"))
        more = [
            Sentence(f"padding.other_{one.verdict}", **_told(one), way=Sentence(f"padding.{one.name}"))
            for one in others
            if one.name != side
        ]
        return (first, *more)

    def to_json(self) -> dict[str, Any]:
        """Give it in plain JSON types."""
        return as_json(
            self,
            "tokens=analysis.tokens labels=analysis.labels logits=analysis.logits side padded cases pooled "
            "verdict says warnings",
        )


@analysis("backbone text text_pair", Cost(7.9))
def padding(examined: Examined) -> Padding:
    """Pad a text or a pair, and put it beside a longer one: whether the answer is what it is alone.

    ``verdict`` is of a batch, padded with the model's pad token: safe, moves, reads_padding, or alone
    where it takes no batch. ``cases`` says so of each side. ``pooled``: how far each pooling's vector moves
    in a batch, in its own lengths.
    """
    return cast("Padding", measuring("padding").audit(examined))


def _told(case: PaddingCase) -> dict[str, object]:
    cause = {"cause": Sentence(f"padding.cause_{case.cause}")} if case.verdict == "moves" else {}
    return {"largest": f"{case.largest:.2g}", **cause}
