"""Who asks a Ray cluster on this machine is told what the engine says, whatever dies."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from psutil import Process

from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.inference.client import Client
from components.inference.engine import Desk, Engine
from components.passports import main
from components.settings import ASSETS, Settings
from components.types import Query
from tests.resident import begun_with
from tests.serving import ROOT, eventually, free_port
from tests.tiny import catalogue, checkpoint

pytest.importorskip("ray")

TEXT = "The plot is thin, but the actors are a delight."
OTHERS = {"tiny": {}, "deep": {"num_hidden_layers": 1000, "hidden_size": 8, "intermediate_size": 8}}
BACKBONES = ("bert-sentiment", "gpt2-paraphrase", "xlnet-sentiment")
MARK = "RAY_TMPDIR"  # in the environment of every process of the cluster
ONE = Query("bert-sentiment", TEXT)
QUESTIONS: list[tuple[str, Query, dict[str, Any]]] = [
    *[("analyze", Query(key, TEXT, "Another."), {}) for key in BACKBONES],
    ("importance", ONE, {"label": ""}),
    ("trace", ONE, {"other": "The plot is thin.", "other_pair": ""}),
    ("analyze", replace(ONE, layer=99), {}),  # which is refused
    ("trace", ONE, {"other": TEXT, "other_pair": ""}),  # which only a replica can refuse
]


@dataclass(frozen=True)
class Stage:
    """Who asks a cluster, where that is, and where it has its ``temporary`` files."""

    desk: Desk
    cluster: str
    temporary: Path

    def replicas(self) -> set[int]:
        """Their processes."""
        return {one for one, command in self.processes().items() if "ServeReplica" in " ".join(command)}

    def processes(self) -> dict[int, list[str]]:
        """All of the cluster, and their command lines."""
        return {one["pid"]: one["cmdline"] for one in begun_with(MARK, self.temporary) if one["cmdline"]}


def outcome(analyst: Desk, name: str, query: Query, options: Mapping[str, Any]) -> Any:
    """What is said, the clock aside."""
    try:
        found = analyst.ask(name, query, **options).to_json()
    except PoolscopeError as error:
        return str(error)
    return {name: value for name, value in found.items() if name != "milliseconds"}


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of the bundled backbones and two others, of which one takes long to be loaded."""
    folder = tmp_path_factory.mktemp("stage")
    for place in ("models", "probes"):
        (folder / place).symlink_to(ASSETS / place)
    for name, sizes in OTHERS.items():
        checkpoint(folder / name, **sizes)
    bundled = (ASSETS / "backbones.toml").read_text("utf-8")
    return catalogue(folder, {name: folder / name for name in OTHERS}, bundled)


@pytest.fixture(scope="module")
def engine(listed: Path) -> Engine:
    """The same backbones in this process."""
    return Engine(Settings(catalogue=listed))


@pytest.fixture(scope="module")
def stage(listed: Path) -> Iterator[Stage]:
    """A cluster with two replicas, of which nothing is left afterwards."""
    port = free_port()
    settings = Settings(catalogue=listed, cluster=f"http://127.0.0.1:{port}")
    with tempfile.TemporaryDirectory(prefix="ray") as temporary:  # a short path: sockets
        stage = Stage(Desk(settings, Client(settings)), str(settings.cluster), Path(temporary))
        more = {MARK: temporary, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(ROOT)}
        more |= {"POOLSCOPE_REPLICAS_LEAST": "2", "POOLSCOPE_REPLICAS_MOST": "2"}
        command = [sys.executable, "tests/cluster/ray_cluster.py", str(port)]
        with subprocess.Popen(command, cwd=ROOT, env=os.environ | more, stdin=subprocess.PIPE) as process:
            stage.desk.open()
            eventually(stage.desk.ready, "no cluster is found")
            eventually(lambda: len(stage.replicas()) == 2, "there are no two replicas")
            yield stage
            stage.desk.close(0)
            process.communicate()
        eventually(lambda: not stage.processes(), "something of the cluster is left")


@pytest.mark.parametrize(("name", "query", "options"), QUESTIONS)
def test_answers_and_refusals_are_those_of_the_engine(
    stage: Stage, engine: Engine, name: str, query: Query, options: dict[str, Any]
) -> None:
    assert outcome(stage.desk, name, query, options) == outcome(engine, name, query, options)


def test_the_command_has_the_cluster_issue_a_passport(stage: Stage, engine: Engine, tmp_path: Path) -> None:
    assert main(["bert-sentiment", "--out", str(tmp_path), "--cluster", stage.cluster]) == 0
    passport = json.loads((tmp_path / "bert-sentiment.json").read_text("utf-8"))
    expected = outcome(engine, "passport", Query("bert-sentiment", ""), {})
    assert passport == json.loads(json.dumps(expected))


def test_who_is_asked_has_the_checkpoint(stage: Stage, listed: Path) -> None:
    file = listed.with_name("tiny") / "tokenizer.json"
    now = file.stat()

    def loaded() -> bool:
        """Whether any of ten questions has a replica read the checkpoint."""
        os.utime(file, ns=(1, now.st_mtime_ns))  # the time at which it was read is told anew after this
        for _ in range(10):
            assert stage.desk.ask("analyze", Query("tiny", f"film {os.urandom(4).hex()}")).labels
        return file.stat().st_atime_ns > 1

    assert loaded()  # by one replica or, before it is known who has it, by both
    assert not loaded()


def test_a_replica_killed_under_load_costs_no_question(stage: Stage) -> None:
    asked = [Query(key, f"{key} {number}") for number in range(12) for key in BACKBONES]
    killed = min(stage.replicas())
    with ThreadPoolExecutor(6) as threads:
        told = threads.map(partial(stage.desk.ask, "analyze"), asked)
        assert next(told).labels
        os.kill(killed, signal.SIGKILL)
        assert all(answer.labels for answer in told)
    eventually(lambda: len(stage.replicas() - {killed}) == 2, "nobody takes its place")


def test_who_leaves_ends_the_work(stage: Stage) -> None:
    before = {replica: _worked(replica) for replica in stage.replicas()}
    left, context = Future[None](), copy_context()
    context.run(CANCELLATION.set, left)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(context.run, stage.desk.ask, "analyze", Query("deep", TEXT))
        eventually(lambda: any(_worked(one) > before[one] + 1 for one in before), "nobody loads it")
        left.cancel()
        with pytest.raises(CancelledError):
            answer.result()
    eventually(lambda: not set(before) <= stage.replicas(), "its replica goes on")
    assert stage.desk.ask("analyze", replace(ONE, text="after that")).labels


def _worked(process: int) -> float:
    """Seconds of a core that a process has had."""
    return sum(Process(process).cpu_times()[:2])
