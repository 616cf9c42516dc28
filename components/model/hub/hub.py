"""Hub: the models of the hub that this server knows of, and how they come here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator

from components.errors import PoolscopeError
from components.model.checkpoint_files import CONFIG, read_object
from components.model.hub.cache import folder, newest_commit, snapshot, snapshot_folder
from components.model.hub.downloads import Downloads
from components.model.hub.fit import Classifies, check_config, classifies
from components.model.hub.ids import checked_id
from components.model.hub.listing import Listing, listed
from components.model.hub.web import HubUnreachableError
from components.types import BackboneSpec, Progress


class Hub:
    """Finds models by their ids and fetches them. Several threads may ask; none waits for another's network.

    ``largest``: bytes that one model may take. ``capacity``: how many ids are remembered; the least recently
    used leaves first. ``known``: whether transformers classifies texts with a type of model.
    """

    def __init__(self, largest: int, capacity: int = 100, known: Classifies = classifies) -> None:
        self._largest = largest
        self._classifies = known
        self._capacity = capacity
        self._downloads = Downloads()
        self._lock = threading.Lock()
        self._found: OrderedDict[str, tuple[BackboneSpec, Listing | None]] = OrderedDict()

    def known(self, model: object) -> BackboneSpec | None:
        """What was found under this id, or None."""
        found = self._recall(model)
        return found[0] if found else None

    def find(self, given: object) -> BackboneSpec:
        """The model of an id that a visitor typed, pinned to a commit; PoolscopeError says why there is none.

        What is on this machine stays at the commit that it has. If the hub cannot be reached, what it once
        gave is enough.
        """
        model = checked_id(given)
        known = self.known(model)
        if known is not None and snapshot(model, known.revision or ""):
            return known
        try:
            listing = listed(model, None, self._largest, self._classifies)
        except HubUnreachableError:
            kept = newest_commit(model)
            if kept is None:
                raise
            check_config(model, read_object(snapshot_folder(model, kept) / CONFIG), self._classifies)
            return self._remember(_spec(model, kept), None)
        if listing.private:
            raise PoolscopeError("backbone", model, "errors.private")
        return self._remember(_spec(model, listing.commit, listing.licence, listing.size), listing)

    def fetch(self, spec: BackboneSpec) -> Generator[Progress]:
        """Bring a model here; ends at once where it is. See `Downloads.fetch`."""
        if folder(spec):
            return
        found = self._recall(spec.key)
        known = found[1] if found and found[0].revision == spec.revision else None
        asked = (spec.location, spec.revision, self._largest, self._classifies)
        yield from self._downloads.fetch(known or listed(*asked))

    def _recall(self, model: object) -> tuple[BackboneSpec, Listing | None] | None:
        if not isinstance(model, str):
            return None
        with self._lock:
            if model in self._found:
                self._found.move_to_end(model)
            return self._found.get(model)

    def _remember(self, spec: BackboneSpec, listing: Listing | None) -> BackboneSpec:
        with self._lock:
            self._found[spec.key] = (spec, listing)
            self._found.move_to_end(spec.key)
            while len(self._found) > self._capacity:
                self._found.popitem(last=False)
        return spec


def _spec(model: str, commit: str, licence: str = "", size: int | None = None) -> BackboneSpec:
    """A typed id as a backbone: it is its own key and title."""
    return BackboneSpec(
        key=model,
        title=model,
        task="",
        note="",
        source="hub",
        location=model,
        revision=commit,
        available=False,
        licence=licence,
        size=size,
    )
