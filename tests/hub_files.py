"""What a hub is asked for, what goes wrong, and what it says of files in the words of its routes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGE = re.compile(r"\.(safetensors|bin)$")  # kept elsewhere, under its sha256


@dataclass(frozen=True)
class Request:
    """One request: ``start`` is the first byte that it wanted, 0 without a range."""

    method: str
    path: str
    start: int
    token: str


@dataclass
class Fault:
    """What happens to the next ``times`` requests whose path holds ``match``.

    ``status`` other than 200 answers with it alone. ``change`` makes another body of the right one.
    ``after`` is how many bytes come before the connection is cut or, with ``stall``, before nothing comes.
    ``length``: the stated length is that of the right body, whatever is sent. ``held``: seconds
    before the answer begins.
    """

    match: str
    times: int
    status: int = 200
    code: str = ""
    after: int | None = None
    stall: bool = False
    change: Callable[[bytes], bytes] = bytes
    held: float = 0.0


def files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def sibling(name: str, content: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": git_hash(content)}
    if LARGE.search(name):
        entry["lfs"] = {"sha256": digest(content), "size": len(content), "pointerSize": 134}
    return entry


def leaf(name: str, content: bytes) -> dict[str, Any]:
    """What the listing says of a file, in the words of the tree route."""
    said = sibling(name, content)
    leaf = {"type": "file", "path": name, "size": said["size"], "oid": said["blobId"]}
    return leaf | ({"lfs": said["lfs"] | {"oid": said["lfs"]["sha256"]}} if "lfs" in said else {})


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_hash(content: bytes) -> str:
    """The name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
