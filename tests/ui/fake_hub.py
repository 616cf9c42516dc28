"""A made-up hub: backbones that are here, that are not, that fail on their way, and that are hostile."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace

from components.errors import PoolscopeError
from components.types import BackboneSpec, Progress
from tests.ui.markup import XSS

STEPS = 5  # news of a download


def _far(key: str, title: str, size: int | None, licence: str, location: str) -> BackboneSpec:
    return BackboneSpec(
        key=key,
        title=title,
        task="made up",
        note="made-up numbers",
        source="hub",
        location=location,
        revision="0" * 40,
        texts=1,
        architecture="FarForSequenceClassification",
        labels=("negative", "positive"),
        licence=licence,
        size=size,
    )


LISTED = (
    _far("far", "Far away · sentiment", 268_064_743, "Apache-2.0", "org/far"),
    _far("near", "Near by · sentiment", 91_600_000, "MIT", "org/near"),
    _far("broken", "Half-way · sentiment", 1_450_000_000, "MIT", "org/broken"),
    _far("markup", XSS, 5_000_000, XSS, XSS),
)
FINDABLE = (
    _far("org/found", "org/found", None, "", "org/found"),
    _far("org/markup", f"org/{XSS}", 1_000, f"[x](javascript:pwn()) {XSS}", XSS),
)


@dataclass
class FakeHub:
    """``specs``: what is listed. ``here``: the keys of what has been downloaded. ``pace``: seconds a step.

    ``left`` counts the downloads that somebody closed before their end. Those of the keys ``broken`` fail
    half-way, once.
    """

    specs: tuple[BackboneSpec, ...] = LISTED
    findable: tuple[BackboneSpec, ...] = FINDABLE
    here: set[str] = field(default_factory=lambda: {"near"})
    broken: set[str] = field(default_factory=lambda: {"broken"})
    pace: float = 0.0
    online: bool = True
    left: int = 0

    def now(self, spec: BackboneSpec) -> BackboneSpec:
        """A backbone as it is now: of what is not here, neither the architecture nor the labels are known."""
        here = spec.key in self.here
        known = spec if here else replace(spec, architecture="", labels=())
        return replace(known, available=here)

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key or of an id."""
        for spec in (*self.specs, *self.findable):
            if given in (spec.key, spec.location):
                return self.now(spec)
        raise PoolscopeError("backbone", given, "errors.hub_unknown")

    def fetch(self, key: str) -> Generator[Progress]:
        """Download a backbone in a few steps."""
        spec = self.find(key)
        total = spec.size or 1000
        try:
            for step in () if key in self.here else range(STEPS):
                if step == STEPS // 2 and key in self.broken:
                    self.broken.discard(key)
                    raise PoolscopeError("backbone", key, "errors.hub_slow")
                yield Progress(total * step // STEPS, total)
                time.sleep(self.pace)
        except GeneratorExit:
            self.left += 1
            raise
        if key not in self.here:
            self.here.add(key)
            yield Progress(total, total)
