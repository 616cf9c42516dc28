"""BackboneSpec -> Backbone, kept within a budget: a checkpoint read from safetensors alone, without its code.

What lies in the folder may be anybody's. It is read as plain data and checked, since transformers acts on a
config as it parses it. The model is built without a number of its weights first; these are handed to
transformers as tensors, never as a folder: so nothing else, a pickle or an adapter, can be found there.
"""

from __future__ import annotations

import ctypes
import gc
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from components.errors import PoolscopeError
from components.model.assembling import assembled
from components.model.backbone import Backbone
from components.model.files import CONFIG, INDEX, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS, Version, weight_files
from components.model.files import folder as here
from components.model.safety import (
    MB,
    RefusalError,
    check_keys,
    check_plain,
    check_sizes,
    check_stated,
    checked_object,
    foreign,
    forget,
)
from components.model.torch_internals import seeded
from components.model.transformers_internals import filled, forget_kernels, without_weights
from components.types import BackboneSpec

SPECIAL = "special_tokens_map.json"  # which transformers reads as if it stood in the tokenizer's settings
NEW_NUMBERS, TIMES = 10_000_000, 3  # a head may be new, and of an encoder-decoder the decoder, if need be


def load(spec: BackboneSpec, make_room: Callable[[int], None] = lambda _size: None) -> Backbone:
    """Load a checkpoint folder of this machine in float32; PoolscopeError says why it cannot be.

    ``make_room`` is told how many bytes its weights will take before any of them is allocated, and may
    raise RefusalError.
    """
    folder = here(spec)
    if folder is None or not (spec.available or (folder / CONFIG).exists()):
        raise PoolscopeError("backbone", spec.key, "errors.no_files")
    try:
        return _loaded(spec, folder, make_room)
    except RefusalError as refusal:
        forget(refusal)
        raise PoolscopeError("backbone", spec.key, "errors.unloaded", reason=refusal.sentence) from refusal


def _loaded(spec: BackboneSpec, folder: Path, make_room: Callable[[int], None]) -> Backbone:
    check_sizes(folder)
    config = read_config(folder)
    with opened(folder) as tensors:
        empty = skeleton(config)
        check_enough(tensors, empty)
        make_room(size(empty))
        with foreign("refusals.unfit"), seeded():  # weights that are lacking are drawn alike every time
            model, info = filled(empty, tensors)
    check_finite(model)
    return assembled(spec, model, read_tokenizer(folder, config), info)


def read_tokenizer(folder: Path, config: PreTrainedConfig) -> PreTrainedTokenizerBase:
    """Tokenizer in ``folder``, made by transformers without code of its own."""
    with foreign("refusals.tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True
        )
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise RefusalError("refusals.own_tokenizer")
    vocabularies = tokenizer.vocab_files_names.values()  # none of those that know every character
    if vocabularies and not any((folder / name).is_file() for name in (TOKENIZER, *vocabularies)):
        raise RefusalError("refusals.vocabulary")  # of which transformers says nothing
    return tokenizer


def read_config(folder: Path) -> PreTrainedConfig:
    """The config in ``folder``, parsed by transformers once nothing in it leads away or is out of bounds."""
    check_stated(checked_object(folder / CONFIG))
    for tokenizer in (folder / TOKENIZER_CONFIG, folder / SPECIAL):
        if tokenizer.exists():
            settings = checked_object(tokenizer)
            check_plain(settings)
            check_keys(tokenizer.name, settings)
    with foreign("refusals.config"):
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
        forget_kernels(config)  # a config may name one on the hub, which is code
    return config


def skeleton(config: PreTrainedConfig) -> PreTrainedModel:
    """The classifier of ``config`` on torch's meta device: every shape, and no memory for the weights."""
    with foreign("refusals.unbuilt"), without_weights():
        model: PreTrainedModel = AutoModelForSequenceClassification.from_config(  # type: ignore[no-untyped-call]  # of transformers
            config, dtype=torch.float32, trust_remote_code=False
        )
    return model


def size(model: PreTrainedModel) -> int:
    """Bytes of its parameters and buffers; what is tied counts once."""
    return sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))


@contextmanager
def opened(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Every tensor in the folder's safetensors by its name, not read yet: a slice of a file that is open.

    Opening validates the header against the file's length. The files are read, not mapped into memory:
    whoever shortens one later would kill a process that has it mapped.
    """
    with ExitStack() as files:
        tensors: dict[str, Any] = {}
        for file in _files(folder):
            with foreign("refusals.damaged", file=file.name):
                handle = files.enter_context(safe_open(file, framework="pt", device="cpu", backend="pread"))
                tensors |= {name: handle.get_slice(name) for name in handle.keys()}  # noqa: SIM118
        yield tensors


def check_enough(tensors: Mapping[str, Any], empty: PreTrainedModel) -> None:
    """Refuse a config that describes far more than the files hold: the rest would be drawn at random."""
    held = sum(math.prod(tensor.get_shape()) for tensor in tensors.values())
    described = sum(weight.numel() for weight in empty.parameters())
    if described > NEW_NUMBERS + TIMES * held:
        raise RefusalError("refusals.random", described=described, held=held)


def check_finite(model: PreTrainedModel) -> None:
    """Refuse weights among which are NaN or infinity."""
    for name, weight in model.named_parameters():
        if weight.numel() and weight.is_floating_point():
            least, most = torch.aminmax(
                weight
            )  # either is NaN if any number is; unlike isfinite, copies nothing
            if not (torch.isfinite(least) and torch.isfinite(most)):
                raise RefusalError("refusals.infinite", name=name)


def _files(folder: Path) -> list[Path]:
    """The whole file or, without it, those that the index names, all in the folder itself."""

    def is_there(name: str) -> bool:
        return (folder / name).is_file()

    names = weight_files(is_there, lambda: checked_object(folder / INDEX))
    if names:
        return [folder / name for name in names]
    if not is_there(INDEX):
        raise RefusalError("refusals.pickled", file=WEIGHTS)
    named = checked_object(folder / INDEX).get("weight_map")
    key = "refusals.part" if isinstance(named, dict) and named else "refusals.no_part"
    raise RefusalError(key, file=INDEX)


class Checkpoints:
    """Loaded checkpoints, ``budget`` bytes of weights at most; the least recently used leaves first."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._loaded: OrderedDict[tuple[str, str | None, Version], Backbone] = OrderedDict()

    def get(self, spec: BackboneSpec, version: Version = ()) -> Backbone:
        """The checkpoint of ``spec``, loaded now if it is not yet; PoolscopeError says why it cannot be."""
        place = (spec.key, spec.revision, version)  # it may come again at another commit, or be written anew
        backbone = self._loaded.pop(place, None) or load(spec, self._make_room)
        self._loaded[place] = backbone  # now the most recently used
        return backbone

    @property
    def resident(self) -> int:
        """Bytes of all weights that are loaded."""
        return sum(size(backbone.model) for backbone in self._loaded.values())

    def _make_room(self, needed: int) -> None:
        """Let go of checkpoints until there is room for ``needed`` bytes more, before they are allocated."""
        if needed > self.budget:
            raise RefusalError("refusals.memory", needed=needed / MB, budget=self.budget / MB)
        leaves = self.resident + needed > self.budget
        while self.resident + needed > self.budget:
            self._loaded.popitem(last=False)
        if leaves:
            give_back()


def give_back() -> None:
    """Free what only reference cycles hold, and hand freed memory back to the system where it can be."""
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)  # glibc keeps what lies between two blocks still in use
