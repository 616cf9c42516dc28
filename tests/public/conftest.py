"""The app as it is served: the real one, and one on an analyst with faults."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.public.asking import Gate, client_of
from tests.serving import RATE, served

WAITING = 10  # questions


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="package")
def real(folder: Path) -> Iterator[httpx.Client]:
    """The app itself, which notes down every attempt to reach another machine."""
    attempts = folder / "attempts"
    attempts.touch()
    log = folder / "real.log"
    (files := folder / "files").mkdir()
    seen = {"ATTEMPTS": str(attempts), "LOG": str(log), "TMPDIR": str(files), "POOLSCOPE_METRICS": "1"}
    wide = {"POOLSCOPE_ADDRESS_RATE": RATE}  # all tests ask from this machine
    with served("tests/guarded_app.py", log=log, **seen, **wide) as url, client_of(url) as client:
        yield client
    assert attempts.read_text() == ""
    assert "Traceback" not in log.read_text(errors="replace")


@pytest.fixture(scope="package")
def gate(folder: Path) -> Gate:
    gate = Gate(folder / "gate")
    gate.close()
    return gate


@pytest.fixture(scope="package")
def faulty(folder: Path, gate: Gate) -> Iterator[httpx.Client]:
    """The page on an analyst with faults; few questions may wait, and few come from one visitor."""
    app = ("-m", "tests.public.faulty_app", str(gate.path))
    limits = {"POOLSCOPE_RATE": "3", "POOLSCOPE_WAITING": str(WAITING), "POOLSCOPE_SECONDS": "600"}
    with served(*app, log=folder / "faulty.log", **limits) as url, client_of(url) as client:
        yield client
