"""A pooling method as source that stands alone: the function, what it calls, and the states that it looks at.

All is read from the module that defines the method, so that a new one can be exported as it is.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from components.errors import PoolscopeError
from components.model.pooling import POOLINGS
from components.texts import load_texts

FIELDS = (  # of States; assets/templates/states.jinja says what each is
    *("hidden", "layers", "mask", "special", "cls", "reads", "pooler_output", "declared_output", "query"),
)
WIDTH = 100  # of a line, in characters
Import = tuple[str, str]  # a module and the name to take from it, or "" for the module itself
NAMESPACE = ("types", "SimpleNamespace")
OWN = ("components", "__future__")  # what no exported file imports
QUOTES = '"""'


@dataclass(frozen=True)
class PoolingSource:
    """``code``: definitions, each before it is used. ``fields``: what the method looks at, of States."""

    code: tuple[str, ...]
    fields: tuple[str, ...]
    imports: frozenset[Import]


@cache  # what is installed does not change while it runs
def pooling_source(key: str) -> PoolingSource:
    """Write the pooling method ``key`` with all that it needs, but for the class that it is called with."""
    function = POOLINGS[key].function
    source = inspect.getsource(sys.modules[function.__module__])
    tree = ast.parse(source)
    found = _with_needed(function.__name__, tree)
    names = {name for node in found.values() for name in _names(node)}
    outer = [one for node in tree.body for one in _imported(node) if (one[1] or one[0]) in names]
    inner = [one for top in found.values() for node in ast.walk(top) for one in _imported(node)]
    looked = {
        ast.unparse(one).removeprefix(f"{node.args.args[0].arg}.")  # of the first argument, the states
        for node in found.values()
        for one in ast.walk(node)
        if isinstance(node, ast.FunctionDef) and isinstance(one, ast.Attribute)
    }
    needed = {("dataclasses", "dataclass"), ("torch", "Tensor")}
    return PoolingSource(
        code=tuple(_standing_alone(node, source) for node in found.values()),
        fields=tuple(field for field in FIELDS if field in looked),
        imports=frozenset([*outer, *inner, *needed, *([NAMESPACE] if "reads" in looked else [])]),
    )


def literal(text: str) -> str:
    """Write ``text`` as source, on one line and whatever it holds; in double quotes where both would do."""
    source = repr(text)  # escapes all that is not printable, marks that turn the direction of text included
    return f'"{source[1:-1]}"' if source[0] == "'" and '"' not in text else source


def _with_needed(name: str, tree: ast.Module) -> dict[str, ast.stmt]:
    """The definition of ``name`` behind all that it needs of the functions and constants of a module."""
    known: dict[str, ast.stmt] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node
    found: dict[str, ast.stmt] = {}

    def visit(name: str) -> None:
        for needed in sorted(_names(known[name]) & known.keys() - found.keys() - {name}):
            visit(needed)
        found[name] = known[name]

    visit(name)
    return found


def _names(node: ast.stmt) -> set[str]:
    """The names that a definition uses; what decorates it is no part of it."""
    parts = node.body if isinstance(node, ast.FunctionDef) else [node]
    return {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}


def _imported(node: ast.AST) -> Iterator[Import]:
    """Return what an import takes, but for what is Poolscope's own."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] not in OWN:
        yield from ((str(node.module), alias.name) for alias in node.names)


def _standing_alone(definition: ast.stmt, source: str) -> str:
    """A definition as it is written in ``source``, its comments too, but for what cannot stand alone."""
    lines = dict(enumerate(source.splitlines(), start=1))
    chosen = {number: [lines[number]] for number in _numbers(definition)}
    for node in ast.walk(definition):  # outer statements before those inside of them
        instead = _instead(node)
        if instead is not None and isinstance(node, ast.stmt) and chosen[node.lineno]:
            chosen.update({number: [] for number in _numbers(node)})
            chosen[node.lineno] = instead
    return "\n".join(fitted for part in chosen.values() for line in part for fitted in _fitted(line))


def _instead(node: ast.AST) -> list[str] | None:
    """The lines to write for a statement that cannot stand alone, or None for one that can.

    Imports go to the top of the file. A guard against a part that is lacking goes: here none is. What else
    Poolscope tells a visitor becomes a ValueError with the same sentence in English.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return []
    if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
        return [] if isinstance(node.test.ops[0], ast.Is) and any(map(_refusal, node.body)) else None
    if isinstance(node, ast.Raise) and (error := _refusal(node)) is not None:
        _field, _given, key = error.args
        english = load_texts().entries[ast.literal_eval(key)]
        values = ", ".join(ast.unparse(keyword) for keyword in error.keywords)
        sentence = f"{literal(english)}.format({values})" if values else literal(english.format())
        return [f"{' ' * node.col_offset}raise ValueError({sentence})"]
    return None


def _refusal(node: ast.stmt) -> ast.Call | None:
    raised = node.exc if isinstance(node, ast.Raise) else None
    ours = isinstance(raised, ast.Call) and ast.unparse(raised.func) == PoolscopeError.__name__
    return raised if ours and isinstance(raised, ast.Call) else None


def _numbers(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _fitted(line: str) -> list[str]:
    """A line cut where it is too long: a docstring between words, code before its comment and in its call."""
    if len(line) <= WIDTH:
        return [line]
    code = line.lstrip()
    indent = line[: -len(code)]
    if code.startswith(QUOTES) and code.endswith(QUOTES):
        said, room = code[: -len(QUOTES)], WIDTH - len(indent)
        room -= len(QUOTES) if len(said) <= room else 0  # what fits but for its end is cut, too
        wrapped = textwrap.wrap(said, room, break_on_hyphens=False)
        return [*(indent + part for part in wrapped), indent + QUOTES]
    code, mark, remark = line.partition("  # ")
    above = [f"{indent}# {remark}"] if mark else []
    return [*above, *(_opened(code) if len(code) > WIDTH else [code])]


def _opened(line: str) -> list[str]:
    """A line that ends with a call on three lines, the arguments on one of their own; others as they are."""
    depth = 0
    for index in range(len(line) - 1, 0, -1):
        depth += (line[index] == ")") - (line[index] == "(")
        if depth == 0 and line.endswith(")"):
            indent = line[: len(line) - len(line.lstrip())]
            return [line[: index + 1], f"{indent}    {line[index + 1 : -1]}", f"{indent})"]
    return [line]
