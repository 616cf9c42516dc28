"""A flood from one address, in sessions made up anew; and what a visitor at another waits."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from components.settings import Settings
from tests.benchmarks.visitors import Waits, as_somebody_new, by_queue, rate, thoughtful
from tests.serving import RATE, served

QUIET = Path(os.devnull)
FLOOD, VISITOR = "127.0.0.2", "127.0.0.3"  # addresses of this machine
CLIENTS = 40  # of the flood, each of which asks anew as soon as it is answered or refused
EVERY, SECONDS = 1.0, 20.0  # the visitor asks once a second, for so long


def report() -> None:
    """Print what the visitor waits alone and beside the flood; with a public demo's limits, and without."""
    print(f"\nA visitor who asks once a second, beside {CLIENTS} clients at another address without a pause")
    public = Settings()
    for name, mine, all_there in (
        ("limits as in public", str(public.rate), str(public.address_rate)),
        ("no limits, fair turns alone", RATE, RATE),
    ):
        limits = {"POOLSCOPE_RATE": mine, "POOLSCOPE_ADDRESS_RATE": all_there}
        with served("app.py", log=QUIET, **limits) as app:
            rate(app, by_queue, 5, SECONDS / 2, f"warm, {name}")
            alone = _visit(app, f"alone, {name}")
            beside, flood, answered = _visit_in_a_flood(app, name)
        print(
            f"{name}: flood {answered:.1f} a second, {flood.refused} refused, {flood.failed} failed; "
            f"visitor alone {_said(alone)}, beside it {_said(beside)}",
            flush=True,
        )


def _visit(app: str, said: str) -> Waits:
    return thoughtful(app, by_queue, 1, EVERY, SECONDS, said, VISITOR)


def _visit_in_a_flood(app: str, name: str) -> tuple[Waits, Waits, float]:
    """What the visitor gets, what the flood gets, and how many answers a second that is."""
    found: list[tuple[float, Waits]] = []
    strangers = as_somebody_new(app)

    def flow() -> None:
        found.append(rate(app, strangers, CLIENTS, SECONDS + 2, f"flood, {name}", FLOOD))

    flood = threading.Thread(target=flow)
    flood.start()
    beside = _visit(app, f"beside, {name}")
    flood.join()
    ((answered, waits),) = found
    assert answered, (
        f"none of the flood's questions was answered, {waits.failed} failed: are they asked rightly?"
    )
    return beside, waits, answered


def _said(waits: Waits) -> str:
    """How many were answered, and how soon."""
    lost = f", {waits.refused} refused, {waits.failed} failed" if waits.refused or waits.failed else ""
    return f"{len(waits.seconds)} answered{lost}, p95 {waits.quantile(95):.2f} s"


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    report()
