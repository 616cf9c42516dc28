"""Loaded checkpoints, kept for the next visitor."""

from __future__ import annotations

from collections import OrderedDict

from components.engine.backbone import Backbone
from components.engine.loading import load
from components.types import BackboneSpec


class Checkpoints:
    """Loaded checkpoints, at most ``capacity`` of them; the least recently used leaves first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._loaded: OrderedDict[str, Backbone] = OrderedDict()

    def get(self, spec: BackboneSpec) -> Backbone:
        """The checkpoint of ``spec``, loaded now if it is not yet."""
        backbone = self._loaded.pop(spec.key, None) or load(spec)
        self._loaded[spec.key] = backbone  # now the most recently used
        while len(self._loaded) > self._capacity:
            self._loaded.popitem(last=False)
        return backbone
