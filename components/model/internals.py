"""Internals of torch and transformers that Poolscope needs, and neither promises to keep."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

import torch
import transformers
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten
from transformers import PreTrainedConfig, PreTrainedModel, core_model_loading as loader
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.initialization import meta_device_safe_creation_ops, no_init_weights
from transformers.utils.logging import disable_progress_bar

ACTING = ("_forward_pre_hooks", "_forward_hooks")  # those that may change what a forward pass gives
MAKING = "torch.nn.utils."  # where hooks are from that make weights before each pass: pruning, weight norm
CAPTURING = "_output_capturing_hooks_installed"  # what a model remembers of hooks that hand out its layers
CAPTURERS = "transformers.utils.output_capturing"  # the module that these are from
REPORT = " LOAD REPORT"  # in a warning of which weights are lacking or left over: what is measured has both
KERNELS = ("_attn_implementation", "_experts_implementation")  # of a config: each may name code on the hub

CAUSAL = "is_causal"  # what a config, and a module that attends, say: a token sees those before it
BOTH = "use_bidirectional_attention"  # what some configs say instead, with True or "all" for every token

Config = dict[str, Any]
Model = TypeVar("Model", bound=nn.Module)


def quiet() -> None:
    """Leave the terminal to a command: no bars of weights, no table of them; every other warning stays."""
    disable_progress_bar()  # type: ignore[no-untyped-call]  # theirs
    loading = logging.getLogger("transformers.modeling_utils")
    loading.addFilter(lambda record: REPORT not in record.getMessage())


def tables(model: nn.Module) -> Iterator[Config]:
    """Everything that a forward pass may assign to: each module's attributes, parts, buffers and config.

    ``state_dict`` lacks attributes and buffers that are not saved; a copy takes the weights' memory twice.
    """
    configs: dict[int, Config] = {}
    for module in model.modules():
        yield from (module.__dict__, module._modules, module._buffers)
        if (config := module.__dict__.get("config")) is not None:
            configs[id(config)] = vars(config)
    yield from configs.values()


@contextmanager
def repeatable(model: nn.Module) -> Iterator[None]:
    """Within, random numbers start from one seed; afterwards they and the model's parts are as before.

    Some models draw random numbers outside of training too, and some change for good with what they read:
    after a short text one exchanges its attention modules. Neither may depend on what was asked before.
    """
    before = [(table, table.copy()) for table in tables(model)]
    try:
        with seeded():
            device = next(model.parameters(), torch.empty(0)).device
            if device.type in ("cuda", "mps"):  # where nobody else draws
                torch.get_device_module(device).manual_seed(0)
            yield
    finally:
        for table, entries in before:
            table.update(entries)  # what is new stays: transformers remembers there which hooks it has set


@contextmanager
def seeded() -> Iterator[None]:
    """Within, the random numbers of the CPU start from one seed; afterwards they go on as before.

    ``torch.manual_seed`` would seed every device, and wake those that nobody uses.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


@contextmanager
def both_ways(model: nn.Module) -> Iterator[None]:
    """Within, tokens see those after them, too, if config or modules can let them.

    transformers makes no causal mask where a config says so. A kernel that is given no mask asks its module.
    """
    configs = [table for table in tables(model) if "transformers_version" in table]
    lacking = [table for table in configs if CAUSAL not in table]
    with repeatable(model):
        for table in (*configs, *(vars(module) for module in model.modules() if CAUSAL in vars(module))):
            table[CAUSAL] = False
        yield
    for table in lacking:
        table.pop(CAUSAL)


def text_config(model: PreTrainedModel) -> PreTrainedConfig:
    """Give what configures the part that reads text: the whole, unless transformers reads a part of it."""
    found = model.config.get_text_config()  # a dict, where the type of model leaves such a part unread
    return found if isinstance(found, PreTrainedConfig) else model.config


def said_causal(model: PreTrainedModel) -> tuple[bool | None, str]:
    """Tell whether a model says that tokens see none after them, and by which key; None where it is silent.

    A decoder that is asked behind an encoder says nothing of the whole.
    """
    config = text_config(model)
    stated: dict[str, object] = vars(config)
    modules = {vars(module).get(CAUSAL) for module in model.modules()} - {None}
    if stated.get(BOTH) in (True, "all"):
        return False, BOTH
    if isinstance(known := stated.get(CAUSAL), bool):
        return known, CAUSAL
    if not config.is_encoder_decoder and (stated.get("is_decoder") or modules == {True}):
        return True, "is_decoder" if stated.get("is_decoder") else CAUSAL
    return None, ""


def flatten(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The leaves of tuples, lists, dicts and outputs in each other, and what rebuilds these."""
    leaves, form = tree_flatten(tree)
    return leaves, lambda flat: tree_unflatten(list(flat), form)


def tensors(tree: Any) -> tuple[Tensor, ...]:
    """The tensors among the leaves."""
    return tuple(leaf for leaf in flatten(tree)[0] if isinstance(leaf, Tensor))


def plain_copy(model: Model) -> Model:
    """A copy on the CPU, in float32 and for evaluation, that shares no tensor with ``model``.

    ``model`` is only read, and nothing is allocated where its weights are. The copy has no gradients, and
    runs what its classes say: without hooks, but for those that make weights, and without a ``forward`` that
    was put in the place of the class's own.
    """
    memo: dict[int, Any] = {}  # what stands in the copy for each object, by its id
    for module in model.modules():
        table = vars(module)
        memo |= {id(tensor): _plain(tensor) for tensor in tensors(table) if id(tensor) not in memo}
        for hooks in (value for name, value in table.items() if "_hooks" in name and isinstance(value, dict)):
            memo[id(hooks)] = OrderedDict({key: hook for key, hook in hooks.items() if _makes(hook)})
        if "forward" in table:
            memo[id(table["forward"])] = None
    copy = deepcopy(model, memo)
    for module in copy.modules():
        vars(module).pop("forward", None)
    return copy.eval()


def acting_hooks(model: nn.Module) -> list[Any]:
    """List what `plain_copy` leaves out and may change a forward pass: hooks, replaced functions.

    Those hooks change nothing that hand out the hidden states of each layer.
    """
    every = [vars(module) for module in model.modules()]
    hooks = [hook for table in every for name in ACTING for hook in table[name].values()]
    acting = [hook for hook in hooks if getattr(hook, "__module__", None) != CAPTURERS and not _makes(hook)]
    return [*acting, *(table["forward"] for table in every if "forward" in table)]


def _makes(hook: Any) -> bool:
    return type(hook).__module__.startswith(MAKING)


def _plain(tensor: Tensor) -> Tensor:
    """The same numbers on the CPU, in float32 if they are no whole numbers; a parameter stays one."""
    dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
    plain = tensor.detach().to("cpu", dtype, copy=True)
    return nn.Parameter(plain, requires_grad=False) if isinstance(tensor, nn.Parameter) else plain


def forget_kernels(config: PreTrainedConfig) -> None:
    """Take the names of kernels out of a config and its parts, so that transformers chooses its own code.

    There is no public way: an argument ``attn_implementation`` is read besides the config, not instead of it.
    Raises RuntimeError where a config does not keep these names as properties that reach its parts: then
    nobody knows which kernels would be loaded.
    """
    for name in KERNELS:
        known = isinstance(getattr(type(config), name, None), property)
        if known:
            setattr(config, name, None)
        if not known or any(value is not None for value in _everywhere(config, name)):
            moved = f"transformers {transformers.__version__} has moved {type(config).__name__}.{name}"
            raise RuntimeError(f"{moved}, which keeps kernels of the hub out")


@contextmanager
def without_weights() -> Iterator[None]:
    """Within, models are built on torch's meta device: every shape, and no memory for the weights.

    ``torch.device("meta")`` alone is not enough: some models compute with what they create.
    """
    with torch.device("meta"), meta_device_safe_creation_ops(), no_init_weights():
        yield


def filled(empty: PreTrainedModel, tensors: Mapping[str, Any]) -> tuple[PreTrainedModel, dict[str, Any]]:
    """A model like ``empty`` with these weights, and what the loader says of both.

    ``unused``: those that the model takes no part of, by their names in the files, with their shapes.

    ``from_pretrained`` documents neither None for a folder nor ``state_dict``; given a folder, it would look
    in there for pickles and adapters. What the weights lack is drawn from torch's generator.
    """
    made: Any = type(empty).from_pretrained(
        None,
        config=empty.config,
        state_dict=tensors,
        dtype=torch.float32,
        output_loading_info=True,
        ignore_mismatched_sizes=True,
    )
    model, info = made
    other = {name for name, *_ in info["mismatched_keys"]}
    unused = {name: tuple(tensors[name].get_shape()) for name in untaken(model, tensors, other)}
    return model, {**info, "unused": unused}


def untaken(model: PreTrainedModel, names: Collection[str], mismatched: Collection[str]) -> Iterator[str]:
    """Yield those of the ``names`` in files of which nothing gets into the model.

    transformers renames and fuses tensors while it loads them, and reports names of its own: so each is given
    the name that it has in the model, by the same rules. Of two with the same name there the first is taken.
    """
    rules, own = get_model_conversion_mapping(model), model.state_dict()
    renaming = [rule for rule in rules if isinstance(rule, loader.WeightRenaming)]
    fusing = [rule for rule in rules if isinstance(rule, loader.WeightConverter)]
    taken = set[str]()
    for name in sorted(names, key=loader.dot_natural_key):
        within, part = loader.rename_source_key(name, renaming, fusing, model.base_model_prefix, own)
        if within not in own and name in own:
            within, part = name, None
        if within not in own or within in taken or (part is None and within in mismatched):
            yield name
        elif part is None:
            taken.add(within)


def attend_anywhere(model: PreTrainedModel) -> None:
    """Have attention computed by torch where a kernel for GPUs was chosen: the same up to rounding."""
    chosen = str(model.config._attn_implementation)
    if not chosen.startswith("flash") and "/" not in chosen:  # which a repository's name has
        return
    try:
        model.set_attn_implementation("sdpa")
    except ValueError:  # it has only the plainest other way
        model.set_attn_implementation("eager")


def classifying_types() -> Collection[str]:
    """The types of models that transformers classifies texts with: importing their classes takes seconds."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

    return MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.keys()


def _everywhere(config: PreTrainedConfig, name: str) -> Iterator[Any]:
    """The attribute ``name`` of a config and of all its parts."""
    yield getattr(config, name)
    for key in config.sub_configs:
        part = getattr(config, key, None)
        if isinstance(part, PreTrainedConfig):
            yield from _everywhere(part, name)
