"""Cold starts: what is asked as soon as the port is open is answered, whatever is loaded meanwhile."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path

import httpx

from tests.hub import Hub, hub
from tests.serving import PATIENCE, RATE, ROOT, free_port
from tests.tiny import checkpoint

MODEL = "org/tiny"
STARTS = 10
BUNDLED, PAIR = "bert-sentiment", {"text": "the film is good", "text_pair": ""}
AT_ONCE: tuple[tuple[str, dict[str, object]], ...] = (  # all of them as soon as anybody listens
    ("/find", {"backbone": MODEL}),
    ("/analyze", {"backbone": BUNDLED, **PAIR}),
    ("/find", {"backbone": MODEL}),
    ("/anatomy", {"backbone": "gpt2-sentiment", **PAIR}),
    ("/compare", {"backbones": [BUNDLED], "poolings": ["mean"], **PAIR}),
    ("/find", {"backbone": BUNDLED}),
)


def cold(there: Hub, home: Path, workers: str) -> list[str]:
    """Start the app, ask at once, and say what was no answer."""
    port = free_port()
    environment = {
        "GRADIO_SERVER_PORT": str(port),
        "POOLSCOPE_RATE": RATE,
        "POOLSCOPE_SOURCES": "any",
        "POOLSCOPE_WORKERS": workers,
        **there.environment(home),
    }
    log = (home / f"cold-{port}.log").open("w+")
    command = [sys.executable, "app.py"]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, stdout=log, stderr=log)
    try:
        _until_open(port, process)
        with ThreadPoolExecutor(len(AT_ONCE)) as threads:
            told = threads.map(lambda one: _outcome(port, *one), AT_ONCE)
            faults = [one for one in told if one]
    finally:
        process.terminate()
        process.wait(PATIENCE)
    log.seek(0)
    said = log.read()
    log.close()
    return faults + (["a traceback in the log"] if "Traceback" in said else [])


def _until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return within some milliseconds of the port's being open."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.005)
        else:
            return
    raise RuntimeError("the app does not listen")


def _outcome(port: int, path: str, asked: dict[str, object]) -> str:
    """ "", or what came in the place of an answer."""
    try:
        came = httpx.post(f"http://127.0.0.1:{port}{path}", json=asked, timeout=PATIENCE)
    except httpx.HTTPError as error:
        return f"{path}: {type(error).__name__}"
    return "" if came.status_code == HTTPStatus.OK else f"{path}: {came.status_code} {came.text[:200]}"


def main(folder: Path, starts: int = STARTS) -> bool:
    """Start so many times, every other time without workers; whether everything was answered."""
    checkpoint(folder / "models" / MODEL, id2label={0: "bad", 1: "good"})
    fine = 0
    with hub(folder / "models") as there:
        for number in range(starts):
            home = folder / f"home{number}"
            home.mkdir()
            faults = cold(there, home, "0" if number % 2 else "1")
            fine += not faults
            print(*faults, sep="\n", end="\n" if faults else "", flush=True)
    print(f"cold starts: {fine} of {starts} answered everything that was asked at once", flush=True)
    return fine == starts
