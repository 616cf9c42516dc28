"""How much memory there is, from files as Linux writes them."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from components import settings as machine
from components.inference.measurer import Measurer

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


HOST = "9223372036854771712\n"  # what version 1 says where there is no limit
SERVICE = "sys/fs/cgroup/system.slice/poolscope.service/memory.max"
QUOTAS = {  # of version 1, in a container within another
    "proc/self/cgroup": "12:cpuset:/a\n9:cpu,cpuacct:/docker/1\n",
    "sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "50000\n",
    "sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us": "-1\n",
    "sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000\n",
}
MEMORY: tuple[tuple[dict[str, str], list[int]], ...] = (
    ({}, []),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, []),
    (
        {
            "proc/self/cgroup": "0::/system.slice/poolscope.service\n",
            SERVICE: "max\n",
            "sys/fs/cgroup/system.slice/memory.max": "3000000000\n",
        },
        [3000 * MB],
    ),
    (  # in a container the path is the host's, and what limits it is mounted as the root
        {
            "proc/self/cgroup": "12:cpu,cpuacct:/a\n9:memory:/docker/12\n1:name=systemd:/b\n",
            "sys/fs/cgroup/memory/docker/memory.limit_in_bytes": HOST,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "500000000\n",
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1\n",
        },
        [int(HOST), 500 * MB],
    ),
)
CORES: tuple[tuple[dict[str, str], list[float]], ...] = (
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, []),
    ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "250000 100000\n"}, [2.5]),
    (QUOTAS, [0.5]),
)


def test_limits_of_cgroups(tmp_path: Path) -> None:
    for number, (files, limits) in enumerate(MEMORY):
        assert list(machine.cgroup_limits(system(tmp_path / f"memory{number}", files))) == limits
    for number, (files, shares) in enumerate(CORES):
        assert list(machine.cgroup_cores(system(tmp_path / f"cores{number}", files))) == shares


@pytest.mark.parametrize(("shares", "expected"), [([], 4), ([2.5, 8], 3), ([0.5], 1)])
def test_a_container_has_its_share_of_the_cores(
    monkeypatch: pytest.MonkeyPatch, shares: list[float], expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(machine, "cgroup_cores", lambda _root: iter(shares))
    assert machine.cores() == expected


def test_a_limit_that_is_hidden_is_none_and_another_error_comes_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Path, "read_text", raising(PermissionError()))
    assert list(machine.cgroup_limits(Path("/"))) == []
    monkeypatch.setattr(Path, "read_text", raising(OSError(errno.EIO, "the disk is broken")))
    with pytest.raises(OSError, match="the disk is broken"):
        list(machine.cgroup_limits(Path("/")))


def test_the_least_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limits, expected in (([], whole), ([5 * MB, 7 * MB], 5 * MB), ([2 * whole], whole)):
        monkeypatch.setattr(machine, "cgroup_limits", lambda _root, limits=limits: iter(limits))
        assert machine.total() == expected


def test_the_owner_sets_the_budget() -> None:
    assert Measurer(123 * MB).checkpoints.budget == 123 * MB
    assert Measurer(None).checkpoints.budget == machine.total() // 2
    assert Measurer(120 * MB, sharers=3).checkpoints.budget == 40 * MB
