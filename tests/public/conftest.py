"""The app as it is served: the real one, and one on an analyst with faults."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.public.asking import client_of
from tests.serving import served


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="package")
def real(folder: Path) -> Iterator[httpx.Client]:
    """The app itself, which notes down every attempt to reach another machine."""
    attempts = folder / "attempts"
    attempts.touch()
    log = folder / "real.log"
    with served("tests/guarded_app.py", log=log, ATTEMPTS=str(attempts)) as url, client_of(url) as client:
        yield client
    assert attempts.read_text() == ""
    assert "Traceback" not in log.read_text(errors="replace")


@pytest.fixture(scope="package")
def odd(folder: Path) -> Iterator[httpx.Client]:
    """The page on an analyst with faults; answers may take a second, three questions may wait."""
    limits = {"POOLSCOPE_SECONDS": "1", "POOLSCOPE_WAITING": "3"}
    with served("-m", "tests.ui.odd_app", log=folder / "odd.log", **limits) as url, client_of(url) as client:
        yield client
