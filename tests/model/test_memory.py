"""How much memory there is, from files as Linux writes them."""

import errno
import os
import tomllib
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


CGROUPS = tomllib.loads(Path(__file__).with_name("cgroups.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CGROUPS)
def test_limits_of_cgroups(tmp_path: Path, name: str) -> None:
    case = CGROUPS[name]
    for file, content in case["files"].items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(f"{content}\n")
    assert list(machine.cgroup_limits(tmp_path)) == case.get("memory", [])


def test_a_hidden_limit_is_none_and_another_error_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
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
