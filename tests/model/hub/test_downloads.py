"""Downloads: shared, left, resumed, verified."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from huggingface_hub import snapshot_download

from components.errors import PoolscopeError
from components.model.hub import transfer
from components.model.hub.cache import snapshot_folder
from components.model.hub.downloads import Downloads
from components.model.hub.listing import Listing
from components.model.internals.hub_internals import model_folder
from tests.hub import Hub
from tests.model.hub.conftest import MODEL, PATIENT, downloads_end, flipped
from tests.model.hub.fetching import (
    BODY,
    SLOWLY,
    assert_absent,
    assert_whole,
    fetched,
    partials,
    under_way,
)


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
    assert own == str(snapshot_folder(MODEL, listing.commit))


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
    blobs = model_folder(MODEL) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{weights.digest}.poolscope.incomplete").write_bytes(b"x" * (weights.size + 1))
    fetched(listing)
    assert_whole(listing, model)


def test_a_part_of_other_bytes_is_found_out(model: Path, listing: Listing) -> None:
    weights = listing.files[0]
    blobs = model_folder(MODEL) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{weights.digest}.poolscope.incomplete").write_bytes(b"x" * 1000)
    with pytest.raises(PoolscopeError, match="another file than it lists"):
        fetched(listing)
    assert partials() == []
    fetched(listing)
    assert_whole(listing, model)
