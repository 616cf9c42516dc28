"""The API over HTTP, on the fake analyst: one server for each file that asks for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gradio_client import Client

from tests.serving import served


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api") / "server.log"


@pytest.fixture(scope="module")
def address(log: Path) -> Iterator[str]:
    with served("-m", "tests.ui.fake_app", log=log) as address:
        yield address


@pytest.fixture(scope="module")
def client(address: str) -> Client:
    return Client(address, verbose=False)
