"""Adapters: weights of peft that change those of another model, and are merged into it on loading.

Light to import. Their config may be anybody's: peft is handed numbers and what adapter.toml lists, as by
other keys it imports modules, or reads files. Weights are read from safetensors alone.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from components.model import files
from components.model.files import ADAPTED, ADAPTER, MB, RefusalError
from components.texts import Sentence, read_toml

STATED: Mapping[str, Any] = read_toml(Path(__file__).with_suffix(".toml"))
SHARED = "base_model"  # what a tensor belongs to that all layers share
PREFIX = f"{SHARED}.model."  # of all other names in there
FOR_TEXTS = ("SEQ_CLS", "")  # tasks of which a head is one for whole texts; "": none is stated
BASE = "base"  # in the place of a task: that of the base, whose head it is that was trained on
TWICE = (".modules_to_save.", ".original_module.")  # in names of a bias that stands there without these, too
HEAVIEST = 2_000 * MB  # bytes of its weights: those may hold a whole table of embeddings


@dataclass(frozen=True, eq=False)
class Adapter:
    """An adapter for a ``task``, with ``tensors``; ``base``: folder of the model ``name`` that it changes."""

    settings: Mapping[str, Any]
    name: str
    task: str
    base: Path
    tensors: Mapping[str, Any]

    def sizes(self, empty: Any) -> dict[str, int]:
        """Count the labels of the head that it holds, and tokens, where the model ``empty`` has others."""
        own, most = empty.state_dict(), {"num_labels": files.LABELS, "vocab_size": files.LARGEST_NUMBER}
        pairs = [(own[name].shape, tensor.shape) for name, tensor in self.tensors.items() if name in own]
        rows = {old[0]: new[0] for old, new in pairs if old and new and old[1:] == new[1:] and old != new}
        known = {key: rows.get(getattr(empty.config, key, None), 0) for key in most}
        return {key: count for key, count in known.items() if 0 < count <= most[key]}

    def merge(self, model: Any, info: Mapping[str, Any]) -> tuple[dict[str, Any], Sentence]:
        """Merge it into a ``model``, whose loader gave the ``info``; gives that of both, and what is said."""
        from peft import PeftModel, mapping, set_peft_model_state_dict

        kind, settings = self.settings["peft_type"], self.settings
        mark = f".{mapping.PEFT_TYPE_TO_PREFIX_MAPPING[kind]}"
        light: Any = {"low_cpu_mem_usage": settings.get("init_lora_weights") not in STATED["changing"]}
        changed = {name.partition(mark)[0] for name in self.tensors if mark in name} - {SHARED}
        prefix = f"{model.base_model_prefix}."  # an adapter of the body alone is named from there
        paths = {path for path, _module in model.named_modules()}
        inner = model.base_model if changed and not changed & paths else model
        with files.foreign("refusals.adapter"):
            config: Any = mapping.PEFT_TYPE_TO_CONFIG_MAPPING[kind](**settings)
            adapted: Any = PeftModel(inner, config, **light)  # some kinds keep tensors beside the layers
            named = {f"{'' if SHARED in name else PREFIX}{name}": each for name, each in self.tensors.items()}
            left: Any = set_peft_model_state_dict(adapted, named, **light)
            lacking = [name for name, weight in inner.named_parameters() if weight.is_meta]
        for name in (*left.unexpected_keys, *lacking):
            key = f"refusals.adapter_{'names' if self.task in FOR_TEXTS else 'task'}"
            raise RefusalError(key, base=self.name, name=name.removeprefix(PREFIX), task=self.task)
        with files.foreign("refusals.adapter"):
            parts = (name.rpartition(".")[0] for name in adapted.base_model.targeted_parameter_names)
            targets = (*adapted.base_model.targeted_module_names, *parts)
            adapted.merge_and_unload()
        names = model.state_dict().keys()
        held = {name for each in self.tensors for name in (each, f"{prefix}{each}") if name in names}
        mismatched = [one for one in info["mismatched_keys"] if str(one[0]) not in held]
        lacks = {"missing_keys": set(info["missing_keys"]) - held, "mismatched_keys": mismatched}
        head = tuple(sorted({name.rpartition(".")[0] for name in held if not name.startswith(prefix)}))
        lacked = (*info["missing_keys"], *(name for name, *_ in info["mismatched_keys"]))  # by the base
        task = self.task or ("" if any(str(name).startswith(head) for name in lacked) else BASE)
        title = "DoRA" if settings.get("use_dora") else STATED["titles"].get(kind, kind)
        kind = f"{title} {settings.get('r') or ''}".strip()
        modules = tuple(sorted({name.rpartition(".")[2] for name in targets}))
        key = "passport.adapted" if head else "passport.adapted_bare"
        told = {"kind": kind, "base": self.name, "modules": modules, "head": head, "task": task}
        return {**info, **lacks}, Sentence(key, **told)


def check_adapter(stated: Mapping[str, Any], own: Collection[str] | None = None) -> dict[str, Any]:
    """Give the settings that peft may be handed; RefusalError says what is not read here, or of another kind.

    ``own``: names of those that its kind has, which only peft knows; none where peft has no such kind.
    """
    kind, handed = str(stated.get("peft_type") or ""), dict[str, Any]()
    if not kind or kind in STATED["prompts"] or (own is not None and not own):
        refused = "refusals.adapter_kind" if kind else "refusals.adapter_library"
        raise RefusalError(refused, file=ADAPTER, kind=kind[:40])
    used = {key: value for key, value in stated.items() if key not in STATED["unused"]}
    for key, value in used.items():
        known = (own is None or key in own) and (key in STATED["read"] or isinstance(value, int | float))
        is_odd = not known and value not in (*files.NOTHING, False)
        if key == "init_lora_weights":
            is_odd = is_odd or value not in (None, *STATED["starts"], *STATED["changing"])
        if is_odd:
            raise RefusalError("refusals.adapter_key", file=ADAPTER, key=key[: files.LONGEST_KEY])
        if known and value is not None:
            handed[key] = value
    return handed


def read_adapter(folder: Path) -> Adapter | None:
    """Read the adapter in a ``folder``; None where none stands alone. RefusalError says why it cannot be."""
    if not files.adapts(folder):
        return None
    from peft import mapping
    from safetensors.torch import load_file

    kinds = {str(kind.value): fields(config) for kind, config in mapping.PEFT_TYPE_TO_CONFIG_MAPPING.items()}
    stated = files.checked_object(files.bounded(folder / ADAPTER, files.LARGEST, ADAPTER))
    own = {each.name for each in kinds.get(str(stated.get("peft_type")), ())}
    settings, base, name = check_adapter(stated, own), files.base(folder), base_name(stated)
    if not (folder / ADAPTED).is_file():
        raise files.no_weights(folder, ADAPTED)
    if base is None:
        raise RefusalError("refusals.base", base=name)
    file = files.bounded(folder / ADAPTED, HEAVIEST, ADAPTED)
    with files.foreign("refusals.damaged", file=ADAPTED):
        stored = load_file(file, backend="pread")  # a mapped file may be shortened later
    again = {key for key in stored for part in TWICE if part in key and key.replace(part, ".") in stored}
    kept = {key.removeprefix(PREFIX): each for key, each in stored.items() if key not in again}
    tensors = {key: each.float() if each.is_floating_point() else each for key, each in kept.items()}
    return Adapter(settings, name, str(stated.get("task_type") or "")[: files.LONGEST_KEY], base, tensors)


def base_name(stated: Mapping[str, Any]) -> str:
    """Name of the model that an adapter changes, for visitors: of a folder the last part; or RefusalError."""
    name = stated.get("base_model_name_or_path")
    if not isinstance(name, str) or not name:
        raise RefusalError("refusals.baseless", file=ADAPTER)
    return (Path(name).name if Path(name).is_absolute() else name)[: files.SHOWN]
