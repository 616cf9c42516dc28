"""The head of every family that transformers can classify with, against transformers run by hand."""

import numpy as np
import pytest

from tests.families.cases import INPUTS, Family
from tests.families.making import BUILT, FACTS, FAMILIES
from tests.families.table import PAGE, row

pytestmark = pytest.mark.families


@pytest.mark.each_family
def test_a_short_text_is_read_and_answered_as_by_hand(family: Family) -> None:
    analysis, inputs = family.analysis("not bad"), family.inputs("not bad", "")
    np.testing.assert_allclose(analysis.logits, family.by_hand.logits(inputs)[0], atol=1e-6)
    assert np.flatnonzero(analysis.reads.positions).tolist() == family.by_hand.reads(inputs)


@pytest.mark.parametrize("texts", INPUTS, ids=("one", "pair"))
def test_logits_are_those_of_transformers(family: Family, texts: tuple[str, str]) -> None:
    expected = family.by_hand.logits(family.inputs(*texts))[0]
    np.testing.assert_allclose(family.analysis(*texts).logits, expected, atol=1e-6)


@pytest.mark.parametrize("texts", INPUTS, ids=("one", "pair"))
def test_the_head_reads_what_brute_force_finds(family: Family, texts: tuple[str, str]) -> None:
    reads = family.analysis(*texts).reads
    assert np.flatnonzero(reads.positions).tolist() == family.by_hand.reads(family.inputs(*texts))
    assert reads.share.sum() == pytest.approx(1, abs=1e-5)


def test_the_page_of_families_says_what_is_read(family: Family) -> None:
    assert row(family.name, family.settings, family.by_hand.model) in PAGE.read_text(encoding="utf-8")


def test_the_page_of_families_names_every_family() -> None:
    named = PAGE.read_text(encoding="utf-8")
    assert [name for name in FAMILIES if f"| {name} |" not in named and f"**{name}**" not in named] == []
    assert len(BUILT) - len(FACTS["not_per_token"]) - len(FACTS["partly"]) >= 115
