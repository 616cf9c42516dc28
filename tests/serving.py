"""Pages for tests: built in this process, or served by one of their own."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120  # seconds that something may take to begin on a machine with much else to do
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
RATE = "100000"  # questions in a minute: to a server, all tests are one visitor
Made = TypeVar("Made")


@dataclass(frozen=True)
class Gate:
    """How many backbones of a comparison are answered by now; open is what lets all of them through."""

    file: Path

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        """Let all through."""
        self.let(1_000)

    def let(self, backbones: int) -> None:
        """Let so many through, all at once for who looks there meanwhile."""
        new = self.file.with_suffix(".new")
        new.write_text(str(backbones), encoding="utf-8")
        new.replace(self.file)


def browser_path() -> str | None:
    """Where a browser is that playwright can drive, or None where there is none on the PATH."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def built(make: Callable[[], Made]) -> Made:
    """Call ``make`` while an event loop runs; outside of one, gr.Blocks makes some that nobody closes.

    What is made is not the task's result: Python writes that out, twice, when the loop ends, and of a page
    that takes seconds.
    """
    made: list[Made] = []

    async def inside() -> None:
        made.append(make())

    asyncio.run(inside())
    return made[0]


def free_port() -> int:
    """One that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def eventually(truth: Callable[[], object], said: str) -> None:
    """Return when ``truth()`` is; nobody tells when that is, so ask again."""
    deadline = time.monotonic() + PATIENCE
    while not truth():
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


@contextmanager
def served(*command: str, log: Path, root: Path = ROOT, **environment: str) -> Iterator[str]:
    """Run ``python command`` from a ``root`` and give its address as soon as its first page is there.

    Its output goes to ``log``; ``environment`` is added to this process's own.
    """
    port = free_port()
    ours = {"PYTHONPATH": str(root), "GRADIO_SERVER_PORT": str(port), "POOLSCOPE_RATE": RATE}
    ours["POOLSCOPE_WORKERS"] = os.environ.get("POOLSCOPE_WORKERS", "1")  # several servers run at once
    whole = {**os.environ, **ours, **environment}
    address = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=root,
            env=whole,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(address, process, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Return when the first page is there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=10):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.02)  # nobody tells when a port is open: ask again
    raise RuntimeError(f"no page at {address}:\n{log.read_text(errors='replace')}")
