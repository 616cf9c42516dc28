"""Fingerprint: which replicas are those of this code and these settings. Light to import."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from components.inference.replicas.messages import Plan

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = ("*.py", "engine/**/*.py", "replicas/**/*.py")  # of components/: what runs in a replica


def fingerprint(plan: Plan) -> str:
    """What stands for the code of replicas and for what is planned for them, wherever they are."""
    found = hashlib.sha256(repr(replace(plan, address="", first=None)).encode())
    for file in sorted(file for pattern in CODE for file in (ROOT / "components").glob(pattern)):
        found.update(file.read_bytes())
    return found.hexdigest()[:12]
