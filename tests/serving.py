"""Processes of their own for tests; and pages, built in this one or served by one of their own."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

ROOT = Path(__file__).resolve().parent.parent
START = 120  # seconds that something may take to begin on a machine with much else to do
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
RATE = "100000"  # questions in a minute: to a server, all tests are one visitor
Made = TypeVar("Made")


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


def python(*command: str, cwd: Path = ROOT, **more: Any) -> "subprocess.CompletedProcess[str]":
    """Run ``python command`` in a folder to its end, and give what came of it."""
    whole = [sys.executable, *command]
    return subprocess.run(whole, cwd=cwd, capture_output=True, text=True, check=False, **more)


def eventually(truth: Callable[[], object], said: str) -> None:
    """Return when ``truth()`` is; nobody tells when that is, so ask again."""
    deadline = time.monotonic() + START
    while not truth():
        assert time.monotonic() < deadline, said
        time.sleep(0.1)


@contextmanager
def started(
    *command: str, log: Path, root: Path = ROOT, **environment: str
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Run ``python command`` from a ``root``; gives the address at which it will listen, and its process.

    Its output goes to ``log``; ``environment`` is added to this process's own.
    """
    port = str(free_port())
    ours = {"PYTHONPATH": str(root), "GRADIO_SERVER_PORT": port, "POOLSCOPE_RATE": RATE}
    ours["POOLSCOPE_WORKERS"] = os.environ.get("POOLSCOPE_WORKERS", "1")  # several servers run at once
    whole = {**os.environ, **ours, **environment}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=root, env=whole, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def served(*command: str, log: Path, root: Path = ROOT, **environment: str) -> Iterator[str]:
    """Have it `started`, and give its address as soon as its first page is there."""
    with started(*command, log=log, root=root, **environment) as (address, process):
        deadline = time.monotonic() + START
        while status(address) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no page at {address}:\n{log.read_text(errors='replace')}")
            time.sleep(0.02)  # nobody tells when a port is open: ask again
        yield address


def status(address: str) -> int | None:
    """The status of the answer at an address; None while nobody listens there."""
    try:
        return httpx.get(address, timeout=10).status_code
    except httpx.TransportError:
        return None
