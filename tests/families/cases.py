"""The families as the tests of them ask them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from components.analyses.measuring.analyze import analyse
from components.model.backbone import Backbone
from components.model.examine import answer, examine, forward
from components.model.repeatable import repeatable
from components.types import Analysis, Query
from tests.families.brute import ByHand
from tests.families.making import BUILT, FACTS

TEXT = "the film is not good at all , not good !"
INPUTS = ((TEXT, ""), ("a man sleeps", "the man is bad , not good"))
Case = tuple[str, dict[str, str]]  # a family, and settings of its own
CASES: list[Case] = [(family, {}) for family in BUILT] + list(FACTS["averaging"].items())


def is_mechanism(case: Case) -> bool:
    """Whether `make test` asks this case everything; `make families` asks all of them."""
    return case[0] in FACTS["mechanisms"]["averaging" if case[1] else "families"]


@dataclass(frozen=True, eq=False)
class Family:
    """One family, loaded by Poolscope and by transformers alone."""

    name: str
    settings: dict[str, str]
    backbone: Backbone
    by_hand: ByHand

    @property
    def per_token(self) -> bool:
        return self.name not in FACTS["not_per_token"]

    def inputs(self, text: str, text_pair: str) -> dict[str, Any]:
        return dict(self.backbone.tokenizer(text, text_pair or None, return_tensors="pt"))

    def analysis(self, *texts: str, **asked: Any) -> Analysis:
        return self.examined(analyse, *texts, **asked)

    def examined(self, then: Any, *texts: str, **asked: Any) -> Any:
        with repeatable(self.backbone.model):
            return then(examine(self.backbone, Query(self.name, *texts, **asked)))

    def analyses(self, text: str, poolings: Iterable[str]) -> list[Analysis]:
        """One for each pooling, from one forward pass."""
        with repeatable(self.backbone.model):
            passed = forward(self.backbone, text, "")
            return [analyse(answer(passed, Query(self.name, text, pooling=key), None)) for key in poolings]
