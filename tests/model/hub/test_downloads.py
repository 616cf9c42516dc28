"""Downloads: shared, left, gone on with, verified; half a download is never a checkpoint."""

import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest
from huggingface_hub import constants, snapshot_download, try_to_load_from_cache

from components.errors import PoolscopeError
from components.model import hub as downloading
from components.model.files import newest_snapshot, snapshot
from components.model.hub import Downloads, Listing
from components.types import Progress
from tests.hub import Fault, Hub
from tests.model.hub.conftest import MODEL, PATIENT, downloads_end
from tests.serving import ROOT

BODY = "/elsewhere/"  # where the weights come from
MB = 1_000_000
REPORTED, NEXT = 12 * MB, 22 * MB  # of the 26 MB of weights: huggingface_hub reports 10 MB at a time


def fetched(listing: Listing) -> list[Progress]:
    return list(Downloads().fetch(listing))


def assert_whole(listing: Listing, there: Hub) -> None:
    """What is here is what the hub has, byte for byte."""
    folder, origin = snapshot(listing.model, listing.commit), there.folder / listing.model
    assert folder is not None
    for file in listing.files:
        assert (folder / file.rfilename).read_bytes() == (origin / file.rfilename).read_bytes()


def assert_absent(listing: Listing) -> None:
    """Nothing here can be taken for the checkpoint, and no half of a file is left."""
    assert snapshot(listing.model, listing.commit) is None
    assert newest_snapshot(listing.model) is None
    assert not list(Path(constants.HF_HUB_CACHE).rglob("*.incomplete"))


def under_way(there: Hub, progress: Iterator[Progress]) -> Progress:
    """Let a download begin that stalls, and give how far it is when weights have come."""
    there.until = REPORTED
    return next(step for step in progress if step.done > 9 * MB)


def ends(pid: int) -> bool:
    """Wait for a process of another one to end."""
    deadline = time.monotonic() + PATIENT
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not Path(f"/proc/{pid}").exists()


def test_a_download_says_how_far_it_is_and_brings_all(
    there: Hub, weighty: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    there.until, steps = REPORTED, list[Progress]()
    for step in Downloads().fetch(weighty):
        steps.append(step)
        there.until = step.done + REPORTED  # no more, before this has been said
    assert all(before.done <= after.done for before, after in pairwise(steps))
    assert {step.total for step in steps} == {weighty.size}
    assert len({step.done for step in steps}) >= 4
    assert steps[-1].done == weighty.size
    assert_whole(weighty, there)
    assert there.sent < weighty.size + 10_000  # which is what its listing takes
    own = snapshot_download(weighty.model, revision=weighty.commit, local_files_only=True)
    assert own == str(snapshot(weighty.model, weighty.commit))
    tokens = {BODY in request.path: request.token for request in there.requests}
    assert tokens == {False: "Bearer hf_secret", True: ""}  # not to another host


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says which files a process has open")
def test_the_last_to_leave_cancels_and_the_next_brings_what_is_lacking(there: Hub, weighty: Listing) -> None:
    shared = Downloads()
    both = [shared.fetch(weighty) for _ in range(2)]
    for asker in both:
        under_way(there, asker)
    for asker in both:
        asker.close()
    downloads_end()
    assert_absent(weighty)
    assert isinstance(try_to_load_from_cache(weighty.model, "tokenizer.json", revision=weighty.commit), str)

    there.until = inf
    there.requests.clear()
    assert list(shared.fetch(weighty))[-1].done == weighty.size
    assert there.asked("/resolve/") == []
    assert_whole(weighty, there)


FAILING: tuple[tuple[Fault, str], ...] = (
    (Fault("/tokenizer.json", 1, status=403), "does not hand it out"),  # before any weights
    (Fault(BODY, 99, status=500), "hub"),
    (Fault(BODY, 1, change=lambda body: body[:-1] + bytes([body[-1] ^ 1])), "another file than it lists"),
    (Fault(BODY, 1, change=lambda body: body[:-1]), "another file than it lists"),
)


@pytest.mark.parametrize(("fault", "message"), FAILING)
def test_a_failure_is_said_to_all_who_wait_and_nothing_is_kept(
    there: Hub, listing: Listing, fault: Fault, message: str
) -> None:
    shared = Downloads()
    there.faults.append(replace(fault, held=0.5))
    askers = [shared.fetch(listing) for _ in range(2)]
    for asker in askers:
        next(asker)
    for asker in askers:
        with pytest.raises(PoolscopeError, match=message):
            list(asker)
    assert_absent(listing)
    assert bool(there.asked(BODY)) == (fault.match == BODY)  # the weights come last
    there.faults.clear()
    fetched(listing)
    assert_whole(listing, there)
    assert newest_snapshot(MODEL) == snapshot(MODEL, listing.commit)


def test_a_process_that_is_killed_is_said(there: Hub, weighty: Listing) -> None:
    shared = Downloads()
    asker = shared.fetch(weighty)
    under_way(there, asker)
    (download,) = shared._running.values()
    download.process.kill()
    with pytest.raises(PoolscopeError, match="cannot keep it"):
        list(asker)


KILLED = """
from components.model.hub import Downloads, listed
downloads = Downloads()
for step in downloads.fetch(listed("{model}", None, 10**9, {{"bert"}}.__contains__)):
    (download,) = downloads._running.values()
    print(download.process.pid, step.done, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says which processes there are")
def test_a_killed_page_takes_its_downloads_along(there: Hub, weighty: Listing) -> None:
    there.until = REPORTED
    command = [sys.executable, "-c", KILLED.format(model=weighty.model)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as page:
        assert page.stdout is not None
        steps = (tuple(map(int, line.split())) for line in page.stdout)
        pid = next(pid for pid, done in steps if done > 9 * MB)
        page.send_signal(signal.SIGKILL)
        there.until = NEXT
        assert ends(pid)
    assert_absent(weighty)


def test_a_full_disk_is_said_before_anything_comes(
    there: Hub, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    free = downloading.SPARE + listing.size - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage(10**12, 10**12 - free, free))
    with pytest.raises(PoolscopeError, match=r"it takes 1\d\d kB, and this server has room for 1\d\d kB"):
        fetched(listing)
    assert there.requests == []
    free += 1
    fetched(listing)


def test_no_more_than_a_few_at_a_time(listing: Listing, weighty: Listing) -> None:
    one = Downloads(most=1)
    running = one.fetch(weighty)
    next(running)
    with pytest.raises(PoolscopeError, match="1 downloads are under way here already: try again"):
        next(one.fetch(listing))
    running.close()
    assert list(one.fetch(listing))[-1].done == listing.size
