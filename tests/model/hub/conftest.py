"""A hub of one's own for each test, and an empty cache."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session, constants

from components.model.hub import downloads
from components.model.hub.listing import Listing, listed
from tests.hub import Hub, hub
from tests.tiny import checkpoint

MODEL = "org/tiny"
LIMIT = 10_000_000
PATIENT = 20  # seconds that a test waits for a thread


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder of 130 kB."""
    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    checkpoint(folder, id2label={0: "bad", 1: "good"})
    return folder


@pytest.fixture
def there(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the model org/tiny; huggingface_hub asks it, as if HF_ENDPOINT and HF_HOME had said so."""
    shutil.copytree(tiny, tmp_path / "models" / MODEL)
    with hub(tmp_path / "models") as server:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", server.address)
        template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
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
    listing = listed(MODEL, None, LIMIT)
    assert there.is_quiet(PATIENT)
    there.requests.clear()
    there.sent = 0
    return listing


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often: tests are quick."""
    monkeypatch.setattr(downloads, "TICK", 0.01)


def downloads_end() -> None:
    """Return when no download is under way."""
    for thread in threading.enumerate():
        if thread.name == "download":
            thread.join(PATIENT)
            assert not thread.is_alive()


def flipped(content: bytes) -> bytes:
    """The same length, another hash."""
    return content[:-1] + bytes([content[-1] ^ 1])


def edited(file: Path, change: Callable[[str], str]) -> None:
    """Change a file's text."""
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
