import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported: no test may ask a network

from collections.abc import Iterator

from components.engine.engine import Engine
from components.settings import Settings
from tests.serving import ROOT, serving


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine on the bundled catalogue."""
    return Engine(Settings())


@pytest.fixture(scope="session")
def app_url() -> Iterator[str]:
    """Where the real app serves the bundled checkpoints."""
    with serving(ROOT / "app.py") as url:
        yield url
