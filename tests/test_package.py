"""The wheel: one package with all that runs, which neither needs a clone nor takes a name beside its own."""

import ast
import re
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path, PurePath
from zipfile import ZipFile

import pytest

from components import VERSION
from tests.serving import ROOT

LARGE = 100_000  # bytes: in the place of a larger file that is no text stands an empty one
BUILD = """
from setuptools import build_meta
build_meta.build_wheel("..")
try:
    build_meta.build_editable("..")
except SystemExit as refusal:
    print(refusal)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """That of a copy of what git has."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in names():
        place = folder / "clone" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        whole = (ROOT / name).read_bytes()
        place.write_bytes(b"" if len(whole) > LARGE and b"\0" in whole else whole)
    command = sys.executable, "-c", BUILD
    built = subprocess.run(command, cwd=folder / "clone", capture_output=True, text=True, check=True)
    assert "python -m poolscope" in built.stdout  # what it says of an editable one
    (file,) = folder.glob("*.whl")
    return ZipFile(file)


def names() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0")[:-1] if not name.startswith(("tests/", "docs/"))]


def test_it_holds_all_that_runs_in_one_package(wheel: ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    ours = {name for name in names() if name.startswith(("components/", "assets/", "app.py"))}
    pictures = {name for name in ours if name.startswith("assets/screenshot")}
    own = {name for name in names() if name.startswith("poolscope/")}
    assert held == own | {f"poolscope/{name}" for name in ours - pictures}


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
    assert (said["Name"], said["Version"]) == ("poolscope", VERSION)
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    asked = [re.split(r"[=<>;]", line)[0] for line in lines]
    required = [re.split(r"[=<>;]", line)[0] for line in said.get_all("Requires-Dist", [])]
    assert sorted(required) == sorted([*asked, "ray[data,serve]"])
    assert said["Requires-Python"] == "<3.14,>=3.11"


def test_it_runs_beside_packages_that_are_called_as_its_parts_are(wheel: ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "installed")
    for name in ("components", "app", "assets"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('somebody else')", "utf-8")
    code = f"import sys; sys.path[:0] = {[str(tmp_path), str(tmp_path / 'installed')]!r}; " + (
        "from poolscope.__main__ import main; main(['--version'])"
    )
    command = sys.executable, "-I", "-c", code
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == (f"{VERSION}\n", "")
