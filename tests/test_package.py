"""The wheel: one package with all that runs, which neither needs a clone nor takes a name beside its own."""

import ast
import inspect
import re
from email import message_from_bytes
from pathlib import Path, PurePath
from zipfile import ZipFile

import pytest

import poolscope
from components import VERSION
from components.analyses.registry import analyses
from tests.serving import ROOT, python
from tests.test_docs import git

NAMES = [name for name in git("ls-files", "-z") if not name.startswith(("tests/", "docs/"))]
BUILD = """
from setuptools import build_meta
build_meta.build_wheel("..")
try:
    build_meta.build_editable("..")
except SystemExit as refusal:
    print(refusal)
"""
TOLD = """
import inspect, poolscope, poolscope.__main__
several = {"PoolscopeError", "__version__", "poolscope_show", "backbones", "poolings", "compare", "fit"}
for name in sorted({*dir(poolscope)} - several):
    print(f"{name}{inspect.signature(getattr(poolscope, name))}")
sys.argv[1:] = ["--version"]
poolscope.__main__.main()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """Wheel of a copy of what git has, in which large files are empty."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in NAMES:
        (place := folder / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((ROOT / name).read_bytes() * ((ROOT / name).stat().st_size < 2_000_000))
    built = python("-c", BUILD, cwd=folder / "clone")
    assert "python -m poolscope" in built.stdout, built.stderr  # what it says of an editable one
    return ZipFile(next(folder.glob("*.whl")))


def test_it_holds_all_that_runs_in_one_package(wheel: ZipFile) -> None:
    whole = re.compile(r"components/|app\.py|poolscope/|assets/(?!screenshot)")
    ours = {f"poolscope/{name.removeprefix('poolscope/')}" for name in NAMES if whole.match(name)}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == ours


def test_nothing_in_it_names_what_stands_elsewhere(wheel: ZipFile) -> None:
    """Not in an import, nor in a text by which a module may be found."""
    for name in wheel.namelist():
        if PurePath(name).suffix == ".py":
            nodes = list(ast.walk(ast.parse(wheel.read(name))))
            named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
            named += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
            named += [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
            assert [one for one in named if re.match(r"(components|app)(\.\w|$)", one)] == [], name


def test_it_asks_for_what_the_lists_ask_for(wheel: ZipFile) -> None:
    (file,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    said = message_from_bytes(wheel.read(file))
    assert (said["Version"], said["Requires-Python"]) == (VERSION, "<3.14,>=3.11")
    name = re.compile(r"^[\w\[\],-]+", re.MULTILINE)
    asked = name.findall((ROOT / "requirements.txt").read_text("utf-8") + "ray[data,serve]")
    assert sorted(asked) == sorted(name.findall("\n".join(said.get_all("Requires-Dist", []))))


def test_it_runs_beside_packages_that_are_called_as_its_parts_are(wheel: ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "installed")
    for name in ("components", "app", "assets"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('somebody else')", "utf-8")
    code = f"import sys; sys.path[:0] = {[str(tmp_path), str(tmp_path / 'installed')]!r}; {TOLD}"
    ran = python("-I", "-c", code, cwd=tmp_path)
    named = [f"{name}{inspect.signature(kind.endpoint(dict))}" for name, kind in sorted(analyses().items())]
    assert (ran.stdout.splitlines(), ran.stderr) == ([*named, VERSION], "")


def test_endpoints_of_several_backbones_are_functions_which_take_a_folder_too() -> None:
    keys, poolings, text = ["bert-sentiment", "assets/models/gpt2-sentiment"], ["native", "max"], "not good"
    rows = poolscope.compare(keys, poolings, text, head="own")
    ones = [poolscope.analyze(key, text, pooling=pooling) for key in keys for pooling in poolings]
    assert [row["logits"] for row in rows] == [one["logits"] for one in ones]
    table = "text,label\n" + "".join(
        f"a {word} {end},{word}\n" for word in ("good", "bad") for end in "abcdefghijkl"
    )
    fit = poolscope.fit(table, "text", "label", backbones=keys[1:], poolings=poolings)
    assert {(row["backbone"], row["pooling"]) for row in fit["rows"]} == {
        ("gpt2-sentiment", one) for one in poolings
    }
    with pytest.raises(poolscope.PoolscopeError, match="a list of keys"):
        poolscope.compare(keys[0], poolings, text)
