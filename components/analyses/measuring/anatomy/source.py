"""The code that ran, read from the installation."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from components.analyses.anatomy import Excerpt
from components.model.tracing import Line

SHORT = 16  # lines of a function that is shown whole; of a longer one only what ran, and what lies between


def sources(ran: Iterable[Line], picking: Iterable[Line]) -> tuple[Excerpt, ...]:
    """The functions of the lines that ``ran``, in the order of their first appearance.

    ``picking``: those lines of them that make one vector of the hidden states.
    """
    lines, picks = _by_function(ran), _by_function(picking)
    return tuple(
        source(function, numbers, sorted(picks.get(function, ()))) for function, numbers in lines.items()
    )


def source(
    code: CodeType | Callable[..., Any], ran: Iterable[int] = (), picks: Sequence[int] = ()
) -> Excerpt:
    """A function as it is installed; of a long one, from the first statement that ``ran`` to the last.

    ``ran`` and ``picks`` are numbers of lines in its file. Raises OSError if the file is not there.
    """
    written, numbers = _written(code), sorted(set(ran))
    begin, end = 0, len(written.lines)
    if end > SHORT and numbers:
        statements = [written.statement(number) for number in numbers]
        begin, end = min(start for start, _ in statements), max(stop for _, stop in statements)
    return Excerpt(
        title=code.co_qualname if isinstance(code, CodeType) else code.__qualname__,
        file=written.file,
        first=written.first + begin,
        lines=written.lines[begin:end],
        ran=tuple(numbers),
        picks=tuple(picks),
    )


@dataclass(frozen=True)
class Written:
    """A function in its file, its first line's number, and where its statements begin and end, from 0."""

    file: str
    first: int
    lines: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def statement(self, number: int) -> tuple[int, int]:
        """Where the innermost statement on the line ``number`` begins and ends, from 0, the end excluded."""
        offset = number - self.first
        around = (span for span in self.spans if span[0] <= offset < span[1])
        return min(around, key=lambda span: span[1] - span[0])


@cache  # what is installed does not change while it runs
def _written(code: CodeType | Callable[..., Any]) -> Written:
    lines, first = inspect.getsourcelines(code)
    text = textwrap.dedent("".join(lines))
    spans = (
        (node.lineno - 1, node.end_lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and node.end_lineno is not None
    )
    return Written(
        _within_package(Path(inspect.getfile(code))), first, tuple(text.splitlines()), tuple(spans)
    )


def _by_function(lines: Iterable[Line]) -> Mapping[CodeType, set[int]]:
    found: dict[CodeType, set[int]] = {}
    for function, number in lines:
        found.setdefault(function, set()).add(number)
    return found


def _within_package(path: Path) -> str:
    """The path from its package on: transformers/models/... ."""
    top = path.parent
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return path.relative_to(top.parent).as_posix()
