"""The backbones as the menu offers them: where each comes from, and what it takes to have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from components.analyst import Analyst
from components.errors import PoolscopeError
from components.figures.labels import visible
from components.figures.view import Say
from components.types import BackboneSpec

BUNDLED, HERE, HUB = "bundled", "here", "hub"
TITLES = {BUNDLED: "models.bundled", HERE: "models.here", HUB: "models.hub"}
Choices = list[tuple[str, str]]  # (what is shown, what is sent)


def place(spec: BackboneSpec) -> str:
    """Where a backbone comes from for a visitor: a hub model that has been downloaded is on this machine."""
    if spec.source == "bundled":
        return BUNDLED
    return HUB if absent(spec) else HERE


def absent(spec: BackboneSpec) -> bool:
    """Whether a backbone has to be downloaded first."""
    return spec.source == "hub" and not spec.available


def in_bytes(size: int, say: Say) -> str:
    """A number of bytes in words: 1.5 GB, 268 MB, 9.1 MB, 132 kB."""
    if size >= 999_500_000:
        return say("models.gigabytes", size=f"{size / 1e9:,.1f}")
    if size >= 999_500:
        return say("models.megabytes", size=f"{size / 1e6:.{int(size < 9_950_000)}f}")
    return say("models.kilobytes", size=f"{size / 1e3:.0f}")


def licence(spec: BackboneSpec, say: Say) -> str:
    """The licence of a hub model in words, not escaped."""
    if not spec.licence:
        return say("models.licence_unknown")
    return say("models.licence", licence=visible(spec.licence))


def refusal(error: PoolscopeError, say: Say) -> str:
    """Why a model cannot be had, as escaped HTML."""
    lead = escape(say("models.refused"))
    return f'<p class="refusal" role="alert"><strong>{lead}</strong> {escape(visible(error.said(say)))}</p>'


def unlinked(text: str) -> str:
    """``text`` for the line under a label: gradio escapes it, but makes links of what looks like Markdown."""
    return text.replace("](", "] (")


@dataclass(frozen=True)
class Models:
    """Every backbone that one visitor can choose from, as it is now."""

    specs: tuple[BackboneSpec, ...]
    online: bool
    say: Say

    @classmethod
    def of(cls, analyst: Analyst, found: Sequence[BackboneSpec], say: Say) -> Models:
        """Those of the catalogue, then those that the visitor ``found`` by their ids."""
        listed = analyst.backbones()
        keys = {spec.key for spec in listed}
        return cls((*listed, *(spec for spec in found if spec.key not in keys)), analyst.online, say)

    def get(self, key: object) -> BackboneSpec | None:
        """The backbone of a key, or None; whatever a browser sends as one."""
        return self._by_key.get(key) if isinstance(key, str) else None

    def place(self, key: object) -> str:
        """Where a backbone comes from; an unknown one is among the first."""
        spec = self.get(key)
        return place(spec or self.specs[0])

    @property
    def places(self) -> Choices:
        """The places that there are backbones in, with their numbers."""
        counts = {name: len(self.within(name)) for name in TITLES}
        return [(self.say(TITLES[name], count=count), name) for name, count in counts.items() if count]

    def within(self, name: object) -> Choices:
        """The backbones of one place."""
        return [(self._title(spec), spec.key) for spec in self.specs if place(spec) == name]

    def note(self, key: object) -> str:
        """One line about a backbone, not escaped, with the licence of a model from the hub."""
        spec = self.get(key)
        if spec is None:
            return ""
        parts = [visible(spec.note)] if spec.note else []
        if spec.source == "hub":
            parts.append(licence(spec, self.say))
        return unlinked(" · ".join(parts))

    @cached_property
    def _by_key(self) -> dict[str, BackboneSpec]:
        return {spec.key: spec for spec in self.specs}

    def _title(self, spec: BackboneSpec) -> str:
        title = visible(spec.title)
        if spec.available:
            return title
        if spec.source != "hub":
            return self.say("question.absent", title=title)
        if not self.online:
            return self.say("models.offline", title=title)
        if spec.size is None:
            return self.say("models.to_download_unsized", title=title)
        return self.say("models.to_download", title=title, size=in_bytes(spec.size, self.say))
