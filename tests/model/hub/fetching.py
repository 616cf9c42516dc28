"""Fetching in tests: by one asker, and how what has come is judged."""

from collections.abc import Iterator
from pathlib import Path

from huggingface_hub import try_to_load_from_cache

from components.model.hub.cache import newest_commit, snapshot
from components.model.hub.downloads import Downloads
from components.model.hub.listing import Listing
from components.model.internals.hub_internals import model_folder
from components.types import Progress
from tests.hub import Hub
from tests.model.hub.conftest import MODEL

BODY = "/elsewhere/"  # where the weights come from
SLOWLY = 200_000  # bytes a second: half a second for the weights


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
    assert newest_commit(listing.model) is None
    assert not isinstance(try_to_load_from_cache(listing.model, "config.json", revision=listing.commit), str)


def partials() -> list[Path]:
    return list((model_folder(MODEL) / "blobs").glob("*.incomplete"))


def under_way(there: Hub, progress: Iterator[Progress]) -> Progress:
    """Let a slow download begin, and give how far it is when weights have come."""
    there.speed = SLOWLY
    return next(step for step in progress if step.done > 10_000)
