"""The declaration of a checkpoint of sentence-transformers, read as plain data: light, without torch.

``modules.json`` names its steps: the transformer, a pooling, dense layers, and the vector's length set to 1;
or what makes a score, a sparse vector, or a vector for each token. Each step takes what another gave. The
files may be anybody's: no name that stands in them is imported. What is read is what sentence_transformers 6
reads (the ``config_keys`` of its modules, and the settings of ``encode``); what it would leave out with a
warning, such as an unknown activation, is refused here.
"""

import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from components.model import files
from components.model.files import CONFIG, ENCODING, MODULES, WEIGHTS, RefusalError
from components.texts import read_toml
from components.types import Cut, Declaration, DeclaredStep, Dense, LayerNorm, Normalize

LIBRARIES = ("sentence_transformers.", "pylate.models.")  # whose modules these are: of pylate, dense layers
TAKES, GIVES = "module_input_name", "module_output_name"
POOLED = "Pooling"
TOKENS, SCORES = "token_embeddings", "scores"
ORDER = "refusals.declared_order"
SEVERAL = ("ColBERT", "MultiVectorEncoder")  # types of models that make a vector for each token
WIDEST = 65_536  # numbers of a vector, with which a dense layer may begin and end
LONGEST_PROMPT = 10_000  # characters
MOST_PROMPTS, LONGEST_TRIED = 8, 300  # prompts that are tried, and characters of each
PICKLE = "pytorch_model.bin"  # what older versions saved in the place of safetensors
KNOWN = read_toml(Path(__file__).with_name("declaration.toml"))
METHODS: Mapping[str, str] = KNOWN["methods"]  # by our names
ACTIVATIONS = {f"torch.nn.modules.{one}": one.rpartition(".")[2] for one in KNOWN["activations"]}  # by path


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


_Module = tuple[str, str, _Config, str]  # its kind, its path, its config, and what it hands on


def _read(place: Path, name: str, needed: bool = True) -> _Config:
    """Read a file in a folder; nothing where one that is not ``needed`` is not there."""
    file = shown(place, name)
    if not name or not (needed or (place / name).exists()):
        return _Config(file, {})
    return _Config(file, files.checked_object(files.bounded(place / name, files.LARGEST, file)))


def read_declaration(folder: Path, own: bool = False) -> Declaration | None:
    """Read what the checkpoint in ``folder`` declares; None without modules.json, or if its own head ends it.

    ``own``: also where that ends it, for what is done to a text before.
    RefusalError says what cannot be read: a module of another kind, a file that is missing, another shape.
    """
    if not (folder / MODULES).exists():
        return None
    (first, path), *rest = _modules(folder)
    if first not in KNOWN["transformers"]:
        key = f"refusals.declared_{first.lower() if first in KNOWN['other_first'] else 'first'}"
        raise RefusalError(key, file=MODULES, name=first)
    body, encoding = folder / path, _read(folder, ENCODING, needed=False)
    settings = _read(body, _settings(body), needed=False)
    task = str(settings.says.get("transformer_task", KNOWN["transformers"][first]))
    if task not in KNOWN["tasks"]:
        raise settings.refusal("transformer_task")
    modules = list(_routed(folder, rest, KNOWN["tasks"][task][0], encoding.says.get("model_type") in SEVERAL))
    ended = not modules and KNOWN["tasks"][task][0] == SCORES
    if ended and not own:
        return None
    last = modules[-1][-1] if modules else SCORES if ended else ""
    kinds = [kind for kind, *_ in modules]
    if last not in KNOWN["kinds"] or POOLED in kinds[1:]:  # nothing changes tokens before they are pooled
        raise RefusalError(ORDER, file=MODULES)
    if body != files.body(folder):
        raise RefusalError("refusals.declared_place", file=MODULES, name=body.name)
    made, kept = _made(folder, modules), encoding.number("truncate_dim")
    if KNOWN["kinds"][last] == "sparse" and encoding.number("max_active_dims"):  # of which others are dropped
        raise encoding.refusal("max_active_dims")
    filled = settings.says.get("query_expansion")
    if encoding.says.get("model_type") == SEVERAL[0]:  # of pylate, which lists no mask
        words = encoding.says.get("skiplist_words")
        listed = _Config(encoding.file, {"skiplist_words": [*string.punctuation] if words is None else words})
        made = replace(made, skipped=_skipped(listed))
        if encoding.says.get("do_query_expansion", True):
            filled = {"length": encoding.says.get("query_length") or 32}
    return replace(
        made,
        kind="logits" if made.asked else KNOWN["kinds"][last],
        steps=(*made.steps, Cut(kept)) if kept is not None and last != SCORES else made.steps,
        longest=_longest(settings, task),
        prompt=_prompt(encoding),
        lowercases=bool(settings.says.get("do_lower_case", False)),
        templated="message" in _object(settings.says.get("modality_config")),
        filled=_Config(settings.file, _object(filled)).number("length"),
    )


def _routed(folder: Path, listed: list[tuple[str, str]], handed: str, several: bool) -> Iterator[_Module]:
    """Modules, each of which takes what the one before ``handed`` on; ``several``: dense layers take tokens.

    RefusalError where one takes something else.
    """
    for kind, path in listed:
        config = _read(folder / path, CONFIG, needed=kind not in ("Dropout", "Normalize"))
        usual = TOKENS if kind == "Dense" and several else KNOWN["takes"].get(kind)
        stated = config.says if kind in KNOWN["routed"] else {}
        takes = stated.get(TAKES) or usual
        if takes != handed or takes == SCORES:
            raise config.refusal(TAKES) if TAKES in stated else RefusalError(ORDER, file=MODULES)
        handed = stated.get(GIVES) or KNOWN["gives"].get(kind, takes)
        if kind in KNOWN["routed"] and handed not in (takes, SCORES if kind == "Dense" else takes):
            raise config.refusal(GIVES)
        yield kind, path, config, handed


def _made(folder: Path, modules: list[_Module]) -> Declaration:
    """Vectors that the modules behind a transformer make, each of vectors as wide as the one before gives."""
    found, steps, size = Declaration((), 0, ()), list[DeclaredStep](), 0
    for kind, path, config, gives in modules:
        if kind == POOLED:
            width, poolings = _pooling(config)
            size, told = width * len(poolings), bool(config.says.get("include_prompt", True))
            found = replace(found, width=width, poolings=poolings, includes_prompt=told)
        elif kind == "Dense":
            layer = _dense(config, folder, path, size or config.count("in_features"))
            found, size = replace(found, width=found.width or layer.taken), layer.given
            if gives == SCORES:
                found = replace(found, score=layer)
            else:
                steps.append(layer)
        elif kind == "LayerNorm":
            _weights(folder / path)
            steps.append(LayerNorm(path, _sized(config, "dimension", size)))
        elif kind == "Normalize":
            steps.append(Normalize())
        elif kind == "SpladePooling":
            found = _words(config, folder)
        elif kind == "MultiVectorMask":
            found = replace(found, skipped=_skipped(config))
        elif kind == "LogitScore":
            found = replace(found, asked=_asked(config))
    return replace(found, steps=tuple(steps))


def _skipped(config: _Config) -> tuple[str, ...]:
    """Tokens that are left out of documents; refused is what leaves others out."""
    words = config.says.get("skiplist_words") or []
    for key, usual in (("skiplist_tasks", ["document"]), ("keep_only_token_ids", None)):
        if config.says.get(key, usual) != usual:
            raise config.refusal(key)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise config.refusal("skiplist_words")
    return tuple(words)


def _words(config: _Config, folder: Path) -> Declaration:
    """A vector of the words of a vocabulary."""
    stated = [config.says.get(key, usual) for key, usual in KNOWN["words"].items()]
    name = next((name for name, known in KNOWN["splade"].items() if known == stated), None)
    if name is None:
        raise config.refusal(" / ".join(KNOWN["words"]))
    size = _Config(CONFIG, files.read_object(files.body(folder) / CONFIG)).number("vocab_size")
    return Declaration((name,), size or 0, ())


def _asked(config: _Config) -> tuple[int, ...]:
    """Ids of the token whose logit is the score and, where there is one, of the one whose is taken off."""
    first, *less = (config.says.get(key) for key in ("true_token_id", "false_token_id"))
    found = (first, *(one for one in less if one is not None))
    if not all(isinstance(one, int) and 0 <= one < files.LARGEST_NUMBER for one in found):
        raise config.refusal("true_token_id")
    return tuple(map(int, found))


def read_prompts(folder: Path) -> tuple[tuple[str, str], ...]:
    """Its prompts by name; none where the files in ``folder`` say nothing that can be read."""
    stated = files.read_object(folder / ENCODING)
    prefixes = [(name, stated.get(f"{name}_prefix")) for name in ("query", "document")]  # of older ones
    listed = [*_object(stated.get("prompts")).items(), *prefixes]
    texts = [(name[:LONGEST_TRIED], text) for name, text in listed if isinstance(text, str)]
    return tuple((name, text) for name, text in texts if 0 < len(text) <= LONGEST_TRIED)[:MOST_PROMPTS]


def _modules(folder: Path) -> list[tuple[str, str]]:
    """The kind of each module and its path, in order."""
    listed = files.checked_json(files.bounded(folder / MODULES, files.LARGEST, MODULES))
    if not isinstance(listed, list) or not 1 <= len(listed) <= files.MOST_MODULES:
        raise RefusalError("refusals.declared_list", file=MODULES, most=files.MOST_MODULES)
    found: list[tuple[str, str]] = []
    for said in (each if isinstance(each, dict) else {} for each in listed):
        kind, path = said.get("type"), files.module_path(said.get("path"))
        name = _known(kind, not found, path is not None and bool(_settings(folder / path)))
        if path is None:
            raise RefusalError("refusals.part", file=MODULES, names=str(said.get("path"))[: files.SHOWN])
        found.append((name, path))
    return found


def _known(kind: object, first: bool, reads: bool) -> str:
    """The name of a class of the library: of one that comes ``first`` and ``reads`` a text, a transformer's.

    Older versions have others of these.
    """
    name = kind.rsplit(".", 1)[-1] if isinstance(kind, str) and kind.startswith(LIBRARIES) else ""
    if first and reads and name and name not in KNOWN["transformers"]:
        return "Transformer"
    if name not in KNOWN["takes"] and not (first and name):
        raise RefusalError("refusals.declared_module", file=MODULES, name=str(kind)[:100])
    return name


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _longest(settings: _Config, task: str) -> int | None:
    """After how many tokens a text is cut; refused is a setting that makes something else of a text."""
    _gives, output, name = KNOWN["tasks"][task]
    if settings.says.get(GIVES) not in (None, name):
        raise settings.refusal(GIVES)
    how = _object(_object(settings.says.get("modality_config")).get("text"))
    handed = (how.get("method", "forward"), how.get("method_output_name", output))
    if handed not in (("forward", output), ("forward", [output])):
        raise settings.refusal("modality_config")
    tokenizer: dict[str, Any] = {}
    for key in ("tokenizer_args", "processor_kwargs"):
        stated = settings.says.get(key) or {}
        tokenizer |= stated if isinstance(stated, dict) else {"": stated}
    tokenizer.setdefault("model_max_length", settings.says.get("max_seq_length"))
    unread = (key for key in KNOWN["unset"] if settings.says.get(key) not in (None, {}))
    for key in (*unread, *sorted(tokenizer.keys() - {*KNOWN["harmless"]})):
        raise settings.refusal(key)
    return _Config(settings.file, tokenizer).number("model_max_length")


def _settings(place: Path) -> str:
    """Name of the file in a transformer's folder that says how it takes a text; "" without one."""
    there = (file.name for file in place.iterdir()) if place.is_dir() else ()
    return min((name for name in there if files.LENGTH.fullmatch(name)), key=len, default="")


def _pooling(config: _Config) -> tuple[int, tuple[str, ...]]:
    """The width of hidden states, and the poolings by our names, of a config in either schema."""
    width = config.count("embedding_dimension", "word_embedding_dimension")  # the older name
    named = config.says.get("pooling_mode")
    if named is None:
        named = [method for key, method in KNOWN["older"].items() if config.says.get(key)] or ["mean"]
    names = [named] if isinstance(named, str) else named
    known = isinstance(names, list) and all(isinstance(name, str) and name in METHODS for name in names)
    if not known or not 1 <= len(names) <= len(METHODS):
        raise config.refusal("pooling_mode")
    return width, tuple(METHODS[name] for name in names)


def _sized(config: _Config, key: str, size: int) -> int:
    """The number under ``key``, which has to be the ``size`` of the vectors before."""
    if (stated := config.count(key)) != size:
        raise RefusalError("refusals.declared_width", file=config.file, stated=stated, found=size)
    return stated


def _weights(place: Path) -> None:
    """Refuse a module in whose folder no safetensors are."""
    if not (place / WEIGHTS).exists() and (place / PICKLE).exists():
        raise RefusalError("refusals.declared_pickle", file=shown(place, PICKLE))
    if not (place / WEIGHTS).is_file():
        raise RefusalError("refusals.no_file", file=shown(place, WEIGHTS))


def _dense(config: _Config, folder: Path, path: str, size: int) -> Dense:
    """A dense layer that takes vectors of ``size``; its weights are there."""
    taken, given = _sized(config, "in_features", size), config.count("out_features")
    activation = config.says.get("activation_function", KNOWN["usual_activation"])
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise config.refusal("activation_function")
    _weights(folder / path)
    has_bias, adds = bool(config.says.get("bias", True)), bool(config.says.get("use_residual", False))
    return Dense(path, taken, given, ACTIVATIONS[activation], has_bias, adds)


def _prompt(encoding: _Config) -> str:
    """Return what stands before a text where no other prompt is asked for."""
    named = encoding.says.get("default_prompt_name")
    if named is None:
        return ""
    prompts = {"query": "", "document": "", **_object(encoding.says.get("prompts"))}
    prompt = prompts.get(named) if isinstance(named, str) else None
    if not isinstance(prompt, str) or len(prompt) > LONGEST_PROMPT:
        raise encoding.refusal("default_prompt_name")
    return prompt


def shown(place: Path, name: str) -> str:
    """A file as a visitor knows it: within the folder of its module."""
    return f"{place.name}/{name}" if name in (CONFIG, WEIGHTS, PICKLE) else name
