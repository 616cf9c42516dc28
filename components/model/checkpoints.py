"""Loaded checkpoints, kept for the next visitor within a budget of this process's memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections import OrderedDict

from components.model.backbone import Backbone
from components.model.files import Version
from components.model.loading import load, size
from components.model.safety import RefusalError
from components.types import BackboneSpec

MB = 1_000_000


class Checkpoints:
    """Loaded checkpoints, ``budget`` bytes of weights at most; the least recently used leaves first."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._loaded: OrderedDict[tuple[str, str | None, Version], Backbone] = OrderedDict()

    def get(self, spec: BackboneSpec, version: Version = ()) -> Backbone:
        """The checkpoint of ``spec``, loaded now if it is not yet; PoolscopeError says why it cannot be."""
        place = (spec.key, spec.revision, version)  # it may come again at another commit, or be written anew
        backbone = self._loaded.pop(place, None) or load(spec, self._make_room)
        self._loaded[place] = backbone  # now the most recently used
        return backbone

    @property
    def resident(self) -> int:
        """Bytes of all weights that are loaded."""
        return sum(size(backbone.model) for backbone in self._loaded.values())

    def _make_room(self, needed: int) -> None:
        """Let go of checkpoints until there is room for ``needed`` bytes more, before they are allocated."""
        if needed > self.budget:
            raise RefusalError("refusals.memory", needed=needed / MB, budget=self.budget / MB)
        leaves = self.resident + needed > self.budget
        while self.resident + needed > self.budget:
            self._loaded.popitem(last=False)
        if leaves:
            give_back()


def give_back() -> None:
    """Free what only reference cycles hold, and hand freed memory back to the system where it can be."""
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)  # glibc keeps what lies between two blocks still in use
