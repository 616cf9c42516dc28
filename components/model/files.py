"""Files of a checkpoint: where they are on this machine, which of them count, and what the small JSON says.

Light to import, and never asks a network. Nothing here fails on what stands in a file: it may be anybody's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from huggingface_hub import CacheNotFound, constants, scan_cache_dir, try_to_load_from_cache

from components.types import BackboneSpec

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"  # names the parts of weights that are split
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
VOCABULARIES = (  # one of these makes a tokenizer
    TOKENIZER,
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
    "sentencepiece.model",
    "sentencepiece.bpe.model",
)
TOKENIZER_FILES = (  # every file that a tokenizer may read, of those that a checkpoint has
    *VOCABULARIES,
    TOKENIZER_CONFIG,
    "special_tokens_map.json",
    "added_tokens.json",
    "merges.txt",
    "entity_vocab.json",
)
MODULES = "modules.json"  # of sentence-transformers: the steps from a text to its vector
ENCODING = "config_sentence_transformers.json"  # and how its ``encode`` is set
LENGTH = re.compile(r"sentence_[\w-]{1,40}_config\.json")  # and how long a text may be
MODULE = re.compile(r"\w[\w.-]{0,80}")  # of a module: a plain name in the checkpoint's own folder
MOST_MODULES = 16  # checkpoints have two to five
PART = r"\w[\w.-]{0,180}\.safetensors"  # a file of weights
LARGEST = 4_000_000  # bytes of a config, and of an index
LONGEST = 200  # characters of a class's name
DIGITS, LABEL = 9, 1_000  # of a label's number, and characters of its name
COMMIT = re.compile(r"[0-9a-f]{40}")
PACKAGED = "model"  # the folder of a checkpoint within a Python package
JsonObject = dict[str, Any]
Version = tuple[tuple[str, int, int], ...]


def folder(spec: BackboneSpec) -> Path | None:
    """Folder of the checkpoint of ``spec`` on this machine, or None.

    A hub id is looked up in huggingface_hub's cache alone, after the package that carries the same files:
    libraries that take either an id or a folder would read a folder of that name.
    """
    if spec.source == "hub":
        carried = packaged(spec.package) if spec.package else None
        return carried or snapshot(spec.location, spec.revision or "")
    if spec.live:
        return None
    return Path(spec.location) if Path(spec.location).is_dir() else None


def packaged(package: str) -> Path | None:
    """Folder of the whole checkpoint that an installed Python package carries, or None.

    ``package``: its name without dots. None of its code is run.
    """
    found = find_spec(package)
    folder = Path(found.origin).with_name(PACKAGED) if found and found.origin else None
    return folder if folder and is_complete(folder) else None


def cached(model: str, commit: str, name: str) -> Path | None:
    """File of a model at a commit in huggingface_hub's cache, or None."""
    found = try_to_load_from_cache(model, name, revision=commit) if COMMIT.fullmatch(commit) else None
    return Path(found) if isinstance(found, str) else None


def snapshot(model: str, commit: str) -> Path | None:
    """Folder of a model's checkpoint that is wholly in huggingface_hub's cache, or None."""
    config = cached(model, commit, CONFIG)
    return config.parent if config and is_complete(config.parent) else None


def newest_commit(model: str) -> str | None:
    """Commit of a model that was downloaded last of those that are wholly in the cache, or None."""
    try:
        repositories = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return None
    revisions = [each for repo in repositories if repo.repo_id == model for each in repo.revisions]
    complete = [each for each in revisions if snapshot(model, each.commit_hash)]
    return max(complete, key=lambda each: each.last_modified).commit_hash if complete else None


def version(spec: BackboneSpec) -> Version:
    """Name, time and size of each file that an answer depends on; () where none is on this machine.

    Of the folders in the checkpoint's own, those count that its modules.json names. Two checkpoints in the
    same place differ in it, unless somebody sets the clock of a file back.
    """
    place = folder(spec)
    if place is None:
        return ()
    files = sorted(file for file in place.iterdir() if file.is_file())
    files += [file for file in declaring_files(place) if file.parent != place]
    probes = [Path(spec.probes)] if spec.probes and files else []
    return tuple(_stated(file, place) for file in (*files, *probes))


def _stated(file: Path, place: Path) -> tuple[str, int, int]:
    now = file.stat()
    name = file.name if file.parent == place else f"{file.parent.name}/{file.name}"
    return name, now.st_mtime_ns, now.st_size


def parse_object(text: str | bytes) -> JsonObject:
    """The object that ``text`` holds as JSON; {} where it holds none that can be read."""
    try:
        found = json.loads(text)
    except (
        ValueError,
        RecursionError,
    ):  # no JSON, no UTF-8, a number of thousands of digits; nested too deep
        return {}
    return found if isinstance(found, dict) else {}


def read_object(file: Path) -> JsonObject:
    """The object in ``file``; {} where there is no such file, or none that holds a JSON object.

    What is no plain file may never end, and a longer one is none that this process should read.
    """
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return {}
        text = file.read_bytes()
    except FileNotFoundError:  # never downloaded, or deleted a moment ago
        return {}
    return parse_object(text)


def architecture(config: JsonObject) -> str:
    """The class that a checkpoint was saved as, or ""."""
    names = config.get("architectures")
    name = str(names[0]) if isinstance(names, list) and names else ""
    return name if len(name) <= LONGEST else ""


def labels(config: JsonObject) -> tuple[str, ...]:
    """The names of its labels by number, or () where it has none, or some that would be refused."""
    names = config.get("id2label")
    if not isinstance(names, dict) or not all(key.isdecimal() and len(key) <= DIGITS for key in names):
        return ()
    told = tuple(str(names[key]) for key in sorted(names, key=int))
    return told if all(len(label) <= LABEL for label in told) else ()


def weight_files(is_there: Callable[[str], bool], index: Callable[[], JsonObject]) -> tuple[str, ...]:
    """Names of the files of weights that transformers would read; () where they are not all there.

    The whole file comes first; without it, the parts that the ``index`` names. Each part has to be a plain
    name that ends in .safetensors: no file outside of the checkpoint is ever named.
    """
    if is_there(WEIGHTS):
        return (WEIGHTS,)
    parts = _parts(index()) if is_there(INDEX) else ()
    return parts if all(map(is_there, parts)) else ()


def weights_in(folder: Path) -> tuple[Path, ...]:
    """The files of weights in a checkpoint's folder; () where they are not all there."""
    names = weight_files(lambda name: (folder / name).is_file(), lambda: read_object(folder / INDEX))
    return tuple(folder / name for name in names)


def module_files(listed: str | bytes, names: Iterable[str]) -> tuple[str, ...]:
    """Which of ``names`` beside modules.json a checkpoint of sentence-transformers is read from.

    ``listed``: what stands in its modules.json, of which no folders but plain names are followed.
    """
    try:
        found = json.loads(listed)
    except (ValueError, RecursionError):
        found = []
    each = found[:MOST_MODULES] if isinstance(found, list) else []
    paths = [one.get("path") for one in each if isinstance(one, dict)]
    folders = {path for path in paths if isinstance(path, str) and MODULE.fullmatch(path)}
    wanted = {ENCODING, *(f"{folder}/{name}" for folder in folders for name in (CONFIG, WEIGHTS))}
    return tuple(name for name in names if name in wanted or LENGTH.fullmatch(name))


def declaring_files(folder: Path) -> tuple[Path, ...]:
    """The files of ``folder`` that say how sentence-transformers makes a vector; () without modules.json."""
    file = folder / MODULES
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return ()
        listed = file.read_bytes()
    except FileNotFoundError:  # deleted a moment ago
        return ()
    there = (each for pattern in ("*.json", f"*/{CONFIG}", f"*/{WEIGHTS}") for each in folder.glob(pattern))
    names = sorted(each.relative_to(folder).as_posix() for each in there if each.is_file())
    return (file, *(folder / name for name in module_files(listed, names)))


def is_complete(folder: Path) -> bool:
    """Whether a folder holds a config, all of the weights, and a vocabulary.

    A download brings the weights last, so what it left half done never is.
    """
    if not (folder / CONFIG).is_file():  # looked for first: of most models that are listed nothing is here
        return False
    return any((folder / name).is_file() for name in VOCABULARIES) and bool(weights_in(folder))


def _parts(index: JsonObject) -> tuple[str, ...]:
    """The files that an index names, in order; () where it names none or anything else."""
    named = index.get("weight_map")
    names = list(named.values()) if isinstance(named, dict) else []
    plain = all(isinstance(name, str) and re.fullmatch(PART, name) for name in names)
    return tuple(sorted(set(names))) if plain else ()
