"""Hub: the models of the hub that this server knows of, whether they can be had here, and how they come.

Which is decided before anything large is downloaded. huggingface_hub downloads into its own cache, in a
process of its own that can be killed: `main`. A download that is cancelled keeps the files that are whole.
"""

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from cachetools import LRUCache
from huggingface_hub import HfApi, constants, errors, hf_hub_download, snapshot_download
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import tqdm, validate_repo_id  # type: ignore[attr-defined]  # documented

from components.errors import PoolscopeError
from components.model import adapter, files
from components.model.files import RefusalError
from components.texts import in_bytes, read_toml
from components.types import BackboneSpec, Progress

SECONDS = 10.0  # without any news from the hub
Parts = tuple[tuple[RepoSibling, ...], tuple[RepoSibling, ...]]
KNOWN = read_toml(Path(__file__).with_suffix(".toml"))
UNREADABLE = "errors.hub_unreadable"
TICK = 0.2  # seconds between two reports of progress
LICENCE = 60  # characters
SPARE = 500_000_000  # bytes of the disk that stay free
LONGEST_ADDRESS = 500  # characters
Classifies = Callable[[str], bool]  # whether transformers classifies texts with a type of model


@dataclass(frozen=True)
class Listing:
    """Model that can be had at one commit.

    ``parts``: what the hub says of the small files that are read with it, and of its weights.
    """

    model: str
    commit: str
    parts: Parts
    licence: str
    private: bool

    @property
    def files(self) -> tuple[RepoSibling, ...]:
        """All of its files, the weights last."""
        return self.parts[0] + self.parts[1]

    @property
    def size(self) -> int:
        """All of its files, in bytes."""
        return sum(file.size or 0 for file in self.files)

    def present(self) -> int:
        """Bytes of the files that are whole in the cache."""
        whole = (file for file in self.files if files.cached(self.model, self.commit, file.rfilename))
        return sum(file.size or 0 for file in whole)


def checked_id(given: object) -> str:
    """``given`` if it has the form of a hub id; PoolscopeError says which form is wanted.

    A pasted address of a model's page is refused with the id to type instead.
    """
    text, inside = given if isinstance(given, str) else "", None
    with suppress(errors.HFValidationError):
        validate_repo_id(text)
        return text
    if len(text) <= LONGEST_ADDRESS and text.startswith(("https://", "http://")):
        with suppress(ValueError):  # such as an unfinished IPv6 address, or a path that is no id
            path = "/".join([part for part in urlsplit(text).path.split("/") if part][:2])
            validate_repo_id(path)
            inside = path
    raise PoolscopeError("backbone", given, "errors.id_instead" if inside else "errors.id", id=inside)


@contextmanager
def hub_errors(model: str) -> Iterator[None]:
    """Turn whatever huggingface_hub raises inside into a PoolscopeError about ``model``."""
    try:
        yield
    except PoolscopeError:
        raise
    except Exception as raised:  # an answer of the hub may make the library raise anything
        error, values = raised, dict[str, object]()
        if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
            error = error.__cause__  # the library's way to say that the cache has no copy, either
        names = (kind.__name__ for kind in type(error).__mro__)
        key = next((KNOWN["raised"][name] for name in names if name in KNOWN["raised"]), UNREADABLE)
        if key == UNREADABLE and isinstance(error, errors.HfHubHTTPError):
            status = error.response.status_code
            key, values = KNOWN["statuses"].get(str(status), "errors.hub_trouble"), {"status": status}
        elif key == UNREADABLE and isinstance(error, OSError):
            key = "errors.unkept" if error.strerror else "errors.hub_wrong"  # another length than was listed
            values = {"reason": error.strerror}
        raise PoolscopeError("backbone", model, key, **values) from raised


def listed(model: str, revision: str | None, largest: int, known: Classifies) -> Listing:
    """Ask the hub for a model at a commit, or a branch; ``largest``: bytes; ``known``: types it may have."""
    with hub_errors(model), TemporaryDirectory() as place:
        info = HfApi().model_info(model, revision=revision, files_metadata=True, timeout=SECONDS)
        there = {each.rfilename: each for each in info.siblings or ()}
        sized = all(isinstance(each.size, int) and each.size >= 0 for each in there.values())
        if not sized or files.COMMIT.fullmatch(str(info.sha)) is None:
            raise PoolscopeError("backbone", model, UNREADABLE)
        parts = _parts(model, str(info.sha), there, Path(place))
        check_config(model, Path(place), known)  # may have to wait for transformers, no fault of the hub
        stated: Any = files.read_object(Path(place) / files.ADAPTER)
        base = adapter.base_name(stated) if files.adapts(files.body(Path(place))) else ""
        hidden = bool(base) and bool(HfApi().model_info(base, timeout=SECONDS).private)
    needed = (*files.VOCABULARIES, *((files.ADAPTER,) if base else ()))
    if not any(file.rfilename.rpartition("/")[2] in needed for file in parts[0]):
        raise PoolscopeError("backbone", model, "errors.no_tokenizer")
    stated = info.card_data.license if info.card_data else None
    licence = ", ".join(map(str, stated)) if isinstance(stated, list) else str(stated or "")
    licence = licence if len(licence) <= LICENCE else f"{licence[: LICENCE - 1]}…"
    found = Listing(model, str(info.sha), parts, licence, bool(info.private) or hidden)
    if found.size > largest:
        size, most = in_bytes(found.size), in_bytes(largest)
        raise PoolscopeError("backbone", model, "errors.large", size=size, largest=most)
    return found


def _parts(model: str, commit: str, there: Mapping[str, RepoSibling], place: Path) -> Parts:
    """Find what is to be had of the files that are ``there``.

    They stand in ``place`` as in a checkpoint's folder, empty but for those that are read now.
    """

    def read(file: Path) -> None:
        if file.is_file():
            name = file.relative_to(place).as_posix()
            if (there[name].size or 0) > files.LARGEST:
                raise PoolscopeError("backbone", model, "errors.hub_long", most=files.LARGEST)
            file.unlink()  # where the hub does not answer, the library would take the empty one
            hf_hub_download(model, name, revision=commit, local_dir=place)

    def known(wanted: Iterable[Path]) -> tuple[RepoSibling, ...]:
        found = dict.fromkeys(filter(Path.is_file, wanted))
        return tuple(there[file.relative_to(place).as_posix()] for file in found)

    for file in (place / name for name in there if files.PLAIN.fullmatch(name)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    read(place / files.MODULES)
    body = files.body(place)
    if (place / files.ADAPTED).is_file() and not (body / files.CONFIG).is_file():
        read(place / files.ADAPTER)
        small = (place / name for name in (files.ADAPTER, *files.TOKENIZER_FILES))
        return known(small), known([place / files.ADAPTED])
    if not (body / files.CONFIG).is_file():
        raise PoolscopeError("backbone", model, "errors.no_config", file=files.CONFIG)
    for name in (files.CONFIG, files.TOKENIZER_CONFIG, files.INDEX):
        read(body / name)
    weights = files.weights_in(body)
    if not weights:
        key = "errors.no_parts" if (body / files.INDEX).is_file() else "errors.no_weights"
        raise PoolscopeError("backbone", model, key, file=files.INDEX)
    index = () if weights == (body / files.WEIGHTS,) else (files.INDEX,)
    named = (body / name for name in (files.CONFIG, *files.TOKENIZER_FILES, *index))
    small = (file for file in (*named, *files.declaring_files(place)) if file not in weights)
    return known(small), known(weights)


def check_config(model: str, folder: Path, known: Classifies) -> None:
    """Refuse what the small files in ``folder`` show to be impossible, or would be refused when loaded."""
    place = files.body(folder)
    adapts = files.adapts(place)
    config, tokenizer = (files.read_object(place / name) for name in (files.CONFIG, files.TOKENIZER_CONFIG))
    try:
        if adapts:
            stated = files.read_object(folder / files.ADAPTER)
            adapter.check_adapter(stated)
            if files.newest_snapshot(adapter.base_name(stated)) is None:
                raise RefusalError("refusals.base", base=adapter.base_name(stated))
        else:
            files.check_stated(config, known)
        files.check_keys(files.TOKENIZER_CONFIG, tokenizer)
    except RefusalError as error:
        raise PoolscopeError("backbone", model, "errors.refused", reason=error.sentence) from error
    kind: Any = config.get("model_type")
    if not (adapts or isinstance(kind, str)):
        raise PoolscopeError("backbone", model, "errors.no_type", file=files.CONFIG)
    if not (adapts or known(kind)):
        raise PoolscopeError("backbone", model, "errors.no_classes", type=repr(kind[:40]))


@dataclass(eq=False)
class _Download:
    """Download with its number of ``subscribers``; the Downloads' lock guards them, and its end."""

    listing: Listing
    process: subprocess.Popen[bytes]
    done: int
    subscribers: int = 0
    over: Future[None] = field(default_factory=Future)


class Downloads:
    """Downloads of models, each once however many subscribe, at most ``most`` at a time. Thread-safe."""

    def __init__(self, most: int = 3) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._running: dict[tuple[str, str], _Download] = {}  # by the model and its commit

    def fetch(self, listing: Listing) -> Iterator[Progress]:
        """Wait for a model to be here, and yield how far it is; PoolscopeError says why it failed.

        Closing the iterator unsubscribes; the download is cancelled when the last subscriber closes.
        """
        download = self._subscribe(listing)
        try:
            while not wait([download.over], TICK).done:
                yield Progress(download.done, listing.size)
            download.over.result()
            yield Progress(listing.size, listing.size)
        finally:
            with self._lock:
                download.subscribers -= 1
                if not download.subscribers and download.over.cancel():
                    del self._running[listing.model, listing.commit]  # nobody can subscribe to it any more
                    _cancel(download.process)

    def _subscribe(self, listing: Listing) -> _Download:
        with self._lock:
            download = self._running.get((listing.model, listing.commit))
            if download is None:
                self._check_room(listing)
                download = _Download(listing, _begun(listing), listing.present())
                self._running[listing.model, listing.commit] = download
                threading.Thread(target=self._follow, args=(download,), name="download", daemon=True).start()
            download.subscribers += 1
            return download

    def _check_room(self, listing: Listing) -> None:
        if len(self._running) >= self._most:
            raise PoolscopeError("backbone", listing.model, "errors.downloads", most=self._most)
        with hub_errors(listing.model):
            cache = Path(constants.HF_HUB_CACHE)
            cache.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(cache).free - SPARE
        free -= sum(other.listing.size - other.done for other in self._running.values())
        missing = listing.size - listing.present()
        if missing > free:
            sizes = {"size": in_bytes(missing), "free": in_bytes(max(free, 0))}
            raise PoolscopeError("backbone", listing.model, "errors.room", **sizes)

    def _follow(self, download: _Download) -> None:
        """Take down what the process reports, until it ends: bytes that were written, or why it failed."""
        listing, process, error = download.listing, download.process, None
        assert process.stdout is not None
        with process.stdout as pipe, suppress(EOFError, pickle.UnpicklingError):  # it ended, or was killed
            while True:
                report = pickle.load(pipe)
                if isinstance(report, PoolscopeError):
                    error = report
                else:
                    download.done = min(download.done + report, listing.size)
        code = process.wait()
        if error is None and files.snapshot(listing.model, listing.commit) is None:
            error = PoolscopeError("backbone", listing.model, "errors.unkept", reason=f"exit {code}")
        with self._lock:
            if download.over.cancelled():
                return
            del self._running[listing.model, listing.commit]
            if error is None:
                download.over.set_result(None)
            else:
                download.over.set_exception(error)


def _begun(listing: Listing) -> subprocess.Popen[bytes]:
    """Process that downloads the files of ``listing`` that are not in the cache."""
    parts = [{one.rfilename: one.lfs.sha256 if one.lfs else None for one in part} for part in listing.parts]
    asked = json.dumps([listing.model, listing.commit, parts])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", f"from {__name__} import main; main()", asked]
    return subprocess.Popen(program, stdout=subprocess.PIPE, env=environment)


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
    """Models that are found by their ids. Several threads may ask; none waits for another's network."""

    def __init__(self, largest: int, known: Classifies) -> None:
        self._largest = largest
        self._classifies = known
        self._downloads = Downloads()
        self._lock = threading.Lock()
        self._found: LRUCache[str, tuple[BackboneSpec, Listing | None]] = LRUCache(100)  # by id

    def known(self, model: object) -> BackboneSpec | None:
        """Backbone that was found under this id, or None."""
        with self._lock:
            found = self._found.get(model) if isinstance(model, str) else None
        return None if found is None else found[0]

    def find(self, given: object) -> BackboneSpec:
        """Find the model of an id that a visitor typed, pinned to a commit; PoolscopeError: there is none.

        A model on this machine keeps its commit. If the hub cannot be reached, what it once gave is enough.
        """
        model = checked_id(given)
        known = self.known(model)
        if known is not None and files.snapshot(model, known.revision or ""):
            return known
        facts: dict[str, Any] = {"available": False}
        listing = None
        try:
            listing = listed(model, None, self._largest, self._classifies)
        except PoolscopeError as error:
            kept = files.newest_snapshot(model) if error.key in KNOWN["passing"] else None
            if kept is None:
                raise
            check_config(model, kept, self._classifies)
            facts |= {"revision": kept.name}
        else:
            if listing.private:
                raise PoolscopeError("backbone", model, "errors.private")
            facts |= {"revision": listing.commit, "licence": listing.licence, "size": listing.size}
        spec = BackboneSpec(model, model, "", "", "hub", model, **facts)
        with self._lock:
            self._found[model] = spec, listing
        return spec

    def fetch(self, spec: BackboneSpec) -> Generator[Progress]:
        """Download a model; ends at once where it is on this machine. See `Downloads.fetch`."""
        if files.folder(spec):
            return
        with self._lock:
            known, listing = self._found.get(spec.key, (None, None))
        if listing is None or known is None or known.revision != spec.revision:
            listing = listed(spec.location, spec.revision, self._largest, self._classifies)
        yield from self._downloads.fetch(listing)


class _Reported(tqdm):
    """Progress bar that draws nothing, and reports the bytes that were written."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self._written = named.get("name") == "huggingface_hub.snapshot_download"  # bytes on the disk
        super().__init__(*args, **named | {"disable": True})  # type: ignore[no-untyped-call]  # as its class

    def update(self, n: float | None = 1) -> None:
        """Report ``n`` bytes more."""
        if self._written:
            sys.stdout.buffer.write(pickle.dumps(int(n or 0)))
            sys.stdout.buffer.flush()


def main() -> None:
    """Download the files of a model at a commit, those of each part together, and check their hashes.

    Of a file that is another one than the hub lists nothing is kept.
    """
    model, commit, parts = json.loads(sys.argv[1])
    try:
        with hub_errors(model):
            for part in parts:
                wanted: Any = {"allow_patterns": list(part), "tqdm_class": _Reported}
                place = Path(snapshot_download(model, revision=commit, **wanted))
                for file, sha256 in ((place / name, each) for name, each in part.items() if each):
                    with file.open("rb") as whole:
                        found = hashlib.file_digest(whole, "sha256").hexdigest()
                    if found != sha256:
                        file.resolve().unlink()
                        file.unlink()
                        raise PoolscopeError("backbone", model, "errors.hub_wrong")
    except PoolscopeError as error:
        sys.stdout.buffer.write(pickle.dumps(error))
