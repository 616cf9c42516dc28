"""The desk checks what a visitor asks, and has a runner answer it; the engine is one that runs it itself.

Importing this module is light: torch and transformers load when a backbone is first asked for.
"""

import math
import threading
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from huggingface_hub import is_offline_mode

from components.admission import Admission, Ticket
from components.analyses.analyze import Cell, Compared
from components.analyses.fit import fit_table, to_rows
from components.analyses.registry import Step, analyses
from components.analyst import ADDRESS, CANCELLATION, first_of
from components.errors import PoolscopeError
from components.fitting import Fit, Plan, Stage, Table
from components.inference.jobs import Job, Runner, in_turns
from components.model.catalogue import present, read_catalogue, read_tasks, refreshed
from components.model.files import version
from components.model.hub import Hub
from components.model.pooling import POOLINGS
from components.model.query import Asked, asked_of, by_backbone, checked, choice
from components.own_head import HEADS
from components.settings import ASSETS, Settings
from components.types import BackboneSpec, PoolingSpec, Progress, Query, TaskSpec

LARGEST = 400_000_000  # bytes of the vectors of one backbone in memory
PART = 2.0  # seconds in which a part of a long answer begins its last step


class Desk:
    """Takes queries about the backbones of a catalogue, and has ``runner`` answer them; threads may ask."""

    def __init__(self, settings: Settings, runner: Runner) -> None:
        self._settings, self._runner = settings, runner
        self.takes_ids = settings.sources == "any"  # of the hub, besides keys: the owner decides
        every = read_catalogue(settings.catalogue)
        listed = [spec for spec in every if spec.source != "hub" or settings.sources != "bundled"]
        self._specs = MappingProxyType({spec.key: spec for spec in listed})
        self._tasks = MappingProxyType({task.key: task for task in read_tasks(ASSETS / "tasks.toml")})
        self._closed, self._fitting = threading.Event(), Admission({"": 1}, None)
        self._hub = Hub(settings.download, known=self._classifies)

    def backbones(self) -> tuple[BackboneSpec, ...]:
        """Every backbone of the catalogue, in its order, as far as the owner allows its source."""
        return tuple(map(refreshed, self._specs.values()))

    @property
    def online(self) -> bool:
        """Tell whether the hub may be asked; false where huggingface_hub is set offline."""
        return not is_offline_mode()

    def find(self, given: str) -> BackboneSpec:
        """The backbone of a key, or of a hub id; the hub is asked for those alone that are not listed."""
        listed = self._listed(given)
        if listed is None and not self.takes_ids:
            choice("backbone", given, tuple(self._specs))
        return refreshed(listed or self._hub.find(given))

    def fetch(self, key: str) -> Generator[Progress]:
        """Bring a backbone of the hub onto this machine; see `Analyst.fetch`."""
        spec = self._listed(key) or self._hub.known(key) or self.find(key)
        if spec.source == "hub":
            with closing(self._hub.fetch(spec)) as steps:
                for step in steps:
                    if self._closed.is_set():
                        raise PoolscopeError("backbone", key, "errors.stopping")
                    yield step

    def poolings(self) -> tuple[PoolingSpec, ...]:
        """Every pooling method, the head's own ("native") first."""
        return tuple(pooling.spec for pooling in POOLINGS.values())

    def tasks(self) -> tuple[TaskSpec, ...]:
        """Every task that probes are trained for, in the order of the menu."""
        return tuple(self._tasks.values())

    def ask(self, name: str, query: Query, **options: object) -> Any:
        """The result of an analysis; see `Analyst.ask`."""
        *_, found = self._parts(name, query, math.inf, options)
        return found

    def ask_in_parts(self, name: str, query: Query, **options: object) -> Generator[Any]:
        """Give it part by part: each has a turn of its own, for others to come in between."""
        return self._parts(name, query, PART, options)

    def _parts(self, name: str, query: Query, seconds: float, options: Mapping[str, Any]) -> Generator[Any]:
        kind = analyses()[name]
        asked, plain = kind.prepared(self._whole, query, self._settings.characters, options)
        spec = self._here("backbone", query.backbone)

        def run(step: Step, /, **more: object) -> Any:
            return self._runner.run(Job(step.name, spec, version(spec), asked, more))

        yield from kind.parts(run, seconds, plain)

    def fit(self, table: Table, plan: Plan) -> Generator[Stage | Fit]:
        """Find which backbone, pooling and layer suits a table, one table at a time; see `Analyst.fit`."""
        asked = to_rows(table, plan, self._settings)
        specs = [self._here("backbones", key) for key in plan.backbones]
        ticket = Ticket(ADDRESS.get())  # that one has a turn whose address was not served for longest
        self._fitting.enter(ticket)
        try:
            while wait([ticket.granted], timeout=1).not_done:
                yield Stage(0, 1, "wait", "")
            yield from fit_table(in_turns(self._runner.run, LARGEST), specs, asked)
        finally:
            self._fitting.leave(ticket)

    def compare(self, queries: Sequence[Query]) -> Generator[Compared]:
        """Answer many queries of one text or pair; see `Analyst.compare`. Each backbone has its own turn."""
        for group in by_backbone(list(map(self._checked, queries))):
            spec = self._known(group[0].backbone)
            yield Compared(spec, self._cells(spec, group))

    def open(self) -> None:
        """Have torch and the first backbone loaded before a visitor needs them; returns at once."""
        self._runner.open(self.first())

    def ready(self) -> bool:
        """Tell whether a question can be answered by now."""
        return self._runner.ready()

    def close(self, seconds: float) -> None:
        """Let answers under way end, so many ``seconds`` at most, and downloads at once; refuse the rest."""
        self._closed.set()
        self._runner.close(seconds)

    def first(self) -> Job | None:
        """Choose the job to run first: of the backbone that the page begins with."""
        found = self.backbones()
        first = first_of(found) or first_of(found, 2)
        if first is None:
            return None
        return Job("analyze", first, version(first), (self._whole(Query(first.key, "warm")),))

    def _cells(self, spec: BackboneSpec, queries: Sequence[Query]) -> tuple[Cell, ...]:
        plan: list[Asked | Cell] = []
        for query in queries:
            try:
                plan.append(asked_of(query, present(spec), self._tasks))
            except PoolscopeError as error:
                plan.append(Cell(query, None, error.sentence))
        asked = tuple(each for each in plan if isinstance(each, Asked))
        try:
            answers = self._runner.run(Job("compare", spec, version(spec), asked)) if asked else ()
        except PoolscopeError as error:  # of the backbone, or of this text on it
            answers = tuple(Cell(each.query, None, error.sentence) for each in asked)
        coming = iter(answers)
        return tuple(each if isinstance(each, Cell) else next(coming) for each in plan)

    def _whole(self, query: Query) -> Asked:
        query = self._checked(query)
        return asked_of(query, present(self._known(query.backbone)), self._tasks)

    def _checked(self, query: Query) -> Query:
        return checked(query, self._keys(query.backbone), tuple(POOLINGS), HEADS, self._settings.characters)

    def _classifies(self, kind: str) -> bool:
        spec = BackboneSpec(kind, kind, "", "", "hub", kind)
        return bool(self._runner.run(Job("classifies", spec, (), options={"kind": kind})))

    def _listed(self, given: object) -> BackboneSpec | None:
        every, hub = self._specs.values(), ("hub", given)
        return next((one for one in every if given == one.key or (one.source, one.location) == hub), None)

    def _keys(self, asked: object) -> tuple[str, ...]:
        """List the catalogue's keys, and ``asked`` itself if it is an id that was found."""
        found = self._hub.known(asked)
        return (*self._specs, found.key) if found else tuple(self._specs)

    def _here(self, field: str, key: object) -> BackboneSpec:
        """Find a backbone that is on this machine; PoolscopeError names the ``field`` that asks for it."""
        return present(self._known(choice(field, key, self._keys(key))))

    def _known(self, key: str) -> BackboneSpec:
        known = self._specs.get(key) or self._hub.known(key)
        if known is None:  # forgotten since it was found
            raise PoolscopeError("backbone", key, "errors.forgotten")
        return refreshed(known)


class Engine(Desk):
    """Answers queries in the ``process`` that asks, for programs that use Poolscope as a library."""

    def __init__(self, settings: Settings) -> None:
        self.process = InProcess(settings)
        super().__init__(settings, self.process)

    def bring(self, given: str) -> BackboneSpec:
        """The checkpoint of a folder, a key or an id, which is downloaded; PoolscopeError says why not."""
        folder = Path(given).resolve()  # for a process that works in another folder, too
        key = next((one.key for one in self._specs.values() if one.location == str(folder)), given)
        if key == given and folder.is_dir():
            key = str(folder) if folder.name in self._specs else folder.name
            spec = BackboneSpec(key, folder.name, "", "", "local", str(folder))
            self._specs = MappingProxyType({**self._specs, key: spec})  # by which it may be asked from now on
        for _step in self.fetch(key):
            pass
        return present(self.find(key))

    def answer(self, name: str, query: Query, **options: object) -> dict[str, Any]:
        """Give what an endpoint answers, after its backbone has been brought here."""
        asked = replace(query, backbone=self.bring(query.backbone).key)
        return dict(self.ask(name, asked, **options).to_json())


class InProcess:
    """Runs jobs in the thread that asks, one after the other; ``sharers`` share checkpoints' memory."""

    def __init__(self, settings: Settings, sharers: int = 1) -> None:
        self._settings, self._sharers = settings, sharers
        self.turn = threading.Lock()
        self._ready, self._closed = threading.Event(), threading.Event()

    def run(self, job: Job) -> Any:
        """The answer; PoolscopeError, or CancelledError where nobody waits for it when its turn comes."""
        with self.turn:
            if self._closed.is_set():
                raise PoolscopeError("backbone", job.spec.key, "errors.stopping")
            if CANCELLATION.get(Future()).cancelled():
                raise CancelledError
            return self.measurer.run(job)

    def open(self, first: Job | None) -> None:
        """Load torch and run ``first`` in a thread."""
        threading.Thread(target=self._begin, args=[first], name="warm-up", daemon=True).start()

    def ready(self) -> bool:
        """Tell whether ``first`` has been run, and nothing is closed."""
        return self._ready.is_set() and not self._closed.is_set()

    def close(self, seconds: float) -> None:
        """Wait for the job that is under way, so many ``seconds`` at most."""
        self._closed.set()
        if self.turn.acquire(timeout=seconds):
            self.turn.release()

    def _begin(self, first: Job | None) -> None:
        from components.inference.measurer import quiet

        quiet()
        if first is not None:
            self.run(first)
        self._ready.set()

    @cached_property
    def measurer(self) -> Any:
        """Measurer of these jobs; torch loads when it is first asked for."""
        from components.inference.measurer import Measurer

        return Measurer(self._settings.memory, self._sharers)


def file_name(spec: BackboneSpec) -> str:
    """Give the beginning of names of files about a checkpoint."""
    return spec.key.replace("/", "--")
