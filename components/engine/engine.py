"""Engine: the one name the outside sees.

Importing this module is light: torch and transformers load when a backbone is first asked for, so that the
page is served while they do.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from huggingface_hub import is_offline_mode

from components.anatomy import Anatomy
from components.engine.catalogue import Configs, read_catalogue, read_tasks
from components.engine.hub.hub import Hub
from components.engine.pooling import POOLINGS
from components.engine.query import (
    Asked,
    by_backbone,
    checked,
    checked_texts,
    choice,
    counted,
    whole_number,
    with_task,
)
from components.errors import PoolscopeError
from components.settings import ASSETS, Settings
from components.texts import in_bytes
from components.types import Analysis, BackboneSpec, Compared, Floats, PoolingSpec, Progress, Query, TaskSpec

if TYPE_CHECKING:
    from components.engine.checkpoints import Checkpoints
    from components.engine.examine import Examined

HEADS = ("own", "probe")  # the checkpoint's own, or one linear classifier alike for all backbones


class Engine:
    """Answers queries about the backbones of one catalogue. Several threads may call it; they take turns."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._configs = Configs()
        folders_only = settings.sources == "bundled"
        every = read_catalogue(settings.catalogue, self._configs)
        listed = [spec for spec in every if spec.source != "hub" or not folders_only]
        self._specs = MappingProxyType({spec.key: spec for spec in listed})
        self._tasks = MappingProxyType({task.key: task for task in read_tasks(ASSETS / "tasks.toml")})
        self._hub = Hub(settings.download)
        self._turn = threading.Lock()  # a head is run again by changing a shared model for a moment

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order, as far as the owner allows its source."""
        return tuple(map(self._configs.refreshed, self._specs.values()))

    @property
    def takes_ids(self) -> bool:
        """Whether ``find`` also takes the id of a model on the hub: the owner decides."""
        return self._settings.sources == "any"

    @property
    def online(self) -> bool:
        """Whether the hub may be asked for anything; false where huggingface_hub is set offline."""
        return not is_offline_mode()

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key, of a listed hub id or, where ids are taken, of any that a visitor typed.

        Asks the hub only for ids that are not listed; see `Hub.find`.
        """
        listed = self._listed(given)
        if listed is None and not self.takes_ids:
            choice("backbone", given, tuple(self._specs))
        return self._configs.refreshed(listed or self._hub.find(given))

    def fetch(self, key: str) -> Generator[Progress]:
        """Bring a backbone of the hub onto this machine; ends at once where it is there already.

        Closing the iterator unsubscribes; the download is cancelled when the last subscriber closes, and a
        later one resumes it. PoolscopeError says why it failed.
        """
        spec = self._listed(key) or self._hub.known(key) or self.find(key)
        if spec.source == "hub":
            yield from self._hub.fetch(spec)

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""
        return tuple(pooling.spec for pooling in POOLINGS.values())

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for, in the order of the menu."""
        return tuple(self._tasks.values())

    def analyze(self, query: Query) -> Analysis:
        """Answer one query; raises PoolscopeError with a message for the visitor."""
        with self._examined(query) as examined:
            from components.engine.analysis import analyse

            return analyse(examined)

    def anatomy(self, query: Query) -> Anatomy:
        """Answer one query and take the head apart; raises PoolscopeError with a message for the visitor."""
        with self._examined(query) as examined:
            from components.engine.anatomy.dissect import dissect

            return dissect(examined)

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair: one forward pass for each backbone.

        Backbones come in the order in which they are first named, the cells of each in the order asked. Each
        has a turn of its own, so that others need not wait for all of them. Closing the iterator cancels the
        rest. A query that cannot be answered has a cell that says why. PoolscopeError where nothing can be:
        no query, too many, several texts, what no backbone or pooling is called.
        """
        for group in by_backbone([self._checked(query) for query in counted(queries)]):
            spec = self._known(group[0].backbone)
            with self._turn:
                from components.engine.compare import cells

                answers = cells(group, partial(self._asked, spec), partial(self._checkpoints.get, spec))
            yield Compared(spec, answers)

    def features(
        self, backbone: str, texts: Sequence[str], poolings: Sequence[str], layer: int = -1
    ) -> dict[str, Floats]:
        """Pooled vectors (N, D') of N texts for each pooling at one layer, from one forward pass."""
        spec = _present(self._known(choice("backbone", backbone, self._keys(backbone))))
        known = [choice("poolings", key, tuple(POOLINGS)) for key in poolings]
        readable = checked_texts(texts, self._settings.characters)
        with self._turn:
            from components.engine.analysis import pooled_features
            from components.engine.repeatable import repeatable

            loaded = self._checkpoints.get(spec)
            with repeatable(loaded.model):
                return pooled_features(loaded, readable, known, whole_number("layer", layer))

    def warm(self) -> None:
        """Load torch and the first backbone on this machine, so that the first visitor need not wait."""
        first = next((spec for spec in self.backbones() if spec.available), None)
        if first is not None:
            self.analyze(Query(first.key, "warm"))

    def _checked(self, query: Query) -> Query:
        """The query with each field of the right type and known."""
        return checked(query, self._keys(query.backbone), tuple(POOLINGS), HEADS, self._settings.characters)

    def _asked(self, spec: BackboneSpec, query: Query) -> Asked:
        """A checked query as its backbone can be asked it, which has to be on this machine."""
        query = with_task(query, _present(spec), self.tasks())
        return Asked(query, self._tasks[query.task] if query.head == "probe" else None)

    def _listed(self, given: object) -> BackboneSpec | None:
        """The backbone of the catalogue with this key or, as the hub calls it, this id."""
        every = self._specs.values()
        return next((s for s in every if given == s.key or (s.source, s.location) == ("hub", given)), None)

    def _keys(self, asked: object) -> tuple[str, ...]:
        """What may be asked for: the catalogue's keys, and ``asked`` itself if it is an id that was found."""
        found = self._hub.known(asked)
        return (*self._specs, found.key) if found else tuple(self._specs)

    def _known(self, key: str) -> BackboneSpec:
        """The backbone of a key, as it is now."""
        known = self._specs.get(key) or self._hub.known(key)
        if known is None:  # forgotten since it was found
            raise PoolscopeError("backbone", key, "errors.forgotten")
        return self._configs.refreshed(known)

    @contextmanager
    def _examined(self, query: Query) -> Iterator[Examined]:
        """The query, run on its backbone in this thread's turn; afterwards the model is as it was."""
        query = self._checked(query)
        spec = self._known(query.backbone)
        asked = self._asked(spec, query)
        with self._turn:
            from components.engine.examine import examine
            from components.engine.repeatable import repeatable

            backbone = self._checkpoints.get(spec)
            with repeatable(backbone.model):
                yield examine(backbone, asked.query, asked.task)

    @cached_property
    def _checkpoints(self) -> Checkpoints:
        from components.engine.checkpoints import Checkpoints, total

        stated = self._settings.memory
        return Checkpoints(total() // 2 if stated is None else stated)


def _present(spec: BackboneSpec) -> BackboneSpec:
    """``spec``, if it is on this machine."""
    if spec.source == "hub" and not spec.available:
        if spec.size:
            raise PoolscopeError("backbone", spec.key, "errors.absent_sized", size=in_bytes(spec.size))
        raise PoolscopeError("backbone", spec.key, "errors.absent")
    return spec
