"""``python -m tests.benchmarks.parsing``: processor time that the page spends on the worst that can be sent.

Every input of every function and document, as long as a body may be, in each of the SHAPES. No checkpoint is
asked: only what the page's own process does is timed. Ends with 1 where something takes longer than BAR.
With ``--limit SECONDS`` fields of one name share FEW shapes, and what takes longer ends the process at once,
wherever it is: the last line then names it.
"""

import argparse
import asyncio
import inspect
import signal
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import gradio as gr
from starlette.requests import Request

from components.errors import PoolscopeError
from components.inference.engine import Desk
from components.inference.jobs import Job
from components.settings import Settings
from components.ui.gradio_internals import block_functions
from components.ui.public.answering import for_gradio
from components.ui.public.guard import MAX_CHARACTER_BYTES, OTHER_BODY_BYTES, ROW_BYTES, TABLES
from components.ui.public.queue import QueueMiddleware
from components.ui.public.requests import DOCUMENTS, MAX_VALUES, json_object
from components.ui.shell import Site, build
from tests.serving import built

BAR = 0.5  # seconds
SEVERAL = 40  # values in a field that holds those of several parts, at most
SENT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
UNITS, HEADS, ENDS, GOOD = (SENT[name] for name in ("units", "heads", "ends", "good"))
SHAPES = [
    *((head, unit, end) for head in HEADS for unit in UNITS for end in ENDS[:2]),
    *(("", unit, end) for unit in UNITS for end in ENDS[2:]),
    *map(tuple, SENT["patterns"]),
]
FEW = [
    *(("", unit, ENDS[place % len(ENDS)]) for place, unit in enumerate(UNITS)),
    *((head, unit, "x"[: unit != " "]) for head in HEADS[1:] for unit in (" ", "a@.")),
]
ALL = [("", "1", ""), *map(tuple, SENT["patterns"])]  # of which no field is spared
NOBODY: Any = None  # waits in a queue


def refuse(job: Job) -> NoReturn:
    """Run nothing."""
    raise PoolscopeError("backbone", job.spec.key, "errors.stopping")


class Whatever(gr.EventData):
    """The data of an event, in which every key holds the same."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __getattr__(self, _name: str) -> object:
        return self.value


class Field:
    """Input of a function of the page, by its ``place``, or the data of its event: None."""

    def __init__(self, function: Any, place: int | None) -> None:
        self.function, self.place = function, place
        names, public = list(_taken(function)), function.api_visibility == "public"
        self.good = [GOOD.get(name) for name in names] if public else [part.value for part in function.inputs]
        self.name = "event" if place is None else names[place] if public else function.inputs[place].label

    def __str__(self) -> str:
        return f"{self.function.name}, {self.name}"

    def send(self, value: str) -> None:
        """Have the function called with what components make of it; a refusal is an answer."""
        asyncio.run(self._send(value))

    async def _send(self, value: str) -> None:
        part = None if self.place is None else self.function.inputs[self.place]
        sent = [value] * SEVERAL if isinstance(part, gr.HTML) else value  # which holds the values of several
        values = [sent if at == self.place else one for at, one in enumerate(self.good)]
        named = dict(zip(self.function.inputs, values, strict=True)) if self.function.inputs_as_dict else None
        given = values if named is None else [named]
        event = [Whatever(value)] * _takes_event(self.function)
        function = self.function.fn

        async def answered(_asker: object, *args: object) -> None:
            function(*args)

        async def streamed(_asker: object, *args: object) -> AsyncGenerator[object]:
            for step in function(*args):
                yield step

        run = streamed if self.function.types_generator else answered
        called = for_gradio(self.function.fn, run, QueueMiddleware(NOBODY, NOBODY, NOBODY))
        answer = called(gr.Request(Request({"type": "http", "headers": []})), *given, *event)
        with suppress(gr.Error, PoolscopeError):
            if self.function.types_generator:
                async for _ in answer:
                    pass
            else:
                await answer


def _taken(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function.fn).parameters)


def _takes_event(function: Any) -> bool:
    return any(one.annotation is gr.EventData for one in _taken(function).values())


def fields(site: Site, most: int, table: int) -> Iterator[tuple[str, str, int, Callable[[str], object]]]:
    """List all that a visitor may send of the English page: a name, whose field it is, and what takes it.

    So many bytes at ``most`` may come in each, and of a ``table``.
    """
    for function in block_functions(site.page).values():
        if function.fn is None or function.page:
            continue
        places = [at for at, part in enumerate(function.inputs) if not isinstance(part, gr.State)]
        for place in (*places, *[None] * _takes_event(function)):
            field = Field(function, place)
            yield field.name, str(field), table if function.name in TABLES else most, field.send
    yield "any function, its body", "body", table, _body
    for document in DOCUMENTS.values():
        make = getattr(site.links["en"], document.name)
        for place, name in enumerate(document.fields):
            yield f"{document.name}, {name}", name, most, _document(make, place)


def _body(value: str) -> None:
    with suppress(PoolscopeError):
        json_object(b"[" * (MAX_VALUES + 1) + value.encode())


def _document(make: Callable[[str, str], object], place: int) -> Callable[[str], object]:
    def send(value: str) -> None:
        with suppress(PoolscopeError):
            make(*(value if at == place else "" for at in range(2)))

    return send


def text_of(shape: tuple[str, str, str], size: int) -> str:
    """Make a text of at most so many bytes."""
    head, unit, end = shape
    return head + unit * ((size - len(head) - len(end)) // len(unit.encode())) + end


def report(limit: float | None) -> bool:
    """Print the worst of each field; gives whether none is above BAR."""
    settings = Settings(sources="any")
    runner: Any = SimpleNamespace(run=refuse, ready=lambda: True)
    site = built(lambda: build(Desk(settings, runner), settings))
    sizes = MAX_CHARACTER_BYTES * settings.characters + OTHER_BODY_BYTES, ROW_BYTES * settings.lab_rows
    alike = defaultdict(list)
    for kind, name, most, send in fields(site, *sizes):
        alike[str(kind).casefold()].append((name, most, send))
    right = True
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for several in alike.values():
        for place, (name, size, send) in enumerate(several):
            shapes = SHAPES if limit is None else [*FEW[place :: len(several)], *ALL]
            took, shape = max((_seconds(name, send, shape, size, limit or 600.0), shape) for shape in shapes)
            right &= took <= BAR
            print(f"{took:6.3f} s  {name}: {shape}", flush=True)
    return right


def _seconds(
    name: str, send: Callable[[str], object], shape: tuple[str, str, str], size: int, limit: float
) -> float:
    text = text_of(shape, size)
    print(f"{name}: {shape}", file=sys.stderr, flush=True)
    signal.setitimer(signal.ITIMER_PROF, limit)  # of processor time; at its end the system ends the process
    begun = time.process_time()
    send(text)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - begun


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--limit", type=float, help="seconds of processor time that end the process")
    given = parser.parse_args()
    sys.exit(not report(given.limit) and given.limit is None)
