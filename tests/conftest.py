import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported: no test may ask a network

from collections.abc import Iterator

from components.engine.engine import Engine
from components.settings import Settings
from tests.serving import served


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine on the bundled catalogue."""
    return Engine(Settings())


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the real app serves the bundled checkpoints."""
    with served("app.py", log=tmp_path_factory.mktemp("app") / "server.log") as url:
        yield url
