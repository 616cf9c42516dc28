"""The declaration of a checkpoint of sentence-transformers, read as plain data: light, without torch.

``modules.json`` names its steps: the transformer, a pooling, dense layers, and the vector's length set to 1.
The files may be anybody's: no name that stands in them is imported. What is read is what
sentence_transformers 6 reads (its modules transformer, pooling, dense and normalize, and the settings of
``encode``); what it would leave out with a warning, such as an unknown activation, is refused here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from components.model import files
from components.model.files import CONFIG, ENCODING, MODULES, WEIGHTS, RefusalError
from components.types import Cut, Declaration, DeclaredStep, Dense, Normalize

LIBRARY = "sentence_transformers."  # whose modules these are
KINDS = ("Transformer", "Pooling", "Dense", "Normalize")
ROUTES = ("module_input_name", "module_output_name")  # of a step, which takes and gives the text's vector
VECTOR = "sentence_embedding"
WIDEST = 65_536  # numbers of a vector, with which a dense layer may begin and end
LONGEST_PROMPT = 10_000  # characters
MOST_PROMPTS, LONGEST_TRIED = 8, 300  # prompts that are tried, and characters of each
PICKLE = "pytorch_model.bin"  # what older versions saved in the place of safetensors
KNOWN = tomllib.loads(Path(__file__).with_name("declaration.toml").read_text("utf-8"))
OLDER: Mapping[str, str] = MappingProxyType(KNOWN["older"])  # a key of the older schema: the method
METHODS: Mapping[str, str] = MappingProxyType(  # by our names: their "cls" is the first token, whatever it is
    {name: "first" if name == "cls" else name for name in OLDER.values()}
)
ACTIVATIONS: Mapping[str, str] = MappingProxyType(KNOWN["activations"])  # a class of torch.nn for each
TANH = "torch.nn.modules.activation.Tanh"  # where a dense layer names none


@dataclass(frozen=True)
class _Config:
    """Contents of a JSON ``file``, as visitors know it."""

    file: str
    says: Mapping[str, Any]

    def refusal(self, name: str) -> RefusalError:
        return RefusalError("refusals.declared_value", file=self.file, name=name)

    def number(self, key: str) -> int | None:
        """The whole number under ``key``, 1 at least; None where there is none."""
        value = self.says.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise self.refusal(key)
        return value

    def count(self, *keys: str) -> int:
        """The number under the first of ``keys`` that is there, from 1 to WIDEST."""
        found = self.number(next((key for key in keys if key in self.says), keys[0]))
        if found is None or found > WIDEST:
            raise self.refusal(keys[0])
        return found


def _read(place: Path, name: str, needed: bool = True) -> _Config:
    """Read a file in a folder; nothing where one that is not ``needed`` is not there."""
    file = shown(place, name)
    if not name or not (needed or (place / name).exists()):
        return _Config(file, {})
    return _Config(file, files.checked_object(files.bounded(place / name, files.LARGEST, file)))


def read_declaration(folder: Path) -> Declaration | None:
    """Read what the checkpoint in ``folder`` declares, or None where it has no modules.json.

    RefusalError says what cannot be read: a module of another kind, a file that is missing, another shape.
    """
    if not (folder / MODULES).exists():
        return None
    (first, body), (pooling, pooled), *rest = _modules(folder)
    if (first, pooling) != ("Transformer", "Pooling"):
        raise RefusalError("refusals.declared_order", file=MODULES)
    if body != files.body(folder):
        raise RefusalError("refusals.declared_place", file=MODULES, name=body.name)
    pooling_config = _read(pooled, CONFIG)
    width, poolings = _pooling(pooling_config)
    steps, size = list[DeclaredStep](), width * len(poolings)
    for kind, place in rest:
        if kind not in ("Dense", "Normalize"):
            raise RefusalError("refusals.declared_order", file=MODULES)
        config = _read(place, CONFIG, needed=kind == "Dense")
        for key in ROUTES:
            if config.says.get(key) not in (None, VECTOR):
                raise config.refusal(key)
        steps.append(layer := _dense(config, place, size) if kind == "Dense" else Normalize())
        size = layer.given if isinstance(layer, Dense) else size
    encoding = _read(folder, ENCODING, needed=False)
    length = _read(body, _settings(body), needed=False)
    kept = encoding.number("truncate_dim")
    return Declaration(
        poolings=poolings,
        width=width,
        steps=(*steps, Cut(kept)) if kept is not None else tuple(steps),
        longest=_longest(length),
        prompt=_prompt(encoding),
        lowercases=bool(length.says.get("do_lower_case", False)),
        includes_prompt=bool(pooling_config.says.get("include_prompt", True)),
    )


def read_prompts(folder: Path) -> tuple[tuple[str, str], ...]:
    """Its prompts by name; none where the files in ``folder`` say nothing that can be read."""
    said = files.read_object(folder / ENCODING).get("prompts")
    listed = list(said.items()) if isinstance(said, dict) else []
    texts = [(name[:LONGEST_TRIED], text) for name, text in listed if isinstance(text, str)]
    return tuple((name, text) for name, text in texts if 0 < len(text) <= LONGEST_TRIED)[:MOST_PROMPTS]


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """The kind of each module and its folder, in order: two at least."""
    listed = files.checked_json(files.bounded(folder / MODULES, files.LARGEST, MODULES))
    if not isinstance(listed, list) or not 2 <= len(listed) <= files.MOST_MODULES:
        raise RefusalError("refusals.declared_list", file=MODULES, most=files.MOST_MODULES)
    found: list[tuple[str, Path]] = []
    for said in (each if isinstance(each, dict) else {} for each in listed):
        kind, path = said.get("type"), files.module_path(said.get("path"))
        name = kind.rsplit(".", 1)[-1] if isinstance(kind, str) and kind.startswith(LIBRARY) else ""
        if name and not found and path is not None and _settings(folder / path):
            name = "Transformer"  # older versions have a class for each family
        if name not in KINDS:
            raise RefusalError("refusals.declared_module", file=MODULES, name=str(kind)[:80])
        if path is None:
            raise RefusalError("refusals.part", file=MODULES)
        found.append((name, folder / path))
    return found


def _longest(settings: _Config) -> int | None:
    """After how many tokens a text is cut; refused is a setting that makes the vector another one."""
    tokenizer: dict[str, Any] = {}
    for key in ("tokenizer_args", "processor_kwargs"):
        stated = settings.says.get(key) or {}
        tokenizer |= stated if isinstance(stated, dict) else {"": stated}
    tokenizer.setdefault("model_max_length", settings.says.get("max_seq_length"))
    for key, usual in (*KNOWN["usual"].items(), *((key, None) for key in KNOWN["unset"])):
        if settings.says.get(key, usual) not in (usual, None, {}):
            raise settings.refusal(key)
    for key in sorted(tokenizer.keys() - {*KNOWN["harmless"]}):
        raise settings.refusal(key)
    return _Config(settings.file, tokenizer).number("model_max_length")


def _settings(place: Path) -> str:
    """Name of the file in a transformer's folder that says how it takes a text; "" without one."""
    there = (file.name for file in place.iterdir()) if place.is_dir() else ()
    return min((name for name in there if files.LENGTH.fullmatch(name)), key=len, default="")


def _pooling(config: _Config) -> tuple[int, tuple[str, ...]]:
    """The width of hidden states, and the poolings by our names, of a config in either schema."""
    width = config.count("embedding_dimension", "word_embedding_dimension")
    named = config.says.get("pooling_mode")
    if named is None:
        named = [method for key, method in OLDER.items() if config.says.get(key)] or ["mean"]
    names = [named] if isinstance(named, str) else named
    known = isinstance(names, list) and all(isinstance(name, str) and name in METHODS for name in names)
    if not known or not 1 <= len(names) <= len(METHODS):
        raise config.refusal("pooling_mode")
    return width, tuple(METHODS[name] for name in names)


def _dense(config: _Config, place: Path, size: int) -> Dense:
    """A dense layer that takes vectors of ``size``; its weights are there."""
    taken, given = config.count("in_features"), config.count("out_features")
    if taken != size:
        raise RefusalError("refusals.declared_width", file=config.file, stated=taken, found=size)
    activation = config.says.get("activation_function", TANH)
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise config.refusal("activation_function")
    if not (place / WEIGHTS).exists() and (place / PICKLE).exists():
        raise RefusalError("refusals.declared_pickle", file=shown(place, PICKLE))
    if not (place / WEIGHTS).is_file():
        raise RefusalError("refusals.no_file", file=shown(place, WEIGHTS))
    has_bias, adds = bool(config.says.get("bias", True)), bool(config.says.get("use_residual", False))
    return Dense(place.name, taken, given, ACTIVATIONS[activation], has_bias, adds)


def _prompt(encoding: _Config) -> str:
    """Return what stands before a text where no other prompt is asked for."""
    named, stated = encoding.says.get("default_prompt_name"), encoding.says.get("prompts", {})
    if named is None:
        return ""
    prompts = {"query": "", "document": "", **(stated if isinstance(stated, dict) else {})}
    prompt = prompts.get(named) if isinstance(named, str) else None
    if not isinstance(prompt, str) or len(prompt) > LONGEST_PROMPT:
        raise encoding.refusal("default_prompt_name")
    return prompt


def shown(place: Path, name: str) -> str:
    """A file as a visitor knows it: within the folder of its module."""
    return f"{place.name}/{name}" if name in (CONFIG, WEIGHTS, PICKLE) else name
