"""Bundled checkpoints run at home, all others among the guests, and each begins when it is first needed."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from components.inference.apart import Apart
from components.inference.desk import Desk
from components.inference.jobs import Job
from components.inference.workers import among_guests, at_home
from components.settings import Settings
from components.types import BackboneSpec

BUNDLED = BackboneSpec("a", "a", "", "", "bundled", "/a")


@dataclass
class Kept:
    """A runner that writes down what it is told."""

    told: list[Any] = field(default_factory=list)

    def run(self, job: Job) -> Any:
        self.told.append(job.spec.source)

    def open(self, first: Job | None) -> None:
        self.told.append(("open", first))

    def ready(self) -> bool:
        return True

    def close(self, seconds: float) -> None:
        self.told.append(("close", 0 <= seconds <= 4))

    def classifies(self, kind: str) -> bool:
        return kind == "bert"


def test_each_kind_runs_in_its_place_and_begins_when_it_is_needed() -> None:
    home, guests = Kept(), Kept()
    apart = Apart(home, guests)
    assert not apart.ready()
    first: Job = Job("analyze", BUNDLED, ())
    apart.open(first)
    assert apart.ready()
    assert (home.told, guests.told) == ([("open", first)], [])
    for source in ("bundled", "local", "hub", "bundled", "hub"):
        apart.run(Job("analyze", replace(BUNDLED, source=source), ()))  # type: ignore[arg-type]  # one of them
    assert home.told[1:] == ["bundled", "bundled"]
    assert guests.told == [("open", None), "local", "hub", "hub"]
    assert apart.classifies("bert")
    apart.close(4)
    assert home.told[-1] == guests.told[-1] == ("close", True)


def test_an_owner_s_own_catalogue_begins_nothing_that_it_does_not_need() -> None:
    home, guests = Kept(), Kept()
    apart = Apart(home, guests)
    first: Job = Job("analyze", replace(BUNDLED, source="local"), ())
    apart.open(first)
    assert apart.classifies("bert")
    assert (home.told, guests.told) == ([], [("open", first)])


@pytest.mark.parametrize(("workers", "guests"), [(0, 1), (1, 1), (2, 1), (5, 2), (8, 4)])
def test_guests_have_half_as_many_workers_and_a_limit(workers: int, guests: int) -> None:
    settings = Settings(workers=workers)
    home, theirs = at_home(settings), among_guests(settings)
    assert (home.size, theirs.size) == (workers, guests)
    assert home.sharers == theirs.sharers == max(1, workers) + guests
    assert home.answers + theirs.answers == settings.answers
    assert home.working is None
    assert theirs.working is not None
    assert 500_000_000 <= theirs.working <= 2_000_000_000


def test_the_bundled_ones_run_at_home() -> None:
    home, guests = Kept(), Kept()
    first = Desk(Settings(), Apart(home, guests)).first()
    assert first is not None
    assert first.spec.source == "bundled"
