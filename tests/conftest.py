import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported: no test may ask a network

from components.engine.engine import Engine
from components.settings import Settings


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine on the bundled catalogue."""
    return Engine(Settings())
