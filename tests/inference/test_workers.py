"""Workers are processes: they say what the engine says, and what one comes to harms nobody else."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from psutil import Process
from pydantic import ByteSize

from components.admission import ClosedError
from components.analyst import CANCELLATION
from components.errors import PoolscopeError
from components.inference.engine import Desk, Engine
from components.inference.payload import pack
from components.inference.workers import BEHIND, THREADS, Apart, WorkerError, Workers, limits_of
from components.settings import ASSETS, Settings
from components.types import Query
from tests.inference.test_engine import timeless
from tests.tiny import catalogue, change, checkpoint

TEXT = "The plot is thin, but the actors are a delight."
KEYS = tuple(f"{family}-sentiment" for family in ("bert", "distilbert", "roberta", "xlnet", "gpt2"))
FILM = "the film is good"
STUCK = ("one", "two")  # which are asked while their workers stand still
OPTIONS: dict[str, dict[str, Any]] = {  # of every analysis
    **{name: {} for name in ("analyze", "anatomy", "lens", "padding", "passport")},
    "importance": {"label": ""},
    "detect": {"vector": [1.0] * 128},
    "trace": {"other": "Something else.", "other_pair": "Another."},
}
MB = 1_000_000
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone copies and limits processes")
LONG = 300  # seconds, at most, that a worker takes to begin on a machine with much else to do


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two workers; the five backbones for sentiment, and two more."""
    folder = tmp_path_factory.mktemp("workers")
    places = {key: ASSETS / "models" / key for key in KEYS}
    for name in STUCK:
        places[name] = folder / name
        checkpoint(places[name])
    return Settings(catalogue=catalogue(folder, places), workers=2)


@pytest.fixture(scope="module")
def desk(settings: Settings) -> Iterator[Desk]:
    workers = Workers(settings, limits_of(settings)[0])
    desk = Desk(settings, workers)
    before = torch.get_num_threads()
    torch.set_num_threads(int(os.environ.get(THREADS, "1")))  # as a worker has
    workers.open(desk.first())
    yield desk
    workers.close()
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def engine(settings: Settings) -> Engine:
    return Engine(settings)


@pytest.mark.parametrize(("key", "name"), [*zip(cycle(KEYS), OPTIONS, strict=False)])
def test_workers_say_what_the_engine_says(desk: Desk, engine: Engine, key: str, name: str) -> None:
    query = Query(key, TEXT, "Another.", "mean", layer=1, reference="pooled")
    ours, theirs = (one.ask(name, query, **OPTIONS[name]) for one in (desk, engine))
    assert timeless(ours) == timeless(theirs)


def test_an_answer_is_the_same_until_its_checkpoint_changes(settings: Settings, desk: Desk) -> None:
    folder = settings.catalogue.parent / "copy"
    copytree(desk._specs["gpt2-sentiment"].location, folder, copy_function=copyfile)  # with new times
    moved = catalogue(folder, {"gpt2-sentiment": folder})
    other = Desk(settings.model_copy(update={"catalogue": moved}), desk._runner)
    query = Query("gpt2-sentiment", TEXT)
    first, kept, elsewhere = (one.ask("analyze", query) for one in (desk, desk, other))
    os.utime(folder / "model.safetensors", ns=(1, 1))
    changed = other.ask("analyze", query)
    assert timeless(changed) == timeless(elsewhere)
    assert pack(kept) == pack(first)
    times = [one.milliseconds for one in (first, elsewhere, changed)]  # no two runs take the same
    assert times[0] != times[1] != times[2]
    rounds = [desk.ask("timing", query).whole for _ in range(2)]
    assert (rounds[0] != rounds[1]).any()  # a time is measured whenever it is asked for


def test_workers_know_which_models_transformers_classifies_with(desk: Desk) -> None:
    assert [desk._classifies(kind) for kind in ("bert", "whisper-small")] == [True, False]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (WorkerError(), "the process that measured it ended before it had an answer"),
        (WorkerError("errors.late"), "its answer took longer than 7 seconds and was stopped"),
        (ClosedError(), "the server is being stopped"),
    ],
)
def test_what_a_worker_came_to_is_said(monkeypatch: pytest.MonkeyPatch, error: Exception, told: str) -> None:
    settings = Settings(workers=1, seconds=7)
    workers = Workers(settings, limits_of(settings)[0])  # none of which has begun
    monkeypatch.setattr(workers, "ask", Mock(side_effect=error))
    desk = Desk(settings, workers)
    with pytest.raises(PoolscopeError, match=f"backbone: 'gpt2-sentiment' was given; {told}"):
        desk.ask("analyze", Query("gpt2-sentiment", TEXT))
    (compared,) = desk.compare([Query("gpt2-sentiment", TEXT)])
    assert told in str(compared.cells[0].refusal)


@LINUX
def test_torch_is_loaded_once_by_the_process_that_workers_are_copies_of(desk: Desk) -> None:
    assert desk.ask("analyze", Query(KEYS[0], TEXT)).predicted
    workers = [Process(worker._process.pid) for worker in _pool(desk)._idle]
    assert not any("pandas" in one.path for worker in workers for one in worker.memory_maps())
    (begun_by,) = {worker.parent() for worker in workers}
    assert begun_by != Process()
    assert any("libtorch_cpu" in one.path for one in begun_by.memory_maps())
    assert begun_by.num_threads() == 1  # a copy has no thread but one


@pytest.mark.skipif(sys.platform == "win32", reason="signals make a worker stand still")
def test_who_leaves_ends_the_work_and_others_go_on(desk: Desk) -> None:
    pool = _pool(desk)
    while len(pool._idle) < 2:
        threading.Event().wait(0.01)
    workers = {worker._process.pid: worker for worker in pool._idle}
    for pid in workers:
        os.kill(pid or 0, signal.SIGSTOP)
    token = {name: Future[None]() for name in STUCK}
    threads = ThreadPoolExecutor(2)

    def ask(name: str) -> str:
        CANCELLATION.set(token[name])
        return desk.ask("analyze", Query(name, FILM)).backbone.key

    told = {name: threads.submit(copy_context().run, ask, name) for name in STUCK}
    while pool._idle:  # both have been asked
        threading.Event().wait(0.01)
    token["one"].cancel()
    with pytest.raises(PoolscopeError, match="ended before it had an answer"):
        told["one"].result(LONG)
    (alive,) = [pid for pid, worker in workers.items() if worker in pool._seen]
    assert desk.ask("analyze", Query(KEYS[0], "after that")).predicted  # by the one that has taken its place
    os.kill(alive or 0, signal.SIGCONT)
    assert told["two"].result(LONG) == "two"  # whose worker was not touched


def _pool(desk: Desk) -> Workers:
    assert isinstance(desk._runner, Workers)
    return desk._runner


@pytest.fixture(scope="module")
def guests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One worker for guests alone, whose checkpoints load and answer: nobody asks about anything bundled."""
    folder = tmp_path_factory.mktemp("guests")
    checkpoint(folder / "good")
    checkpoint(folder / "panics")  # on some texts, which is no Exception
    slow = {"type": "Replace", "pattern": {"Regex": "(x+x+)+y"}, "content": ""}
    change(folder / "panics" / "tokenizer.json", normalizer=slow)
    checkpoint(folder / "wide", hidden_size=4, intermediate_size=30_000, max_position_embeddings=2_048)
    change(folder / "wide" / "tokenizer_config.json", model_max_length=2_048)
    listed = catalogue(folder, {one.name: one for one in sorted(folder.iterdir())})
    settings = Settings(catalogue=listed, workers=1, memory=ByteSize(100 * MB))
    bundled, limits = limits_of(settings)
    apart = Apart(Workers(settings, bundled), Workers(settings, replace(limits, working=300 * MB)))
    desk = Desk(settings, apart)
    yield desk
    desk.close(0)


def worker(guests: Desk) -> int:
    """The process that runs guests."""
    assert isinstance(guests._runner, Apart)
    assert isinstance(guests._runner._guests, Workers)
    (only,) = guests._runner._guests._idle
    return only._process.pid or 0


def test_what_is_bundled_goes_first_where_processors_are_short(guests: Desk) -> None:
    assert guests.ask("analyze", Query("good", FILM)).labels
    behind = min(19, os.getpriority(os.PRIO_PROCESS, 0) + BEHIND)  # there is no lower one
    assert os.getpriority(os.PRIO_PROCESS, worker(guests)) == behind


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("panics", "x" * 30, "it fails on this text \\(PanicException\\)"),
        pytest.param("wide", "good " * 2_040, "it takes more memory for this text than", marks=LINUX),
    ],
)
def test_a_worker_outlives_a_panic_and_its_limit(guests: Desk, key: str, text: str, said: str) -> None:
    assert guests.ask("analyze", Query(key, FILM)).labels
    before = worker(guests)
    with pytest.raises(PoolscopeError, match=said):
        guests.ask("analyze", Query(key, text))
    assert worker(guests) == before
    assert guests.ask("analyze", Query(key, FILM + " !")).labels


@LINUX
def test_a_crash_is_told_by_its_name_and_another_worker_takes_its_place(guests: Desk) -> None:
    assert guests.ask("analyze", Query("good", FILM)).labels
    before = worker(guests)
    os.kill(before, signal.SIGSTOP)  # so that the question is under way when it crashes
    os.kill(before, signal.SIGSEGV)
    os.kill(before, signal.SIGCONT)
    with pytest.raises(PoolscopeError, match="the process that ran this checkpoint crashed \\(SIGSEGV\\)"):
        guests.ask("analyze", Query("good", FILM + " not"))
    assert guests.ask("analyze", Query("good", FILM + " not")).labels
    assert worker(guests) != before


@LINUX
def test_resident_memory_stays_within_the_budget_and_comes_back(tmp_path: Path) -> None:
    """Of seven checkpoints of 50 MB three are kept; what keeps 10 MB of each goes beyond the last line."""
    checkpoint(tmp_path / "small")
    checkpoint(tmp_path / "large", max_position_embeddings=350_000)
    keys = [f"large{number}" for number in range(7)]
    listed = catalogue(tmp_path, {"small": tmp_path / "small", **dict.fromkeys(keys, tmp_path / "large")})
    settings = Settings(catalogue=listed, workers=1, memory=ByteSize(400 * MB))  # of which it has half
    workers = Workers(settings, limits_of(settings)[1])
    workers.open(None)
    desk, resident = Desk(settings, workers), list[int]()
    for key in ("small", *keys):
        assert desk.ask("analyze", Query(key, FILM)).labels
        resident.append(Process(workers._idle[0]._process.pid).memory_info().rss)
    workers.close()
    start, *grown = resident
    assert 150 * MB < max(grown) - start < 250 * MB
    assert grown[-1] - start < 300 * MB
