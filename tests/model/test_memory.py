"""How much memory there is, from files as Linux writes them, and that it comes back."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from components.inference.measurer import Measurer
from components.model import machine
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
    assert list(machine.cgroup_limits(system(tmp_path, files))) == limits


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({"proc/self/cgroup": "0::/\n"}, []),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, []),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "250000 100000\n"}, [2.5]),
        (
            {
                "proc/self/cgroup": "12:cpuset:/a\n9:cpu,cpuacct:/docker/1\n",
                "sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000\n",
            },
            [0.5],
        ),
    ],
)
def test_cores_of_cgroups(tmp_path: Path, files: dict[str, str], limits: list[float]) -> None:
    assert list(machine.cgroup_cores(system(tmp_path, files))) == limits


@pytest.mark.parametrize(("shares", "expected"), [([], 4), ([2.5, 8], 3), ([0.5], 1)])
def test_a_container_has_its_share_of_the_cores(
    monkeypatch: pytest.MonkeyPatch, shares: list[float], expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(machine, "cgroup_cores", lambda _root: iter(shares))
    assert machine.cores() == expected


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_a_limit_that_is_hidden_is_none(monkeypatch: pytest.MonkeyPatch, error: type[OSError]) -> None:
    monkeypatch.setattr(Path, "read_text", raising(error()))
    assert list(machine.cgroup_limits(Path("/"))) == []


def test_another_error_of_the_disk_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", raising(OSError(errno.EIO, "the disk is broken")))
    with pytest.raises(OSError, match="the disk is broken"):
        list(machine.cgroup_limits(Path("/")))


def test_the_least_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limits, expected in (([], whole), ([5 * MB, 7 * MB], 5 * MB), ([2 * whole], whole)):
        monkeypatch.setattr(machine, "cgroup_limits", lambda _root, limits=limits: iter(limits))
        assert machine.total() == expected


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/meminfo is the other way of knowing")
def test_the_machine_has_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "cgroup_limits", lambda _root: iter(()))
    stated = Path("/proc/meminfo").read_text().splitlines()[0].split()
    assert machine.total() == int(stated[1]) * 1024


def test_the_owner_sets_the_budget() -> None:
    assert Measurer(123 * MB).checkpoints.budget == 123 * MB
    assert Measurer(None).checkpoints.budget == machine.total() // 2
    assert Measurer(120 * MB, sharers=3).checkpoints.budget == 40 * MB


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is resident")
def test_resident_memory_stays_within_the_budget_and_comes_back() -> None:
    figures = measured(rounds=10)  # 500 MB; what keeps 10 MB of each goes beyond the last line
    assert figures["each"] > 50
    assert figures["end"] < 300
    assert figures["most"] > 3 * figures["each"]  # they were kept as long as there was room
    assert figures["most"] < BUDGET / MB + figures["each"]
