"""Told to stop: the answer under way comes, who waits is told, and the process ends."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from components.settings import ASSETS
from tests.serving import ROOT, free_port

LIMIT = 60  # seconds, of everything that is waited for
GATE = "gate"  # a named pipe that nobody has written to, for which one backbone waits


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A catalogue of two backbones; the gate of the one that is slow to load is beside it."""
    models = ASSETS / "models"
    os.mkfifo(tmp_path / GATE)
    places = {"quick": models / "bert-sentiment", "slow": models / "gpt2-sentiment"}
    lines = [f'[{key}]\ntitle = "{key}"\ntask = "sentiment"\npath = "{path}"' for key, path in places.items()]
    (tmp_path / "backbones.toml").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a named pipe makes the worker wait")
@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_answer_under_way_comes_and_who_waits_is_told(slow: Path, workers: str) -> None:
    port = free_port()
    environment = {
        "GRADIO_SERVER_PORT": str(port),
        "POOLSCOPE_WORKERS": workers,
        "GATE": str(slow / GATE),
        "PYTHONPATH": str(ROOT),
        "POOLSCOPE_CATALOGUE": str(slow / "backbones.toml"),
    }
    log = (slow / "server.log").open("w+")
    command = [sys.executable, "tests/public/held_app.py"]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, stdout=log, stderr=log)
    with ThreadPoolExecutor() as pool, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        client.timeout = LIMIT
        while _health(client) != HTTPStatus.OK:  # nobody tells when a port is open: ask again
            assert process.poll() is None
            time.sleep(0.05)
        under_way = pool.submit(client.post, "/analyze", json={"backbone": "slow", "text": "good"})
        pipe = os.open(slow / GATE, os.O_WRONLY)  # opens when the worker reads it
        waiting = pool.submit(client.post, "/analyze", json={"backbone": "quick", "text": "good"})
        process.send_signal(signal.SIGTERM)
        if workers == "1":
            assert "being stopped: ask again" in waiting.result(LIMIT).json()["detail"]
        os.close(pipe)
        assert under_way.result(LIMIT).json()["backbone"] == "slow"
        assert "being stopped: ask again" in waiting.result(LIMIT).json()["detail"]
    assert process.wait(LIMIT) == 0
    log.seek(0)
    said = log.read()
    log.close()
    assert "Traceback" not in said
    assert "leaked" not in said
    assert said.count("question=analyze") == 2


def _health(client: httpx.Client) -> int:
    try:
        return client.get("/health").status_code
    except httpx.ConnectError:
        return 0
