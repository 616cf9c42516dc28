"""The internals of huggingface_hub are where they were."""

from pathlib import Path

import pytest
from huggingface_hub import constants, file_download, snapshot_download

from components.model.internals.hub_internals import cache_folder, endpoint, lock_file, model_folder, token
from tests.hub import Hub
from tests.model.hub.conftest import MODEL

MOVED = "huggingface_hub has moved {}: see hub_internals.py for what it was needed for"


@pytest.mark.parametrize("name", ["HF_HUB_CACHE", "ENDPOINT", "HF_HUB_DISABLE_IMPLICIT_TOKEN"])
def test_the_settings_are_constants(name: str) -> None:
    assert hasattr(constants, name), MOVED.format(f"constants.{name}")


def test_the_settings_are_read_when_they_are_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    assert (cache_folder(), endpoint(), token()) == (tmp_path, "http://127.0.0.1:1", "secret")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    assert token() is None


def test_a_folder_is_named_after_an_id() -> None:
    assert hasattr(file_download, "repo_folder_name"), MOVED.format("file_download.repo_folder_name")
    assert model_folder("org/name").name == "models--org--name", MOVED.format("the folders of its cache")


def test_a_download_of_its_own_uses_the_same_folder_and_locks(there: Hub) -> None:
    commit = there.commit(MODEL)
    snapshot_download(MODEL, revision=commit)
    assert (model_folder(MODEL) / "snapshots" / commit / "config.json").is_file(), MOVED.format("its cache")
    locks = {lock.name for lock in lock_file(MODEL, "x").parent.glob("*.lock")}
    blobs = {f"{blob.name}.lock" for blob in (model_folder(MODEL) / "blobs").iterdir()}
    assert locks == blobs, MOVED.format("its locks")
