"""An analyst whose backbones, poolings and tasks are called as in one language."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from components.analyst import Analyst
from components.texts import Texts
from components.types import (
    Analysis,
    Anatomy,
    BackboneSpec,
    Compared,
    Floats,
    PoolingSpec,
    Progress,
    Query,
    TaskSpec,
)


@dataclass(frozen=True, eq=False)
class Translated:
    """Answers as ``analyst`` does, with the titles, notes and summaries that ``say`` has names for."""

    analyst: Analyst
    say: Texts

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order."""
        return tuple(map(self._backbone, self.analyst.backbones()))

    @property
    def takes_ids(self) -> bool:
        """Whether ``find`` also takes the id of a model on the hub."""
        return self.analyst.takes_ids

    @property
    def online(self) -> bool:
        """Whether the hub may be asked for anything."""
        return self.analyst.online

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key or a hub id; see `Analyst.find`."""
        return self._backbone(self.analyst.find(given))

    def fetch(self, key: str) -> Generator[Progress]:
        """Bring a backbone of the hub onto this machine; see `Analyst.fetch`."""
        return self.analyst.fetch(key)

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""
        name = self.say.name
        return tuple(
            replace(spec, title=name(spec.title), summary=name(spec.summary))
            for spec in self.analyst.poolings()
        )

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for; labels keep the names that the checkpoints give them."""
        return tuple(replace(task, title=self.say.name(task.title)) for task in self.analyst.tasks())

    def analyze(self, query: Query) -> Analysis:
        """Answer one query; see `Analyst.analyze`."""
        return self._analysis(self.analyst.analyze(query))

    def anatomy(self, query: Query) -> Anatomy:
        """Answer one query and take the head apart; see `Analyst.anatomy`."""
        anatomy = self.analyst.anatomy(query)
        return replace(anatomy, analysis=self._analysis(anatomy.analysis))

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair; see `Analyst.compare`."""
        with closing(self.analyst.compare(queries)) as answers:
            for compared in answers:
                yield replace(compared, backbone=self._backbone(compared.backbone))

    def features(
        self, backbone: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
    ) -> dict[str, Floats]:
        """Pooled vectors of texts; see `Analyst.features`."""
        return self.analyst.features(backbone, texts, poolings, layer)

    def _analysis(self, analysis: Analysis) -> Analysis:
        return replace(analysis, backbone=self._backbone(analysis.backbone))

    def _backbone(self, spec: BackboneSpec) -> BackboneSpec:
        return replace(spec, title=self.say.name(spec.title), note=self.say.name(spec.note))
