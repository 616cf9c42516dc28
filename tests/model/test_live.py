"""A model object in training is measured as plain transformers answers, and stays as it is."""

import random
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune
from transformers import BertModel, BertPreTrainedModel, PreTrainedModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput

from components.analyses.anatomy import Anatomy
from components.errors import PoolscopeError
from components.notebook import anatomy_of
from components.texts import Sentence
from components.types import Query
from tests.families.cases import boundless, tiny_config, tiny_model

TEXT = "the film is not good at all , not good !"
LABELS = {"num_labels": 3}
WORDS = boundless()


def measured(model: object, tokenizer: object = WORDS, text: str = TEXT, pair: str = "") -> Anatomy:
    return anatomy_of(model, tokenizer, Query("", text, pair), 1000)


def trained(family: str = "bert", **more: Any) -> PreTrainedModel:
    """A model in the middle of training: gradients lie in it, and dropout is on."""
    model = tiny_model(family, **{**LABELS, **more}).train()
    torch.manual_seed(5)
    step(model)
    return model


def step(model: PreTrainedModel) -> None:
    """Add the gradients of one text to those that lie there."""
    model(**WORDS(TEXT, return_tensors="pt"), labels=torch.tensor([1])).loss.backward()


def plainly(model: PreTrainedModel, text: str = TEXT, pair: str | None = None) -> Any:
    """What transformers alone says: another object of the same config, given the weights as float32."""
    plain = type(model)(deepcopy(model.config)).float().eval()
    plain.load_state_dict(model.state_dict())
    plain.config.use_cache = False
    with torch.no_grad():
        return plain(**WORDS(text, pair, return_tensors="pt"), output_hidden_states=True)


def agrees(anatomy: Anatomy, plain: Any) -> None:
    np.testing.assert_allclose(anatomy.analysis.logits, plain.logits[0], atol=1e-5, rtol=0)
    np.testing.assert_allclose(anatomy.steps[-1].given, plain.logits[0], atol=1e-5, rtol=0)
    for layer, states in enumerate(plain.hidden_states):
        cosines = torch.cosine_similarity(states[0], states[0][:1])  # [CLS] is the first token
        np.testing.assert_allclose(anatomy.analysis.similarity[layer], cosines, atol=1e-5, rtol=0)
    assert len(plain.hidden_states) == len(anatomy.analysis.similarity)


def weights(tokens: int) -> Tensor:
    """Of each token in the mean: (T,)."""
    counted = torch.arange(1.0, tokens + 1, dtype=torch.float32, device="cpu")
    return counted / counted.sum()


class Averaging(BertPreTrainedModel):
    """A classifier of somebody's own, as one writes it in a notebook: later tokens count for more."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert, self.drop = BertModel(config), nn.Dropout(0.5)
        self.out = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None, **named: Any
    ) -> SequenceClassifierOutput:
        given = self.bert(input_ids, attention_mask, token_type_ids, **named)
        pooled = weights(given.last_hidden_state.shape[1]) @ given.last_hidden_state
        logits = self.out(self.drop(pooled))
        return SequenceClassifierOutput(logits=logits, hidden_states=given.hidden_states)


# What is said of it


@pytest.mark.parametrize(
    ("family", "pair"), [("bert", "a man sleeps"), ("deberta-v2", ""), ("gpt2", ""), ("xlnet", "")]
)
def test_it_says_what_transformers_says_without_dropout(family: str, pair: str) -> None:
    model = trained(family)
    with torch.no_grad():
        ways = {tuple(model(**WORDS(TEXT, return_tensors="pt")).logits[0].tolist()) for _ in range(2)}
    assert len(ways) == 2  # dropout is on, so the object itself says something else each time
    agrees(measured(model, pair=pair), plainly(model, TEXT, pair or None))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_other_types_are_computed_in_float32_and_this_is_said(dtype: torch.dtype) -> None:
    model = tiny_model("bert", **LABELS).to(dtype)
    found = measured(model)
    agrees(found, plainly(model))
    (said,) = found.analysis.warnings
    assert said == Sentence("warnings.object_types", types=(str(dtype).removeprefix("torch."),))
    assert {weight.dtype for weight in model.parameters()} == {dtype}


@pytest.mark.parametrize("way", ["eager", "flash_attention_2"])  # a kernel for GPUs alone: torch computes it
def test_every_way_to_attend_works_and_stays_chosen(way: str) -> None:
    model = trained()
    plain = plainly(model)
    model.config._attn_implementation_internal = way  # as on a machine that has it
    agrees(measured(model), plain)
    assert model.config._attn_implementation == way


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_model_on_a_gpu_stays_there(dtype: torch.dtype) -> None:
    model = tiny_model("bert", **LABELS).to("cuda", dtype)
    plain = plainly(deepcopy(model).cpu())
    before, taken = torch.cuda.get_rng_state(), torch.cuda.memory_allocated()
    agrees(measured(model), plain)
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert torch.cuda.memory_allocated() == taken
    assert {(weight.device.type, weight.dtype) for weight in model.parameters()} == {("cuda", dtype)}


def test_a_head_of_ones_own_is_taken_apart_under_its_own_names() -> None:
    """Its layers are listed by print(model), so none of them may be called a function that is not."""
    model = Averaging(tiny_config("bert", **LABELS)).train()
    found = measured(model)
    agrees(found, plainly(model))
    read = found.analysis.reads
    assert read.positions.all()
    np.testing.assert_allclose(read.share, weights(len(read.share)), atol=1e-6)
    steps = [(step.name, step.path, step.within, step.picks) for step in found.steps]
    parts = [("matmul", "", True), ("drop", "drop", False), ("out", "out", False)]
    assert steps == [(name, path, "Averaging", picks) for name, path, picks in parts]
    assert {weight.origin for weight in found.weights} == {"object"}
    assert {line.path for line in found.declared} >= {"drop", "out"}
    assert found.sources == ()  # it may stand in a cell, which is no file


def test_functions_and_classes_of_ones_own_keep_their_names() -> None:
    class Squashed(nn.Module):
        def forward(self, vector: Tensor) -> Tensor:
            return (vector * 2).tanh()

    class Inner(Averaging):
        def forward(self, *args: Any, **named: Any) -> SequenceClassifierOutput:
            given = super().forward(*args, **named)
            return SequenceClassifierOutput(logits=given.logits * 2, hidden_states=given.hidden_states)

    model = Inner(tiny_config("bert", **LABELS))
    model.drop = Squashed()
    found = measured(model)
    steps = [("mul", "Squashed"), ("tanh", "Squashed"), ("out", "Averaging"), ("mul", "Inner")]
    assert [(step.name, step.within) for step in found.steps[1:]] == steps
    assert found.analysis.backbone.architecture == "Inner"


@pytest.mark.parametrize("padding", [None, 0])
def test_a_tokenizer_without_padding_is_enough(padding: int | None) -> None:
    model, tokenizer = trained("gpt2", pad_token_id=padding), boundless()
    tokenizer.pad_token = None
    agrees(measured(model, tokenizer), plainly(model))
    assert tokenizer.pad_token is None


# It stays as it is, and so does the program around it


def everything(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> list[Any]:
    """All that can be told of both and of random numbers, in values that can be compared."""
    tensors = [*model.named_parameters(), *model.named_buffers()]
    tensors += [(name, each.grad) for name, each in model.named_parameters() if each.grad is not None]
    found: list[Any] = []
    for name, one in tensors:
        kind = (name, id(one), one.dtype, one.device, one.requires_grad, one._version)
        found.append((*kind, one.detach().numpy().tobytes()))
    for name, module in model.named_modules():
        plain = {key: one for key, one in vars(module).items() if not isinstance(one, dict)}
        found.append((name, module.training, sorted(plain), {key: id(one) for key, one in plain.items()}))
        found.append({key: list(one) for key, one in vars(module).items() if isinstance(one, dict)})
    found.append({key: repr(one) for key, one in vars(model.config).items()})
    found.append((tokenizer.backend_tokenizer.to_str(), repr(tokenizer.init_kwargs), tokenizer.pad_token))
    found.append((torch.get_rng_state().tolist(), random.getstate(), repr(np.random.get_state())))
    return found


@pytest.mark.parametrize("family", ["bert", "xlnet"])
def test_the_object_stays_as_it_is_to_the_bit(family: str) -> None:
    model, tokenizer = trained(family), boundless()
    model.base_model.get_input_embeddings().requires_grad_(False)
    model.config.use_cache = True
    next(iter(model.children())).eval()  # a part that somebody has frozen
    model.register_forward_hook(lambda *_: None)
    tokenizer(TEXT, truncation=True, max_length=5, padding="max_length")  # which it remembers
    before = everything(model, tokenizer)
    measured(model, tokenizer)
    for text in ("", "a " * 501):  # nor is it touched where there is no answer
        with pytest.raises(PoolscopeError):
            measured(model, tokenizer, text)
    assert everything(model, tokenizer) == before


SURROUNDINGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "inference_mode": torch.inference_mode,
    "autocast": partial(torch.autocast, "cpu", torch.bfloat16),
    "device": partial(torch.device, "meta"),
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_whatever_surrounds_the_call_the_answer_is_the_same(name: str) -> None:
    def around() -> tuple[bool, bool, str]:
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.empty(1).device.type

    model = Averaging(tiny_config("bert", **LABELS)).train()
    plain = plainly(model)
    with SURROUNDINGS[name]():
        before = around()
        found = measured(model)
        assert around() == before
    agrees(found, plain)
    share = found.analysis.reads.share  # for which a way back through the head is needed
    np.testing.assert_allclose(share, weights(len(share)), atol=1e-6)


# What hangs on an object


def test_hooks_are_neither_run_nor_lost_and_this_is_said() -> None:
    model = trained()
    plain, ran = plainly(model), []
    model.last = [model.classifier(torch.ones(1, 32))]  # with a way back to the weights
    model(**WORDS(TEXT, return_tensors="pt"), output_hidden_states=True)  # sets some of transformers' own
    model.classifier.register_forward_hook(lambda _module, _args, given: ran.append(given) or given + 5)
    model.base_model.register_forward_pre_hook(lambda *_: ran.append(None))
    found = measured(model)
    agrees(found, plain)
    assert ran == []
    assert Sentence("warnings.object_hooks", count=2) in found.analysis.warnings
    assert len(model.classifier._forward_hooks) == 1


def test_a_replaced_forward_is_left_out_and_kept_in_the_object() -> None:
    """Mixed precision replaces it in this way: the class's own function, wrapped, in the object itself."""
    model = trained()
    plain = plainly(model)
    model._original_forward = model.forward
    replaced = model.forward = torch.autocast("cpu", torch.bfloat16)(model.forward)
    found = measured(model)
    agrees(found, plain)
    assert Sentence("warnings.object_hooks", count=1) in found.analysis.warnings
    assert model.forward is replaced


def test_a_pruned_layer_stays_pruned() -> None:
    """Its weight is made by a hook before each pass, so this hook is run."""
    model = trained()
    prune.random_unstructured(model.classifier, "weight", amount=0.5)
    with torch.no_grad():
        model.classifier.weight_orig.mul_(2)  # as an optimizer does: it is not made anew before a pass
    plain = deepcopy(trained())
    plain.classifier.weight.data = (model.classifier.weight_orig * model.classifier.weight_mask).detach()
    found = measured(model)
    agrees(found, plainly(plain))
    assert found.analysis.warnings == ()


# What cannot be shown


class Adapted(nn.Module):
    """A wrapper as peft has it."""

    def get_base_model(self) -> None: ...


def parallel() -> nn.Module:
    """A wrapped model, as in training on several processes, of which this is the only one."""
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        return nn.parallel.DistributedDataParallel(trained())
    finally:
        torch.distributed.destroy_process_group()


def nowhere() -> PreTrainedModel:
    with torch.device("meta"):
        return tiny_model("bert")


def spoilt(**attributes: object) -> PreTrainedModel:
    """A model with these in the place of what its parts have."""
    model = trained()
    for path, value in attributes.items():
        *parts, name = path.split("__")
        setattr(model.get_submodule(parts[0]) if parts else model, name, value)
    return model


def quantised() -> PreTrainedModel:
    model = trained()
    model.config.quantization_config = {"quant_method": "none"}
    return model


NO_MODEL: tuple[tuple[Callable[[], object], tuple[str, ...]], ...] = (
    (lambda: None, ("a model of transformers", "NoneType")),
    (lambda: "bert-base-uncased", ("a model of transformers", "str")),
    (lambda: PreTrainedModel, ("a model of transformers", "type")),
    (lambda: nn.Linear(2, 2), ("a model of transformers", "Linear")),
    (parallel, ("DistributedDataParallel", "pass model.module")),
    (lambda: torch.compile(trained(), backend="eager"), ("pass model._orig_mod",)),
    (Adapted, ("pass model.get_base_model()", "no learned prompts")),
    (lambda: tiny_model("bert", vocab_size=10), ("its tokenizer does not match its weights",)),
    (nowhere, ("not held as plain numbers in this process",)),
    (
        lambda: spoilt(classifier__weight=nn.Parameter(torch.ones(3, 32, dtype=torch.int8), False)),
        ("classifier.weight is not held as plain numbers",),
    ),
    (lambda: spoilt(classifier__bias=nn.Parameter(torch.full((3,), torch.nan))), ("holds NaN or infinity",)),
    (quantised, ("its weights are quantised",)),
    (lambda: spoilt(lock=threading.Lock()), ("it cannot be copied", "pickle")),
)


@pytest.mark.parametrize(("make", "words"), NO_MODEL)
def test_what_is_no_model_or_cannot_be_measured_is_said(
    make: Callable[[], object], words: tuple[str, ...]
) -> None:
    with pytest.raises(PoolscopeError) as told:
        measured(make())
    assert told.value.field == "model"
    assert all(word in str(told.value) for word in words)


def test_what_is_no_tokenizer_or_no_text_is_said() -> None:
    model = tiny_model("bert")
    for given in (None, "bert-base-uncased", len):
        with pytest.raises(PoolscopeError, match=f"^tokenizer: .*{type(given).__name__}.*the model's own"):
            measured(model, given)
    for text in ("", "  \n", None, 5):
        with pytest.raises(PoolscopeError, match=r"^text: "):
            measured(model, text=text)  # type: ignore[arg-type]  # on purpose
