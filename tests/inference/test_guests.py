"""What somebody else's checkpoint does, ends its own worker at most, and is told in a sentence."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pydantic import ByteSize

from components.errors import PoolscopeError
from components.inference.desk import Desk
from components.inference.worker import BEHIND
from components.inference.workers import Apart, Workers, limits_of_bundled, limits_of_guests
from components.settings import Settings
from components.types import Query
from tests.model.hostile.spoiling import change
from tests.tiny import checkpoint

MB = 1_000_000
TEXT = "the film is good"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone limits the memory of a process")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One worker for guests alone, whose checkpoints load and answer: nobody asks about anything bundled."""
    folder = tmp_path_factory.mktemp("guests")
    checkpoint(folder / "good")
    checkpoint(folder / "panics")  # on some texts, which is no Exception
    slow = {"type": "Replace", "pattern": {"Regex": "(x+x+)+y"}, "content": ""}
    change(folder / "panics" / "tokenizer.json", normalizer=slow)
    checkpoint(folder / "wide", hidden_size=4, intermediate_size=30_000, max_position_embeddings=2_048)
    change(folder / "wide" / "tokenizer_config.json", model_max_length=2_048)
    lines = [f'[{one.name}]\ntitle = "x"\ntask = "y"\npath = "{one}"' for one in sorted(folder.iterdir())]
    (folder / "backbones.toml").write_text("\n".join(lines), encoding="utf-8")
    settings = Settings(catalogue=folder / "backbones.toml", workers=1, memory=ByteSize(100 * MB))
    limits = replace(limits_of_guests(settings), working=300 * MB)
    desk = Desk(settings, Apart(Workers(settings, limits_of_bundled(settings)), Workers(settings, limits)))
    yield desk
    desk.close(0)


def worker(desk: Desk) -> int:
    """The process that runs guests."""
    assert isinstance(desk._runner, Apart)
    assert isinstance(desk._runner._guests, Workers)
    (only,) = desk._runner._guests._idle
    return only._process.pid or 0


def test_what_is_bundled_goes_first_where_processors_are_short(desk: Desk) -> None:
    assert desk.ask("analyze", Query("good", TEXT)).labels
    assert os.getpriority(os.PRIO_PROCESS, worker(desk)) == os.getpriority(os.PRIO_PROCESS, 0) + BEHIND


def test_a_panic_is_a_sentence_and_its_worker_lives_on(desk: Desk) -> None:
    assert desk.ask("analyze", Query("panics", TEXT)).labels
    before = worker(desk)
    with pytest.raises(PoolscopeError, match="it fails on this text \\(PanicException\\)"):
        desk.ask("analyze", Query("panics", "x" * 30))
    assert worker(desk) == before
    assert desk.ask("analyze", Query("panics", TEXT + " !")).labels


@LINUX
def test_memory_beyond_the_limit_is_a_sentence_and_its_worker_lives_on(desk: Desk) -> None:
    assert desk.ask("analyze", Query("wide", TEXT)).labels
    before = worker(desk)
    with pytest.raises(PoolscopeError, match="it takes more memory for this text than"):
        desk.ask("analyze", Query("wide", "good " * 2_040))
    assert worker(desk) == before
    assert desk.ask("analyze", Query("good", TEXT)).labels


@LINUX
def test_a_crash_is_told_by_its_name_and_another_worker_takes_its_place(desk: Desk) -> None:
    assert desk.ask("analyze", Query("good", TEXT)).labels
    before = worker(desk)
    os.kill(before, signal.SIGSTOP)  # so that the question is under way when it crashes
    os.kill(before, signal.SIGSEGV)
    os.kill(before, signal.SIGCONT)
    with pytest.raises(PoolscopeError, match="the process that ran this checkpoint crashed \\(SIGSEGV\\)"):
        desk.ask("analyze", Query("good", TEXT + " not"))
    assert desk.ask("analyze", Query("good", TEXT + " not")).labels
    assert worker(desk) != before
