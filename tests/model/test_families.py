"""The head of every family that transformers can classify with, against transformers run by hand."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.anatomy import dissect
from components.analyses.measuring.export import module, program
from components.errors import PoolscopeError
from components.model.examine import examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import BackboneSpec, Query
from tests.analyses.test_export import printed
from tests.families.cases import BUILT, FACTS, FAMILIES, INPUTS, TEXT, Family
from tests.families.table import PAGE, row
from tests.vectors import pooled_features

pytestmark = pytest.mark.families


@pytest.mark.each_family
def test_a_short_text_is_read_and_answered_as_by_hand(family: Family) -> None:
    analysis, inputs = family.analysis("not bad"), family.inputs("not bad", "")
    np.testing.assert_allclose(analysis.logits, family.by_hand.logits(inputs)[0], atol=1e-6)
    assert np.flatnonzero(analysis.reads.positions).tolist() == family.by_hand.reads(inputs)


@pytest.mark.parametrize("texts", INPUTS, ids=("one", "pair"))
def test_logits_are_those_of_transformers_and_the_head_reads_what_brute_force_finds(
    family: Family, texts: tuple[str, str]
) -> None:
    analysis, inputs = family.analysis(*texts), family.inputs(*texts)
    np.testing.assert_allclose(analysis.logits, family.by_hand.logits(inputs)[0], atol=1e-6)
    assert np.flatnonzero(analysis.reads.positions).tolist() == family.by_hand.reads(inputs)
    assert analysis.reads.share.sum() == pytest.approx(1, abs=1e-5)


def test_the_page_of_families_says_what_is_read(family: Family) -> None:
    assert row(family.name, family.settings, family.by_hand.model) in PAGE.read_text(encoding="utf-8")


def test_the_page_of_families_names_every_family() -> None:
    named = PAGE.read_text(encoding="utf-8")
    assert [name for name in FAMILIES if f"| {name} |" not in named and f"**{name}**" not in named] == []
    assert len(BUILT) - len(FACTS["not_per_token"]) - len(FACTS["partly"]) >= 115


OWN_PROGRAM = ("albert", "squeezebert")  # heads that read their pooler's output alone
OTHER_PROGRAM = ("big_bird",)  # a pooler that its head does not read


def pooler_output(family: Family, text: str) -> Tensor | None:
    """By transformers alone: what the body gives beside its hidden states, when the classifier calls it."""
    seen: list[object] = []
    body = family.by_hand.model.base_model
    with body.register_forward_hook(lambda _module, _args, output: seen.append(output)):
        family.by_hand.logits(family.inputs(text, ""))
    given = getattr(seen[-1], "pooler_output", None)
    return given if isinstance(given, Tensor) else None


def by_replacing(family: Family, text: str, vector: Tensor) -> Tensor:
    """By transformers alone: the logits if the body had given ``vector`` for its pooler's output."""

    def put(_module: object, _args: object, output: object) -> object:
        output.pooler_output = vector  # type: ignore[attr-defined]  # of a model's output
        return output

    with family.by_hand.model.base_model.register_forward_hook(put):
        return family.by_hand.logits(family.inputs(text, ""))[0]


def test_it_is_the_pooler_output_of_transformers(family: Family) -> None:
    expected = pooler_output(family, TEXT)
    if expected is None:
        with pytest.raises(PoolscopeError, match="this checkpoint has no pooler"):
            family.analysis(TEXT, pooling="pooler")
        return
    np.testing.assert_allclose(family.analysis(TEXT, pooling="pooler").pooled, expected[0], atol=1e-6)
    with repeatable(family.backbone.model):
        vectors = pooled_features(family.backbone, [TEXT, "not bad", "a man sleeps"], ["pooler"], -1)
    for text, vector in zip((TEXT, "not bad", "a man sleeps"), vectors["pooler"], strict=True):
        np.testing.assert_allclose(vector, pooler_output(family, text)[0], atol=1e-5)


def test_it_is_given_to_the_head_where_its_own_pooler_gives_it(family: Family) -> None:
    """A head that reads nothing else says what it says by itself; any other one is given it as a swap."""
    vector = pooler_output(family, TEXT)
    if vector is None:
        return
    own, given = family.analysis(TEXT), family.analysis(TEXT, pooling="pooler")
    drawn = torch.randn(vector.shape, generator=torch.Generator().manual_seed(3))
    if torch.equal(by_replacing(family, TEXT, drawn), by_replacing(family, TEXT, vector)):
        assert any(warning.key == "warnings.swap" for warning in given.warnings)
        hidden = family.by_hand.after(family.inputs(TEXT, ""), lambda states: vector[0].expand_as(states))[0]
        np.testing.assert_allclose(given.logits, hidden, atol=1e-5)
        return
    np.testing.assert_array_equal(given.logits, own.logits)
    np.testing.assert_array_equal(given.reads.positions, own.reads.positions)
    np.testing.assert_array_equal(given.reads.share, own.reads.share)
    assert given.warnings == own.warnings
    steps = family.examined(dissect, TEXT, pooling="pooler").steps
    assert [step.name for step in steps] == [step.name for step in family.examined(dissect, TEXT).steps]


@pytest.mark.parametrize("family", [*OWN_PROGRAM, *OTHER_PROGRAM])
def test_programs_print_the_same(tiny_family: Callable[..., BackboneSpec], family: str) -> None:
    backbone = load(tiny_family(family))
    with repeatable(backbone.model):
        examined = examine(backbone, Query(family, TEXT, pooling="pooler"))
        source, trained, expected = program(examined), module(examined), analyse(examined).probabilities
    assert backbone.pooler is not None
    assert backbone.pooler.heads == (family in OWN_PROGRAM)
    np.testing.assert_allclose(printed(source, backbone.spec), expected, atol=1e-5)
    before, after = printed(trained, backbone.spec)
    assert after < before
    if family in OWN_PROGRAM:
        assert "stands behind the pooling pooler" in trained
        assert "nn.Tanh" not in trained  # the body's own pooler has it
