"""Every family that transformers can classify with, against transformers run by hand."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from components.analyses.measuring.analyze import analyse
from components.analyses.measuring.anatomy import dissect, head_calls, look
from components.analyses.measuring.export import module, program
from components.analyses.measuring.importance import weigh
from components.analyses.measuring.padding import audit
from components.analyses.measuring.sees import look as look_around
from components.analyses.measuring.trace import traced
from components.errors import PoolscopeError
from components.model.examine import Examined, examine
from components.model.internals import repeatable
from components.model.loading import load
from components.types import Query
from tests.analyses.test_export import printed
from tests.checkpoints import Made
from tests.families import cases
from tests.families.cases import BUILT, FACTS, FAMILIES, INPUTS, TEXT, Family
from tests.families.table import PAGE, row
from tests.model.test_pooling import ALONE
from tests.plain import cosine, rerun
from tests.vectors import pooled_features

pytestmark = pytest.mark.families


@pytest.mark.parametrize("texts", [("not bad", ""), *INPUTS], ids=("short", "one", "pair"))
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
def test_programs_print_the_same(tiny_family: Made, family: str) -> None:
    backbone = load(tiny_family(family))
    with repeatable(backbone.model):
        examined = examine(backbone, Query(family, TEXT, pooling="pooler"))
        source, trained, expected = program(examined), module(examined), analyse(examined).probabilities
    assert backbone.pooler is not None
    assert backbone.pooler.heads == (family in OWN_PROGRAM)
    folder = Path(backbone.spec.location).parent
    np.testing.assert_allclose(printed(source, folder), expected, atol=1e-5)
    before, after = printed(trained, folder)
    assert after < before
    if family in OWN_PROGRAM:
        assert "stands behind the pooling pooler" in trained
        assert "nn.Tanh" not in trained  # the body's own pooler has it


def test_tokens_and_their_hidden_states(family: Family) -> None:
    analysis, inputs = family.analysis(TEXT), family.inputs(TEXT, "")
    final = family.by_hand.final(inputs)[0].numpy()
    assert len(analysis.tokens.text) == len(final)
    if family.per_token:
        assert analysis.tokens.text == tuple(
            family.backbone.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        )
        assert analysis.tokens.cls == 0  # the tokenizer's own
        assert not analysis.warnings or "hidden states" not in str(analysis.warnings[0])
    else:
        assert analysis.tokens.text[:2] == ("state 0", "state 1")
        assert analysis.tokens.cls == 0
        assert analysis.tokens.span.tolist() == [[0, 0]] * len(final)
        assert "none stands for one token" in str(analysis.warnings[0])
    expected = [cosine(state, final[analysis.tokens.cls]) for state in final]
    np.testing.assert_allclose(analysis.similarity[-1], expected, atol=1e-5)


def test_every_layer_is_there(family: Family) -> None:
    """The embeddings and every layer but the last as transformers hands them out."""
    analysis, inputs = family.analysis(TEXT), family.inputs(TEXT, "")
    torch.manual_seed(0)
    with torch.no_grad():
        output = family.by_hand.model(**inputs, output_hidden_states=True)
    stack = output.get("hidden_states") or output.decoder_hidden_states
    alike = [layer[0].numpy() for layer in stack if layer.shape[1] == len(analysis.tokens.text)]
    if family.per_token and len(alike) == len(stack):
        assert analysis.layers == len(stack) - 1
    else:
        assert any("layers" in str(warning) for warning in analysis.warnings)
    for similarity, states in zip(analysis.similarity[:-1], alike, strict=False):
        expected = [cosine(state, states[analysis.tokens.cls]) for state in states]
        np.testing.assert_allclose(similarity, expected, atol=1e-5)


def test_every_pooling_and_its_swap(family: Family) -> None:
    inputs = family.inputs(TEXT, "")
    final, read = family.by_hand.final(inputs)[0], family.by_hand.reads(inputs)  # (T, D)
    expected = {"cls": final[family.analysis(TEXT).tokens.cls]}
    for key in ("first", "lasttoken", "mean", "max", "mean_sqrt_len_tokens", "weightedmean"):
        expected[key] = torch.from_numpy(ALONE[key](final.numpy())).float()
    answers = family.analyses(TEXT, poolings=expected)
    for (pooling, vector), analysis in zip(expected.items(), answers, strict=True):
        np.testing.assert_allclose(analysis.pooled, vector, rtol=1e-5, atol=1e-5, err_msg=pooling)
        swapped = family.by_hand.after(inputs, lambda hidden, vector=vector: vector.expand_as(hidden))[0]
        np.testing.assert_allclose(analysis.logits, swapped, rtol=1e-4, atol=1e-4, err_msg=pooling)
        if len(read) == 1:  # a swap is any other vector than the one that it reads
            assert analysis.swapped != torch.allclose(vector, final[read[0]], atol=1e-5), pooling
        first = read == [0] and not analysis.tokens.special[0]
        for said in (str(warning) for warning in analysis.warnings if warning.key == "warnings.swap"):
            assert ("head another vector," in said, "the first token" in said) == (len(read) != 1, first)


def test_a_text_has_the_same_vectors_alone_and_among_others(family: Family) -> None:
    texts, poolings = [TEXT, "not bad", "a man sleeps", "the film is bad"], ["native", "mean", "lasttoken"]
    with repeatable(family.backbone.model):
        together = pooled_features(family.backbone, texts, poolings, -1)
    for index, text in enumerate(texts):
        for pooling, alone in zip(poolings, family.analyses(text, poolings=poolings), strict=True):
            np.testing.assert_allclose(together[pooling][index], alone.pooled, rtol=1e-4, atol=1e-4)


def test_the_steps_of_the_head_give_the_logits(family: Family) -> None:
    def steps(examined: Examined) -> tuple[Any, Any]:
        hidden = examined.states.hidden
        return dissect(examined), rerun(head_calls(examined), hidden, hidden)

    anatomy, logits = family.examined(steps, TEXT)
    np.testing.assert_allclose(logits[0], anatomy.analysis.logits, atol=1e-5)
    np.testing.assert_allclose(anatomy.steps[-1].given, anatomy.analysis.logits, atol=1e-6)


def test_every_hidden_state_in_the_place_of_the_heads_vector(family: Family) -> None:
    """The norm before the head is applied to every layer, where the family's own code has one."""
    text = "not bad !"
    logits, lens = family.examined(lambda examined: (examined.outputs.logits[0], look(examined)), text)
    layers = cases.layers_by_hand(family, text)
    assert len(lens.logits) == len(lens.pooled) == len(layers)
    for index, layer in enumerate(layers):
        rows, whole = cases.logits_by_hand(family, text, layer)
        np.testing.assert_allclose(lens.logits[index], rows, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(lens.pooled[index], whole, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(lens.pooled[-1], logits, atol=1e-6)


def test_hidden_states_of_another_text_in_the_place_of_its_own(family: Family) -> None:
    """All of a layer is the other run; one state of it is what a hook on the family's own layers gives."""
    texts = "the film is good !", "the film is bad !"
    first, second = (family.examined(lambda examined: examined, text) for text in texts)
    if family.name in FACTS["untraced"]:
        with pytest.raises(PoolscopeError, match=r"replaced|answered alike"):
            traced(first, second)
        return
    with repeatable(family.backbone.model):
        patched = traced(first, second)
    expected = np.broadcast_to(second.outputs.logits, patched.whole.shape)
    np.testing.assert_allclose(patched.whole, expected, rtol=1e-5, atol=1e-5)
    by_hand = list(cases.patched_by_hand(family, *texts, layers=len(patched.logits) - 1))
    assert bool(by_hand) == (family.name not in FACTS["no_list_of_layers"])
    for layer, place, logits in by_hand:
        (row,) = np.flatnonzero(patched.pairs[:, 0] == place)
        np.testing.assert_allclose(patched.logits[layer, row], logits, rtol=1e-5, atol=1e-5)


def test_a_text_too_long_is_cut_to_what_the_model_takes(family: Family) -> None:
    analysis = family.analysis("good " * 700)
    told = any("Left out: " in str(warning) for warning in analysis.warnings)
    assert told == (family.backbone.limit < 702)
    assert np.isfinite(analysis.logits).all()


def test_what_padding_changes(family: Family) -> None:
    """The logits of the padded text are those that transformers alone gives of it."""
    found, tokenizer = family.examined(audit, TEXT), family.backbone.tokenizer
    length = family.inputs(TEXT, "")["input_ids"].shape[1] + found.padded
    alone = family.by_hand.logits(family.inputs(TEXT, ""))
    right, left = found.cases[1:3]
    for case in (right, left):
        inputs = tokenizer(
            TEXT, padding="max_length", max_length=length, padding_side=case.name, return_tensors="pt"
        )
        logits = family.by_hand.logits(dict(inputs))
        np.testing.assert_allclose(case.logits, logits[0], atol=1e-5)
        assert bool(case.cause) == (float((logits - alone).abs().max()) > 1e-3 * float(alone.abs().max()))
    assert found.cases[0].verdict == right.verdict  # the side on which these tokenizers pad


def test_what_is_called_importance(family: Family) -> None:
    """Of one word: erasure, and the change along its embedding's gradient, as transformers alone says."""
    text, place = "the film is good !", 2
    asked = partial(weigh, label="")
    if not family.per_token or family.name in FACTS["unweighed"]:
        with pytest.raises(PoolscopeError, match=r"measured|gradient leads"):
            family.examined(asked, text)
        return
    given = family.examined(asked, text)
    inputs, tokenizer = family.inputs(text, ""), family.backbone.tokenizer
    ids = inputs["input_ids"].clone()
    ids[0, place] = tokenizer.unk_token_id if tokenizer.mask_token_id is None else tokenizer.mask_token_id
    before, after = (
        family.by_hand.logits(each).double().softmax(dim=-1)[0, given.label]
        for each in (inputs, {**inputs, "input_ids": ids})
    )
    assert given.erasure[place] == pytest.approx(float(before - after), abs=1e-5)
    if family.by_hand.model.config.is_encoder_decoder:
        return  # the decoder reads the same rows of the table
    torch.manual_seed(0)
    row = int(inputs["input_ids"][0, place])
    weight = family.by_hand.model.get_input_embeddings().weight
    (slope,) = torch.autograd.grad(family.by_hand.model(**inputs).logits[0, given.label], weight)
    assert given.gradient_x_input[place] == pytest.approx(float(slope[row] @ weight[row].detach()), abs=1e-5)


def test_who_sees_whom(family: Family) -> None:
    """It is what moves bit for bit, but for what rounding moves where tokens share experts."""
    text, asked = "the film is not good !", partial(look_around, turn=False)
    if not family.per_token or family.name == "ibert":
        with pytest.raises(PoolscopeError, match=r"hidden state|one by one"):
            family.examined(asked, text)
        return
    found = family.examined(asked, text)
    moved = family.by_hand.moved(family.inputs(text, ""))
    rounded = (moved > 0) & ~found.sees
    np.testing.assert_array_equal(found.sees, (moved > 0) & ~rounded)
    assert not rounded.any() or family.name in FACTS["experts"]["families"]
    assert moved[rounded].max(initial=0) < 1e-5
    assert found.shape in ("all", "causal") or family.name in FACTS["seen_otherwise"]
