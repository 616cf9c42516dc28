"""Hub: the models of the hub that this server knows of, and how they are downloaded.

huggingface_hub downloads into its own cache, in a process of its own that can be killed: this module, run as
a program. A download that is cancelled keeps the files that are whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cachetools import LRUCache
from huggingface_hub import constants, snapshot_download
from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]  # documented, not in __all__

from components.errors import PoolscopeError
from components.model.files import cached, folder, newest_commit, snapshot
from components.model.listing import (
    Classifies,
    HubUnreachableError,
    Listing,
    check_config,
    checked_id,
    classifies,
    hub_errors,
    listed,
)
from components.texts import in_bytes
from components.types import BackboneSpec, Progress

TICK = 0.2  # seconds between two reports of progress
SPARE = 500_000_000  # bytes of the disk that stay free
WRITTEN = "huggingface_hub.snapshot_download"  # its progress bar of the bytes on the disk


@dataclass(eq=False)
class _Download:
    """Download with its number of ``subscribers``; the Downloads' lock guards every field."""

    listing: Listing
    process: subprocess.Popen[bytes]
    done: int = 0
    subscribers: int = 0
    error: PoolscopeError | None = None
    over: threading.Event = field(default_factory=threading.Event)


class Downloads:
    """Downloads of models, each once however many subscribe, at most ``most`` at a time. Thread-safe."""

    def __init__(self, most: int = 3) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._running: dict[tuple[str, str], _Download] = {}

    def fetch(self, listing: Listing) -> Iterator[Progress]:
        """Wait for a model to be on this machine, and yield a few times a second how far it is.

        Closing the iterator unsubscribes; the download is cancelled when the last subscriber closes.
        PoolscopeError says why it failed.
        """
        download = self._subscribe(listing)
        try:
            while not download.over.wait(TICK):
                yield Progress(download.done, listing.size)
            if download.error is not None:
                raise download.error
            yield Progress(listing.size, listing.size)
        finally:
            with self._lock:
                download.subscribers -= 1
                if not download.subscribers and not download.over.is_set():
                    self._close(download)  # under the same lock: nobody can subscribe to what ends now
                    _cancel(download.process)

    def _subscribe(self, listing: Listing) -> _Download:
        """Subscribe to the download of a model that is under way, or begin one."""
        key = (listing.model, listing.commit)
        with self._lock:
            download = self._running.get(key)
            if download is None:
                self._check_room(listing)
                download = self._running[key] = _Download(listing, _begun(listing), _present(listing))
                threading.Thread(target=self._follow, args=(download,), name="download", daemon=True).start()
            download.subscribers += 1
            return download

    def _check_room(self, listing: Listing) -> None:
        """Refuse a download that does not fit among the others."""
        if len(self._running) >= self._most:
            raise PoolscopeError("backbone", listing.model, "errors.downloads", most=self._most)
        with hub_errors(listing.model):
            cache = Path(constants.HF_HUB_CACHE)
            cache.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(cache).free - SPARE
        free -= sum(other.listing.size - other.done for other in self._running.values())
        missing = listing.size - _present(listing)
        if missing > free:
            sizes = {"size": in_bytes(missing), "free": in_bytes(max(free, 0))}
            raise PoolscopeError("backbone", listing.model, "errors.room", **sizes)

    def _follow(self, download: _Download) -> None:
        """Take down what the process reports, until it ends."""
        for report in _reports(download.process):
            with self._lock:
                if isinstance(report, PoolscopeError):
                    download.error = report
                else:
                    download.done = min(download.done + report, download.listing.size)
        code, listing = download.process.wait(), download.listing
        with self._lock:
            if download.error is None and snapshot(listing.model, listing.commit) is None:
                reason = f"exit {code}"
                download.error = PoolscopeError("backbone", listing.model, "errors.unkept", reason=reason)
            self._close(download)

    def _close(self, download: _Download) -> None:
        if self._running.get((download.listing.model, download.listing.commit)) is download:
            del self._running[download.listing.model, download.listing.commit]
        download.over.set()


def _present(listing: Listing) -> int:
    """Bytes of the files that are whole in the cache."""
    return sum(file.size for file in listing.files if cached(listing.model, listing.commit, file.name))


def _begun(listing: Listing) -> subprocess.Popen[bytes]:
    """Process that downloads the files of ``listing`` that are not in the cache."""
    parts = [{file.name: file.sha256 for file in part} for part in (listing.small, listing.weights)]
    asked = json.dumps([listing.model, listing.commit, parts])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-m", __name__, asked], stdout=subprocess.PIPE, env=environment)


def _reports(process: subprocess.Popen[bytes]) -> Iterator[int | PoolscopeError]:
    """Bytes that were written since the last report, or why the download failed, as the process sends it."""
    assert process.stdout is not None
    with process.stdout as pipe, suppress(EOFError, pickle.UnpicklingError):  # it ended, or was killed
        while True:
            yield pickle.load(pipe)


def _cancel(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and remove the half of a file that it leaves: the library never goes on with one."""
    halves = []
    with suppress(OSError):  # Linux alone says which files a process has open
        opened = [each.readlink() for each in Path(f"/proc/{process.pid}/fd").iterdir()]
        halves = [each for each in opened if each.suffix == ".incomplete"]
    process.kill()
    for half in halves:
        half.unlink(missing_ok=True)


class Hub:
    """Models that are found by their ids. Several threads may ask; none waits for another's network.

    ``largest``: bytes that one model may take. ``capacity``: how many ids are remembered; the least recently
    used leaves first. ``known``: whether transformers classifies texts with a type of model.
    """

    def __init__(self, largest: int, capacity: int = 100, known: Classifies = classifies) -> None:
        self._largest = largest
        self._classifies = known
        self._downloads = Downloads()
        self._lock = threading.Lock()
        self._found: LRUCache[str, tuple[BackboneSpec, Listing | None]] = LRUCache(capacity)

    def known(self, model: object) -> BackboneSpec | None:
        """Backbone that was found under this id, or None."""
        found = self._recall(model)
        return found[0] if found else None

    def find(self, given: object) -> BackboneSpec:
        """Find the model of an id that a visitor typed, pinned to a commit; PoolscopeError: there is none.

        A model on this machine stays at the commit that it has. If the hub cannot be reached, what it once
        gave is enough.
        """
        model = checked_id(given)
        known = self.known(model)
        if known is not None and snapshot(model, known.revision or ""):
            return known
        try:
            listing = listed(model, None, self._largest, self._classifies)
        except HubUnreachableError:
            commit = newest_commit(model)
            kept = snapshot(model, commit) if commit else None
            if commit is None or kept is None:
                raise
            check_config(model, kept, self._classifies)
            return self._remember(_spec(model, commit), None)
        if listing.private:
            raise PoolscopeError("backbone", model, "errors.private")
        return self._remember(_spec(model, listing.commit, listing.licence, listing.size), listing)

    def fetch(self, spec: BackboneSpec) -> Generator[Progress]:
        """Download a model; ends at once where it is on this machine. See `Downloads.fetch`."""
        if folder(spec):
            return
        found = self._recall(spec.key)
        known = found[1] if found and found[0].revision == spec.revision else None
        asked = (spec.location, spec.revision, self._largest, self._classifies)
        yield from self._downloads.fetch(known or listed(*asked))

    def _recall(self, model: object) -> tuple[BackboneSpec, Listing | None] | None:
        with self._lock:
            return self._found.get(model) if isinstance(model, str) else None

    def _remember(self, spec: BackboneSpec, listing: Listing | None) -> BackboneSpec:
        with self._lock:
            self._found[spec.key] = (spec, listing)
        return spec


def _spec(model: str, commit: str, licence: str = "", size: int | None = None) -> BackboneSpec:
    """Backbone of a typed id, which is its own key and title."""
    facts: dict[str, Any] = {"available": False, "licence": licence, "size": size}
    return BackboneSpec(model, model, "", "", "hub", model, revision=commit, **facts)


def _report(report: int | PoolscopeError) -> None:
    """Send a report to the process that began this one."""
    sys.stdout.buffer.write(pickle.dumps(report))
    sys.stdout.buffer.flush()


class _Reported(tqdm):
    """Progress bar that draws nothing, and reports the bytes that were written."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self._written = named.get("name") == WRITTEN
        super().__init__(*args, **named | {"disable": True})  # type: ignore[no-untyped-call]  # as its class

    def update(self, n: float | None = 1) -> None:
        """Report ``n`` bytes more."""
        if self._written:
            _report(int(n or 0))


def main() -> None:
    """Download the files of a model at a commit, those of each part together, and check their hashes."""
    model, commit, parts = json.loads(sys.argv[1])
    try:
        with hub_errors(model):
            for part in parts:
                place = snapshot_download(
                    model, revision=commit, allow_patterns=list(part), tqdm_class=_Reported
                )
                for name, sha256 in part.items():
                    _check_hash(model, Path(place) / name, sha256)
    except PoolscopeError as error:
        _report(error)


def _check_hash(model: str, file: Path, sha256: str | None) -> None:
    """Refuse a file that is another one than the hub lists, and keep nothing of it."""
    with file.open("rb") as whole:
        if sha256 in (None, hashlib.file_digest(whole, "sha256").hexdigest()):
            return
    file.resolve().unlink()
    file.unlink()
    raise PoolscopeError("backbone", model, "errors.hub_wrong")


if __name__ == "__main__":
    main()
