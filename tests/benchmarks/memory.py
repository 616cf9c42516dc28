"""What stays in memory after loading checkpoints of 50 MB in turn under a budget of 200 MB."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

BUDGET, POSITIONS = 200_000_000, 350_000  # positions of 32 numbers and two ids: 50 MB
QUESTION = "the film is not good at all"


def measured(rounds: int) -> dict[str, float]:
    """``each``, and ``most`` and ``end`` over the start, in MB, in a process of their own."""
    command = [sys.executable, "-m", __name__, str(rounds)]
    out = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    figures: dict[str, float] = json.loads(out.splitlines()[-1])
    return figures


def _measure(folder: Path, rounds: int) -> dict[str, float]:
    from components.analyses.measuring.analyze import analyse
    from components.model.examine import examine
    from components.model.loading import Checkpoints, size
    from components.types import Query
    from tests.tiny import checkpoint

    small = checkpoint(folder / "small")
    large = checkpoint(folder / "large", max_position_embeddings=POSITIONS)
    checkpoints = Checkpoints(BUDGET)
    query = Query("x", QUESTION)
    analyse(examine(checkpoints.get(small), query))  # what loads once and for all
    resident = [_resident()]
    for number in range(rounds):
        backbone = checkpoints.get(replace(large, key=str(number)))
        analyse(examine(backbone, query))
        resident.append(_resident())
    start = resident[0]
    return {
        "each": size(backbone.model) / 1e6,
        "most": (max(resident) - start) / 1e6,
        "end": (resident[-1] - start) / 1e6,
    }


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    with TemporaryDirectory() as folder:
        print(json.dumps(_measure(Path(folder), int(sys.argv[1]))))
