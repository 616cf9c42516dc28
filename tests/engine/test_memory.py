"""How much memory there is, from files as Linux writes them, and that it comes back."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from components.engine import checkpoints
from components.engine.engine import Engine
from components.settings import Settings
from tests.benchmarks.memory import BUDGET, measured

MB = 1_000_000


def raising(error: Exception) -> Callable[..., str]:
    def fail(*_args: object, **_options: object) -> str:
        raise error

    return fail


def system(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({}, []),
        ({"proc/self/cgroup": "0::/\n"}, []),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, []),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2000000000\n"}, [2000 * MB]),
        (
            {
                "proc/self/cgroup": "0::/system.slice/poolscope.service\n",
                "sys/fs/cgroup/system.slice/poolscope.service/memory.max": "max\n",
                "sys/fs/cgroup/system.slice/memory.max": "3000000000\n",
            },
            [3000 * MB],
        ),
        (
            {
                "proc/self/cgroup": "12:cpu,cpuacct:/a\n9:memory:/docker/1:2\n1:name=systemd:/b\n",
                "sys/fs/cgroup/memory/docker/1:2/memory.limit_in_bytes": "1000000000\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1\n",
            },
            [1000 * MB, 9223372036854771712],
        ),
        (  # in a container the path is the host's, and what limits it is mounted as the root
            {
                "proc/self/cgroup": "9:memory:/docker/12\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "500000000\n",
            },
            [500 * MB],
        ),
    ],
)
def test_limits_of_cgroups(tmp_path: Path, files: dict[str, str], limits: list[int]) -> None:
    assert list(checkpoints.cgroup_limits(system(tmp_path, files))) == limits


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_a_limit_that_is_hidden_is_none(monkeypatch: pytest.MonkeyPatch, error: type[OSError]) -> None:
    monkeypatch.setattr(Path, "read_text", raising(error()))
    assert list(checkpoints.cgroup_limits(Path("/"))) == []


def test_another_error_of_the_disk_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", raising(OSError(errno.EIO, "the disk is broken")))
    with pytest.raises(OSError, match="the disk is broken"):
        list(checkpoints.cgroup_limits(Path("/")))


def test_the_least_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limits, expected in (([], machine), ([5 * MB, 7 * MB], 5 * MB), ([2 * machine], machine)):
        monkeypatch.setattr(checkpoints, "cgroup_limits", lambda _root, limits=limits: iter(limits))
        assert checkpoints.total() == expected


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/meminfo is the other way of knowing")
def test_the_machine_has_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "cgroup_limits", lambda _root: iter(()))
    stated = Path("/proc/meminfo").read_text().splitlines()[0].split()
    assert checkpoints.total() == int(stated[1]) * 1024


def test_the_owner_sets_the_budget() -> None:
    stated = Engine(Settings(memory="123 MB"))._checkpoints
    assert stated._budget == 123 * MB
    assert Engine(Settings())._checkpoints._budget == checkpoints.total() // 2


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is resident")
def test_resident_memory_stays_within_the_budget_and_comes_back() -> None:
    figures = measured()
    assert figures["each"] > 50
    assert figures["end"] < 300
    assert figures["most"] > 3 * figures["each"]  # they were kept as long as there was room
    assert figures["most"] < BUDGET / MB + figures["each"]
