"""What the user interface may ask, whoever answers: the engine, or a fake one in tests; in any language."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Protocol

from components.anatomy import Anatomy
from components.detect import Detected
from components.fitting import Fit, Plan, Stage, Table
from components.importance import Importance
from components.lens import Looked
from components.padding import Padding
from components.passport.passport import Passport
from components.patching import Patched
from components.texts import Texts
from components.types import Analysis, BackboneSpec, Compared, PoolingSpec, Progress, Query, TaskSpec

# On behalf of whom a thread asks: cancelled as soon as they no longer wait for the answer. What then nobody
# waits for may be ended; an analyst need not look at it.
PATIENCE: ContextVar[Future[None]] = ContextVar("PATIENCE")
# And from which address: an analyst lets no address keep others waiting.
ADDRESS: ContextVar[str] = ContextVar("ADDRESS", default="")


class Analyst(Protocol):
    """What the user interface asks of the engine."""

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order."""

    @property
    def takes_ids(self) -> bool:
        """Whether ``find`` also takes the id of a model on the hub: the owner decides."""

    @property
    def online(self) -> bool:
        """Whether the hub may be asked for anything; false where huggingface_hub is set offline."""

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key or, where ids are taken, of a hub id that a visitor typed.

        An id is checked by its form, then at the hub, before anything large is loaded. What was found is
        known to ``fetch`` and ``analyze`` by its key from now on. PoolscopeError says what would work.
        """

    def fetch(self, key: str) -> Generator[Progress]:
        """Bring a backbone of the hub onto this machine; ends at once where it is there already.

        Closing the iterator unsubscribes; the download is cancelled when the last subscriber closes, and a
        later one resumes it. PoolscopeError says why it failed.
        """

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for."""

    def analyze(self, query: Query) -> Analysis:
        """Answer one query; raises PoolscopeError with a message for the visitor."""

    def anatomy(self, query: Query) -> Anatomy:
        """Answer one query and take the head apart; raises PoolscopeError with a message for the visitor."""

    def lens(self, query: Query) -> Looked:
        """Answer one query, and point its head at every hidden state; PoolscopeError says why it cannot."""

    def trace(self, query: Query, other: str, other_pair: str) -> Patched:
        """Answer one query, and find which hidden states carry the change to another text or pair.

        PoolscopeError says why it cannot.
        """

    def trace_in_parts(self, query: Query, other: str, other_pair: str) -> Generator[Progress | Patched]:
        """The same: how far it is, in layers, as long as it is not whole, then the whole.

        Closing the iterator cancels the rest.
        """

    def importance(self, query: Query, label: str, integrated: bool) -> Importance:
        """Answer one query, and measure what is called the importance of each token for one output.

        ``label``: its name; "": the likeliest. ``integrated``: also integrated gradients, which take longest.
        PoolscopeError says why there is none.
        """

    def importance_in_parts(self, query: Query, label: str) -> Generator[Progress | Importance]:
        """The same with integrated gradients: without these first, then how far they are, then all of it.

        Closing the iterator cancels the rest.
        """

    def padding(self, query: Query) -> Padding:
        """Answer one query, and find what padding changes; PoolscopeError says why it cannot."""

    def detect(self, query: Query, vector: object, prefix: str) -> Detected:
        """Find in which way a vector was made of a text or pair, whatever else the query asks.

        ``vector``: a text or a list of numbers; see `to_vectors`. ``prefix``: what may stand before the text,
        or "". PoolscopeError says why it cannot.
        """

    def passport(self, backbone: str) -> Passport:
        """Everything that is measured of a backbone on texts of our own; PoolscopeError says why not."""

    def fit(self, table: Table, plan: Plan) -> Generator[Stage | Fit]:
        """Find which backbone, pooling and layer suits a table: how far it is, then all that was measured.

        Closing the iterator cancels the rest. PoolscopeError says why it cannot.
        """

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair: one forward pass for each backbone.

        Backbones come in the order in which they are first named, the cells of each in the order asked, as
        soon as they are ready; closing the iterator cancels the rest. What cannot be answered is said in its
        cell. PoolscopeError where nothing can be: no query, too many, more than one text.
        """


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
        return tuple(map(self._pooling, self.analyst.poolings()))

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

    def lens(self, query: Query) -> Looked:
        """Answer one query, and point its head at every hidden state; see `Analyst.lens`."""
        looked = self.analyst.lens(query)
        return replace(looked, analysis=self._analysis(looked.analysis))

    def trace(self, query: Query, other: str, other_pair: str) -> Patched:
        """Find which hidden states carry the change to another text; see `Analyst.trace`."""
        return self._patched(self.analyst.trace(query, other, other_pair))

    def trace_in_parts(self, query: Query, other: str, other_pair: str) -> Generator[Progress | Patched]:
        """The same, part by part; see `Analyst.trace_in_parts`."""
        with closing(self.analyst.trace_in_parts(query, other, other_pair)) as steps:
            for step in steps:
                yield step if isinstance(step, Progress) else self._patched(step)

    def importance(self, query: Query, label: str, integrated: bool) -> Importance:
        """What is called the importance of each token; see `Analyst.importance`."""
        found = self.analyst.importance(query, label, integrated)
        return replace(found, analysis=self._analysis(found.analysis))

    def importance_in_parts(self, query: Query, label: str) -> Generator[Progress | Importance]:
        """The same, part by part; see `Analyst.importance_in_parts`."""
        with closing(self.analyst.importance_in_parts(query, label)) as steps:
            for step in steps:
                if isinstance(step, Progress):
                    yield step
                else:
                    yield replace(step, analysis=self._analysis(step.analysis))

    def padding(self, query: Query) -> Padding:
        """Find what padding changes; see `Analyst.padding`."""
        padding = self.analyst.padding(query)
        return replace(padding, analysis=self._analysis(padding.analysis))

    def detect(self, query: Query, vector: object, prefix: str) -> Detected:
        """Find in which way a vector was made; see `Analyst.detect`."""
        found = self.analyst.detect(query, vector, prefix)
        return replace(found, backbone=self._backbone(found.backbone))

    def passport(self, backbone: str) -> Passport:
        """Everything that is measured of a backbone; see `Analyst.passport`."""
        passport = self.analyst.passport(backbone)
        return replace(passport, backbone=self._backbone(passport.backbone))

    def fit(self, table: Table, plan: Plan) -> Generator[Stage | Fit]:
        """Find which backbone, pooling and layer suits a table; see `Analyst.fit`."""
        return self.analyst.fit(table, plan)

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair; see `Analyst.compare`."""
        with closing(self.analyst.compare(queries)) as answers:
            for compared in answers:
                yield replace(compared, backbone=self._backbone(compared.backbone))

    def _analysis(self, analysis: Analysis) -> Analysis:
        return replace(analysis, backbone=self._backbone(analysis.backbone))

    def _patched(self, patched: Patched) -> Patched:
        return replace(patched, first=self._analysis(patched.first), second=self._analysis(patched.second))

    def _pooling(self, spec: PoolingSpec) -> PoolingSpec:
        title = self.say.name(spec.title, f"pooling.{spec.key}.title")
        return replace(spec, title=title, summary=self.say.name(spec.summary, f"pooling.{spec.key}.summary"))

    def _backbone(self, spec: BackboneSpec) -> BackboneSpec:
        return replace(spec, title=self.say.name(spec.title), note=self.say.name(spec.note))
