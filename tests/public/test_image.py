"""The image: what the Dockerfile says holds, as far as that can be tried without Docker."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from tests.serving import ROOT, START, eventually, free_port, served

LINES = [
    line
    for line in re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
    if line and not line.startswith("#")
]
INSTRUCTIONS = [(name, rest) for name, _, rest in (line.partition(" ") for line in LINES)]


def said(name: str) -> list[str]:
    """What the Dockerfile says after an instruction, each time it gives one."""
    return [rest for given, rest in INSTRUCTIONS if given == name]


ENVIRONMENT = dict(pair.split("=", 1) for rest in said("ENV") for pair in shlex.split(rest))
PORT = "GRADIO_SERVER_PORT"
(COMMAND,) = (json.loads(rest) for rest in said("CMD"))  # a list: no shell stands between it and SIGTERM
(HEALTH,) = (json.loads(rest.partition("CMD ")[2]) for rest in said("HEALTHCHECK"))
COPIES = [(source, target) for *sources, target in map(str.split, said("COPY")) for source in sources]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with exactly what the image has in its own."""
    folder = tmp_path_factory.mktemp("image")
    for source, target in COPIES:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / source, folder / target / source)
    return folder


def below(folder: Path) -> dict[str, int]:
    """Every file in a folder, and its size in bytes."""
    return {
        str(file.relative_to(folder)): file.stat().st_size for file in folder.rglob("*") if file.is_file()
    }


def test_docker_gets_what_is_copied_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    given, *kept, left_out = [line for line in lines if not line.startswith("#")]
    assert (given, left_out) == ("*", "**/__pycache__")
    assert sorted(kept) == sorted(f"!{source}" for source, _ in COPIES)


def test_its_user_is_not_root_and_it_listens_to_others() -> None:
    (user,) = said("USER")
    (made,) = (rest for rest in said("RUN") if "useradd" in rest)
    assert made.split()[-1] == user != "root"
    names = [name for name, _ in INSTRUCTIONS]
    assert names.index("USER") > max(number for number, name in enumerate(names) if name == "COPY")
    assert said("EXPOSE") == [ENVIRONMENT[PORT]]
    assert ENVIRONMENT["GRADIO_SERVER_NAME"] == "0.0.0.0"  # the container's own address, not its loopback
    assert said("VOLUME") == [ENVIRONMENT["HF_HOME"]]
    assert f"mkdir -p {ENVIRONMENT['HF_HOME']}" in said("RUN")  # by the user, whose the volume then is


def test_the_app_runs_on_what_is_copied_alone(root: Path, tmp_path: Path) -> None:
    (log := tmp_path / "app.log").touch()
    environment = ENVIRONMENT | {"HF_HOME": str(tmp_path / "cache")}
    del environment[PORT]
    before = below(root)
    with served(*COMMAND[1:], log=log, root=root, **environment) as url, httpx.Client(base_url=url) as client:
        eventually(lambda: client.get("/health").status_code == HTTPStatus.OK, "it is not healthy")
        question = {"backbone": "bert-sentiment", "text": "good"}
        answer = client.post("/analyze", json=question, timeout=START)
        healthy = checked(url.rpartition(":")[2])
    assert answer.json()["labels"], answer.text
    assert "Traceback" not in log.read_text(errors="replace")
    assert below(root) == before  # all of it is root's there: nothing may be written
    assert healthy == 0
    assert checked(str(free_port())) == 1


def checked(port: str) -> int:
    """The exit status of the health check's command."""
    assert (COMMAND[0], HEALTH[0]) == ("python", "python")
    environment = {**os.environ, PORT: port}
    command = [sys.executable, *HEALTH[1:]]
    return subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=False).returncode
