"""Told to stop: the answer under way comes and is heard, who waits is told, and the process ends."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from components.settings import ASSETS
from tests.hub import hub
from tests.public.asking import heard, joined
from tests.serving import started, status
from tests.tiny import checkpoint

LIMIT = 60  # seconds, of everything that is waited for
WAITING = 40  # questions, more than are handed to a pool at once
GATE = "gate"  # a named pipe that nobody has written to, for which one backbone waits
STOPPING = "being stopped: ask again"
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a named pipe makes the worker wait")


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A catalogue of two backbones; the gate of the one that is slow to load is beside it."""
    models = ASSETS / "models"
    os.mkfifo(tmp_path / GATE)
    places = {"quick": models / "bert-sentiment", "slow": models / "gpt2-sentiment"}
    lines = [f'[{key}]\ntitle = "{key}"\ntask = "sentiment"\npath = "{path}"' for key, path in places.items()]
    (tmp_path / "backbones.toml").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


@contextmanager
def begun(
    slow: Path, workers: str, **more: str
) -> Iterator[tuple["subprocess.Popen[bytes]", httpx.Client, Path]]:
    """The app, ready to be asked; a client of it; and its log."""
    environment = {
        "POOLSCOPE_WORKERS": workers,
        "GATE": str(slow / GATE),
        "GRACE": str(LIMIT),  # as long as a slow machine needs: each test lets go of what it holds
        "READ": str(LIMIT),
        "POOLSCOPE_CATALOGUE": str(slow / "backbones.toml"),
        **more,
    }
    log = slow / "server.log"
    with started("tests/public/held_app.py", log=log, **environment) as (url, process):
        try:
            with httpx.Client(base_url=url, timeout=LIMIT) as client:
                while health(client) != HTTPStatus.OK:  # nobody tells when a port is open: ask again
                    assert process.poll() is None
                    time.sleep(0.05)
                yield process, client, log
        finally:
            process.kill()


def health(client: httpx.Client) -> int | None:
    return status(str(client.base_url.join("/health")))


def test_without_workers_the_answer_under_way_comes_and_who_waits_is_told(slow: Path) -> None:
    with ThreadPoolExecutor() as pool, begun(slow, "0") as (process, client, log):
        under_way = pool.submit(client.post, "/analyze", json={"backbone": "slow", "text": "good"})
        pipe = os.open(slow / GATE, os.O_WRONLY)  # opens when the worker reads it
        waiting = pool.submit(client.post, "/analyze", json={"backbone": "quick", "text": "good"})
        process.send_signal(signal.SIGTERM)
        while health(client) == HTTPStatus.OK:  # until the signal has been heard
            time.sleep(0.05)
        os.close(pipe)
        assert under_way.result(LIMIT).json()["backbone"] == "slow"
        assert STOPPING in waiting.result(LIMIT).json()["detail"]
        assert process.wait(LIMIT) == 0
    said = log.read_text()
    assert "Traceback" not in said
    assert "leaked" not in said
    assert said.count("question=analyze") == 2


def test_streams_are_not_cut_and_who_cancels_hears_so(slow: Path) -> None:
    with ThreadPoolExecutor(WAITING + 2) as pool, begun(slow, "1") as (process, client, log):
        functions = client.get("/config").json()["dependencies"]
        number = next(one["id"] for one in functions if one["api_name"] == "analyze")
        under_way = pool.submit(heard, client, joined(client, backbone="slow", text="good"))
        pipe = os.open(slow / GATE, os.O_WRONLY)
        event = joined(client, backbone="quick", text="good")
        given_up = pool.submit(heard, client, event)
        told = {"event_id": event, "session_hash": event, "fn_index": number}
        client.post("/gradio_api/cancel", json=told).raise_for_status()
        assert "This question was cancelled" in given_up.result(LIMIT)
        events = [joined(client, backbone="quick", text=str(number)) for number in range(WAITING)]
        waiting = [pool.submit(heard, client, event) for event in events]
        process.send_signal(signal.SIGTERM)
        assert [said for one in waiting if STOPPING not in (said := one.result(LIMIT))] == []
        os.close(pipe)
        event, data = under_way.result(LIMIT).splitlines()[:2]
        assert event == "event: complete"
        assert json.loads(data.removeprefix("data: "))[0]["backbone"] == "slow"
        assert process.wait(LIMIT) == 0
    assert "Traceback" not in log.read_text()


def test_downloads_and_a_hub_that_says_nothing_keep_nobody(slow: Path, tmp_path: Path) -> None:
    checkpoint(tmp_path / "models" / "org" / "tiny", id2label={0: "bad", 1: "good"})
    shutil.copytree(tmp_path / "models" / "org" / "tiny", tmp_path / "models" / "org" / "mute")
    with hub(tmp_path / "models") as there, ThreadPoolExecutor() as pool:
        there.speed = 1_000
        there.hold("mute", 2 * LIMIT, times=100)
        more = {"POOLSCOPE_SOURCES": "any", "READ": "5", **there.environment(tmp_path)}
        with begun(slow, "1", **more) as (process, client, _log):
            coming = pool.submit(heard, client, joined(client, "fetch", backbone="org/tiny"), "fetch")
            silent = pool.submit(heard, client, joined(client, "fetch", backbone="org/mute"), "fetch")
            with there.quiet:
                assert there.quiet.wait_for(lambda: there.sending and there.asked("mute"), LIMIT)
            process.send_signal(signal.SIGTERM)
            assert STOPPING in coming.result(LIMIT)
            assert process.wait(LIMIT) == 0  # the hub is silent for twice as long
            silent.exception(LIMIT)
