"""What a checkpoint of sentence-transformers declares, read as plain data: light, without torch.

``modules.json`` names its steps: the transformer, a pooling, dense layers, and the vector's length set to 1.
The files may be anybody's: no name that stands in them is imported. What is read is what
sentence_transformers 6 reads (its modules transformer, pooling, dense and normalize, and the settings of
``encode``); what it would leave out with a warning, such as an unknown activation, is refused here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from components.declaration import Cut, Declaration, DeclaredStep, Dense, Normalize
from components.model.files import (
    CONFIG,
    ENCODING,
    LARGEST,
    LENGTH,
    MODULE,
    MODULES,
    MOST_MODULES,
    WEIGHTS,
    read_object,
)
from components.model.safety import MB, RefusalError, checked_object

LIBRARY = "sentence_transformers."  # whose modules these are
WIDEST = 65_536  # numbers of a vector, with which a dense layer may begin and end
LONGEST_PROMPT = 10_000  # characters
MOST_PROMPTS, LONGEST_TRIED = 8, 300  # prompts that are tried, and characters of each
PICKLE = "pytorch_model.bin"  # what older versions saved in the place of safetensors
METHODS: Mapping[str, str] = MappingProxyType(
    {  # their name of a pooling: ours
        "cls": "first",  # theirs is the first token, whatever it is
        "max": "max",
        "mean": "mean",
        "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
        "weightedmean": "weightedmean",
        "lasttoken": "lasttoken",
    }
)
OLDER: Mapping[str, str] = MappingProxyType(
    {  # a key of the older schema: the method, in the order in which vectors are put side by side
        "pooling_mode_cls_token": "cls",
        "pooling_mode_max_tokens": "max",
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
        "pooling_mode_weightedmean_tokens": "weightedmean",
        "pooling_mode_lasttoken": "lasttoken",
    }
)
ACTIVATIONS: Mapping[str, str] = MappingProxyType(
    {  # as they are written: a class of torch.nn
        "torch.nn.modules.linear.Identity": "Identity",
        **{
            f"torch.nn.modules.activation.{name}": name
            for name in ("ELU", "GELU", "LeakyReLU", "Mish", "ReLU", "SELU", "Sigmoid", "SiLU", "Tanh")
        },
    }
)
TANH = "torch.nn.modules.activation.Tanh"  # where a dense layer names none


def read_declaration(folder: Path) -> Declaration | None:
    """What the checkpoint in ``folder`` declares, or None where it has no modules.json.

    RefusalError says what cannot be read: a module of another kind, a file that is missing, another shape.
    """
    if not (folder / MODULES).exists():
        return None
    kinds = _modules(folder)
    if [kind for kind, _place in kinds[:2]] != ["Transformer", "Pooling"] or kinds[0][1] != folder:
        raise RefusalError("refusals.declared_order", file=MODULES)
    width, poolings = _pooling(kinds[1][1])
    steps: list[DeclaredStep] = []
    size = width * len(poolings)
    for kind, place in kinds[2:]:
        if kind == "Dense":
            layer = _dense(place, size)
            steps.append(layer)
            size = layer.given
        elif kind == "Normalize":
            _check_route(_config(place) if (place / CONFIG).exists() else {}, place)
            steps.append(Normalize())
        else:
            raise RefusalError("refusals.declared_order", file=MODULES)
    encoding = _if_there(folder, ENCODING)
    lengths = next(
        (name for name in sorted(file.name for file in folder.iterdir()) if LENGTH.fullmatch(name)), ""
    )
    length = _if_there(folder, lengths) if lengths else {}
    kept = _number(encoding, ENCODING, "truncate_dim")
    return Declaration(
        poolings=poolings,
        width=width,
        steps=(*steps, Cut(kept)) if kept is not None else tuple(steps),
        longest=_number(length, lengths, "max_seq_length"),
        prompt=_prompt(encoding),
        lowercases=bool(length.get("do_lower_case", False)),
    )


def read_prompts(folder: Path) -> tuple[tuple[str, str], ...]:
    """Its prompts by name; none where the files in ``folder`` say nothing that can be read."""
    said = read_object(folder / ENCODING).get("prompts")
    listed = list(said.items()) if isinstance(said, dict) else []
    texts = [(name[:LONGEST_TRIED], text) for name, text in listed if isinstance(text, str)]
    return tuple((name, text) for name, text in texts if 0 < len(text) <= LONGEST_TRIED)[:MOST_PROMPTS]


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """The kind of each module and its folder, in order."""
    file = bounded(folder / MODULES, LARGEST)
    try:
        listed = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RefusalError("refusals.json", file=MODULES) from error
    if not isinstance(listed, list) or not 2 <= len(listed) <= MOST_MODULES:
        raise RefusalError("refusals.declared_list", file=MODULES, most=MOST_MODULES)
    return [_module(folder, each) for each in listed]


def _module(folder: Path, said: object) -> tuple[str, Path]:
    given = said if isinstance(said, dict) else {}
    kind, place = given.get("type"), given.get("path")
    name = kind.rsplit(".", 1)[-1] if isinstance(kind, str) and kind.startswith(LIBRARY) else ""
    if name not in ("Transformer", "Pooling", "Dense", "Normalize"):
        raise RefusalError("refusals.declared_module", file=MODULES, name=str(kind)[:80])
    if not isinstance(place, str) or (place and not MODULE.fullmatch(place)):
        raise RefusalError("refusals.part", file=MODULES)
    return name, folder / place if place else folder


def _pooling(place: Path) -> tuple[int, tuple[str, ...]]:
    """The width of hidden states, and the poolings by our names, of a config in either schema."""
    config = _config(place)
    width = _count(config, place, "embedding_dimension", "word_embedding_dimension")
    named = config.get("pooling_mode")
    if named is None:
        named = [method for key, method in OLDER.items() if config.get(key)] or ["mean"]
    names = [named] if isinstance(named, str) else named
    known = isinstance(names, list) and all(isinstance(name, str) and name in METHODS for name in names)
    if not known or not 1 <= len(names) <= len(METHODS):
        raise RefusalError("refusals.declared_value", file=shown(place, CONFIG), name="pooling_mode")
    return width, tuple(METHODS[name] for name in names)


def _dense(place: Path, size: int) -> Dense:
    """A dense layer that takes vectors of ``size``; its weights are there."""
    config = _config(place)
    _check_route(config, place)
    taken, given = _count(config, place, "in_features"), _count(config, place, "out_features")
    if taken != size:
        raise RefusalError("refusals.declared_width", file=shown(place, CONFIG), stated=taken, found=size)
    activation = config.get("activation_function", TANH)
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise RefusalError("refusals.declared_value", file=shown(place, CONFIG), name="activation_function")
    if not (place / WEIGHTS).exists() and (place / PICKLE).exists():
        raise RefusalError("refusals.declared_pickle", file=shown(place, PICKLE))
    if not (place / WEIGHTS).is_file():
        raise RefusalError("refusals.no_file", file=shown(place, WEIGHTS))
    has_bias, adds = bool(config.get("bias", True)), bool(config.get("use_residual", False))
    return Dense(place.name, taken, given, ACTIVATIONS[activation], has_bias, adds)


def _prompt(encoding: Mapping[str, Any]) -> str:
    """What stands before a text where no other prompt is asked for."""
    named, prompts = encoding.get("default_prompt_name"), encoding.get("prompts", {})
    if named is None:
        return ""
    prompt = prompts.get(named) if isinstance(prompts, dict) and isinstance(named, str) else None
    if not isinstance(prompt, str) or len(prompt) > LONGEST_PROMPT:
        raise RefusalError("refusals.declared_value", file=ENCODING, name="default_prompt_name")
    return prompt


def _check_route(config: Mapping[str, Any], place: Path) -> None:
    """Refuse a step that takes or gives anything but the vector of the text."""
    for key in ("module_input_name", "module_output_name"):
        if config.get(key) not in (None, "sentence_embedding"):
            raise RefusalError("refusals.declared_value", file=shown(place, CONFIG), name=key)


def _config(place: Path) -> dict[str, Any]:
    bounded(place / CONFIG, LARGEST)
    return checked_object(place / CONFIG)


def _if_there(folder: Path, name: str) -> dict[str, Any]:
    """The object in a file of the checkpoint's own folder, {} without the file."""
    if not (folder / name).exists():
        return {}
    bounded(folder / name, LARGEST)
    return checked_object(folder / name)


def _count(config: Mapping[str, Any], place: Path, *keys: str) -> int:
    """The number under the first of ``keys`` that is there, from 1 to WIDEST."""
    found = _number(config, shown(place, CONFIG), next((key for key in keys if key in config), keys[0]))
    if found is None or found > WIDEST:
        raise RefusalError("refusals.declared_value", file=shown(place, CONFIG), name=keys[0])
    return found


def _number(config: Mapping[str, Any], file: str, key: str) -> int | None:
    """The whole number under ``key`` of a ``file``, 1 at least; None where there is none."""
    value = config.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise RefusalError("refusals.declared_value", file=file, name=key)
    return value


def bounded(file: Path, most: int) -> Path:
    """``file``, if it is a plain one of at most so many bytes."""
    if not file.is_file():
        raise RefusalError("refusals.no_file", file=shown(file.parent, file.name))
    size = file.stat().st_size
    if size > most:
        name = shown(file.parent, file.name)
        raise RefusalError("refusals.long", file=name, size=size // MB, most=most // MB)
    return file


def shown(place: Path, name: str) -> str:
    """A file as a visitor knows it: within the folder of its module."""
    return f"{place.name}/{name}" if name in (CONFIG, WEIGHTS, PICKLE) else name
