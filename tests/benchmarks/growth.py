"""How much more memory the app has after ten thousand answers than after a thousand: page and workers."""

from __future__ import annotations

import os
from pathlib import Path

from tests.benchmarks.visitors import answered, plainly
from tests.serving import RATE, served

QUIET = Path(os.devnull)
FIRST, LAST, CLIENTS = 1_000, 10_000, 10


def report() -> None:
    """Print resident memory after so many answers; none of the texts is asked twice, and answers are kept."""
    print(f"\nResident memory of page and workers, after {FIRST} and {LAST} answers")
    with served("app.py", log=QUIET, POOLSCOPE_ADDRESS_RATE=RATE) as app:
        lost = answered(app, plainly, CLIENTS, FIRST, "at first")
        before = _resident()
        lost += answered(app, plainly, CLIENTS, LAST - FIRST, "later")
        after = _resident()
    print(
        f"{before:.0f} MB and {after:.0f} MB: {after - before:+.0f} MB (bar 50 MB); {lost} not answered",
        flush=True,
    )


def _resident() -> float:
    """MB of all processes that this one has begun, and those that they have."""
    pages = [int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in begun()]
    return os.sysconf("SC_PAGE_SIZE") * sum(pages) / 1e6


def begun() -> list[int]:
    """The processes that this one has begun, and those that they have."""
    found, unseen = list[int](), _children(os.getpid())
    while unseen:
        found.append(unseen.pop())
        unseen += _children(found[-1])
    return found


def _children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text().split()]


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    report()
