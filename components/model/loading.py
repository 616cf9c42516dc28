"""BackboneSpec -> Backbone, kept within a budget: a checkpoint read from safetensors alone, without its code.

What lies in the folder may be anybody's. It is read as plain data and checked, since transformers acts on a
config as it parses it. The model is built without a number of its weights first; these are handed to
transformers as tensors, never as a folder: so nothing else, a pickle or an adapter, can be found there.
"""

import ctypes
import gc
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from cachetools import LRUCache
from safetensors import safe_open
from torch import Tensor, nn
from torch.func import functional_call
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models import auto

from components.errors import PoolscopeError
from components.model import cut as cuts, files, internals
from components.model.adapter import read_adapter
from components.model.backbone import Backbone, Provenance
from components.model.cut import Batch
from components.model.declaration import read_declaration
from components.model.declared import Declared, Stacked, inner, read_declared, stacked_names
from components.model.files import RefusalError, Version
from components.model.internals import classifying_types, repeatable, seeded
from components.model.tracing import trace
from components.texts import Sentence
from components.types import BackboneSpec

SPECIAL = "special_tokens_map.json"  # which transformers reads as if it stood in the tokenizer's settings
NEW_NUMBERS, TIMES = 10_000_000, 3  # a head may be new, and of an encoder-decoder the decoder, if need be
UNMERGED = re.compile(files.KNOWN["unmerged"])
HERE: Mapping[str, Any] = {"trust_remote_code": False, "local_files_only": True}  # no code, no network
UNHEARD = "☃ 🔭 ﷺ"  # what few vocabularies know
LONGEST = 512  # tokens, where neither tokenizer nor config states a limit
SHOWN = 2_048  # tokens that a page can still draw, and whose attention fits into memory
UNLIMITED = 1_000_000  # from here on a stated limit is a way to say that there is none


def load(spec: BackboneSpec, make_room: Callable[[int], None] = lambda _size: None) -> Backbone:
    """Load a checkpoint folder of this machine in float32; PoolscopeError says why it cannot be.

    ``make_room`` is told how many bytes its weights take, before they do; it may raise RefusalError.
    """
    place = files.folder(spec)
    if place is None:
        raise PoolscopeError("backbone", spec.key, "errors.no_files")
    folder = files.body(place)
    named = (files.CONFIG, files.ADAPTER)
    inside = sorted({file.parent.name for name in named for file in folder.glob(f"*/{name}")})
    lacking = not (folder / files.CONFIG).exists() and not files.adapts(folder)
    composed = (place / files.MODULES).exists()
    kind = files.read_object(folder / files.CONFIG).get("model_type") if composed else None
    try:
        if composed and not files.adapts(folder) and kind not in classifying_types():
            read_declaration(place)  # which says with what other model it begins
        if lacking and (inside or not composed):
            other = files.no_weights(folder, files.WEIGHTS)
            if not inside and (files.made_for(folder) or other.sentence.key in files.KNOWN["of_others"]):
                raise other
            key = "errors.config_inside" if inside else "errors.no_config"
            raise PoolscopeError("backbone", spec.key, key, file=files.CONFIG, folders=tuple(inside))
        return _loaded(spec, place, make_room)
    except RefusalError as refusal:
        files.forget(refusal)
        declared = refusal.sentence.key.startswith("refusals.declared_")  # which says more
        reason = refusal.sentence if declared else files.made_for(folder) or refusal.sentence
        raise PoolscopeError("backbone", spec.key, "errors.unloaded", reason=reason) from refusal


def _loaded(spec: BackboneSpec, place: Path, make_room: Callable[[int], None]) -> Backbone:
    adapter = read_adapter(files.body(place))
    folder = files.body(place) if adapter is None else adapter.base
    files.check_sizes(folder)
    config = read_config(folder)
    head = _declared_head(place, config)
    with opened(folder) as tensors:
        kind = auto.AutoModelForCausalLM if head is not None and head.says.asked else auto.AutoModel
        empty = skeleton(config, auto.AutoModelForSequenceClassification if head is None else kind)
        if adapter is not None and (sizes := adapter.sizes(empty)):
            config.update(sizes)
            empty = skeleton(config, auto.AutoModelForSequenceClassification)
        check_names(tensors, empty)
        check_enough(tensors, empty)
        make_room(size(empty))
        with files.foreign("refusals.unfit"), seeded():  # weights that are lacking are drawn alike every time
            model, info = internals.filled(empty, tensors)
    adapted = None
    if adapter is not None:
        info, adapted = adapter.merge(model, info)
        if any((place / name).is_file() for name in files.VOCABULARIES):
            folder = place
            files.check_sizes(folder)
            check_tokenizer(folder)
    for name, *shapes in info["mismatched_keys"]:  # of a head they are drawn at random
        if str(name).removeprefix(f"{model.base_model_prefix}.") in model.base_model.state_dict():
            held, stated = (" × ".join(map(str, shape)) for shape in shapes)
            raise RefusalError("refusals.shape", name=name, held=held, stated=stated)
    tokenizer = read_tokenizer(folder, config)
    if head is not None:
        model, info = Stacked(model, head), stacked_names(info)
        model.eval()  # type: ignore[no-untyped-call]  # of transformers
        tokenizer.padding_side = "left" if head.says.asked else tokenizer.padding_side
    check_finite(model)
    backbone = replace(assembled(spec, model, tokenizer, info), adapted=adapted)
    return replace(backbone, words=_words(place, folder, backbone, make_room))


def _words(
    place: Path, folder: Path, backbone: Backbone, make_room: Callable[[int], None]
) -> PreTrainedModel | Sentence | None:
    """The masked-language model around this body, where ``place`` declares a vector of words; or why not."""
    try:
        if (says := read_declaration(place)) is None or says.kind != "sparse":
            return None
        empty = skeleton(backbone.model.config, auto.AutoModelForMaskedLM)
        make_room(size(backbone.model) + size(empty))
        with opened(folder) as tensors, files.foreign("refusals.unfit"), seeded():
            model, info = internals.filled(empty, tensors)
        example = dict(backbone.tokenizer("a b c", return_tensors="pt"))
        with repeatable(backbone.model), files.foreign("refusals.declared_words"), torch.no_grad():
            plain, kept = cuts.logits(model, example), cuts.run(backbone.model, backbone.cut, example)
            setattr(model, model.base_model_prefix, backbone.model.base_model)  # no weights are held twice
            model.tie_weights(recompute_mapping=False)
            same = torch.allclose(cuts.words(model, kept.hidden[-1]), plain, rtol=1e-4, atol=1e-5)
        if not same or info["missing_keys"] or info["mismatched_keys"]:
            raise RefusalError("refusals.declared_words")
    except RefusalError as refusal:
        files.forget(refusal)
        return refusal.sentence
    return model.requires_grad_(False)


def _declared_head(place: Path, config: PreTrainedConfig) -> Declared | None:
    """The head that the checkpoint at ``place`` keeps in its modules.json; None where it cannot be read."""
    with suppress(RefusalError):  # which an answer of the head that runs instead tells
        says = read_declaration(place)
        if says is not None and says.kind in ("scores", "logits") and not config.is_encoder_decoder:
            labels = says.score.given if says.score else 1
            if labels != len(config.id2label or ()):
                config.num_labels = labels
            return Declared(says, ()) if says.asked else read_declared(place)
    return None


def check_names(tensors: Collection[str], empty: PreTrainedModel) -> None:
    """Refuse weights that stand under the name of a wrapper: transformers would find none of these.

    Most of them begin with it, or it stands within names of the body. Also those of layers in which adapters
    were not merged.
    """
    own, body = empty.state_dict().keys(), f"{empty.base_model_prefix}."
    with files.foreign("refusals.unfit"):
        lost = {*internals.untaken(empty, tensors, ())}
    known = {*own, *(name.removeprefix(body) for name in own)}
    for found in filter(None, map(UNMERGED.search, tensors)):
        if not any(map(UNMERGED.search, own)):
            raise RefusalError("refusals.unmerged", name=found[1])
    parts = (name.split(".") for name in tensors)
    begin = Counter(".".join([*part[:end], ""]) for part in parts for end in range(1, len(part)))
    for wrapper in (start for start, count in begin.items() if 2 * count > len(tensors)):
        within = {name for name in tensors if name.startswith(wrapper)}
        if within <= lost and known & {name.removeprefix(wrapper) for name in within}:
            raise RefusalError("refusals.wrapped", wrapper=wrapper, count=len(within), total=len(tensors))
    lacking = empty.base_model.state_dict().keys() - {name.removeprefix(body) for name in tensors}
    parted = ((name, f"{part}.") for name in lost for part in {*name.split(".")[:-1]})
    every = Counter(part for name, part in parted if name.replace(part, "").removeprefix(body) in lacking)
    for wrapper, count in every.most_common(1):
        raise RefusalError("refusals.wrapped", wrapper=wrapper, count=count, total=len(tensors))


def read_tokenizer(folder: Path, config: PreTrainedConfig) -> PreTrainedTokenizerBase:
    """Tokenizer in ``folder``, made by transformers without code of its own."""
    whole = any((folder / name).is_file() for name in files.VOCABULARIES)
    with files.foreign("refusals.tokenizer" if whole else "refusals.vocabulary"):
        tokenizer = auto.AutoTokenizer.from_pretrained(folder, config=config, **HERE)
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise RefusalError("refusals.own_tokenizer")
    vocabularies = tokenizer.vocab_files_names.values()  # none of those that know every character
    if vocabularies and not any((folder / name).is_file() for name in (files.TOKENIZER, *vocabularies)):
        raise RefusalError("refusals.vocabulary")  # of which transformers says nothing
    return tokenizer


def read_config(folder: Path) -> PreTrainedConfig:
    """The config in ``folder``, parsed by transformers once nothing in it leads away or is out of bounds."""
    files.check_stated(files.checked_object(folder / files.CONFIG), lambda kind: kind in classifying_types())
    check_tokenizer(folder)
    with files.foreign("refusals.config"):
        config: PreTrainedConfig = auto.AutoConfig.from_pretrained(folder, **HERE)
        internals.forget_kernels(config)  # a config may name one on the hub, which is code
    vars(config).pop("quantization_config", None)  # one that is not refused changes nothing
    if isinstance(config.architectures, str):
        config.architectures = [config.architectures]
    return config


def check_tokenizer(folder: Path) -> None:
    """Refuse a tokenizer's settings that lead away."""
    for settings in (folder / files.TOKENIZER_CONFIG, folder / SPECIAL):
        if settings.exists():
            files.check_keys(settings.name, files.checked_object(settings))


def skeleton(config: PreTrainedConfig, kind: type[Any]) -> PreTrainedModel:
    """A model of this ``kind`` on torch's meta device: every shape, and no memory for the weights."""
    with files.foreign("refusals.unbuilt"), internals.without_weights():
        model: PreTrainedModel = kind.from_config(config, dtype=torch.float32, trust_remote_code=False)
    return model


def draws_pooler(backbone: Backbone) -> bool:
    """Tell whether AutoModel has a pooler whose weights neither the files nor this model have."""
    own, whole = inner(backbone.model).base_model.state_dict(), dict[str, Tensor]()
    with suppress(RefusalError):  # of some types there is no AutoModel
        whole = skeleton(backbone.model.config, auto.AutoModel).state_dict()
    lacking = [name for name in whole if "pooler" in name and name not in own]
    return any(not any(held.endswith(name) for held in backbone.provenance.unused) for name in lacking)


def size(model: PreTrainedModel) -> int:
    """Bytes of its parameters and buffers; what is tied counts once."""
    return sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))


@contextmanager
def opened(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Every tensor in the folder's safetensors by its name, not read yet: a slice of a file that is open.

    Opening validates the header against the file's length. The files are read, not mapped into memory:
    whoever shortens one later would kill a process that has it mapped.
    """
    found = files.weights_in(folder)
    if not found and not (folder / files.INDEX).is_file():
        raise files.no_weights(folder, files.WEIGHTS)
    if not found:
        named = files.checked_object(folder / files.INDEX).get("weight_map")
        parts = {str(name)[: files.SHOWN] for name in named.values()} if isinstance(named, dict) else set()
        lost = sorted(parts - {file.name for file in folder.iterdir()})
        raise RefusalError(f"refusals.{'' if lost else 'no_'}part", file=files.INDEX, names=tuple(lost[:3]))
    with ExitStack() as stack:
        tensors: dict[str, Any] = {}
        for file in found:
            files.bounded(file, math.inf, file.name)
            with files.foreign("refusals.damaged", file=file.name):
                handle = stack.enter_context(safe_open(file, framework="pt", device="cpu", backend="pread"))
                tensors |= {name: handle.get_slice(name) for name in handle.keys()}  # noqa: SIM118 - no mapping
        yield tensors


def check_enough(tensors: Mapping[str, Any], empty: PreTrainedModel) -> None:
    """Refuse weights that are whole numbers, of an unknown scale, or far fewer than the config describes."""
    kinds = {name: tensor.get_dtype() for name, tensor in tensors.items()}
    whole = [name for name, kind in kinds.items() if kind in files.KNOWN["whole"]]
    lacking = dict(empty.named_parameters()).keys() - (kinds.keys() - {*whole})
    for name in whole:
        if not lacking.isdisjoint((name, f"{name.rpartition('.')[0]}.weight")):
            raise RefusalError("refusals.quantised", how=f"{name}: {kinds[name]}")
    held = sum(math.prod(tensor.get_shape()) for tensor in tensors.values())
    described = sum(weight.numel() for weight in empty.parameters())
    if described > NEW_NUMBERS + TIMES * held:
        raise RefusalError("refusals.random", described=described, held=held)


def check_finite(model: PreTrainedModel) -> None:
    """Refuse weights among which are NaN or infinity."""
    for name, weight in model.named_parameters():
        if weight.numel() and weight.is_floating_point():
            least, most = torch.aminmax(weight)  # NaN if any number is; unlike isfinite, copies nothing
            if not (torch.isfinite(least) and torch.isfinite(most)):
                raise RefusalError("refusals.infinite", name=name)


class Checkpoints:
    """Checkpoints on a ``device``, of ``budget`` bytes at most; the least recently used leaves first.

    ``dtype``: of the weights of those that are ``rounded``; all others are in float32.
    """

    def __init__(self, budget: int, device: str = "cpu", dtype: str = "float32") -> None:
        self.budget, self._device, self._dtype = budget, device, getattr(torch, dtype)
        self._loaded: LRUCache[tuple[str, str | None, Version, torch.dtype], Backbone]
        self._loaded = LRUCache(budget, lambda backbone: min(size(backbone.model), budget))

    def get(self, spec: BackboneSpec, version: Version = (), rounded: bool = False) -> Backbone:
        """The checkpoint of ``spec``, loaded now if it is not yet; PoolscopeError says why it cannot be."""
        dtype = self._dtype if rounded else torch.float32
        place = (spec.key, spec.revision, version, dtype)  # it may come again at another commit, or changed
        backbone = self._loaded.get(place)
        if backbone is None:
            backbone = load(spec, lambda needed: self._make_room(needed * dtype.itemsize // 4))
            for part in (backbone.model, backbone.words):  # whose own parts are known by now
                if isinstance(part, nn.Module):
                    for weight in part.parameters():  # no buffers: transformers computes them in float32
                        weight.data = weight.data.to(dtype)
                    nn.Module.to(part, self._device)
            self._loaded[place] = backbone
        return backbone

    def _make_room(self, needed: int) -> None:
        """Let go of checkpoints until there is room for ``needed`` bytes more, before they are allocated."""
        if needed > self.budget:
            raise RefusalError("refusals.memory", needed=needed / files.MB, budget=self.budget / files.MB)
        if self._loaded.currsize + needed > self.budget:
            while self._loaded.currsize + needed > self.budget:
                self._loaded.popitem()
            give_back()


def give_back() -> None:
    """Free what only reference cycles hold, and hand freed memory back to the system where it can be."""
    gc.collect()
    torch.cuda.empty_cache()  # which wakes no GPU
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)  # glibc keeps what lies between two blocks still in use


def assembled(
    spec: BackboneSpec, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, info: Mapping[str, Any]
) -> Backbone:
    """A backbone of both, which are its own from then on: what questions need is set in them.

    ``info``: what the loader says of tensors that it did not find, did not use, or found in another shape;
    see `internals.filled`. RefusalError says why nothing can be asked of them.
    """
    if tokenizer.pad_token_id is None and model.config.pad_token_id is not None:
        with files.foreign("refusals.padding"):
            tokenizer.pad_token_id = model.config.pad_token_id
    _check_vocabulary(tokenizer, model)
    model.requires_grad_(False)
    for config in (model.config, model.config.get_text_config(decoder=True)):
        if hasattr(config, "use_cache"):
            config.use_cache = False  # one pass needs no key-value cache
    example = _tried(model, tokenizer)
    cut = cuts.find_cut(model, example)
    if cut is None:
        raise RefusalError("refusals.unmoved", largest=cuts.NOISES[-1])
    return Backbone(
        spec=spec,
        model=model,
        tokenizer=tokenizer,
        cut=cut,
        pooler=cuts.find_pooler(model, cut, example),
        final_norm=cuts.find_final_norm(model, cut, example),
        per_token=cuts.per_token(model, cut, example),
        body_alone=cuts.body_alone(model, cut, example),
        limit=_limit(model, tokenizer),
        provenance=provenance(model, cut, example, info),
    )


def _check_vocabulary(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> None:
    """Refuse a tokenizer with an id for which the model's plain table of embeddings, if any, has none.

    Tokens that were added behind the others may lack theirs: a text without them is read as ever.
    """
    table = None
    with suppress(NotImplementedError):  # transformers' way to say that it does not know where the table is
        table = model.get_input_embeddings()
    if not isinstance(table, nn.Embedding):
        return
    last, added = table.num_embeddings - 1, tokenizer.get_added_vocab()
    for token, number in tokenizer.get_vocab().items():
        if number > last + (len(added) if token in added else 0):
            raise RefusalError("refusals.ids", largest=number, last=last)


def _tried(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> dict[str, torch.Tensor]:
    """A short input on which the model has been seen to work."""
    with files.foreign("refusals.tokenizing"):
        tokenizer("a b c", UNHEARD)  # pairs have a template of their own, and unknown words a token
        example = dict(tokenizer("a b c", return_tensors="pt"))
        tokens = example["input_ids"].shape[1]
    if tokens > 64:  # with all that a tokenizer may add
        raise RefusalError("refusals.letters", count=tokens)
    with repeatable(model), files.foreign("refusals.running"):
        logits = getattr(model(**example, return_dict=True), "logits", None)
    labels = len(model.config.id2label or ())
    if not labels or logits is None or logits.shape != (1, labels):
        raise RefusalError("refusals.labels", count=labels)
    if not logits.isfinite().all():
        raise RefusalError("refusals.outputs")
    return example


def _limit(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """The longest input in tokens: the smaller of what tokenizer and config state, within bounds."""
    positions = getattr(internals.text_config(model), "max_position_embeddings", None) or 0
    reserved = 0  # positions that no token gets: some models count from the padding's id + 1
    for module in model.modules():
        padding, weight = getattr(module, "padding_idx", None), getattr(module, "weight", None)
        if isinstance(padding, int) and isinstance(weight, nn.Parameter) and len(weight) == positions:
            reserved = max(reserved, padding + 1)
    stated = (tokenizer.model_max_length, positions - reserved)
    return int(min(min((limit for limit in stated if 0 < limit < UNLIMITED), default=LONGEST), SHOWN))


def provenance(model: PreTrainedModel, cut: nn.Module, inputs: Batch, info: Mapping[str, Any]) -> Provenance:
    """Origin of the tensors of a ``model``, by what its loader says of them.

    ``cut``: the module behind which the head begins. ``inputs``: any small batch. transformers draws most
    new tensors at random and sets others, a bias for example, to one and the same number.
    """
    parameters, missing = dict(model.named_parameters()), tuple(sorted(info["missing_keys"]))
    if isinstance(model, Stacked):  # whose head asks no pooler, for example
        missing = tuple(name for name in missing if name in parameters and _move(model, inputs, [name]))
    mismatched = tuple(sorted(str(key) for key, *_ in info["mismatched_keys"]))
    new = [name for name in parameters if name in {*missing, *mismatched}]
    constant = tuple(name for name in new if is_constant(parameters[name]))
    drawn = {*new} - {*constant}
    head: set[str] = set()  # the tensors that it uses
    if drawn:
        with repeatable(model):
            kept = cuts.run(model, cut, inputs)
            calls = trace(model, lambda hidden: cuts.replay(model, cut, kept, hidden), kept.hidden[-1])
        head.update(name for call in calls for name in call.weights)
    random_head, rest = tuple(sorted(drawn & head)), tuple(sorted(drawn - head))
    random_body = rest if rest and _move(model, inputs, rest) else ()
    return Provenance(missing, info["unused"], mismatched, constant, random_head, random_body)


def is_constant(tensor: Tensor) -> bool:
    """Tell whether every number of it is the same one; a number that stands alone, whether it is 0 or 1."""
    first = tensor.flatten()[:1]
    alone = tensor.numel() == 1 and float(first) not in (0.0, 1.0)
    return not alone and bool((tensor == first).all())


def _move(model: PreTrainedModel, inputs: Batch, names: Iterable[str]) -> bool:
    """Tell whether the logits depend on any of the parameters of these ``names``: all change together."""
    given = {name: model.get_parameter(name) for name in names}
    others = {name: parameter + cuts.noise_like(parameter) for name, parameter in given.items()}
    with repeatable(model):
        plain = cuts.logits(model, inputs)
    with repeatable(model):
        moved = functional_call(model, others, kwargs={**inputs, "return_dict": True}).logits
    return not torch.equal(moved, plain)
