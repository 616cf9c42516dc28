"""What the house promises: functions of a size that can be read, and gradio in its own room."""

import ast
from pathlib import Path

import pytest

from tests.serving import ROOT

FILES = sorted((ROOT / "components").rglob("*.py"))
LINES = 50  # of a function
GROUND = {"gradio", "starlette"}


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def modules(tree: ast.AST) -> set[str]:
    """The packages that a file imports, by the first part of their names."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("file", FILES, ids=name)
def test_its_functions_are_short(file: Path) -> None:
    text = file.read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nested = sum(
                (one.end_lineno or 0) - one.lineno + 1
                for one in node.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            )
            assert (node.end_lineno or 0) - node.lineno + 1 - nested <= LINES, node.name


def test_what_is_not_about_gradio_stands_elsewhere() -> None:
    ui = [file for file in FILES if "ui" in file.parts and file.read_text("utf-8").strip()]
    others = [name(file) for file in ui if not modules(ast.parse(file.read_text("utf-8"))) & GROUND]
    assert [one for one in others if not one.endswith("__init__.py")] == []
