"""A stage: two pages behind a proxy, whose questions go to a cluster of two nodes, all on this machine."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ray.util import get_node_ip_address

from tests.serving import PATIENCE, ROOT, eventually, free_port, served

PAGES = ("one", "two")
STILL = 10  # looks, a tenth of a second apart, at a log to which nothing is added
MARK = "RAY_TMPDIR"  # in the environment of every process of the cluster
TOKEN = "RAY_AUTH_TOKEN_PATH"  # the file with what the cluster asks for
CLUSTER = Path(__file__).with_name("cluster.py")


@dataclass
class Stage:
    """Where the ``proxy`` answers, what each page notes in its log, and what belongs to the cluster."""

    folder: Path
    cpus: int = 1  # of each node, which need not be there
    pages: list[str] = field(default_factory=list)  # their own addresses
    temporary: Path = field(
        default_factory=lambda: Path(tempfile.mkdtemp(prefix="ray"))
    )  # a short path: sockets
    cluster: str = field(default_factory=lambda: f"{get_node_ip_address()}:{free_port()}")
    proxy: str = field(default_factory=lambda: f"127.0.0.1:{free_port()}")

    @property
    def token(self) -> Path:
        """What who joins the cluster must know."""
        return self.temporary / "token"

    def log(self, page: str) -> str:
        return (self.folder / f"{page}.log").read_text(encoding="utf-8")

    def questions(self, endpoint: str, outcome: str = "answered") -> int:
        """Lines of both logs that say so."""
        return sum(self.log(page).count(f"question={endpoint} outcome={outcome} ") for page in PAGES)

    def settled(self, endpoint: str) -> int:
        """The same once they stay as many for a while: a page notes a question after it has answered it."""
        counted = [self.questions(endpoint)]

        def stays() -> bool:
            counted.append(self.questions(endpoint))
            return len(counted) > STILL and len(set(counted[-STILL:])) == 1

        eventually(stays, "the pages note one question after the other")
        return counted[-1]

    def ask(self, endpoint: str, timeout: float = PATIENCE, **values: object) -> tuple[int, Any]:
        """The status of an answer of the proxy, and what it says."""
        body = json.dumps(values).encode()
        request = urllib.request.Request(
            f"http://{self.proxy}/{endpoint}", body, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.load(refused)

    def health(self, page: str = "") -> int:
        """What a page says of itself; without one, what the proxy passes on."""
        try:
            with urllib.request.urlopen(
                f"{page or f'http://{self.proxy}'}/health", timeout=PATIENCE
            ) as answer:
                status: int = answer.status
                return status
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code

    def processes(self, title: str = "") -> list[int]:
        """Those of the cluster whose command line has ``title``."""
        mark, found = f"{MARK}={self.temporary}".encode(), []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    command = (place / "cmdline").read_bytes()
                    found += [int(place.name)] if command and title.encode() in command else []
            except (FileNotFoundError, ProcessLookupError, PermissionError):  # it has ended, or is another's
                continue
        return found

    def replicas(self) -> list[int]:
        return self.processes("ServeReplica:poolscope")


@contextmanager
def pages_behind_a_proxy(folder: Path, catalogue: Path) -> Iterator[Stage]:
    """Two pages and the proxy, with the configuration of the docs; there is no cluster yet."""
    stage = Stage(folder)
    stage.token.write_text(secrets.token_hex(32))
    settings = {
        TOKEN: str(stage.token),
        "POOLSCOPE_RAY": stage.cluster,
        "POOLSCOPE_REPLICAS_LEAST": "2",
        "POOLSCOPE_REPLICAS_MOST": "2",
        "POOLSCOPE_CATALOGUE": str(catalogue),
        "ATTEMPTS": str(folder / "attempts"),
    }
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).delenv("RAY_AUTH_MODE", raising=False)
        urls = [
            stack.enter_context(served("app.py", log=folder / f"{page}.log", **settings)) for page in PAGES
        ]
        stage.pages += urls
        addresses = dict(
            zip(("PAGE_ONE", "PAGE_TWO"), (url.removeprefix("http://") for url in urls), strict=True)
        )
        proxy = subprocess.Popen(
            ["haproxy", "-db", "-f", "docs/haproxy.cfg"],
            cwd=ROOT,
            env={**os.environ, **addresses, "PROXY": stage.proxy},
        )
        stack.callback(proxy.wait, 20)
        stack.callback(proxy.terminate)
        eventually(lambda: _listens(stage), "haproxy does not listen")
        yield stage


def _listens(stage: Stage) -> bool:
    try:
        return stage.health() > 0
    except urllib.error.URLError:
        return False


@contextmanager
def cluster_of_two(stage: Stage) -> Iterator[None]:
    """The cluster; nothing of it is left afterwards, whatever happens."""
    settings = {MARK: str(stage.temporary), "RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1"}
    settings |= {TOKEN: str(stage.token), "RAY_AUTH_MODE": "token"}
    with (stage.folder / "cluster.log").open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "tests/inference/replicas/cluster.py",
                stage.cluster.rpartition(":")[2],
                str(stage.cpus),
            ],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline().decode().strip() == stage.cluster
        yield
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(30)
        finally:
            for left in stage.processes():
                os.kill(left, signal.SIGKILL)
            shutil.rmtree(stage.temporary)
