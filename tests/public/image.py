"""The image: what the Dockerfile says of it."""

import json
import re
import shlex
import shutil
from pathlib import Path

from tests.serving import ROOT

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


def copied(folder: Path) -> Path:
    """Put into a folder exactly what the image has in its own."""
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
