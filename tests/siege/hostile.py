"""Strangers' checkpoints: 300 hostile ones are asked for, and between them the bundled one."""

import time
from collections import Counter
from itertools import islice
from pathlib import Path

import httpx

from components.texts import load_texts
from tests.public.asking import ask, client_of
from tests.resident import resident
from tests.serving import served
from tests.siege.checkpoints import BUNDLED, besieged, every

COUNT = 300
MB = 1_000_000
BACK = 100 * MB  # within which resident memory comes back
CALM = 30.0  # seconds in which it does
SECONDS = "30"  # for one answer
TEXT = "the film is not good at all !"


def outcome(client: httpx.Client, key: str) -> str:
    """ "answered", "refused" or what is wrong with what came."""
    try:
        came = ask(client, backbone=key, text=TEXT)
    except (httpx.HTTPError, ValueError) as error:
        return f"no answer: {type(error).__name__}"
    told = str(came.get("error", ""))
    if not told:
        sound = len(came["labels"]) == len(came["logits"]) == len(came["probabilities"]) > 0
        return "answered" if sound else "an answer that is none"
    return "refused" if load_texts()("verdict.bug") not in told and len(told) > 40 else f"no reason: {told}"


def main(folder: Path, count: int = COUNT) -> bool:
    """Ask for each of them, and between them for the bundled one; say what came of it."""
    log = folder / "siege.log"
    asked = list(islice(every(), count))
    settings = {
        "POOLSCOPE_CATALOGUE": str(besieged(folder, asked)),
        "POOLSCOPE_SECONDS": SECONDS,
        "POOLSCOPE_WORKERS": "1",
        "POOLSCOPE_MEMORY": "200MB",  # weights that are kept for the next visitor count as resident, too
        "LOG": str(log),
    }
    with served("app.py", log=log, **settings) as url, client_of(url) as client:
        for key in (BUNDLED, "good-bert", "good-gpt2", "good-bart"):
            assert outcome(client, key) == "answered", key
        before, came, slowest = resident(log), Counter[str](), 0.0

        def grown() -> dict[str, int]:
            return {name: value - before[name] for name, value in resident(log).items()}

        for hostile in asked:
            begun = time.monotonic()
            told = outcome(client, hostile.key)
            slowest = max(slowest, time.monotonic() - begun)
            came[told.partition(":")[0]] += 1
            if told not in ("answered", "refused"):
                print(f"{hostile.key}: {told}", flush=True)
            if outcome(client, BUNDLED) != "answered":
                came["the bundled one fails"] += 1
        alive = all(outcome(client, key) == "answered" for key in (BUNDLED, "good-bert"))
        deadline = time.monotonic() + CALM
        while max((more := grown()).values()) >= BACK and time.monotonic() < deadline:
            time.sleep(1)  # a worker that was stopped may not have ended yet
    print(f"{dict(came)}; slowest {slowest:.1f} s; server alive: {alive}")
    sizes = [f"{name}: {before[name] / MB:,.0f} MB before, {more[name] / MB:+,.0f} MB" for name in more]
    print("; ".join(sizes))
    fine = came["answered"] + came["refused"] == count and len(came) <= 2
    return alive and fine and max(more.values()) < BACK
