"""Downloads: shared, left, resumed, and never half."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from filelock import FileLock
from huggingface_hub import close_session, constants, snapshot_download, try_to_load_from_cache

from components.engine.hub import downloads, transfer
from components.engine.hub.cache import newest, place, snapshot, storage, whole
from components.engine.hub.downloads import Downloads
from components.engine.hub.listing import Listing, listed
from components.errors import PoolscopeError
from components.types import Progress
from tests.engine.hub.conftest import MODEL, PATIENT, downloads_end, flipped
from tests.hub import Hub
from tests.serving import ROOT

BODY = "/elsewhere/"  # where the weights come from
LIMIT = 10_000_000
SLOWLY = 200_000  # bytes a second: half a second for the weights


@pytest.fixture
def listing(there: Hub) -> Listing:
    """What has to come of org/tiny."""
    listing = listed(MODEL, None, LIMIT)
    there.requests.clear()
    there.sent = 0
    return listing


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often: tests are quick."""
    monkeypatch.setattr(downloads, "TICK", 0.01)


def fetched(listing: Listing, patience: float = 5) -> list[Progress]:
    return list(Downloads(patience=patience).fetch(listing))


def assert_whole(listing: Listing, source: Path) -> None:
    """What is here is what the hub has, byte for byte."""
    folder = snapshot(listing.model, listing.commit)
    assert folder is not None
    for file in listing.files:
        assert (folder / file.name).read_bytes() == (source / file.name).read_bytes()


def assert_absent(listing: Listing) -> None:
    """Nothing here can be taken for the checkpoint, by us or by huggingface_hub."""
    assert snapshot(listing.model, listing.commit) is None
    assert newest(listing.model) is None
    assert not isinstance(try_to_load_from_cache(listing.model, "config.json", revision=listing.commit), str)


def partials() -> list[Path]:
    return list((storage(MODEL) / "blobs").glob("*.incomplete"))


def under_way(there: Hub, progress: Iterator[Progress]) -> Progress:
    """Let a slow download begin, and give how far it is when weights have come."""
    there.speed = SLOWLY
    return next(step for step in progress if step.done > 10_000)


def test_a_download_says_how_far_it_is_and_brings_all(there: Hub, model: Path, listing: Listing) -> None:
    there.speed = SLOWLY
    steps = fetched(listing)
    assert all(before.done <= after.done for before, after in pairwise(steps))
    assert {step.total for step in steps} == {listing.size}
    assert len({step.done for step in steps}) > 5
    assert steps[-1].done == listing.size
    assert_whole(listing, model)
    assert there.sent == listing.size
    there.requests.clear()
    assert fetched(listing)[-1].done == listing.size
    assert there.requests == []


def test_huggingface_hub_finds_it_as_its_own(listing: Listing) -> None:
    fetched(listing)
    own = snapshot_download(MODEL, revision=listing.commit, local_files_only=True)
    assert own == str(place(MODEL, listing.commit))


def test_what_huggingface_hub_brought_is_not_fetched_again(there: Hub, listing: Listing) -> None:
    snapshot_download(MODEL, revision=listing.commit)
    there.requests.clear()
    fetched(listing)
    assert there.requests == []


def test_two_askers_share_one_download(there: Hub, model: Path, listing: Listing) -> None:
    shared = Downloads()
    there.speed = SLOWLY
    with ThreadPoolExecutor(5) as askers:
        every = list(askers.map(lambda _: list(shared.fetch(listing)), range(5)))
    assert [steps[-1].done for steps in every] == [listing.size] * 5
    assert len(there.asked(BODY)) == 1
    assert there.sent == listing.size
    assert_whole(listing, model)


def test_one_leaves_and_the_other_stays(there: Hub, model: Path, listing: Listing) -> None:
    shared = Downloads()
    leaving, staying = shared.fetch(listing), shared.fetch(listing)
    under_way(there, staying)
    next(leaving)
    leaving.close()
    there.speed = None
    assert list(staying)[-1].done == listing.size
    assert len(there.asked(BODY)) == 1
    assert_whole(listing, model)


def test_the_last_to_leave_cancels_and_the_next_goes_on(there: Hub, model: Path, listing: Listing) -> None:
    shared = Downloads()
    both = [shared.fetch(listing) for _ in range(2)]
    for asker in both:
        under_way(there, asker)
    for asker in both:
        asker.close()
    downloads_end()
    assert_absent(listing)
    (partial,) = partials()
    kept = partial.stat().st_size
    assert 10_000 < kept < listing.size - 5_000

    there.speed = None
    assert list(shared.fetch(listing))[-1].done == listing.size
    assert there.asked(BODY)[-1].start == kept
    assert_whole(listing, model)
    assert partials() == []


def test_who_comes_back_at_once_joins_what_is_not_yet_cancelled(
    there: Hub, model: Path, listing: Listing
) -> None:
    shared = Downloads()
    for _ in range(20):
        asker = shared.fetch(listing)
        under_way(there, asker)
        asker.close()
        there.speed = None
    assert list(shared.fetch(listing))[-1].done == listing.size
    assert_whole(listing, model)


def test_a_cut_is_taken_up_where_it_was(there: Hub, model: Path, listing: Listing) -> None:
    for after in (50_000, 30_000):
        there.cut(BODY, after)
    steps = fetched(listing)
    assert [request.start for request in there.asked(BODY)] == [0, 50_000, 80_000]
    assert there.sent == listing.size  # not a byte twice
    assert steps[-1].done == listing.size
    assert_whole(listing, model)


def test_a_hub_that_ignores_ranges_sends_all_again(there: Hub, model: Path, listing: Listing) -> None:
    there.cut(BODY, 50_000)
    there.ignore_ranges(BODY)
    assert fetched(listing)[-1].done == listing.size
    assert_whole(listing, model)


def test_cuts_without_end_end_with_a_message(there: Hub, model: Path, listing: Listing) -> None:
    there.cut(BODY, 50_000)
    there.cut(BODY, 0, times=99)
    with pytest.raises(PoolscopeError, match="cannot be reached"):
        fetched(listing)
    assert len(there.asked(BODY)) == 1 + transfer.TRIES
    assert_absent(listing)
    there.faults.clear()
    fetched(listing)
    assert there.asked(BODY)[-1].start == 50_000
    assert_whole(listing, model)


def test_a_stalled_download_ends_with_a_message(there: Hub, listing: Listing) -> None:
    there.stall(BODY, times=99)
    with pytest.raises(PoolscopeError, match="does not answer in time"):
        fetched(listing, patience=0.2)
    assert_absent(listing)


def test_whoever_waits_on_a_stalled_hub_may_leave(there: Hub, listing: Listing) -> None:
    there.stall(BODY, after=20_000)
    asker = Downloads(patience=PATIENT).fetch(listing)
    next(step for step in asker if step.done == 20_000)
    left = threading.Thread(target=asker.close)
    left.start()
    left.join(PATIENT / 2)
    assert not left.is_alive()
    there.closing.set()  # ends the stall, and so the download, which nobody waits for
    downloads_end()
    assert_absent(listing)


@pytest.mark.parametrize("status", [403, 429, 500])
def test_a_refusal_on_the_way_is_said_to_all_who_wait(there: Hub, listing: Listing, status: int) -> None:
    shared = Downloads()
    there.hold("model.safetensors", seconds=0.2)
    there.refuse(BODY, status)
    askers = [shared.fetch(listing) for _ in range(2)]
    for asker in askers:
        next(asker)
    for asker in askers:
        with pytest.raises(PoolscopeError, match="hub"):
            list(asker)
    assert_absent(listing)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize(
    "wrong",
    [flipped, lambda body: body + b" ", lambda body: body[:-1], lambda _: b"", lambda body: body[:-9] * 20],
    ids=["hash", "longer", "shorter", "empty", "much longer"],
)
def test_another_file_than_is_listed_is_refused_and_not_kept(
    there: Hub, model: Path, listing: Listing, name: str, wrong: Callable[[bytes], bytes]
) -> None:
    there.change(BODY if name == "model.safetensors" else f"/{name}", wrong)
    with pytest.raises(PoolscopeError, match="another file than it lists"):
        fetched(listing)
    assert partials() == []
    assert_absent(listing)
    fetched(listing)
    assert_whole(listing, model)


def test_a_part_that_is_longer_than_the_file_is_begun_again(model: Path, listing: Listing) -> None:
    weights = listing.files[0]
    blobs = storage(MODEL) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{weights.digest}.poolscope.incomplete").write_bytes(b"x" * (weights.size + 1))
    fetched(listing)
    assert_whole(listing, model)


def test_a_part_of_other_bytes_is_found_out(model: Path, listing: Listing) -> None:
    weights = listing.files[0]
    blobs = storage(MODEL) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{weights.digest}.poolscope.incomplete").write_bytes(b"x" * 1000)
    with pytest.raises(PoolscopeError, match="another file than it lists"):
        fetched(listing)
    assert partials() == []
    fetched(listing)
    assert_whole(listing, model)


KILLED = """
from components.engine.hub.downloads import Downloads
from components.engine.hub.listing import HubFile, Listing
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
    assert newest(MODEL) == listing.commit


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_checkpoint_that_lacks_a_file_is_not_whole(tmp_path: Path, tiny: Path, name: str) -> None:
    folder = shutil.copytree(tiny, tmp_path / "copy")
    assert whole(folder)
    blob = (folder / name).rename(tmp_path / name)
    assert not whole(folder)
    (folder / name).symlink_to(blob)
    assert whole(folder)
    blob.unlink()  # a name in the cache that leads nowhere
    assert not whole(folder)


def test_a_checkpoint_in_parts_is_whole_with_all_of_them(tmp_path: Path, tiny: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "copy")
    parts = [folder / f"model-{n}.safetensors" for n in (1, 2)]
    (folder / "model.safetensors").rename(parts[0])
    index = folder / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}')
    assert not whole(folder)
    parts[1].write_bytes(b"")
    assert whole(folder)
    for broken in (
        "{",
        "{}",
        "[]",
        '{"weight_map": {"a": "../model-1.safetensors"}}',
        '{"weight_map": {"a": 1}}',
    ):
        index.write_text(broken)
        assert not whole(folder)


def test_a_full_disk_is_said_before_anything_comes(
    there: Hub, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    free = downloads.SPARE + listing.size - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**12, 10**12 - free, free))
    with pytest.raises(PoolscopeError, match=r"it takes 0\.1 MB, and this server has room for 0\.1 MB"):
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
    locks = Path(constants.HF_HUB_CACHE) / ".locks" / storage(MODEL).name
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


def test_a_dead_hub_is_said(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    close_session()
    nowhere = "http://127.0.0.1:9/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", nowhere)
    with pytest.raises(PoolscopeError, match="cannot be reached"):
        fetched(listing)
