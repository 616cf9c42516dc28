"""A hub of one's own for each test, and an empty cache."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session, constants

from components.model import hub as downloading
from components.model.hub import Listing, listed
from tests.hub import Hub, hub
from tests.tiny import checkpoint

MODEL, HEAVY = "org/tiny", "org/heavy"
LIMIT = 100_000_000
CLASSIFIES = {"bert"}.__contains__  # whether transformers classifies with a type of model
PATIENT = 20  # seconds that a test waits for a thread


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder of 130 kB."""
    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    checkpoint(folder, id2label={0: "bad", 1: "good"})
    return folder


@pytest.fixture(scope="session")
def heavy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder of 26 MB: huggingface_hub reports 10 MB at a time."""
    folder = tmp_path_factory.mktemp("heavy") / "heavy"
    checkpoint(folder, max_position_embeddings=200_000)
    return folder


@pytest.fixture
def there(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the model org/tiny; huggingface_hub asks it, here and in processes that begin here."""
    shutil.copytree(tiny, tmp_path / "models" / MODEL)
    with hub(tmp_path / "models") as server:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", server.address)
        template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
        for name, value in server.environment(tmp_path / "home").items():
            monkeypatch.setenv(name, value)
        yield server
        server.closing.set()
        downloads_end()
        close_session()


@pytest.fixture
def model(there: Hub) -> Path:
    """The folder of org/tiny on the hub: who changes a file moves the branch."""
    return there.folder / MODEL


@pytest.fixture
def listing(there: Hub) -> Listing:
    """What has to come of org/tiny."""
    return _listing(there, MODEL)


@pytest.fixture
def weighty(there: Hub, heavy: Path) -> Listing:
    """What has to come of org/heavy."""
    shutil.copytree(heavy, there.folder / HEAVY)
    return _listing(there, HEAVY)


def _listing(there: Hub, model: str) -> Listing:
    listing = listed(model, None, LIMIT, CLASSIFIES)
    assert there.is_quiet(PATIENT)
    there.requests.clear()
    there.sent = 0
    return listing


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report often: tests are quick."""
    monkeypatch.setattr(downloading, "TICK", 0.01)


def downloads_end() -> None:
    """Return when no download is under way."""
    for thread in threading.enumerate():
        if thread.name == "download":
            thread.join(PATIENT)
            assert not thread.is_alive()
