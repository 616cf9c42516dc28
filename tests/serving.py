"""A gradio app in a process of its own, for tests and benchmarks."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120  # seconds until a server that does not answer is given up


@contextmanager
def serving(script: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """The address at which ``script`` serves; the process ends with the context."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    whole = os.environ | {"GRADIO_SERVER_PORT": str(port), "PYTHONPATH": str(ROOT)} | (environment or {})
    process = subprocess.Popen([sys.executable, str(script)], cwd=ROOT, env=whole, stdout=subprocess.DEVNULL)
    try:
        _wait(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return as soon as the server gives its first HTML."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                answer.read()
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.02)  # not listening yet
    raise TimeoutError(f"{url} did not answer within {PATIENCE} s")
