"""A page whose questions go to a Ray cluster on this machine says what a page alone says, whatever dies."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from components.analyses.registry import analyses
from components.errors import PoolscopeError
from components.inference.engine import Engine
from components.passport import main
from components.settings import ASSETS, Settings
from tests.serving import ROOT, eventually, free_port, served
from tests.tiny import checkpoint

pytest.importorskip("ray")

TEXT = "The plot is thin, but the actors are a delight."
OTHERS = {"tiny": {}, "deep": {"num_hidden_layers": 1000, "hidden_size": 8, "intermediate_size": 8}}
BACKBONES = ("bert-sentiment", "gpt2-paraphrase", "xlnet-sentiment")
MARK = "RAY_TMPDIR"  # in the environment of every process of the cluster
ONE = {"backbone": "bert-sentiment", "text": TEXT}
QUESTIONS = [
    *[("analyze", {"backbone": key, "text": TEXT, "text_pair": "Another."}) for key in BACKBONES],
    ("importance", ONE),
    ("trace", {**ONE, "other": "The plot is thin."}),
    ("analyze", {**ONE, "layer": 99}),  # which is refused
    ("trace", {**ONE, "other": TEXT}),  # which only a replica can refuse
]


@dataclass(frozen=True)
class Stage:
    """Where a ``page`` answers, where its ``cluster`` will, and where that has its ``temporary`` files."""

    page: str
    cluster: str
    temporary: Path

    def replicas(self) -> set[int]:
        """Their processes."""
        return {one for one, command in self.processes().items() if b"ServeReplica" in command}

    def processes(self) -> dict[int, bytes]:
        """All of the cluster, and their command lines."""
        mark, found = f"{MARK}={self.temporary}".encode(), {}
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # ended, or another's
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    found[int(place.name)] = (place / "cmdline").read_bytes()
        return {process: command for process, command in found.items() if command}


def ask(page: str, endpoint: str, values: dict[str, Any]) -> tuple[int, Any]:
    """The status of an answer and what it says, the clock aside."""
    answer = httpx2.post(f"{page}/{endpoint}", json=values, timeout=None)
    return answer.status_code, {name: one for name, one in answer.json().items() if name != "milliseconds"}


def health(page: str) -> int:
    return httpx2.get(f"{page}/health").status_code


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled backbones and two others, of which one takes long to be loaded."""
    folder = tmp_path_factory.mktemp("stage")
    for place in ("models", "probes"):
        (folder / place).symlink_to(ASSETS / place)
    for name, sizes in OTHERS.items():
        checkpoint(folder / name, **sizes)
    entries = [f'[{name}]\ntitle = "{name}"\ntask = "sentiment"\npath = "{name}"' for name in OTHERS]
    file = folder / "backbones.toml"
    file.write_text("\n".join([(ASSETS / "backbones.toml").read_text("utf-8"), *entries]), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def engine(catalogue: Path) -> Engine:
    """The same backbones in this process."""
    return Engine(Settings(catalogue=catalogue))


def expected(engine: Engine, endpoint: str, values: dict[str, Any]) -> tuple[int, Any]:
    """The status and what is said where no cluster is asked."""
    query, options = analyses()[endpoint].parted(values)
    try:
        found = orjson.loads(orjson.dumps(engine.ask(endpoint, query, **options).to_json()))
    except PoolscopeError as error:
        return 400, {"detail": str(error)}
    return 200, {name: value for name, value in found.items() if name != "milliseconds"}


@pytest.fixture(scope="module")
def empty_stage(catalogue: Path) -> Iterator[Stage]:
    """A page whose cluster is not there yet."""
    cluster = f"http://127.0.0.1:{free_port()}"
    settings = {"POOLSCOPE_CATALOGUE": str(catalogue), "POOLSCOPE_CLUSTER": cluster}
    with (
        tempfile.TemporaryDirectory(prefix="ray") as temporary,  # a short path: sockets
        served("app.py", log=catalogue.with_name("page.log"), **settings) as page,
    ):
        yield Stage(page, cluster, Path(temporary))


@pytest.fixture(scope="module")
def stage(empty_stage: Stage) -> Iterator[Stage]:
    """The same page with its cluster, of which nothing is left afterwards."""
    settings = {MARK: str(empty_stage.temporary), "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(ROOT)}
    settings |= {"POOLSCOPE_REPLICAS_LEAST": "2", "POOLSCOPE_REPLICAS_MOST": "2"}
    command = [sys.executable, "tests/inference/ray_cluster.py", empty_stage.cluster.rpartition(":")[2]]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **settings}, stdin=subprocess.PIPE
    ) as process:
        eventually(lambda: health(empty_stage.page) == 200, "the page finds no cluster")
        eventually(lambda: len(empty_stage.replicas()) == 2, "there are no two replicas")
        yield empty_stage
        process.communicate()
    eventually(lambda: not empty_stage.processes(), "something of the cluster is left")


def test_without_a_cluster_a_sentence_says_so(empty_stage: Stage) -> None:
    status, said = ask(empty_stage.page, "analyze", ONE)
    assert status == 400
    assert "no machine that measures can be reached at the moment" in said["detail"]
    assert health(empty_stage.page) == 503


@pytest.mark.parametrize(("endpoint", "values"), QUESTIONS)
def test_answers_and_refusals_are_those_of_the_engine(
    stage: Stage, engine: Engine, endpoint: str, values: dict[str, Any]
) -> None:
    assert ask(stage.page, endpoint, values) == expected(engine, endpoint, values)


def test_the_command_has_a_passport_issued_by_the_cluster(
    stage: Stage, engine: Engine, tmp_path: Path
) -> None:
    assert main(["bert-sentiment", "--out", str(tmp_path), "--cluster", stage.cluster]) == 0
    passport = json.loads((tmp_path / "bert-sentiment.json").read_text("utf-8"))
    assert (200, passport) == expected(engine, "passport", {"backbone": "bert-sentiment"})


def test_who_is_asked_has_the_checkpoint(stage: Stage, catalogue: Path) -> None:
    file = catalogue.with_name("tiny") / "tokenizer.json"
    now = file.stat()

    def loaded() -> bool:
        """Whether any of ten questions has a replica read the checkpoint."""
        os.utime(file, ns=(1, now.st_mtime_ns))  # the time at which it was read is told anew after this
        for _ in range(10):
            asked = {"backbone": "tiny", "text": f"film {os.urandom(4).hex()}"}
            assert ask(stage.page, "analyze", asked)[0] == 200
        return file.stat().st_atime_ns > 1

    assert loaded()  # by one replica or, before it is known who has it, by both
    assert not loaded()


def test_a_replica_killed_under_load_costs_no_question(stage: Stage) -> None:
    asked = [{"backbone": key, "text": f"{key} {number}"} for number in range(12) for key in BACKBONES]
    killed = min(stage.replicas())
    with ThreadPoolExecutor(6) as threads:
        told = threads.map(lambda one: ask(stage.page, "analyze", one)[0], asked)
        assert next(told) == 200
        os.kill(killed, signal.SIGKILL)
        assert set(told) == {200}
    eventually(lambda: len(stage.replicas() - {killed}) == 2, "nobody takes its place")


def test_who_leaves_ends_the_work(stage: Stage) -> None:
    before = {replica: _worked(replica) for replica in stage.replicas()}
    visitor = HTTPConnection(stage.page.removeprefix("http://"))
    visitor.request("POST", "/analyze", json.dumps({"backbone": "deep", "text": TEXT}))
    try:
        eventually(lambda: any(_worked(one) > before[one] + 1 for one in before), "nobody loads it")
    finally:
        visitor.close()
    eventually(lambda: not set(before) <= stage.replicas(), "its replica goes on")
    assert ask(stage.page, "analyze", {**ONE, "text": "after that"})[0] == 200


def _worked(process: int) -> float:
    """Seconds of a core that a process has had."""
    ticks = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
