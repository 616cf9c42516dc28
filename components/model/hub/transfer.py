"""One file from the hub into the cache: taken up where it was left, and kept only if its hash is right."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

import httpx2
from filelock import FileLock, Timeout
from huggingface_hub import hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

from components.errors import PoolscopeError
from components.model.hub.cache import snapshot_folder
from components.model.hub.listing import HubFile
from components.model.hub.web import SLOW, HubUnreachableError, opened, refusal
from components.model.internals.hub_internals import lock_file, model_folder

LEAST, WITHIN = 300_000, 60.0  # bytes that come in so many seconds, or the hub is given up
TRIES = 3  # in a row that bring nothing
PASSING = (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError)

Moved = Callable[[int], None]  # is told how many bytes of the file are here, and may raise to stop


class Pace:
    """How fast a file comes, whatever the number of its requests: a byte a second would take for ever."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._since, self._came = time.monotonic(), 0

    def came(self, count: int) -> None:
        """So many bytes more; PoolscopeError where there were too few in their time."""
        self._came += count
        now = time.monotonic()
        if now - self._since < WITHIN:
            return
        if self._came < LEAST:
            raise HubUnreachableError("backbone", self._model, SLOW)
        self._since, self._came = now, 0


def bring(model: str, commit: str, file: HubFile, moved: Moved, patience: float) -> None:
    """Make ``file`` part of the snapshot of ``commit``; at once if the cache holds it already.

    What comes is written beside the cache's blobs, under a name that nothing reads, and becomes a blob by one
    renaming when its length and its hash are those of the listing. ``patience``: seconds without a byte.
    """
    blob = model_folder(model) / "blobs" / file.digest
    lock = lock_file(model, file.digest)
    for folder in (blob.parent, lock.parent):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=patience):  # other programs download into this cache, too
            if not held(blob, file):
                partial = _partial(blob)
                _fill(hf_hub_url(model, file.name, revision=commit), model, file, partial, moved, patience)
                _keep(model, file, partial, blob)
            _point(snapshot_folder(model, commit) / file.name, blob)
    except Timeout as error:
        raise PoolscopeError("backbone", model, "errors.fetching") from error
    moved(file.size)


def present(model: str, commit: str, file: HubFile) -> int:
    """How many bytes of a file are here, whole or in part."""
    blob = model_folder(model) / "blobs" / file.digest
    if held(blob, file) or held(snapshot_folder(model, commit) / file.name, file):
        return file.size
    partial = _partial(blob)
    return min(partial.stat().st_size, file.size) if partial.is_file() else 0


def held(kept: Path, file: HubFile) -> bool:
    """Whether the cache has a file under this name, as long as it should be."""
    return kept.is_file() and kept.stat().st_size == file.size


def _partial(blob: Path) -> Path:
    return blob.with_name(f"{blob.name}.poolscope.incomplete")


def _fill(url: str, model: str, file: HubFile, partial: Path, moved: Moved, patience: float) -> None:
    """Bring ``partial`` to its full length; after a cut, again from where it stopped."""
    tries, pace = 0, Pace(model)
    while (before := partial.stat().st_size if partial.is_file() else 0) != file.size:
        try:
            _stream(url, model, file, partial, moved, patience, pace)
        except PASSING as error:
            brought = partial.is_file() and partial.stat().st_size > before
            tries = 0 if brought else tries + 1
            if tries >= TRIES:
                raise refusal(model, error) from error
        except HfHubHTTPError as error:
            if error.response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise _wrong(model, partial) from error
            raise refusal(model, error) from error
        except (httpx2.HTTPError, OfflineModeIsEnabled) as error:
            raise refusal(model, error) from error


def _stream(
    url: str, model: str, file: HubFile, partial: Path, moved: Moved, patience: float, pace: Pace
) -> None:
    """Append what one request brings."""
    with partial.open("ab") as out:
        here = out.tell()
        if here > file.size:
            out.truncate(0)  # nothing of ours
            here = 0
        with opened(url, patience, here) as response:
            if here and response.status_code != HTTPStatus.PARTIAL_CONTENT:
                out.truncate(0)  # the whole file comes, whatever was asked for
                here = 0
            for piece in response.iter_bytes():
                here += len(piece)
                if here > file.size:
                    raise _wrong(model, partial)
                out.write(piece)
                moved(here)
                pace.came(len(piece))
    if here < file.size:  # an end in good order, but too early
        raise _wrong(model, partial)


def _keep(model: str, file: HubFile, partial: Path, blob: Path) -> None:
    """Give a partial file its name among the blobs, if it is what the listing says."""
    with partial.open("rb") as whole:
        digest = hashlib.sha1(b"blob %d\0" % file.size) if len(file.digest) == 40 else hashlib.sha256()
        if hashlib.file_digest(whole, lambda: digest).hexdigest() != file.digest:
            raise _wrong(model, partial)
        os.fsync(whole.fileno())
    partial.replace(blob)


def _point(name: Path, blob: Path) -> None:
    """Let a snapshot have a blob under a file's name, as huggingface_hub does."""
    if name.is_file() and name.stat().st_size == blob.stat().st_size:
        return
    name.parent.mkdir(parents=True, exist_ok=True)
    name.unlink(missing_ok=True)
    name.symlink_to(os.path.relpath(blob, name.parent))


def _wrong(model: str, partial: Path) -> PoolscopeError:
    partial.unlink(missing_ok=True)
    return PoolscopeError("backbone", model, "errors.hub_wrong")
