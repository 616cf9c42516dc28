"""Who leaves ends their downloads; an app that is told to stop lets the answer under way come, and ends."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from math import inf
from pathlib import Path

import httpx
import pytest

from components.settings import ASSETS
from tests.hub import Hub, hub
from tests.public.asking import client_of, heard, joined
from tests.serving import eventually, python, started, status
from tests.tiny import catalogue, checkpoint

LIMIT = 60  # seconds, of everything that is waited for
WAITING = 40  # questions, more than are handed to a pool at once
STOPPING = "being stopped: ask again"
MB = 1_000_000
REPORTED, NEXT = 12 * MB, 22 * MB  # of the 26 MB that come; huggingface_hub reports 10 MB at a time
MODEL = "org/tiny"
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a named pipe makes the worker wait")

AT_REST = """
import gc, os, signal, app
whole = []
def heard(phase, of):
    whole.extend([phase] * (of["generation"] == 2))
    if whole == ["start", "stop"]:
        os.kill(os.getpid(), signal.SIGTERM)
gc.callbacks.append(heard)
app.REST = 0.01
app._wait_for_the_end()
assert [[] for _ in range(300_000)] and whole == ["start", "stop"], whole
"""


def test_all_garbage_is_collected_at_rest_and_not_in_the_midst_of_an_answer() -> None:
    """A collection of all of it holds everybody up, and a QR code alone makes objects enough for one."""
    ended = python("-c", AT_REST)
    assert (ended.returncode, ended.stderr) == (0, "")


@dataclass(frozen=True)
class App:
    """The app, ready to be asked, with a hub; whoever asks "slow" waits until the ``gate`` is written to."""

    client: httpx.Client
    process: "subprocess.Popen[bytes]"
    hub: Hub
    gate: Path
    log: Path

    def download(self, model: str, client: httpx.Client | None = None) -> str:
        """The stream of a download that somebody has asked for, without a browser."""
        return f"/gradio_api/call/fetch/{joined(client or self.client, 'fetch', backbone=model)}"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    place, attempts = tmp_path_factory.mktemp("app"), tmp_path_factory.mktemp("seen") / "attempts"
    attempts.touch()
    os.mkfifo(gate := place / "gate")
    models = ASSETS / "models"
    listed = catalogue(place, {"quick": models / "bert-sentiment", "slow": models / "gpt2-sentiment"})
    checkpoint(place / "hub" / MODEL, max_position_embeddings=200_000)
    for name in ("0", "1", "mute"):
        shutil.copytree(place / "hub" / MODEL, place / "hub" / f"{MODEL}{name}")
    with hub(place / "hub") as there:
        settings = {
            "POOLSCOPE_SOURCES": "any",
            "POOLSCOPE_CATALOGUE": str(listed),
            **there.environment(place),
        }
        # as long as a slow machine needs: the test lets go of what it holds
        graces = {"GRACE": str(LIMIT), "READ": "5", "GATE": str(gate), "ATTEMPTS": str(attempts)}
        log = place / "log"
        with started("tests/guarded_app.py", log=log, **settings, **graces) as (url, process):
            try:
                eventually(lambda: status(f"{url}/health") == HTTPStatus.OK, "it is not ready")
                with client_of(url) as client:
                    yield App(client, process, there, gate, log)
            finally:
                process.kill()
    assert "Traceback" not in log.read_text()  # where the silent one was cut, too
    assert attempts.read_text() == ""  # nothing of torch either, in the process of the page


def steps(stream: httpx.Response) -> Iterator[dict[str, int]]:
    """How far it is, as often as it is said."""
    for line in stream.iter_lines():
        if line.startswith("data: [{"):
            yield json.loads(line.removeprefix("data: "))[0]


def test_a_download_ends_with_its_last_listener_and_begins_again_with_the_next(app: App) -> None:
    there = app.hub
    there.until = REPORTED
    with client_of(str(app.client.base_url)) as other:
        with (
            app.client.stream("GET", app.download(MODEL)) as first,
            other.stream("GET", app.download(MODEL, other)) as second,
        ):
            coming = steps(second)
            next(step for step in steps(first) if step["done"] > MB)
            here = next(step for step in coming if step["done"] > MB)
            assert len(there.asked("/elsewhere/")) == 1  # the same weights for both
            first.close()
            for _ in range(5):  # so often it is said meanwhile: the server has noticed by then
                next(coming)
            there.until = NEXT
            next(step for step in coming if step["done"] > here["done"])  # it goes on for who is left
        assert there.is_quiet(LIMIT)
    there.until = inf
    with app.client.stream("GET", app.download(MODEL)) as again:
        *_, last = steps(again)
    assert last["done"] == last["total"]


def test_who_never_listens_begins_no_download(app: App) -> None:
    before = len(app.hub.requests)
    for _ in range(10):
        app.download(f"{MODEL}0")
    with app.client.stream("GET", app.download(f"{MODEL}1")) as told:  # asked last, it has passed them
        *_, last = steps(told)
    assert last["done"] == last["total"]
    assert not [request for request in app.hub.requests[before:] if f"{MODEL}0" in request.path]


def test_streams_are_not_cut_who_cancels_hears_so_and_a_silent_hub_keeps_nobody(app: App) -> None:
    client, there = app.client, app.hub
    there.until = there.sent + MB  # all but the weights
    there.fault("mute", times=100, held=2 * LIMIT)
    functions = client.get("/config").json()["dependencies"]
    number = next(one["id"] for one in functions if one["api_name"] == "analyze")
    with ThreadPoolExecutor(WAITING + 4) as pool:
        under_way = pool.submit(heard, client, joined(client, backbone="slow", text="good"))
        pipe = os.open(app.gate, os.O_WRONLY)  # opens when the worker reads it
        event = joined(client, backbone="quick", text="good")
        given_up = pool.submit(heard, client, event)
        told = {"event_id": event, "session_hash": event, "fn_index": number}
        client.post("/gradio_api/cancel", json=told).raise_for_status()
        assert "This question was cancelled" in given_up.result(LIMIT)
        events = [joined(client, backbone="quick", text=str(number)) for number in range(WAITING)]
        waiting = [pool.submit(heard, client, event) for event in events]
        coming, silent = (pool.submit(client.get, app.download(f"{MODEL}{name}")) for name in ("0", "mute"))
        eventually(lambda: there.sent >= there.until and there.asked("mute"), "nothing is on its way")
        app.process.send_signal(signal.SIGTERM)
        assert [said for one in waiting if STOPPING not in (said := one.result(LIMIT))] == []
        assert STOPPING in coming.result(LIMIT).text
        os.close(pipe)
        event, data = under_way.result(LIMIT).splitlines()[:2]
        assert event == "event: complete"
        assert json.loads(data.removeprefix("data: "))[0]["backbone"] == "slow"
        assert app.process.wait(LIMIT) == 0  # the hub is silent for twice as long
        silent.exception(LIMIT)
    said = app.log.read_text()
    assert "leaked" not in said
    assert said.count("question=analyze outcome=answered") == 1
