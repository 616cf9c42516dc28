"""Whoever shows a model in training finds it as it was, and the program around it too."""

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from functools import partial
from types import MethodType
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils import prune
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from components.errors import PoolscopeError
from components.texts import Sentence
from tests.families.making import boundless, tiny_config, tiny_model
from tests.model.live import (
    FAMILIES,
    LABELS,
    TEXT,
    WORDS,
    Averaging,
    agrees,
    measured,
    plainly,
    step,
    trained,
    weights,
)


def everything(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> list[Any]:
    """All that can be told of both and of random numbers, in values that can be compared."""
    tensors = [*model.named_parameters(), *model.named_buffers()]
    gradients = [(name, weight.grad) for name, weight in model.named_parameters() if weight.grad is not None]
    found: list[Any] = [
        (
            name,
            id(one),
            one.dtype,
            one.device,
            one.requires_grad,
            one._version,
            one.detach().numpy().tobytes(),
        )
        for name, one in [*tensors, *gradients]
    ]
    for name, module in model.named_modules():
        plain = {key: one for key, one in vars(module).items() if not isinstance(one, dict)}
        found.append((name, module.training, sorted(plain), {key: id(one) for key, one in plain.items()}))
        found.append({key: list(one) for key, one in vars(module).items() if isinstance(one, dict)})
    found.append({key: repr(one) for key, one in vars(model.config).items()})
    found.append((tokenizer.backend_tokenizer.to_str(), repr(tokenizer.init_kwargs), tokenizer.pad_token))
    found.append((torch.get_rng_state().tolist(), random.getstate(), repr(np.random.get_state())))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_the_object_stays_as_it_is_to_the_bit(family: str) -> None:
    model, tokenizer = trained(family), boundless()
    model.base_model.get_input_embeddings().requires_grad_(False)
    model.config.use_cache = True
    next(iter(model.children())).eval()  # a part that somebody has frozen
    model.register_forward_hook(lambda *_: None)
    tokenizer(TEXT, truncation=True, max_length=5, padding="max_length")  # which it remembers
    before = everything(model, tokenizer)
    measured(model, tokenizer)
    assert everything(model, tokenizer) == before


def test_it_stays_as_it_is_where_there_is_no_answer() -> None:
    model, tokenizer = trained(), boundless()
    before = everything(model, tokenizer)
    for text in ("", "a " * 501):
        with pytest.raises(PoolscopeError):
            measured(model, tokenizer, text)
    with torch.no_grad():
        model.classifier.weight[0, 0] = torch.nan
    with pytest.raises(PoolscopeError, match="holds NaN or infinity"):
        measured(model, tokenizer)
    with torch.no_grad():
        changed = everything(model, tokenizer)
    assert [one for one in changed if one not in before] != []  # by this test alone
    assert len([one for one in changed if one not in before]) == 1


def test_training_goes_on_as_if_nobody_had_looked() -> None:
    """Three steps with dropout and momentum, with a look before each, give the same weights as without."""
    ends = []
    for looks in (False, True):
        model = trained()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        torch.manual_seed(11)
        for _ in range(3):
            if looks:
                measured(model)
            step(model)
            optimizer.step()
            optimizer.zero_grad()
        ends.append({name: weight.detach().clone() for name, weight in model.named_parameters()})
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_the_copy_and_the_object_share_no_number() -> None:
    model = trained()
    found = measured(model)
    before = found.analysis.logits.copy(), found.steps[-1].taken.copy()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    np.testing.assert_array_equal(found.analysis.logits, before[0])
    np.testing.assert_array_equal(found.steps[-1].taken, before[1])


# What a program has set for the time being


@contextmanager
def numbers_of(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    yield
    assert torch.get_default_dtype() == dtype
    torch.set_default_dtype(before)


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": partial(torch.autocast, "cpu", torch.bfloat16),
    "float64": partial(numbers_of, torch.float64),
    "device": partial(torch.device, "meta"),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_whatever_surrounds_the_call_the_answer_is_the_same(name: str) -> None:
    model = Averaging(tiny_config("bert", **LABELS)).train()
    plain = plainly(model)
    with SURROUNDINGS[name]():
        found = measured(model)
        after = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.empty(1).device.type)
    with SURROUNDINGS[name]():
        assert after == (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.empty(1).device.type,
        )
    agrees(found, plain)
    share = found.analysis.reads.share  # for which a way back through the head is needed
    np.testing.assert_allclose(share, weights(len(share)), atol=1e-6)


def test_weights_that_were_made_in_inference_mode_can_be_shown() -> None:
    with torch.inference_mode():
        model = tiny_model("bert", **LABELS)
    agrees(measured(model), plainly(model))


# What hangs on an object


def test_hooks_are_neither_run_nor_lost_and_this_is_said() -> None:
    model = trained()
    plain, ran = plainly(model), []
    model.classifier.register_forward_hook(lambda _module, _args, given: ran.append(given) or given + 5)
    model.base_model.register_forward_pre_hook(lambda *_: ran.append(None))
    found = measured(model)
    agrees(found, plain)
    assert ran == []
    assert Sentence("warnings.object_hooks", count=2) in found.analysis.warnings
    assert len(model.classifier._forward_hooks) == 1


def test_hooks_of_transformers_itself_are_not_spoken_of() -> None:
    model = trained()
    model(**WORDS(TEXT, return_tensors="pt"), output_hidden_states=True)
    assert sum(len(module._forward_hooks) for module in model.modules()) > 0
    found = measured(model)
    agrees(found, plainly(model))
    assert found.analysis.warnings == ()


def test_a_replaced_forward_is_left_out_and_kept_in_the_object() -> None:
    """Mixed precision replaces it in this way: the class's own function, wrapped, in the object itself."""
    model = trained()
    plain = plainly(model)
    own = type(model).forward

    def lower(self: PreTrainedModel, *args: Any, **named: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return own(self, *args, **named)

    model._original_forward = model.forward
    model.forward = MethodType(lower, model)
    replaced = model.forward
    found = measured(model)
    agrees(found, plain)
    assert Sentence("warnings.object_hooks", count=1) in found.analysis.warnings
    assert model.forward is replaced


def test_a_pruned_layer_stays_pruned() -> None:
    """Its weight is made by a hook before each pass, so this hook is run."""
    model = trained()
    prune.random_unstructured(model.classifier, "weight", amount=0.5)
    prune.random_unstructured(model.base_model.encoder.layer[0].output.dense, "weight", amount=0.5)
    plain = deepcopy(trained())
    weights = {name.removesuffix("_orig"): one.detach().clone() for name, one in model.named_parameters()}
    masks = {name.removesuffix("_mask"): one for name, one in model.named_buffers() if name.endswith("_mask")}
    plain.load_state_dict({name: one * masks.get(name, 1) for name, one in weights.items()}, strict=False)
    found = measured(model)
    agrees(found, plainly(plain))
    assert found.analysis.warnings == ()
    with torch.no_grad():
        model.classifier.weight_orig.mul_(
            2
        )  # as an optimizer does: the weight is not made anew before a pass
    weights["classifier.weight"] = model.classifier.weight_orig.detach()
    plain.load_state_dict({name: one * masks.get(name, 1) for name, one in weights.items()}, strict=False)
    agrees(measured(model), plainly(plain))


def test_a_tensor_that_a_module_keeps_for_itself_is_no_hindrance() -> None:
    model = trained()
    model.last = [
        model.classifier(torch.ones(1, model.classifier.in_features))
    ]  # with a way back to the weights
    agrees(measured(model), plainly(model))
