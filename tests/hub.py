"""A stand-in for the hub: a local server of the few routes that huggingface_hub uses.

    with hub(folder) as there:                  # folder/org/name/config.json, ... is the model org/name
        there.environment(tmp_path)             # what a process of its own needs to use it: HF_ENDPOINT, ...
        there.speed = 20_000                    # bytes a second from now on, for every file
        there.going.clear()                     # not a byte from now on, until there.going.set()
        there.refuse("config.json", 500)        # each of these is for the next `times` requests that match
        there.requests                          # what was asked so far

A model's commit is a hash of its files: who changes a file moves the branch, and the former commit stays.
Weights are kept as the hub keeps them, elsewhere: resolve redirects to them.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

Files = dict[str, bytes]
PIECE = 4096  # bytes between two looks at the clock
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


def leaf(name: str, content: bytes) -> dict[str, Any]:
    """What the listing says of a file, in the words of the tree route."""
    leaf: dict[str, Any] = {"type": "file", "path": name, "size": len(content), "oid": git_hash(content)}
    if LARGE.search(name):
        leaf["lfs"] = {"oid": digest(content), "size": len(content), "pointerSize": 134}
    return leaf


def sibling(leaf: dict[str, Any]) -> dict[str, Any]:
    """The same in the words of the route of models."""
    sibling = {"rfilename": leaf["path"], "size": leaf["size"], "blobId": leaf["oid"]}
    return sibling | ({"lfs": {**leaf["lfs"], "sha256": leaf["lfs"]["oid"]}} if "lfs" in leaf else {})


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_hash(content: bytes) -> str:
    """The name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Hub:
    """The server, as a test handles it."""

    folder: Path
    address: str = ""
    speed: int | None = None
    requests: list[Request] = field(default_factory=list)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)  # id -> what its listing says besides
    faults: list[Fault] = field(default_factory=list)
    going: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)
    sent: int = 0  # bytes of files, over all requests
    quiet: threading.Condition = field(default_factory=threading.Condition)
    sending: int = 0  # answers with a file that are on their way
    _commits: dict[tuple[str, str], Files] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_quiet(self, within: float) -> bool:
        """Wait until no file is on its way; False where one still is after so many seconds."""
        with self.quiet:
            return self.quiet.wait_for(lambda: self.sending == 0, within)

    @contextmanager
    def sends(self) -> Iterator[None]:
        """Within, a file is on its way."""
        with self.quiet:
            self.sending += 1
        try:
            yield
        finally:
            with self.quiet:
                self.sending -= 1
                self.quiet.notify_all()

    def environment(self, home: Path) -> dict[str, str]:
        """The variables that let a process of its own use this hub, with its cache under ``home``."""
        return {"HF_ENDPOINT": self.address, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}

    def commit(self, model: str) -> str:
        """Where the branch of a model stands now."""
        folder = self.folder / model
        every = sorted(file for file in folder.rglob("*") if file.is_file())
        files = {file.relative_to(folder).as_posix(): file.read_bytes() for file in every}
        commit = hashlib.sha1(
            repr([(name, digest(body)) for name, body in files.items()]).encode()
        ).hexdigest()
        with self._lock:
            self._commits[model, commit] = files
        return commit

    def files(self, model: str, revision: str) -> Files | None:
        """The files of a model at a commit or at its branch, or None where there is no such thing."""
        if not (self.folder / model / "config.json").is_file():
            return None
        commit = self.commit(model) if revision == "main" else revision
        return self._commits.get((model, commit))

    def blob(self, sha256: str) -> bytes | None:
        """A large file by its hash."""
        every = [content for files in self._commits.values() for content in files.values()]
        return next((content for content in every if digest(content) == sha256), None)

    def refuse(self, match: str, status: int, code: str = "", times: int = 1) -> None:
        """Answer with an error, perhaps with the hub's own X-Error-Code."""
        self.faults.append(Fault(match, times, status=status, code=code))

    def stall(self, match: str, after: int = 0, times: int = 1) -> None:
        """Send nothing any more, and keep the connection open."""
        self.faults.append(Fault(match, times, after=after))

    def hold(self, match: str, seconds: float, times: int = 1) -> None:
        """Answer late."""
        self.faults.append(Fault(match, times, held=seconds))

    def change(self, match: str, how: Callable[[bytes], bytes], times: int = 1) -> None:
        """Send another body than the listing says: of another length, or of another hash."""
        self.faults.append(Fault(match, times, change=how))

    def asked(self, match: str, method: str = "GET") -> list[Request]:
        """The requests whose path holds ``match``."""
        return [asked for asked in self.requests if asked.method == method and match in asked.path]

    def fault(self, path: str) -> Fault | None:
        """The first fault that is meant for this request; it is used up by one."""
        with self._lock:
            for fault in self.faults:
                if fault.match in path and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def count(self, request: Request) -> None:
        """Remember a request, unless it is none about a model: huggingface_hub asks which programs use it."""
        with self._lock:
            self.requests += [] if request.path == "/api/agent-harnesses" else [request]


@contextmanager
def hub(folder: Path) -> Iterator[Hub]:
    """Serve the checkpoints of ``folder`` on a free port of this machine."""
    there = Hub(folder)
    there.going.set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(there))
    server.daemon_threads = True
    there.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield there
    finally:
        there.closing.set()
        there.going.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(there: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits for the other side to confirm the headers

        def do_HEAD(self) -> None:
            self._serve()

        def do_GET(self) -> None:
            self._serve()

        def log_message(self, *_ignored: object) -> None:
            """Say nothing."""

        def _serve(self) -> None:
            path = unquote(urlsplit(self.path).path)
            there.count(Request(self.command, path, self.headers.get("Authorization", "")))
            fault = there.fault(path) or Fault(path, 1)
            there.closing.wait(fault.held)
            try:
                if fault.status != 200:
                    self._error(fault.status, fault.code)
                else:
                    self._answer(path, fault)
            except ConnectionError:
                self.close_connection = True  # who asked has left: that is their right

        def _answer(self, path: str, fault: Fault) -> None:
            if match := re.fullmatch(r"/api/models/(.+?)/tree/(.+)", path):
                files = there.files(match[1], match[2])
                tree = [leaf(name, content) for name, content in sorted((files or {}).items())]
                self._json(tree, fault) if files is not None else self._error(404, "RevisionNotFound")
            elif match := re.fullmatch(r"/api/models/(.+?)(?:/revision/(.+))?", path):
                self._listing(match[1], match[2] or "main", fault)
            elif match := re.fullmatch(r"/elsewhere/([0-9a-f]{64})/.+", path):
                content = there.blob(match[1])
                self._body(content, {}, fault) if content is not None else self._error(404)
            elif match := re.fullmatch(r"/(.+?)/resolve/([^/]+)/(.+)", path):
                self._resolve(match[1], match[2], match[3], fault)
            else:
                self._error(404)

        def _listing(self, model: str, revision: str, fault: Fault) -> None:
            files = there.files(model, revision)
            if files is None:
                known = (there.folder / model / "config.json").is_file()
                self._error(404, "RevisionNotFound") if known else self._error(401, "RepoNotFound")
                return
            commit = there.commit(model) if revision == "main" else revision
            siblings = [sibling(leaf(name, content)) for name, content in sorted(files.items())]
            answer = {"_id": "0", "id": model, "modelId": model, "sha": commit, "siblings": siblings}
            self._json(
                answer | {"private": False, "gated": False, "tags": []} | there.said.get(model, {}), fault
            )

        def _resolve(self, model: str, revision: str, name: str, fault: Fault) -> None:
            files = there.files(model, revision)
            commit = there.commit(model) if revision == "main" else revision
            if files is None:
                self._error(401, "RepoNotFound")
            elif name not in files:
                self._error(404, "EntryNotFound")
            elif LARGE.search(name):
                sha256 = digest(files[name])
                self.send_response(302)
                elsewhere = there.address.replace("127.0.0.1", "localhost")  # no token goes to another host
                self.send_header("Location", f"{elsewhere}/elsewhere/{sha256}/{name}")
                self.send_header("X-Linked-Size", str(len(files[name])))
                self.send_header("X-Linked-Etag", f'"{sha256}"')
                self.send_header("X-Repo-Commit", commit)
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                headers = {"ETag": f'"{git_hash(files[name])}"', "X-Repo-Commit": commit}
                self._body(files[name], headers, fault)

        def _json(self, answer: object, fault: Fault) -> None:
            self._body(json.dumps(answer).encode(), {"Content-Type": "application/json"}, fault)

        def _body(self, content: bytes, headers: dict[str, str], fault: Fault) -> None:
            content = fault.change(content)
            self.send_response(200)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                with there.sends():
                    self._send(content, fault)

        def _send(self, content: bytes, fault: Fault) -> None:
            stop = len(content) if fault.after is None else min(fault.after, len(content))
            for first in range(0, stop, PIECE):
                piece = content[first : min(first + PIECE, stop)]
                there.going.wait()
                self.wfile.write(piece)
                self.wfile.flush()
                there.sent += len(piece)
                if there.speed:
                    there.closing.wait(len(piece) / there.speed)
            if fault.after is not None:
                there.closing.wait()
                self.close_connection = True

        def _error(self, status: int, code: str = "") -> None:
            self.send_response(status)
            if code:
                self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

    return Handler
