"""Stamps: which parts were tested in full as they are, by a digest of their files.

python -m tests.stamps changed         # the parts whose files have changed since, a line each
python -m tests.stamps write recipe    # notes that a part has passed: `make recipe` calls it
"""

import hashlib
import subprocess
import sys
import tomllib
from collections.abc import Sequence

from tests.serving import ROOT

FILE = ROOT / "tests" / "stamps.toml"
PARTS = {  # the target of make that tests it -> its files
    "recipe": ("recipe", "tests/recipe", "assets/models", "assets/probes", "assets/results*"),
    "siege-tests": ("tests/siege",),
    "cluster": ("components/inference", "components/lab", "tests/cluster", "requirements-ray.txt"),
    "families": ("components/model", "components/analyses", "tests/families", "requirements.txt"),
}


def digest(paths: Sequence[str]) -> str:
    """The digest of the names and contents of all files that git knows under ``paths``."""
    listed = subprocess.run(["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, check=True)
    found = hashlib.sha256()
    for name in sorted(filter(None, listed.stdout.split(b"\0"))):
        found.update(name + b"\0" + hashlib.sha256((ROOT / name.decode()).read_bytes()).digest())
    return found.hexdigest()


def changed() -> list[str]:
    """The parts whose files are not those that passed."""
    stamps = tomllib.loads(FILE.read_text("utf-8"))
    return [part for part, paths in PARTS.items() if stamps.get(part) != digest(paths)]


def write(part: str) -> None:
    """Note that a part has passed as it is."""
    stamps = {**tomllib.loads(FILE.read_text("utf-8")), part: digest(PARTS[part])}
    lines = [f'{name} = "{stamp}"\n' for name, stamp in sorted(stamps.items())]
    comment, _, _ = FILE.read_text("utf-8").partition("\n")
    FILE.write_text("".join([f"{comment}\n", *lines]), "utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["changed"]:
            print(*changed(), sep="\n")
        case ["write", part] if part in PARTS:
            write(part)
        case _:
            sys.exit(__doc__)
