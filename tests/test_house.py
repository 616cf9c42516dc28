"""What the house promises: functions of a size that can be read, and gradio in its own room."""

import ast
from collections import Counter
from functools import cache

from tests.serving import ROOT

LINES = 50  # of a function, without those of functions in it
GROUND = {"gradio", "starlette", "uvicorn"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[str, ast.Module]:
    """Each file of the app, by its name."""
    files = sorted((ROOT / "components").rglob("*.py"))
    return {str(file.relative_to(ROOT)): ast.parse(file.read_text("utf-8")) for file in files}


def lines(node: FUNCTIONS) -> int:
    return (node.end_lineno or 0) - node.lineno + 1


def modules(tree: ast.AST) -> set[str]:
    """The packages that a file imports, by the first part of their names."""
    nodes = list(ast.walk(tree))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def test_functions_are_short() -> None:
    every = [(name, node) for name, tree in trees().items() for node in ast.walk(tree)]
    assert [
        (name, node.name)
        for name, node in every
        if isinstance(node, FUNCTIONS)
        and lines(node) - sum(lines(one) for one in node.body if isinstance(one, FUNCTIONS)) > LINES
    ] == []


def test_the_name_of_a_type_means_one_thing() -> None:
    """A class, or an alias for a type, has a name of its own in the whole app."""
    defined = [one for tree in trees().values() for one in tree.body]
    named = [one.name for one in defined if isinstance(one, ast.ClassDef)]
    targets = [one.targets[0] for one in defined if isinstance(one, ast.Assign)]
    aliases = [one.id for one in targets if isinstance(one, ast.Name) and not one.id.isupper()]
    named += [name for name in aliases if name[0].isupper()]
    assert [name for name, count in Counter(named).items() if count > 1] == []


def test_what_is_not_about_gradio_stands_elsewhere() -> None:
    ui = [name for name, tree in trees().items() if name.startswith("components/ui/") and tree.body]
    others = [name for name in ui if not modules(trees()[name]) & GROUND]
    assert [one for one in others if not one.endswith("__init__.py")] == []
