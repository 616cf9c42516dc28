"""Listing of a model on the hub: whether it can be had here, decided before anything large is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import HfApi, ModelInfo, hf_hub_download
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # documented, not in __all__

from components.errors import PoolscopeError
from components.model.files import (
    COMMIT,
    CONFIG,
    INDEX,
    LARGEST,
    MODULES,
    TOKENIZER_CONFIG,
    TOKENIZER_FILES,
    VOCABULARIES,
    WEIGHTS,
    module_files,
    read_object,
    weight_files,
)
from components.model.safety import RefusalError, check_keys, check_plain, check_stated
from components.texts import in_bytes

SECONDS = 10.0  # without any news from the hub
STATED = (CONFIG, TOKENIZER_CONFIG, INDEX, MODULES)  # what is read before a download
OFFLINE, SLOW, UNKNOWN = "errors.hub_offline", "errors.hub_slow", "errors.hub_unknown"
UNREADABLE, TROUBLE, OFTEN = "errors.hub_unreadable", "errors.hub_trouble", "errors.hub_often"
PASSING = (OFFLINE, SLOW, TROUBLE, OFTEN)  # which say nothing of the model
REFUSALS: tuple[tuple[type[Exception], str], ...] = (  # the first that fits
    (GatedRepoError, "errors.hub_gated"),
    (RevisionNotFoundError, "errors.hub_revision"),
    (RemoteEntryNotFoundError, "errors.hub_file"),
    (DisabledRepoError, "errors.hub_disabled"),
    (RepositoryNotFoundError, UNKNOWN),
    (OfflineModeIsEnabled, OFFLINE),
    (httpx2.TimeoutException, SLOW),
    (httpx2.TransportError, OFFLINE),
)
STATUSES = {401: UNKNOWN, 403: "errors.hub_forbidden", 404: UNKNOWN, 429: OFTEN}
Classifies = Callable[[str], bool]  # whether transformers classifies texts with a type of model


class HubUnreachableError(PoolscopeError):
    """The hub gives no answer now: which says nothing of the model."""


@dataclass(frozen=True)
class HubFile:
    """File on the hub: ``size`` in bytes; ``sha256`` of a large one, else None."""

    name: str
    size: int
    sha256: str | None


@dataclass(frozen=True)
class Listing:
    """Model that can be had at one commit: ``small`` files that are read with it, and its ``weights``."""

    model: str
    commit: str
    small: tuple[HubFile, ...]
    weights: tuple[HubFile, ...]
    licence: str = ""
    private: bool = False

    @property
    def files(self) -> tuple[HubFile, ...]:
        """All of its files, the weights last."""
        return (*self.small, *self.weights)

    @property
    def size(self) -> int:
        """All of its files, in bytes."""
        return sum(file.size for file in self.files)


def checked_id(given: object) -> str:
    """``given`` if it has the form of a hub id; PoolscopeError says which form is wanted.

    A pasted address of a model's page is refused with the id to type instead.
    """
    if isinstance(given, str) and _is_id(given):
        return given
    inside = _id_in_address(given) if isinstance(given, str) else None
    if inside:
        raise PoolscopeError("backbone", given, "errors.id_instead", id=inside)
    raise PoolscopeError("backbone", given, "errors.id")


def _is_id(given: str) -> bool:
    try:
        validate_repo_id(given)
    except HFValidationError:
        return False
    return True


def _id_in_address(given: str) -> str | None:
    """Id of the model whose page or file this web address shows, if it does."""
    if len(given) > 500 or not given.startswith(("https://", "http://")):
        return None
    try:
        parts = [part for part in urlsplit(given).path.split("/") if part]
    except ValueError:  # such as an unfinished IPv6 address
        return None
    found = "/".join(parts[:2])
    return found if _is_id(found) else None


def refusal(model: str, error: Exception) -> PoolscopeError:
    """Sentence for a visitor who asked for ``model`` where huggingface_hub raised ``error``."""
    if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # the library's way to say that the cache has no copy, either
    key = next((key for kind, key in REFUSALS if isinstance(error, kind)), UNREADABLE)
    values: dict[str, object] = {}
    if key == UNREADABLE and isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        key, values = STATUSES.get(status, TROUBLE), {"status": status}
        if status not in STATUSES and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return PoolscopeError("backbone", model, key, **values)
    elif key == UNREADABLE and isinstance(error, OSError):
        key, values = "errors.unkept", {"reason": error.strerror}
        key = key if error.strerror else "errors.hub_wrong"  # another length than was listed
    kind = HubUnreachableError if key in PASSING else PoolscopeError
    return kind("backbone", model, key, **values)


@contextmanager
def hub_errors(model: str) -> Iterator[None]:
    """Turn whatever huggingface_hub raises inside into a PoolscopeError about ``model``."""
    try:
        yield
    except PoolscopeError:
        raise
    except Exception as error:  # an answer of the hub may make the library raise anything
        raise refusal(model, error) from error


def classifies(kind: str) -> bool:
    """Ask transformers in this process, which loads it; none of its models is loaded."""
    from components.model.transformers_internals import classifying_types

    return kind in classifying_types()


def listed(model: str, revision: str | None, largest: int, known: Classifies = classifies) -> Listing:
    """Ask the hub for a model at a commit, or where its branch stands now.

    ``largest``: bytes that may be downloaded. ``known``: whether a type of model can classify texts.
    PoolscopeError says why it cannot be had, and what could.
    """
    with hub_errors(model), TemporaryDirectory() as place:
        info = HfApi().model_info(model, revision=revision, files_metadata=True, timeout=SECONDS)
        commit, there = str(info.sha), _files(model, info)
        for file in (there[name] for name in STATED if name in there):
            if file.size > LARGEST:
                raise PoolscopeError("backbone", model, "errors.hub_long", most=LARGEST)
            hf_hub_download(model, file.name, revision=commit, local_dir=place)
        weights = _weights(model, Path(place), there)
        small = [CONFIG, *(name for name in TOKENIZER_FILES if name in there)]
        small += [INDEX] if weights != (WEIGHTS,) else []
        if MODULES in there:
            small += [MODULES, *module_files((Path(place) / MODULES).read_bytes(), there)]
        check_config(model, Path(place), known)  # may have to wait for transformers, no fault of the hub
    _check_vocabulary(model, there)
    needed, weighty = (tuple(there[name] for name in names) for names in (small, weights))
    found = Listing(model, commit, needed, weighty, _licence(info), bool(info.private))
    if found.size > largest:
        size, most = in_bytes(found.size), in_bytes(largest)
        raise PoolscopeError("backbone", model, "errors.large", size=size, largest=most)
    return found


def check_config(model: str, folder: Path, known: Classifies) -> None:
    """Refuse what the small files in ``folder`` show to be impossible, or would be refused when loaded."""
    config, tokenizer = read_object(folder / CONFIG), read_object(folder / TOKENIZER_CONFIG)
    try:
        check_stated(config)
        check_plain(tokenizer)
        check_keys(TOKENIZER_CONFIG, tokenizer)
    except RefusalError as error:
        raise PoolscopeError("backbone", model, "errors.refused", reason=error.sentence) from error
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise PoolscopeError("backbone", model, "errors.no_type", file=CONFIG)
    if not known(kind):
        raise PoolscopeError("backbone", model, "errors.no_classes", type=repr(kind[:40]))


def _files(model: str, info: ModelInfo) -> dict[str, HubFile]:
    """Files by name, of an answer in which every file has its size."""
    if COMMIT.fullmatch(str(info.sha)) is None or any(each.size is None for each in info.siblings or ()):
        raise PoolscopeError("backbone", model, UNREADABLE)
    every = info.siblings or ()
    found = {
        each.rfilename: HubFile(each.rfilename, each.size or 0, each.lfs.sha256 if each.lfs else None)
        for each in every
    }
    if CONFIG not in found:
        raise PoolscopeError("backbone", model, "errors.no_config", file=CONFIG)
    return found


def _weights(model: str, folder: Path, there: Collection[str]) -> tuple[str, ...]:
    """Files of weights to download: the one or, where it is split, its parts."""
    names = weight_files(there.__contains__, lambda: read_object(folder / INDEX))
    if not names and INDEX not in there:
        raise PoolscopeError("backbone", model, "errors.no_weights")
    if not names:
        raise PoolscopeError("backbone", model, "errors.no_parts", file=INDEX)
    return names


def _check_vocabulary(model: str, names: Collection[str]) -> None:
    """Refuse a model of which no tokenizer can be made that tells where in a text a token stands."""
    held = [name for name in VOCABULARIES if name in names]
    if not held:
        raise PoolscopeError("backbone", model, "errors.no_tokenizer")
    protobuf = find_spec("google") is not None and find_spec("google.protobuf") is not None
    if all(name.endswith(".model") for name in held) and not (find_spec("sentencepiece") and protobuf):
        raise PoolscopeError("backbone", model, "errors.slow_tokenizer", file=held[0])


def _licence(info: ModelInfo) -> str:
    stated: Any = info.card_data.license if info.card_data else None
    text = ", ".join(map(str, stated)) if isinstance(stated, list) else str(stated or "")
    return text if len(text) <= 60 else f"{text[:59]}…"
