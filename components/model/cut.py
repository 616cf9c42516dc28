"""The cut between a model's body and its head, how to run the head alone, and other parts that it runs.

The tensor that the head receives is found by identity: it is the last that the body hands out and that moves
the logits, and the cut is the outermost module that hands out that very tensor and still has the whole head
behind it. With that module's forward replaced by chosen hidden states, calling the model runs the head alone.

A body that has a pooler hands out its ``pooler_output`` beside the final hidden states. What lies between the
two is the pooler: it is run by handing the body chosen hidden states, as the head is. Many families have a
norm between the last layer and the head; a lens that looks at lower layers applies it to each of them
(nostalgebraist 2020; Belrose et al. 2023).

A module is an entry of a layer if all that comes above starts from the tensor that it is given: with those of
another input in its place, the model says what it says of that input.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import BaseModelOutput

from components.model.internals import flatten, repeatable

Batch = Mapping[str, Tensor]  # name -> (B, T)
Output = Callable[[PreTrainedModel, Batch], Tensor]  # what a call of the model gives for B inputs: (B, N)
Noted = tuple[nn.Module, tuple[Any, ...], Any]  # a call: the module, what it took, and what it gave

NOISES = (1.0, 100.0, 10_000.0)  # standard deviations of random hidden states; some heads hear only loud ones
TRIED = 8  # modules for each layer, the outermost first
CPU = torch.device("cpu")  # a model alone may be elsewhere: what measures knows the CPU, and doubles
STEP = 7  # between the ids of two tokens of inputs that differ


def carried(tensor: Tensor, device: torch.device = CPU, dtype: torch.dtype | None = None) -> Tensor:
    """The same numbers on a device in a type (None: no less than float32); the tensor itself if it is so."""
    wanted = dtype or (torch.float32 if tensor.dtype == torch.bfloat16 else tensor.dtype)
    return tensor if (tensor.device, tensor.dtype) == (device, wanted) else tensor.to(device, wanted)


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass over B inputs of T tokens, from which the head can be run again.

    ``hidden``: L + 1 tensors (B, T, D); the last is the very tensor that the head received, and T is the
    number of its states: layers of another length are ``left_out``, so many. ``logits``: (B, K).
    ``handed``: all that each of the modules that were asked about handed out, where the model is.
    """

    inputs: Batch
    hidden: tuple[Tensor, ...]
    logits: Tensor
    handed: Mapping[nn.Module, Any]
    left_out: int

    def upmost(self, layers: int) -> Self:
        """The same with no more than so many layers, from the last one down."""
        more = max(len(self.hidden) - layers, 0)
        return replace(self, hidden=self.hidden[more:], left_out=self.left_out + more)


def run(
    model: PreTrainedModel, cut: nn.Module, inputs: Batch, *others: nn.Module, slopes: bool = False
) -> Pass:
    """A forward pass that keeps what passes ``cut``, and what ``others`` hand out.

    What was run before does not show in it: see `repeatable`. Weights have no slopes, but some models make
    tensors that have. ``slopes``: torch can go back from it.
    """
    with torch.set_grad_enabled(slopes), noted((cut, *others)) as calls, repeatable(model):
        output = called(model, inputs, output_hidden_states=True)
    handed = {module: given for module, _taken, given in calls}
    final = states_in(handed[cut])
    stacks = (output.get("hidden_states"), output.get("decoder_hidden_states"))  # of what the head stands on
    layers: tuple[Tensor, ...] = next((tuple(stack) for stack in stacks if stack is not None), ())
    until = next((index for index, layer in enumerate(layers) if layer is final), len(layers))
    layers = layers[: until + 1]  # the head does not stand on what comes above
    alike = [layer for layer in layers if layer.shape[:2] == final.shape[:2]]
    hidden = tuple(map(carried, (*alike[:-1], final)))
    return Pass(inputs, hidden, carried(output.logits), handed, len(layers) - len(alike))


def called(model: PreTrainedModel, inputs: Batch, **asked: bool) -> Any:
    """Output of the model for ``inputs``, which are carried to where its weights are."""
    placed = {name: carried(value, model.device) for name, value in inputs.items()}
    return model(**placed, return_dict=True, **asked)


def logits(model: PreTrainedModel, inputs: Batch) -> Tensor:
    """The logits (B, K)."""
    return carried(called(model, inputs).logits)


def replay(
    model: PreTrainedModel, cut: nn.Module, kept: Pass, hidden: Tensor, answer: Output = logits
) -> Tensor:
    """The logits (B, K), or another ``answer``, for final hidden states ``hidden`` (B, T, D)."""
    return with_exchanged(model, cut, kept, states_in(kept.handed[cut]), hidden, answer)


def with_exchanged(
    model: PreTrainedModel, module: nn.Module, kept: Pass, old: Tensor, new: Tensor, answer: Output
) -> Tensor:
    """The ``answer`` if ``module`` hands out the tensor ``new`` wherever ``old`` stood."""
    leaves, rebuild = flatten(kept.handed[module])
    handed = rebuild([carried(new, old.device, old.dtype) if leaf is old else leaf for leaf in leaves])
    with answering(module, handed):
        return answer(model, kept.inputs)


def words(model: PreTrainedModel, hidden: Tensor) -> Tensor:
    """The logits (B, T, V) that a masked-language model gives of final hidden states (B, T, D)."""
    ids = torch.zeros(hidden.shape[:2], dtype=torch.long)
    with answering(model.base_model, BaseModelOutput(last_hidden_state=carried(hidden, model.device))):
        return logits(model, {"input_ids": ids})


def find_cut(model: PreTrainedModel, inputs: Batch, answer: Output = logits) -> nn.Module | None:
    """The outermost module behind which all lies that makes the ``answer`` of hidden states: the whole head.

    ``inputs`` is any small batch. Truth is the innermost module that hands out the tensor. A module around
    it is as good exactly if the answer is alike when other hidden states are put in its place. None where
    no hidden states move the answer, however large they are.
    """
    for noise in NOISES:
        handing = _handing_out(model, inputs, answer, noise)
        if handing:
            truth = _answer_to_noise(model, handing[0], inputs, answer, noise)
            for module in reversed(handing[1:]):  # from the outermost
                given = _answer_to_noise(model, module, inputs, answer, noise)
                if torch.allclose(given, truth, rtol=1e-4, atol=1e-5):
                    return module
            return handing[0]
    return None


def per_token(model: PreTrainedModel, cut: nn.Module, inputs: Batch) -> bool:
    """Tell whether each token has a final hidden state: for ``inputs``, and for twice as many tokens.

    Else they are latents of a fixed number, groups of characters, or a sequence that was shortened.
    """
    twice = {name: torch.cat([value, value], dim=1) for name, value in inputs.items()}
    passes = ((run(model, cut, each), each["input_ids"]) for each in (inputs, twice))
    return all(kept.hidden[-1].shape[1] == ids.shape[1] for kept, ids in passes)


def body_alone(model: PreTrainedModel, cut: nn.Module, inputs: Batch) -> bool:
    """Tell whether the body, run by itself on ``inputs``, gives the states that the head receives."""
    body = model.base_model
    try:
        inspect.signature(body.forward).bind(**inputs, return_dict=True)
    except TypeError:  # it takes other arguments
        return False
    with noted([body]) as calls:
        received = run(model, cut, inputs).hidden[-1]
    passed = [one for _body, taken, _output in calls for one in taken]  # what the classifier calls it with
    if {id(one) for one in passed if isinstance(one, Tensor)} - set(map(id, inputs.values())):
        return False
    with repeatable(model):
        given = states_in(body(**inputs, return_dict=True))
    return torch.is_tensor(given) and torch.equal(given, received)


def _handing_out(model: PreTrainedModel, inputs: Batch, answer: Output, noise: float) -> list[nn.Module]:
    """The modules in the model that hand out the body's final hidden states, innermost first.

    These are what the body itself hands out or, where its head reads something else, the last states before
    them that move the answer, when they are ``noise`` of this size. There are none where no states do.
    """
    with noted(model.base_model.modules()) as calls, repeatable(model):
        plain = answer(model, inputs)
    handed = ((module, states_in(output)) for module, _taken, output in calls)
    finished = [(module, states) for module, states in handed if states is not None and states.dim() == 3]
    for states in {id(states): states for _module, states in reversed(finished)}.values():  # each once
        handing = [module for module, output in finished if output is states]
        if not torch.equal(_answer_to_noise(model, handing[0], inputs, answer, noise), plain):
            return handing
    return []


def _answer_to_noise(
    model: PreTrainedModel, module: nn.Module, inputs: Batch, answer: Output, noise: float
) -> Tensor:
    """The ``answer`` if ``module`` handed out random hidden states of this size, alike every time."""
    with repeatable(model):
        kept = run(model, module, inputs)
        return replay(model, module, kept, noise_like(kept.hidden[-1], noise), answer)


@contextmanager
def noted(modules: Iterable[nn.Module]) -> Iterator[list[Noted]]:
    """Within, each call of one of these is noted as it ends."""
    calls: list[Noted] = []

    def note(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        calls.append((module, (*args, *named.values()), output))

    with ExitStack() as hooks:
        for module in modules:
            hooks.enter_context(module.register_forward_hook(note, with_kwargs=True))
        yield calls


def noise_like(hidden: Tensor, size: float = 1.0) -> Tensor:
    """Random numbers in the shape of ``hidden``, alike every time; ``size`` is their standard deviation."""
    return torch.randn(hidden.shape, generator=torch.Generator().manual_seed(0)) * size


def states_in(output: Any) -> Any:
    """The hidden states that a module hands out: what is called so, else the first; None without any."""
    if isinstance(output, Mapping):
        return output.get("last_hidden_state", next(iter(output.values()), None))
    first = output[0] if isinstance(output, tuple | list) and output else output
    return first if isinstance(first, Tensor) else None


@contextmanager
def answering(module: nn.Module, answer: Any) -> Iterator[None]:
    """Within, calling ``module`` computes nothing and gives ``answer``."""
    module.forward = lambda *_args, **_kwargs: answer
    try:
        yield
    finally:
        del module.forward


@dataclass(frozen=True, eq=False)
class Pooler:
    """The pooler of a ``model``.

    ``cut``: the module behind which it begins. ``heads``: whether the head reads nothing but what it gives.
    """

    model: PreTrainedModel
    cut: nn.Module
    heads: bool

    def __call__(self, kept: Pass, hidden: Tensor) -> Tensor:
        """Run it on final hidden states: (B, T, D) -> (B, D')."""
        return replay(self.model, self.cut, kept, hidden, _pooled)

    def behind(self, kept: Pass, vector: Tensor) -> Tensor:
        """The logits (B, K) that the head gives if ``vector`` (B, D') is what the pooler gave."""
        body = self.model.base_model
        return with_exchanged(self.model, body, kept, kept.handed[body].pooler_output, vector, logits)


def find_pooler(model: PreTrainedModel, cut: nn.Module, inputs: Batch) -> Pooler | None:
    """The pooler of the body, or None; ``cut`` is the head's, ``inputs`` any small batch.

    None also where it pools other hidden states than those that the head receives.
    """
    with repeatable(model):
        if _pooled(model, inputs) is None:
            return None
    found = find_cut(model, inputs, _pooled)
    if found is None:
        return None
    pooler = Pooler(model, found, heads=False)
    with repeatable(model):
        kept = run(model, cut, inputs, found, model.base_model)
        if states_in(kept.handed[found]) is not kept.hidden[-1]:
            return None
        for size in NOISES:  # does the head say of the pooler's output alone what it says of hidden states?
            noise = noise_like(kept.hidden[-1], size)
            if not torch.equal(pooler.behind(kept, pooler(kept, noise)), replay(model, cut, kept, noise)):
                return pooler
    return replace(pooler, heads=True)


def _pooled(model: PreTrainedModel, inputs: Batch) -> Any:
    """The body's ``pooler_output`` (B, D') when the classifier is called, or None."""
    with noted([model.base_model]) as calls:
        called(model, inputs)
    given = getattr(calls[-1][2], "pooler_output", None) if calls else None
    return carried(given) if isinstance(given, Tensor) and given.dim() == 2 else None


def find_final_norm(model: PreTrainedModel, cut: nn.Module, inputs: Batch) -> nn.Module | None:
    """The module that makes the final hidden states of all that the last layer hands out, or None.

    ``inputs`` is any small batch. It has no parts of its own, and takes what a module that has some handed
    out, whole. The norm that ends a layer takes a sum instead, which no module hands out: it is the layer's,
    as is one that stands in a list of layers.
    """
    with noted(model.base_model.modules()) as calls:
        final = run(model, cut, inputs).hidden[-1]
    lists = [module for module in model.base_model.modules() if isinstance(module, nn.ModuleList)]
    layers = {part for each in lists for part in each.modules()}
    whole = {id(states_in(output)) for module, _args, output in calls if list(module.children())}
    for module, args, output in calls:
        made, taken = states_in(output), next((one for one in args if isinstance(one, Tensor)), None)
        inner = module in layers or bool(list(module.children()))
        if inner or made is None or taken is None or id(taken) not in whole:
            continue
        if made is not taken and taken.shape == final.shape and torch.equal(made, final):
            return module
    return None


@dataclass(frozen=True, eq=False)
class Entry:
    """The ``call`` of a module, counted from 0, whose argument ``place`` is the hidden states of a layer.

    ``place``: its position, or its name. ``turned``: whether the model has them as (T, B, D).
    """

    module: nn.Module
    call: int
    place: int | str
    turned: bool = False


@contextmanager
def entering(entry: Entry, hidden: Tensor) -> Iterator[None]:
    """Within, ``hidden`` states (B, T, D) stand once in the place of those that come through an entry."""
    calls = count()

    def hook(_module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if next(calls) != entry.call:
            return None
        places: dict[Any, Any] = {**dict(enumerate(args)), **named}
        new = hidden.transpose(0, 1) if entry.turned else hidden
        places[entry.place] = carried(new, places[entry.place].device)
        return tuple(map(places.get, range(len(args)))), {name: places[name] for name in named}

    with entry.module.register_forward_pre_hook(hook, with_kwargs=True):
        yield


def find_entries(
    model: PreTrainedModel, cut: nn.Module, tokenizer: PreTrainedTokenizerBase, rows: int
) -> tuple[Entry | None, ...]:
    """The entry of each layer below the last, tried on so many ``rows``; None where there is none."""
    inputs, others = _two_inputs(tokenizer, rows)
    second = run(model, cut, others)
    first, given = _watched(model, cut, inputs)
    if torch.allclose(first.logits, second.logits, rtol=1e-4, atol=1e-6):  # nothing would show
        return (None,) * (len(first.hidden) - 1)

    def works(entry: Entry, layer: int) -> bool:
        """Tell whether the first input, with the second's states of a layer, is answered as the second."""
        with entering(entry, second.hidden[layer]):
            answered = run(model, cut, inputs)
        return torch.allclose(answered.logits, second.logits, rtol=1e-5, atol=1e-6)

    def entry(layer: int) -> Entry | None:
        received = (call for call, value in given if torch.equal(value, first.hidden[layer]))
        return next((found for found in islice(received, TRIED) if works(found, layer)), None)

    return tuple(map(entry, range(len(first.hidden) - 1)))


def _two_inputs(tokenizer: PreTrainedTokenizerBase, rows: int) -> tuple[Batch, Batch]:
    """A small input, and another that moves the logits, each in so many ``rows``."""
    plain = tokenizer("a b c", return_tensors="pt")
    inputs = {name: value.expand(rows, -1) for name, value in plain.items()}
    special = set(tokenizer.all_special_ids)
    own = sorted(set(tokenizer.get_vocab().values()) - special)
    ids = plain["input_ids"][0].tolist()
    others = [one if one in special or not own else own[(one + STEP) % len(own)] for one in ids]
    return inputs, {**inputs, "input_ids": torch.tensor([others] * rows)}


def _watched(
    model: PreTrainedModel, cut: nn.Module, inputs: Batch
) -> tuple[Pass, list[tuple[Entry, Tensor]]]:
    """A pass, and all of three axes that modules were given, as it is and turned, each with its entry."""
    given: list[tuple[Entry, Tensor]] = []
    begun = Counter[nn.Module]()

    def begin(module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        places: list[tuple[int | str, Any]] = [*enumerate(args), *named.items()]
        for place, value in places:
            if isinstance(value, Tensor) and value.dim() == 3:
                seen = carried(value.clone())
                given.append((Entry(module, begun[module], place), seen))
                given.append((Entry(module, begun[module], place, turned=True), seen.transpose(0, 1)))
        begun[module] += 1

    with ExitStack() as hooks:
        for module in model.modules():
            hooks.enter_context(module.register_forward_pre_hook(begin, with_kwargs=True))
        return run(model, cut, inputs), given
