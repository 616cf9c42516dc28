"""Downloads under way: one for each model, whatever the number of its subscribers."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from components.errors import PoolscopeError
from components.model.hub.listing import HubFile, Listing
from components.model.hub.transfer import bring, present
from components.model.hub.web import PATIENCE
from components.model.internals.hub_internals import cache_folder
from components.texts import in_bytes
from components.types import Progress

TICK = 0.2  # seconds between two looks at a download
SPARE = 500_000_000  # bytes of the disk that stay free


class _Cancelled(Exception):  # noqa: N818 (nothing is wrong)
    """The last subscriber of this download has closed."""


@dataclass(eq=False)
class _Download:
    """One download with its number of ``subscribers``; the Downloads' lock guards every field."""

    listing: Listing
    done: int = 0
    subscribers: int = 0
    error: Exception | None = None
    changed: threading.Event = field(default_factory=threading.Event)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return Progress(self.done, self.listing.size)


@contextmanager
def _disk_errors(model: str) -> Iterator[None]:
    """Turn an error of the disk into a message for the visitor who asked for ``model``."""
    try:
        yield
    except OSError as error:
        raise PoolscopeError("backbone", model, "errors.unkept", reason=error.strerror) from error


class Downloads:
    """Fetches models into huggingface_hub's cache, at most ``most`` at a time. Several threads may ask.

    ``patience``: seconds that the hub may send nothing.
    """

    def __init__(self, most: int = 3, patience: float = PATIENCE) -> None:
        self._most = most
        self._patience = patience
        self._lock = threading.Lock()
        self._running: dict[tuple[str, str], _Download] = {}

    def fetch(self, listing: Listing) -> Iterator[Progress]:
        """Wait for a model to be here, and say a few times a second how far it is.

        A second caller subscribes to the same download. Closing the iterator unsubscribes; the download is
        cancelled when the last subscriber closes, and what came stays for the next one. PoolscopeError says
        why it failed.
        """
        with _disk_errors(listing.model):
            download = self._subscribe(listing)
        try:
            while not download.changed.wait(TICK):
                yield download.progress
            if download.error is not None:
                raise download.error
            yield download.progress
        finally:
            with self._lock:
                download.subscribers -= 1

    def _subscribe(self, listing: Listing) -> _Download:
        """The download of a model that is under way, or a new one."""
        key = (listing.model, listing.commit)
        with self._lock:
            download = self._running.get(key)
            if download is None:
                self._check_room(listing)
                download = _Download(listing)
                threading.Thread(target=self._run, args=(download,), name="download", daemon=True).start()
                self._running[key] = download  # the thread needs the lock before it can end
            download.subscribers += 1
            return download

    def _check_room(self, listing: Listing) -> None:
        """Refuse a download that does not fit among the others."""
        if len(self._running) >= self._most:
            raise PoolscopeError("backbone", listing.model, "errors.downloads", most=self._most)
        coming = sum(other.listing.size - other.done for other in self._running.values())
        missing = sum(file.size - present(listing.model, listing.commit, file) for file in listing.files)
        cache = cache_folder()
        cache.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(cache).free - coming - SPARE
        if missing > free:
            raise PoolscopeError(
                "backbone",
                listing.model,
                "errors.room",
                size=in_bytes(missing),
                free=in_bytes(max(free, 0)),
            )

    def _run(self, download: _Download) -> None:
        listing, before = download.listing, 0
        try:
            for file in listing.files:
                self._bring(download, file, before)
                before += file.size
        except _Cancelled:
            pass  # what came stays for the next one
        except OSError as error:
            reason = error.strerror
            download.error = PoolscopeError("backbone", listing.model, "errors.unkept", reason=reason)
            download.error.__cause__ = error
        except Exception as error:
            download.error = error  # raised in the subscribers' threads
        finally:
            with self._lock:
                self._close(download)

    def _bring(self, download: _Download, file: HubFile, before: int) -> None:
        def moved(here: int) -> None:
            with self._lock:
                download.done = before + here
                if not download.subscribers:
                    self._close(download)  # under the same lock: nobody can subscribe to what is about to end
                    raise _Cancelled

        bring(download.listing.model, download.listing.commit, file, moved, self._patience)

    def _close(self, download: _Download) -> None:
        if self._running.get((download.listing.model, download.listing.commit)) is download:
            del self._running[download.listing.model, download.listing.commit]
        download.changed.set()
