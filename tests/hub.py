"""A stand-in for the hub: a local server of the few routes that huggingface_hub uses.

    with hub(folder) as there:                  # folder/org/name/config.json, ... is the model org/name
        there.environment(tmp_path)             # what a process of its own needs to use it: HF_ENDPOINT, ...
        there.until = there.sent + 20_000       # so many bytes of files more, and then none
        there.fault("config.json", status=500)  # for the next request that matches
        there.requests                          # what was asked so far

A model's commit is a hash of its files: who changes a file moves the branch, and the former commit stays.
Weights are kept as the hub keeps them, elsewhere: resolve redirects to them.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from pathlib import Path
from select import select
from typing import Any
from urllib.parse import unquote, urlsplit

PIECE = 4096  # bytes between two looks at how many may come
TICK = 0.02  # seconds between two looks at whether more may
ROUTES = (
    re.compile(r"/api/models/(?P<model>.+?)/(?P<route>tree)/(?P<revision>.+)"),
    re.compile(r"/api/models/(?P<model>.+?)(?:/revision/(?P<revision>.+))?"),
    re.compile(r"/(?P<model>.+?)/(?P<route>resolve)/(?P<revision>[^/]+)/(?P<name>.+)"),
)
LARGE = re.compile(r"\.(safetensors|bin)$")  # kept elsewhere, under its sha256


@dataclass(frozen=True)
class Request:
    """One request; ``token``: its header Authorization."""

    method: str
    path: str
    token: str


@dataclass
class Fault:
    """What happens to the next ``times`` requests whose path holds ``match``.

    ``status`` other than 200 answers with it alone. ``change`` makes another body of the right one.
    ``after`` is how many bytes come before no more do. ``held``: seconds before the answer begins.
    """

    match: str
    times: int
    status: int = 200
    code: str = ""
    after: int | None = None
    change: Callable[[bytes], bytes] = bytes
    held: float = 0.0


@dataclass(frozen=True)
class File:
    """What a file holds, with its ``sha256`` and the ``blob`` that git calls it by."""

    content: bytes
    sha256: str
    blob: str

    def told(self, name: str, route: str) -> dict[str, Any]:
        """What the listing of a route says of it: of "tree", or of "models"."""
        told: dict[str, Any] = {"size": len(self.content)}
        told |= {"path": name, "oid": self.blob} if route == "tree" else {"rfilename": name}
        if LARGE.search(name):
            hashed = {"oid": self.sha256, "sha256": self.sha256}
            told["lfs"] = {**hashed, "size": told["size"], "pointerSize": 134}
        return {"type": "file", "blobId": self.blob, **told}


@cache
def _file(file: Path, _time: int, _size: int) -> File:
    content = file.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return File(content, hashlib.sha256(content).hexdigest(), blob)


@dataclass
class Hub:
    """The server, as a test handles it."""

    folder: Path
    address: str = ""
    requests: list[Request] = field(default_factory=list)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)  # id -> what its listing says besides
    faults: list[Fault] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    sent: int = 0  # bytes of files, over all requests
    until: float = inf  # as many come, and no more
    quiet: threading.Condition = field(default_factory=threading.Condition)
    sending: int = 0  # answers with a file that are on their way
    _commits: dict[tuple[str, str], dict[str, File]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_quiet(self, within: float) -> bool:
        """Wait until no file is on its way; False where one still is after so many seconds."""
        with self.quiet:
            return self.quiet.wait_for(lambda: self.sending == 0, within)

    def environment(self, home: Path) -> dict[str, str]:
        """The variables that let a process of its own use this hub, with its cache under ``home``."""
        return {"HF_ENDPOINT": self.address, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}

    def has(self, model: str) -> bool:
        return any((self.folder / model).glob("*.json"))

    def commit(self, model: str) -> str:
        """Where the branch of a model stands now."""
        folder = self.folder / model
        found = {file: file.stat() for file in sorted(folder.rglob("*")) if file.is_file()}
        files = {
            str(file.relative_to(folder)): _file(file, of.st_mtime_ns, of.st_size)
            for file, of in found.items()
        }
        told = repr([(name, one.sha256) for name, one in files.items()])
        commit = hashlib.sha1(told.encode()).hexdigest()
        with self._lock:
            self._commits[model, commit] = files
        return commit

    def files(self, model: str, revision: str) -> tuple[str, dict[str, File]] | None:
        """The commit and files of a model there or at its branch; None where there is no such thing."""
        commit = self.commit(model) if revision == "main" and self.has(model) else revision
        files = self._commits.get((model, commit))
        return None if files is None else (commit, files)

    def blob(self, sha256: str) -> File | None:
        """A large file by its hash."""
        every = [one for files in self._commits.values() for one in files.values()]
        return next((one for one in every if one.sha256 == sha256), None)

    def fault(self, match: str, times: int = 1, **what: Any) -> None:
        """Answer the next requests otherwise than they should be: see `Fault`."""
        self.faults.append(Fault(match, times, **what))

    def asked(self, match: str, method: str = "GET") -> list[Request]:
        """The requests whose path holds ``match``."""
        return [asked for asked in self.requests if asked.method == method and match in asked.path]

    def noted(self, request: Request) -> Fault:
        """Remember a request, and say what is wrong with its answer: the first fault that is meant for it.

        Huggingface_hub also asks which programs use it, which is nothing about a model.
        """
        with self._lock:
            self.requests += [] if request.path == "/api/agent-harnesses" else [request]
            for fault in self.faults:
                if fault.match in request.path and fault.times > 0:
                    fault.times -= 1
                    return fault
        return Fault(request.path, 1)


@contextmanager
def hub(folder: Path) -> Iterator[Hub]:
    """Serve the checkpoints of ``folder`` on a free port of this machine."""
    there = Hub(folder)
    handler = type("Handler", (_Handler,), {"there": there})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        there.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield there
        finally:
            there.closing.set()
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    there: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits for the other side to confirm the headers

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        asked = Request(self.command, path, self.headers.get("Authorization", ""))
        self.fault = self.there.noted(asked)
        self.there.closing.wait(self.fault.held)
        try:
            if self.fault.status != 200:
                self._head(self.fault.status, {"X-Error-Code": self.fault.code} if self.fault.code else {})
            else:
                self._answer(path)
        except ConnectionError:
            self.close_connection = True  # who asked has left: that is their right

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_ignored: object) -> None:
        """Say nothing."""

    def _answer(self, path: str) -> None:
        there = self.there
        if match := re.fullmatch(r"/elsewhere/([0-9a-f]{64})/.+", path):
            file = there.blob(match[1])
            return self._body(file.content, {}) if file else self._head(404)
        match = next(filter(None, (route.fullmatch(path) for route in ROUTES)), None)
        if match is None:
            return self._head(404)
        asked = {"revision": None, "name": "", "route": "models"} | match.groupdict()
        model, route = asked["model"], asked["route"]
        found = there.files(model, asked["revision"] or "main")
        if found is None:
            known = route == "tree" or (there.has(model) and route != "resolve")
            status, code = (404, "RevisionNotFound") if known else (401, "RepoNotFound")
            return self._head(status, {"X-Error-Code": code})
        commit, files = found
        if route == "resolve":
            return self._resolve(asked["name"], commit, files)
        listed = [file.told(name, route) for name, file in files.items()]
        said = {"_id": "0", "id": model, "modelId": model, "sha": commit, "siblings": listed}
        said |= {"private": False, "gated": False, "tags": []} | there.said.get(model, {})
        content = json.dumps(listed if route == "tree" else said).encode()
        return self._body(content, {"Content-Type": "application/json"})

    def _resolve(self, name: str, commit: str, files: dict[str, File]) -> None:
        if (file := files.get(name)) is None:
            return self._head(404, {"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": f'"{file.blob}"', "X-Repo-Commit": commit}
        if not LARGE.search(name):
            return self._body(file.content, headers)
        elsewhere = self.there.address.replace("127.0.0.1", "localhost")  # no token goes to another host
        linked = {"X-Linked-Size": str(len(file.content)), "X-Linked-Etag": f'"{file.sha256}"'}
        return self._head(302, headers | linked | {"Location": f"{elsewhere}/elsewhere/{file.sha256}/{name}"})

    def _head(self, status: int, headers: dict[str, str] | None = None, length: int = 0) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self, content: bytes, headers: dict[str, str]) -> None:
        content, there = self.fault.change(content), self.there
        self._head(200, headers, len(content))
        if self.command == "GET":
            with there.quiet:
                there.sending += 1
            try:
                self._send(content)
            finally:
                with there.quiet:
                    there.sending -= 1
                    there.quiet.notify_all()

    def _send(self, content: bytes) -> None:
        there, after = self.there, self.fault.after
        stop = len(content) if after is None else min(after, len(content))
        for first in range(0, stop, PIECE):
            piece = content[first : min(first + PIECE, stop)]
            while there.sent >= there.until:
                if there.closing.is_set() or select([self.connection], [], [], TICK)[0]:
                    raise ConnectionAbortedError  # who asked has hung up
            self.wfile.write(piece)
            self.wfile.flush()
            there.sent += len(piece)
        if after is not None:
            there.closing.wait()
            self.close_connection = True
