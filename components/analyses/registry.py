"""Registry: what can be measured of a checkpoint, by name. Light to import: torch is loaded where it runs.

An analysis is one decorated function in a file of this folder. Its name is the key, its docstring tells
programs what it does, its result is a frozen dataclass with ``to_json``. From the registry come its endpoint,
the job that a worker or a cluster runs, the key under which the same is answered once, and its price.
"""

import inspect
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

from components.model.query import Asked, checked_text
from components.types import Query

if TYPE_CHECKING:
    from components.model.backbone import Backbone as Backbone
    from components.model.examine import Examined as Examined
else:  # the files of this folder name these types, and load no torch
    Backbone = Examined = object

QUERY = {field.name: field for field in fields(Query)}

Run = Callable[..., Any]  # (step, **options) -> what it answers as a job; PoolscopeError is its refusal
Check = Callable[[Query], Asked]  # raises PoolscopeError where a field is wrong
Prepared = tuple[tuple[Asked, ...], Mapping[str, Any]]  # what a job is asked, and its options
Prepare = Callable[..., Prepared]  # (check, query, longest, **given)


@dataclass(frozen=True)
class Cost:
    """Time that an analysis takes, in units of one ``analyze`` of about thirty tokens.

    It is one for every so many ``characters``, ``least`` at least, for each text where ``several`` count.
    ``square``: or one for so many of their square, where each word has all words run again.
    """

    least: float = 1.0
    characters: float = math.inf
    several: bool = False
    square: float = math.inf

    def of(self, characters: int, texts: int = 1) -> float:
        """The cost of so many ``characters`` in all, and of so many ``texts`` where these count."""
        grown = max(self.least, characters / self.characters, characters**2 / self.square)
        return grown * (texts if self.several else 1)


@dataclass(frozen=True)
class Step:
    """A function that a job runs, by its name: of examined queries, or of a backbone and all that is asked.

    ``last``: whether it waits behind all others; an answer of these is not kept for who asks the same, nor
    that of one that ``times``: a time is of one run. ``rounds``: whether the owner may have its model in a
    type of fewer digits; no other states what is equal, or where a number comes from.
    """

    name: str
    function: Callable[..., Any]
    last: bool = False
    times: bool = False
    rounds: bool = False

    def run(self, backbone: Backbone, asked: Sequence[Asked], options: Mapping[str, Any]) -> Any:
        """Measure it on a loaded checkpoint; PoolscopeError says why it cannot be had."""
        if self.first == "examined":
            from components.model.examine import examine

            return self.function(*(examine(backbone, each.query, each.task) for each in asked), **options)
        return self.function(backbone, asked, **options)

    @property
    def loads(self) -> bool:
        """Tell whether it needs a checkpoint at all."""
        return self.first in ("examined", "backbone")

    @property
    def first(self) -> str:
        """The name of the function's first parameter, which says what it takes."""
        return next(iter(inspect.signature(self.function).parameters))


@dataclass(frozen=True)
class Kind(Step):
    """An analysis: a step with an endpoint; or several, one after the other, where it takes ``run``.

    ``asks``: parameters of the endpoint in their order, fields of a query and options.
    ``prepare``: makes what a job is asked of a query and options, or None where it is the query as it stands.
    """

    asks: tuple[str, ...] = ()
    cost: Cost = Cost()
    prepare: Prepare | None = None

    def prepared(self, check: Check, query: Query, longest: int, options: Mapping[str, Any]) -> Prepared:
        """Check the query and the options; PoolscopeError names what is wrong. ``longest``: in characters."""
        if self.prepare is not None:
            return self.prepare(check, query, longest, **options)
        asked = check(query)
        checked = {
            name: value if isinstance(value, bool) else checked_text(name, value, longest)
            for name, value in options.items()
        }
        return (asked,), checked

    def parts(self, run: Run, seconds: float, options: Mapping[str, Any]) -> Generator[Any]:
        """Yield how far it is and what is known so far, last all; each step begins within ``seconds``."""
        if self.first == "run":
            yield from self.function(run, seconds, **options)
        else:
            yield run(self, **options)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Arguments that the endpoint takes, each with its type and default."""
        function = self.prepare or self.function
        own, hints = inspect.signature(function).parameters, get_type_hints(function) | get_type_hints(Query)
        kind, taken = inspect.Parameter.POSITIONAL_OR_KEYWORD, []
        for name in self.asks:
            default = QUERY[name].default if name in QUERY else own[name].default
            default = inspect.Parameter.empty if default is MISSING else default
            taken.append(inspect.Parameter(name, kind, default=default, annotation=hints[name]))
        return inspect.Signature(taken, return_annotation=dict[str, Any])

    def endpoint(self, ask: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """Make a function of this signature and these words; ``ask(name, query, **options)`` answers it."""

        def endpoint(*values: object, **named: object) -> dict[str, Any]:
            given = self.signature.bind(*values, **named)
            given.apply_defaults()
            asked = {name: value for name, value in given.arguments.items() if name in QUERY}
            options = {name: value for name, value in given.arguments.items() if name not in QUERY}
            return ask(self.name, Query(**{"backbone": "", "text": "", **asked}), **options)

        taken = self.signature.parameters.values()
        endpoint.__name__, endpoint.__doc__ = self.name, self.function.__doc__
        endpoint.__annotations__ = {one.name: one.annotation for one in taken} | {"return": dict[str, Any]}
        endpoint.__signature__ = self.signature  # type: ignore[attr-defined]  # which inspect looks for
        return endpoint


def analysis(
    asks: str, cost: Cost, prepare: Prepare | None = None, times: bool = False, rounds: bool = False
) -> Callable[[Callable[..., Any]], Kind]:
    """Register an analysis; ``asks``: its endpoint's parameters in their order, with spaces between.

    ``times``: whether its answer is how long something took. ``rounds``: see `Step`.
    """
    given = False, times, rounds, tuple(asks.split()), cost, prepare
    return lambda function: Kind(function.__name__, function, *given)


def step(function: Callable[..., Any], rounds: bool = False) -> Step:
    """Register a part of an analysis, that runs as a job of its own."""
    return Step(function.__name__, function, rounds=rounds)


def measured(file: str, name: str) -> Step:
    """Register a function of examined queries as such a part, whose ``file`` is imported when it runs."""

    def run(*examined: Examined, **options: Any) -> Any:
        return getattr(measuring(file), name)(*examined, **options)

    return Step(name, run)


def measuring(file: str) -> Any:
    """Import a file of measuring/, and torch with it, where an analysis runs whose nouns that file uses."""
    return import_module(f"{__package__}.measuring.{file}")


@step
def classifies(kind: str) -> bool:
    """Tell whether transformers classifies texts with this type of model; no checkpoint is loaded."""
    from components.model.internals import classifying_types

    return kind in classifying_types()


@cache  # what stands in the folder does not change while it runs
def steps() -> Mapping[str, Step]:
    """Every step that a job may run, by name."""
    found = (value for module in _modules("") for value in vars(module).values() if isinstance(value, Step))
    return MappingProxyType({one.name: one for one in found})


def analyses() -> Mapping[str, Kind]:
    """Every analysis by its name, in the order of the files."""
    return {name: one for name, one in steps().items() if isinstance(one, Kind)}


def load() -> None:
    """Import all that measures, and torch with it, which a step else does when it first runs."""
    list(_modules(".measuring"))


def _modules(room: str) -> Iterator[ModuleType]:
    """The modules of a room of this folder, in the order of their names."""
    package = import_module(f"{__package__}{room}")
    for one in iter_modules(package.__path__, f"{package.__name__}."):
        yield import_module(one.name)
