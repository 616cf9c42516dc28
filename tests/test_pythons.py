"""Which Pythons it runs on: everything that names one agrees with the README."""

import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml

from tests.serving import ROOT

SAID = re.compile(r"Python 3\.(\d+) to 3\.(\d+)")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


(STATED,) = {
    tuple(map(int, found)) for name in ("README.md", "docs/hosting.md") for found in SAID.findall(read(name))
}
MINORS = range(STATED[0], STATED[1] + 1)


def accepted(version: tuple[int, ...]) -> bool:
    """Whether what the Makefile runs first lets a Python of this version pass."""
    (line,) = (line for line in read("Makefile").splitlines() if "version_info" in line)
    check = shlex.split(line.replace("$(PYTHON)", "python"))[2]
    code = f"import sys; sys.version_info = {version}; exec({check!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    assert done.returncode == 0 or f"needs Python 3.{MINORS[0]} to 3.{MINORS[-1]}" in done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("minor", [MINORS[0] - 1, MINORS[0], MINORS[-1], MINORS[-1] + 1])
def test_the_makefile_takes_those_that_the_readme_states(minor: int) -> None:
    assert accepted((3, minor, 1)) == (minor in MINORS)


def test_the_space_the_image_and_these_tests_run_on_one_of_them() -> None:
    space = yaml.safe_load(read("README.md").split("---")[1])["python_version"]
    (image,) = re.findall(r"^FROM python:([\d.]+)-slim$", read("Dockerfile"), re.MULTILINE)
    assert {space, image} <= {f"3.{minor}" for minor in MINORS}
    assert sys.version_info[:2] in {(3, minor) for minor in MINORS}


def test_code_is_checked_for_the_oldest_of_them() -> None:
    tools = tomllib.loads(read("pyproject.toml"))["tool"]
    assert tools["ruff"]["target-version"] == f"py3{MINORS[0]}"
    assert tools["mypy"]["python_version"] == f"3.{MINORS[0]}"
