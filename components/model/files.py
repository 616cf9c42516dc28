"""Files of a checkpoint, which may be anybody's: where they are, which of them count, and what they may say.

Light to import, and never asks a network. What a file may cost besides, in memory, in time or by a crash of a
library, is bounded by the worker process that loads it (`inference.workers`): it is killed, and whoever asked
is told so in a sentence.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path, PurePosixPath
from traceback import clear_frames, format_exception, format_tb
from typing import Any

from huggingface_hub import CacheNotFound, constants, scan_cache_dir, try_to_load_from_cache

from components.errors import PoolscopeError
from components.texts import Sentence, read_toml
from components.types import BackboneSpec, ProblemType

CONFIG = "config.json"
ADAPTER = "adapter_config.json"  # of weights that change those of another model
ADAPTED = "adapter_model.safetensors"  # these weights
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"  # names the parts of weights that are split
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
KNOWN = read_toml(Path(__file__).with_suffix(".toml"))
VOCABULARIES: tuple[str, ...] = tuple(KNOWN["vocabularies"])
TOKENIZER_FILES = (*VOCABULARIES, *KNOWN["added"])  # it may read these; one of VOCABULARIES it must
POINTER = b"version https://git-lfs"  # what Git leaves in the place of a large file that was not fetched
HEAD = "model_head.pkl"  # a classifier of scikit-learn behind a vector, as SetFit saves it
MODULES = "modules.json"  # of sentence-transformers: the steps from a text to its vector
ENCODING = "config_sentence_transformers.json"  # and how its ``encode`` is set
LENGTH = re.compile(r"sentence_[\w-]{1,40}_config\.json")  # and how long a text may be
PLAIN = re.compile(r"\w[\w.-]{0,190}(/\w[\w.-]{0,190}){0,3}")  # plain names from the checkpoint's folder
MOST_MODULES = 16  # checkpoints have two to five
STEP = re.compile(r"\d+_\w+/")  # of sentence-transformers, behind a model: its folder
PART = r"\w[\w.-]{0,180}\.safetensors"  # a file of weights
LARGEST = 4_000_000  # bytes of a config, and of an index
DIGITS, LABEL = 9, 1_000  # of a label's number, and characters of its name
COMMIT = re.compile(r"[0-9a-f]{40}")
Version = tuple[tuple[str, int, int], ...]
MB = 1_000_000
SHOWN = 200  # characters of somebody else's message
LOGGED = 20_000  # and of the story of it, which may hold whatever stands in a file
LACKING = ("allocate memory", "bad_alloc", "out of memory")  # in what torch says where an allocation failed
FOLDERS = re.compile(r"(?<!\w)/(?:[^\s/'\"`]+/)+")
OWN_CODE = "auto_map"  # names Python files beside the config
COUNT = re.compile(r"(layer|block|head|expert|group|stage|level|depth|hash|repeat|label)(s|es|_num|_sizes)?$")
LARGEST_COUNT = 20_000  # of layers, heads: lists of that length are made while a config is parsed
LABELS = 1_000  # each costs a backward pass through the head: 5,000 take a minute
LARGEST_NUMBER = 2**24  # of anything else, positions for example; a rotary base ("theta") is no size
PROBLEMS: Mapping[str, ProblemType] = KNOWN["problems"]
VOCABULARY_BYTES = 64 * MB  # of a vocabulary of 262,144 tokens: 35 MB
DEPTH = 32  # levels of nesting
KEYS = frozenset(chain.from_iterable(KNOWN["keys"].values()))  # which may be stated; others may lead away
NOTHING: tuple[object, ...] = (None, "", [], {})
LONGEST_KEY = 60  # characters of a key that are shown

logger = logging.getLogger(__name__)


def folder(spec: BackboneSpec) -> Path | None:
    """Folder of the checkpoint of ``spec`` on this machine, or None.

    A hub id is looked up in huggingface_hub's cache alone, after the package that carries the same files:
    libraries that take either an id or a folder would read a folder of that name.
    """
    if spec.source == "hub":
        carried = packaged(spec.package) if spec.package else None
        return carried or snapshot(spec.location, spec.revision or "")
    return Path(spec.location) if not spec.live and Path(spec.location).is_dir() else None


def body(folder: Path) -> Path:
    """The folder of a checkpoint's model: its own, or one inside, such as "0_Transformer".

    Older checkpoints of sentence-transformers have the model in the folder of the first module, and no
    weights beside.
    """
    listed = read_json(folder / MODULES)
    first = listed[0] if isinstance(listed, list) and listed else None
    path = module_path(first.get("path")) if isinstance(first, dict) else None
    beside = (folder / WEIGHTS).is_file() or (folder / INDEX).is_file()
    return folder / path if path and (folder / path / CONFIG).is_file() and not beside else folder


def adapts(folder: Path) -> bool:
    """Tell whether a folder holds an adapter, and no whole checkpoint beside it."""
    if not (folder / ADAPTER).is_file():
        return False
    return not ((folder / CONFIG).is_file() and (weights_in(folder) or any(folder.glob("pytorch_model*"))))


def base(folder: Path) -> Path | None:
    """The folder of the model that the adapter in ``folder`` changes, None where that is not on this machine.

    Only an adapter that was not downloaded may name a folder.
    """
    stated = read_object(folder / ADAPTER)
    name, commit = stated.get("base_model_name_or_path"), stated.get("revision")
    if not isinstance(name, str) or not name:
        return None
    if not folder.is_relative_to(constants.HF_HUB_CACHE) and (folder / name / CONFIG).is_file():
        return body(folder / name)
    found = newest_snapshot(name)
    if found is not None and isinstance(commit, str) and COMMIT.fullmatch(commit):
        found = snapshot(name, commit)
    return None if found is None or adapts(found) else body(found)


def module_path(stated: object) -> str | None:
    """The path of a module in plain names, "" for the checkpoint itself; None where it leads elsewhere."""
    path = PurePosixPath(stated).as_posix() if isinstance(stated, str) else ".."
    return "" if path == "." else path if PLAIN.fullmatch(path) else None


def packaged(package: str) -> Path | None:
    """Folder of the whole checkpoint that an installed Python package carries, or None.

    ``package``: its name without dots. None of its code is run.
    """
    found = find_spec(package)
    folder = Path(found.origin).with_name("model") if found and found.origin else None
    return folder if folder and is_complete(folder) else None


def cached(model: str, commit: str, name: str) -> Path | None:
    """File of a model at a commit in huggingface_hub's cache, or None."""
    found = try_to_load_from_cache(model, name, revision=commit) if COMMIT.fullmatch(commit) else None
    return Path(found) if isinstance(found, str) else None


def snapshot(model: str, commit: str) -> Path | None:
    """Folder of a model's checkpoint that is wholly in huggingface_hub's cache, or None."""
    file = next(filter(None, (cached(model, commit, name) for name in (CONFIG, MODULES, ADAPTER))), None)
    return file.parent if file and is_complete(file.parent) else None


def newest_snapshot(model: str) -> Path | None:
    """Folder of a model's newest download that is wholly in the cache, called as its commit, or None."""
    try:
        repositories = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return None
    revisions = [each for repo in repositories if repo.repo_id == model for each in repo.revisions]
    complete = [each for each in revisions if snapshot(model, each.commit_hash)]
    return max(complete, key=lambda each: each.last_modified).snapshot_path if complete else None


def version(spec: BackboneSpec) -> Version:
    """Name, time and size of each file that an answer depends on; () where none is on this machine."""
    place = folder(spec)
    if place is None:
        return ()
    places = (place, body(place), (base(place) if adapts(place) else None) or place)
    own = (file for at in places for file in at.iterdir() if file.is_file())
    files = sorted({*own, *declaring_files(place)})
    files += [Path(spec.probes)] if spec.probes and files else []
    names = [file.name if file.parent == place else f"{file.parent.name}/{file.name}" for file in files]
    stats = [file.stat() for file in files]
    return tuple((name, now.st_mtime_ns, now.st_size) for name, now in zip(names, stats, strict=True))


def read_json(file: Path) -> object:
    """Read ``file``; None where it is absent, no JSON, or too long to be read in this process."""
    try:
        return json.loads(file.read_bytes()) if file.is_file() and file.stat().st_size <= LARGEST else None
    except (FileNotFoundError, ValueError, RecursionError):  # deleted a moment ago; no UTF-8; too deep
        return None


def read_object(file: Path) -> dict[str, Any]:
    """The object in ``file``; {} where there is no such file, or none that holds a JSON object."""
    found = read_json(file)
    return found if isinstance(found, dict) else {}


def weights_in(folder: Path) -> tuple[Path, ...]:
    """The files of weights in a model's folder that transformers would read; () where they are not all there.

    The whole file comes first; without it, the parts that the index names. Each part has to be a plain
    name that ends in .safetensors: no file outside of the checkpoint is ever named.
    """
    if (folder / WEIGHTS).is_file():
        return (folder / WEIGHTS,)
    named = read_object(folder / INDEX).get("weight_map")
    names = list(named.values()) if isinstance(named, dict) else []
    plain = all(isinstance(name, str) and re.fullmatch(PART, name) for name in names)
    parts = sorted({folder / name for name in names}) if plain else []
    return tuple(parts) if all(part.is_file() for part in parts) else ()


def declaring_files(folder: Path) -> tuple[Path, ...]:
    """The files of ``folder`` that say how sentence-transformers makes a vector; () without modules.json."""
    if not (folder / MODULES).is_file():
        return ()
    listed = read_json(folder / MODULES)
    each = listed[:MOST_MODULES] if isinstance(listed, list) else []
    paths = (module_path(one.get("path")) for one in each if isinstance(one, dict))
    places = {"", *(path for path in paths if path is not None)}  # "": its own

    def counts(file: Path) -> bool:
        known = (ENCODING,) if file.parent == folder else (CONFIG, WEIGHTS)
        return file.is_file() and (file.name in known or bool(LENGTH.fullmatch(file.name)))

    there = (file for place in places for file in (folder / place).glob("*"))
    return (folder / MODULES, *sorted(filter(counts, there)))


def is_complete(folder: Path) -> bool:
    """Tell whether a folder holds a config, all of the weights, and a vocabulary.

    A download brings the weights last, so what it left half done never is.
    """
    place = body(folder)
    if adapts(place):
        return (place / ADAPTED).is_file()
    if not (place / CONFIG).is_file():  # looked for first: of most models that are listed nothing is here
        return False
    return any((place / name).is_file() for name in VOCABULARIES) and bool(weights_in(place))


class RefusalError(Exception):
    """A checkpoint that is not loaded; its sentence is the reason, written for the visitor."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.sentence = Sentence(key, **values)
        super().__init__(str(self.sentence))


@contextmanager
def foreign(key: str, /, **values: object) -> Iterator[None]:
    """Turn whatever is raised inside into a RefusalError that begins with the sentence of ``key``.

    What lies in a folder may make transformers, tokenizers and torch raise anything: KeyError, TypeError,
    AssertionError, MemoryError and, from Rust, a panic that is no Exception at all. So everything is caught,
    and for that very reason nothing but a call of theirs may stand inside: a mistake of ours is no
    fault of the checkpoint, and shows itself. The owner's log has the story.
    """
    try:
        yield
    except (RefusalError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        if lacks_memory(error):
            raise RefusalError("refusals.no_memory") from error
        what = Sentence(key, **values)
        logger.warning("%s\n%s", what, "".join(format_exception(error))[:LOGGED])
        first = FOLDERS.sub("", _first_line(error))
        shown = f"{type(error).__name__}: {first}" if first else type(error).__name__
        shown = shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"
        raise RefusalError("refusals.foreign", what=what, error=shown) from error


def lacks_memory(error: BaseException) -> bool:
    """Tell whether an allocation failed: Python's own, C++'s, or torch's, on the CPU or on a GPU."""
    return isinstance(error, MemoryError) or any(one in str(error) for one in LACKING)


def forget(error: BaseException) -> None:
    """Empty the frames that an error and its causes keep: the weights that they hold may be gigabytes."""
    cause: BaseException | None = error
    while cause is not None:
        clear_frames(cause.__traceback__)
        cause = cause.__cause__ or cause.__context__


@contextmanager
def told(spec: BackboneSpec) -> Iterator[None]:
    """Turn whatever ``spec`` raises inside into a PoolscopeError, unless it comes with the app.

    What a bundled checkpoint raises is a mistake of ours, and shows itself; only a panic of Rust, which is no
    Exception and would pass by whoever catches one, is made a RuntimeError. The log says where it happened,
    not what: that may hold a visitor's text.
    """
    try:
        yield
    except (PoolscopeError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if spec.source == "bundled":
            if isinstance(error, Exception):
                raise
            raise RuntimeError(f"{kind} of {spec.key}") from error
        logger.warning("%s of %s\n%s", kind, spec.key, "".join(format_tb(error.__traceback__)))
        forget(error)
        if lacks_memory(error):
            raise PoolscopeError("backbone", spec.key, "errors.no_memory") from None
        raise PoolscopeError("backbone", spec.key, "errors.failed", error=kind) from None


@contextmanager
def failing(field: str, given: object) -> Iterator[None]:
    """Turn what a model raises inside, which has been seen to work on another text, into a PoolscopeError."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        if lacks_memory(error):
            raise
        raise PoolscopeError(field, given, "errors.fails", reason=reason_of(error)) from error


def reason_of(error: BaseException) -> str:
    """The first line of what was raised: by a model, where `failing` has told of it."""
    return _first_line(error.__cause__ or error) or type(error).__name__


def _first_line(error: BaseException) -> str:
    """The first line of what was raised, and the next where that ends in a colon."""
    return next(iter(re.sub(r":\n\s*", ": ", str(error).strip()).splitlines()), "")


def bounded(file: Path, most: float, name: str) -> Path:
    """``file``, if it is a plain one (others may not end) of at most so many bytes, shown as ``name``."""
    if not file.is_file():
        raise RefusalError("refusals.no_file", file=name)
    if (size := file.stat().st_size) > most:
        raise RefusalError("refusals.long", file=name, size=size // MB, most=most // MB)
    with file.open("rb") as opened:
        if opened.read(len(POINTER)) == POINTER:
            raise RefusalError("refusals.pointer", file=name)
    return file


def no_weights(folder: Path, file: str) -> RefusalError:
    """Say that a folder lacks this ``file`` of weights, by what it holds instead."""
    if (folder / file).is_symlink():
        return RefusalError("refusals.link", file=file)
    there = sorted(one for pattern in ("*", "*/*") for one in folder.glob(pattern))
    there = [one for one in there if not one.name.startswith(tuple(KNOWN["weightless"]))]
    every = [name for one in there if not STEP.match(name := one.relative_to(folder).as_posix())]
    for key, endings in KNOWN["weights"].items():
        if found := [name for name in every if name.endswith(tuple(endings))]:
            return RefusalError(f"refusals.{key}", file=file, found=tuple(found[:3]))
    return RefusalError("refusals.weightless", file=file)


def made_for(folder: Path) -> Sentence | None:
    """Say what other program a model was made for, by how a file of it begins; None where none is known."""
    for program, (name, begins) in KNOWN["programs"].items():
        for file in filter(Path.is_file, folder.glob(name)):
            with file.open("rb") as opened:
                if re.search(begins.encode("latin-1"), opened.read(4_000)):
                    return Sentence("refusals.program", program=program)
    return None


def check_sizes(folder: Path) -> None:
    """Refuse a folder with a text too large to be what its name says, or that is no file."""
    for file in sorted(folder.iterdir()):
        if file.suffix in KNOWN["texts"]:
            small = file.name.endswith(CONFIG) or file.name == INDEX
            bounded(file, LARGEST if small else VOCABULARY_BYTES, file.name)


def checked_json(file: Path) -> object:
    """The JSON in ``file``."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RefusalError("refusals.json", file=file.name) from error


def checked_object(file: Path) -> dict[str, Any]:
    """The JSON object in ``file``, which is not nested too deep."""
    read = checked_json(file)
    if not isinstance(read, dict):
        raise RefusalError("refusals.object", file=file.name)
    if any(depth > DEPTH for depth, _key, _value in walk(read)):
        raise RefusalError("refusals.deep", file=file.name, most=DEPTH)
    return read


def walk(read: object, key: str = "", depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    """Every value down to a depth of DEPTH + 1, with its depth and the key that it stands under."""
    if depth:
        yield depth, key, read
    inner: Iterable[tuple[str, object]] = ()
    if depth <= DEPTH and isinstance(read, dict):
        inner = read.items()
    elif depth <= DEPTH and isinstance(read, list):
        inner = ((key, value) for value in read)
    for name, value in inner:
        yield from walk(value, name, depth + 1)


def check_stated(raw: dict[str, Any], known: Callable[[str], bool]) -> None:
    """Refuse a config, as plain JSON, that leads away or is out of bounds.

    ``known``: whether transformers classifies texts with a type of model. Code of a checkpoint's own is never
    run: beside a type that is known it is not needed.
    """
    kind = raw.get("model_type")
    coded = any(key == OWN_CODE and value for _depth, key, value in walk(raw))
    if coded and not (isinstance(kind, str) and known(kind)):
        raise RefusalError("refusals.code")
    _check_plain(raw)
    for _depth, key, value in walk(raw):
        if isinstance(value, int):
            limit = LARGEST_COUNT if COUNT.search(key) else LARGEST_NUMBER
            limit = LABELS if key in ("num_labels", "_num_labels") else limit
            if abs(value) > limit and "theta" not in key:
                raise RefusalError("refusals.number", name=key, value=value, most=limit)
    for key in ("id2label", "label2id"):
        named = raw.get(key)
        if isinstance(named, dict | list) and len(named) > LABELS:
            raise RefusalError("refusals.many_labels", count=len(named), most=LABELS)
        stated = named if isinstance(named, dict) else {}
        numbers, names = (stated, stated.values()) if key == "id2label" else (stated.values(), stated)
        digits = max((len(number) for number in numbers if isinstance(number, str)), default=0)
        if digits > DIGITS:
            raise RefusalError("refusals.label_number", length=digits)
        longest = max((len(str(name)) for name in names), default=0)
        if longest > LABEL:
            raise RefusalError("refusals.long_label", length=longest, most=LABEL)


def _check_plain(raw: dict[str, Any]) -> None:
    """Refuse a config or a tokenizer's that leads to code or to other files."""
    for _depth, key, value in walk(raw):
        stated = value if isinstance(value, dict) else {}
        switches = [stated[name] is True for name in KNOWN["bits"] if name in stated]
        switched_on = any(switches) or not switches
        if key in KNOWN["forbidden"] and value and switched_on:
            how = str(stated.get("quant_method", key))[:LONGEST_KEY]
            raise RefusalError(KNOWN["forbidden"][key], how=how)


def check_keys(file: str, settings: dict[str, Any]) -> None:
    """Refuse settings of a tokenizer, from ``file``, that state anything but what is known to be harmless."""
    _check_plain(settings)
    for key, value in settings.items():
        cuts = key == "sp_model_kwargs" and isinstance(value, dict) and {*value} <= {*KNOWN["sampling"]}
        known = key in KEYS or cuts or (key.endswith("_token") and isinstance(value, str | dict | bool))
        if not known and value not in NOTHING:
            raise RefusalError("refusals.tokenizer_key", file=file, key=key[:LONGEST_KEY])
