"""The code that ran, read from the installation."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from components.engine.anatomy.trace import Line
from components.types import Excerpt

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
    lines, first = inspect.getsourcelines(code)
    text = textwrap.dedent("".join(lines))
    numbers = sorted(set(ran))
    shown = text.splitlines()
    start = 0
    if len(shown) > SHORT and numbers:
        begin, end = _statements(text, [number - first for number in numbers])
        shown, start = shown[begin : end + 1], begin
    return Excerpt(
        title=code.co_qualname if isinstance(code, CodeType) else code.__qualname__,
        file=_within_package(Path(inspect.getfile(code))),
        first=first + start,
        lines=tuple(shown),
        ran=tuple(numbers),
        picks=tuple(picks),
    )


def _by_function(lines: Iterable[Line]) -> Mapping[CodeType, set[int]]:
    found: dict[CodeType, set[int]] = {}
    for function, number in lines:
        found.setdefault(function, set()).add(number)
    return found


def _statements(text: str, offsets: Sequence[int]) -> tuple[int, int]:
    """The first and last line, from 0, of the innermost statements that stand on the lines ``offsets``."""
    spans = [
        (node.lineno - 1, node.end_lineno - 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and node.end_lineno is not None
    ]
    around = [
        min((span for span in spans if span[0] <= offset <= span[1]), key=lambda span: span[1] - span[0])
        for offset in offsets
    ]
    return min(begin for begin, _ in around), max(end for _, end in around)


def _within_package(path: Path) -> str:
    """The path from its package on: transformers/models/... ."""
    top = path.parent
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return path.relative_to(top.parent).as_posix()
