"""What the hub says of a model, and whether it can be had: decided before anything large is loaded."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote

from huggingface_hub import hf_hub_url
from pydantic import BaseModel, Field, NonNegativeInt, ValidationError

from components.errors import PoolscopeError
from components.model.checkpoint_files import (
    CONFIG,
    INDEX,
    LARGEST,
    MODULES,
    TOKENIZER_CONFIG,
    TOKENIZER_FILES,
    WEIGHTS,
    JsonObject,
    module_files,
    parse_object,
    weight_files,
)
from components.model.hub.cache import COMMIT
from components.model.hub.fit import (
    Classifies,
    check_config,
    check_tokenizer_config,
    check_vocabulary,
    classifies,
)
from components.model.hub.web import UNREADABLE, small
from components.model.internals.hub_internals import endpoint
from components.texts import in_bytes

SECONDS = 20.0  # for all that is asked about a model
LISTING = 20_000_000  # bytes, as is the next one: some models have thousands of files,
SETTINGS = LARGEST  # some configs hundreds of labels, and an index a line for every tensor


class _Large(BaseModel):
    """A large file in the hub's answer: what stands for it in git is a pointer."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: NonNegativeInt


class _Entry(BaseModel):
    """A file in the hub's answer; ``blob`` is git's name for its content."""

    name: str = Field(alias="rfilename")
    size: NonNegativeInt | None = None
    blob: str | None = Field(None, alias="blobId", pattern=r"^[0-9a-f]{40}$")
    large: _Large | None = Field(None, alias="lfs")


class _Answer(BaseModel):
    """The hub's answer, as far as it is read."""

    commit: str = Field(alias="sha", pattern=rf"^{COMMIT.pattern}$")
    private: bool = False
    card: dict[str, object] | None = Field(None, alias="cardData")
    entries: tuple[_Entry, ...] = Field(alias="siblings")


@dataclass(frozen=True)
class HubFile:
    """One file: ``size`` in bytes; ``digest`` is its sha256, or git's sha1 for a small one."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class Listing:
    """A model that can be had: what has to be here of it at one commit, its config last."""

    model: str
    commit: str
    files: tuple[HubFile, ...]
    licence: str = ""
    private: bool = False

    @property
    def size(self) -> int:
        """All of its files, in bytes."""
        return sum(file.size for file in self.files)


def listed(model: str, revision: str | None, largest: int, known: Classifies = classifies) -> Listing:
    """Ask the hub for a model at a commit, or where its branch stands now.

    ``largest``: bytes that may be downloaded. ``known``: whether a type of model can classify texts.
    PoolscopeError says why it cannot be had, and what could.
    """
    until = time.monotonic() + SECONDS
    answer = _ask(model, revision, until)
    commit, there = answer.commit, {entry.name: entry for entry in answer.entries}
    if CONFIG not in there:
        raise PoolscopeError("backbone", model, "errors.no_config", file=CONFIG)
    config = _read(model, commit, CONFIG, SETTINGS, until)
    tokenizer: JsonObject = {}
    if TOKENIZER_CONFIG in there:
        tokenizer = _read(model, commit, TOKENIZER_CONFIG, SETTINGS, until)
    weights = _weights(model, commit, there, until)
    check_config(model, config, known)  # may have to wait for transformers, which is no fault of the hub
    check_vocabulary(model, there)
    check_tokenizer_config(model, tokenizer)
    declaring: tuple[str, ...] = ()
    if MODULES in there:
        said = small(hf_hub_url(model, MODULES, revision=commit), model, SETTINGS, until)
        declaring = (MODULES, *module_files(said, there))
    needed = (*weights, *(name for name in TOKENIZER_FILES if name in there), *declaring, CONFIG)
    files = tuple(_file(model, there[name]) for name in needed)
    found = Listing(model, commit, files, _licence(answer.card or {}), answer.private)
    if found.size > largest:
        raise PoolscopeError(
            "backbone",
            model,
            "errors.large",
            size=in_bytes(found.size),
            largest=in_bytes(largest),
        )
    return found


def _ask(model: str, revision: str | None, until: float) -> _Answer:
    """What the hub says of a model, with the size and the hash of each file."""
    at = f"/revision/{quote(revision, safe='')}" if revision else ""
    url = f"{endpoint()}/api/models/{model}{at}?blobs=true"
    try:
        return _Answer.model_validate_json(small(url, model, LISTING, until))
    except ValidationError as error:
        raise PoolscopeError("backbone", model, UNREADABLE) from error


def _read(model: str, commit: str, name: str, most: int, until: float) -> JsonObject:
    return parse_object(small(hf_hub_url(model, name, revision=commit), model, most, until))


def _weights(model: str, commit: str, there: Collection[str], until: float) -> tuple[str, ...]:
    """What to bring of the weights: the one file or, where it is split, its parts and their index."""
    names = weight_files(there.__contains__, lambda: _read(model, commit, INDEX, SETTINGS, until))
    if names == (WEIGHTS,):
        return names
    if INDEX not in there:
        raise PoolscopeError("backbone", model, "errors.no_weights")
    if not names:
        raise PoolscopeError("backbone", model, "errors.no_parts", file=INDEX)
    return (*names, INDEX)


def _file(model: str, said: _Entry) -> HubFile:
    if said.large is not None:
        return HubFile(said.name, said.large.size, said.large.sha256)
    if said.size is None or said.blob is None:
        raise PoolscopeError("backbone", model, UNREADABLE)
    return HubFile(said.name, said.size, said.blob)


def _licence(card: dict[str, object]) -> str:
    stated = card.get("license")
    text = ", ".join(map(str, stated)) if isinstance(stated, list) else str(stated or "")
    return text if len(text) <= 60 else f"{text[:59]}…"
