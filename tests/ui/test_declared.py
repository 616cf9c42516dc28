"""What is declared is offered and compared where a backbone declares something, and nowhere else."""

from dataclasses import dataclass, replace

import pytest

from components.as_json import backbone_json
from components.declaration import Declaration, Normalize
from components.texts import Sentence
from components.types import PoolingSpec
from components.ui.api import fitting
from components.ui.compare.asking import offered_poolings
from tests.ui.fake import FakeAnalyst
from tests.ui.fake_kinds import KINDS, POOLINGS

DECLARED = PoolingSpec("declared", "declared", "As its files say.", declared=True)
FOUND = Declaration(("mean",), 4, (Normalize(),), longest=9, prompt="query: ")
DECLARING = replace(KINDS[1], spec=replace(KINDS[1].spec, declared=FOUND))


@dataclass(frozen=True)
class Analyst(FakeAnalyst):
    """A fake one that knows what is declared."""

    def poolings(self) -> tuple[PoolingSpec, ...]:
        return (*POOLINGS, DECLARED)


@pytest.mark.parametrize(("kinds", "offered"), [(KINDS, False), ((KINDS[0], DECLARING), True)])
def test_a_comparison_offers_it_if_one_backbone_declares_it(kinds: tuple, offered: bool) -> None:
    assert (("declared", "declared") in offered_poolings(Analyst(kinds))) is offered


def test_all_poolings_of_a_backbone_are_those_that_it_has() -> None:
    first, second = KINDS[0].spec.key, DECLARING.spec.key
    pairs = list(fitting(Analyst((KINDS[0], DECLARING)), [first, second, "found"]))
    assert [pair for pair in pairs if pair[1] == "declared"] == [(second, "declared"), ("found", "declared")]
    assert len(pairs) == 3 * len(POOLINGS) + 2


def test_backbones_say_what_they_declare() -> None:
    assert backbone_json(DECLARING.spec)["declared"] == {
        "poolings": ["mean"],
        "steps": ["normalize"],
        "size": 4,
        "longest": 9,
        "prompt": "query: ",
        "lowercases": False,
        "refusal": None,
    }
    unread = replace(KINDS[0].spec, declared=Sentence("refusals.json", file="modules.json"))
    assert backbone_json(unread)["declared"] == {"refusal": "its modules.json cannot be read as JSON"}
