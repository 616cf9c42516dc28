"""Half a download is never a checkpoint: killed, cut for good, on a full disk, beside other programs."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest
from filelock import FileLock
from huggingface_hub import close_session, constants

from components.errors import PoolscopeError
from components.model.checkpoint_files import is_complete
from components.model.hub import downloads, transfer
from components.model.hub.cache import newest_commit, snapshot
from components.model.hub.downloads import Downloads
from components.model.hub.listing import Listing, listed
from components.model.internals.hub_internals import model_folder
from tests.hub import Hub
from tests.model.hub.conftest import LIMIT, MODEL, PATIENT, downloads_end
from tests.model.hub.fetching import (
    BODY,
    SLOWLY,
    assert_absent,
    assert_whole,
    fetched,
    partials,
    under_way,
)
from tests.serving import ROOT

KILLED = """
from components.model.hub.downloads import Downloads
from components.model.hub.listing import HubFile, Listing
for step in Downloads().fetch({listing}):
    print(step.done, flush=True)
"""


def test_a_killed_process_leaves_nothing_half_and_the_next_goes_on(
    there: Hub, model: Path, listing: Listing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    environment = os.environ | there.environment(home) | {"PYTHONPATH": str(ROOT)}
    there.speed = SLOWLY // 2
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(listing=listing)], env=environment, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert any(int(line) > 10_000 for line in process.stdout)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENT)

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    assert_absent(listing)
    (partial,) = partials()
    kept = partial.stat().st_size
    assert kept > 5_000
    there.speed = None
    fetched(listing)
    assert there.asked(BODY)[-1].start == kept
    assert_whole(listing, model)


def test_the_config_comes_last_so_that_half_is_never_whole(there: Hub, listing: Listing) -> None:
    """Whatever a download has brought when it is cut for good, nothing is there to load."""
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        there.refuse(f"/{name}", 500)
        with pytest.raises(PoolscopeError, match="500"):
            fetched(listing)
        assert_absent(listing)
        there.faults.clear()
    fetched(listing)
    assert newest_commit(MODEL) == listing.commit


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_checkpoint_that_lacks_a_file_is_not_whole(tmp_path: Path, tiny: Path, name: str) -> None:
    folder = shutil.copytree(tiny, tmp_path / "copy")
    assert is_complete(folder)
    blob = (folder / name).rename(tmp_path / name)
    assert not is_complete(folder)
    (folder / name).symlink_to(blob)
    assert is_complete(folder)
    blob.unlink()  # a name in the cache that leads nowhere
    assert not is_complete(folder)


def test_a_checkpoint_in_parts_is_whole_with_all_of_them(tmp_path: Path, tiny: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "copy")
    parts = [folder / f"model-{n}.safetensors" for n in (1, 2)]
    (folder / "model.safetensors").rename(parts[0])
    index = folder / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}')
    assert not is_complete(folder)
    parts[1].write_bytes(b"")
    assert is_complete(folder)
    for broken in (
        "{",
        "{}",
        "[]",
        '{"weight_map": {"a": "../model-1.safetensors"}}',
        '{"weight_map": {"a": 1}}',
    ):
        index.write_text(broken)
        assert not is_complete(folder)


def test_a_full_disk_is_said_before_anything_comes(
    there: Hub, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    free = downloads.SPARE + listing.size - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**12, 10**12 - free, free))
    with pytest.raises(PoolscopeError, match=r"it takes 1\d\d kB, and this server has room for 1\d\d kB"):
        fetched(listing)
    assert there.requests == []
    free += 1
    fetched(listing)


def test_a_disk_that_fails_is_said(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/secret/place")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(PoolscopeError, match="No space left on device") as caught:
        fetched(listing)
    assert "/secret" not in str(caught.value)
    assert_absent(listing)


def test_a_cache_that_cannot_be_made_is_said(
    listing: Listing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(PoolscopeError, match="cannot keep it"):
        fetched(listing)


def test_no_more_than_a_few_at_a_time(there: Hub, listing: Listing, tiny: Path) -> None:
    shutil.copytree(tiny, there.folder / "org" / "other")
    other = listed("org/other", None, LIMIT)
    one = Downloads(most=1)
    running = one.fetch(listing)
    under_way(there, running)
    with pytest.raises(PoolscopeError, match="1 downloads are under way here already: try again"):
        next(one.fetch(other))
    there.speed = None
    list(running)
    downloads_end()
    assert list(one.fetch(other))[-1].done == other.size


def test_another_program_that_fetches_the_same_is_not_disturbed(there: Hub, listing: Listing) -> None:
    locks = Path(constants.HF_HUB_CACHE) / ".locks" / model_folder(MODEL).name
    locks.mkdir(parents=True)
    lock = FileLock(locks / f"{listing.files[0].digest}.lock")  # as huggingface_hub locks it
    with lock, pytest.raises(PoolscopeError, match="another program"):
        fetched(listing, patience=0.2)
    assert there.asked(BODY) == []
    fetched(listing)


def test_the_commit_is_the_one_that_was_found(there: Hub, model: Path, listing: Listing) -> None:
    before = (model / "config.json").read_bytes()
    (model / "config.json").write_bytes(before + b"\n")
    assert there.commit(MODEL) != listing.commit
    fetched(listing)
    kept = snapshot(MODEL, listing.commit)
    assert kept is not None
    assert (kept / "config.json").read_bytes() == before
    assert snapshot(MODEL, there.commit(MODEL)) is None


def test_the_token_does_not_follow_to_another_host(
    there: Hub, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetched(listing)
    tokens = {BODY in request.path: request.token for request in there.requests}
    assert tokens == {False: "Bearer hf_secret", True: ""}


def test_a_hub_that_drips_is_given_up(there: Hub, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and the whole never would; what came stays."""
    monkeypatch.setattr(transfer, "WITHIN", 0.3)
    there.speed = 20_000
    with pytest.raises(PoolscopeError, match="does not answer in time"):
        fetched(listing)
    assert partials()
    there.speed = None
    fetched(listing)


def test_a_dead_hub_is_said(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    close_session()
    nowhere = "http://127.0.0.1:9/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", nowhere)
    with pytest.raises(PoolscopeError, match="cannot be reached"):
        fetched(listing)
