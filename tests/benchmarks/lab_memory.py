"""How the memory of the lab's command grows with rows: ``python -m tests.benchmarks.lab_memory [ROWS ...]``.

Most of what is the process's own: pages of files that are mapped are not, which the system drops as it needs.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

BACKBONE, POOLINGS = "bert-pretrained", ("cls", "mean")
EACH = "each process that fits"
SIZES = (2_000, 20_000)
WORDS = ("good", "bad", "film", "plot", "music", "dull", "fine", "cast", "story", "the", "was", "a", "not")


def table(rows: int, file: Path) -> None:
    """Texts of eight words, whose label one of them decides."""
    draw = np.random.default_rng(0)
    with file.open("w", encoding="utf-8", newline="") as opened:
        lines = csv.writer(opened)
        lines.writerow(("text", "label"))
        for row in range(rows):
            words = draw.choice(WORDS[2:], 7).tolist()
            lines.writerow((" ".join((WORDS[row % 2], *words, str(row))), row % 2))


def report(sizes: tuple[int, ...] = SIZES) -> None:
    """Print the most memory of each phase, for tables of so many rows, each in a process of its own."""
    print(f"\nThe lab's command: {BACKBONE}, {len(POOLINGS)} poolings, most memory of its own in MB")
    for rows in sizes:
        command = [sys.executable, "-m", "tests.benchmarks.lab_memory", "of", str(rows)]
        out = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        figures: dict[str, float] = json.loads(out.splitlines()[-1])
        print(
            f"{rows:>9,} rows   " + "   ".join(f"{name} {figures[name]:7.1f}" for name in figures), flush=True
        )


@dataclass(eq=False)
class Watch:
    """The most memory, in MB, while ``phase`` lasted, looked at every few milliseconds."""

    phase: str = "start"
    most: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look in a thread."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(0.005):
                phase = self.phase
                self.most[phase] = max(self.most.get(phase, 0.0), own())
                if phase == "fit":
                    self.most[EACH] = max(self.most.get(EACH, 0.0), largest_child())

        looking = threading.Thread(target=look)
        looking.start()
        try:
            yield
        finally:
            over.set()
            looking.join()


def own() -> float:
    """MB of this process."""
    return of(os.getpid())


def largest_child() -> float:
    """MB of the largest of the processes that fit for this one; 0 where there is none."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return max((of(int(child)) for child in children), default=0.0)


def of(process: int) -> float:
    """MB of a process that are resident and of no file; 0 where it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("RssAnon")), "RssAnon: 0")
    return int(line.split()[1]) / 1e3


def _measure(rows: int, folder: Path) -> dict[str, float]:
    from components.fitting import Plan, Stage
    from components.inference.engine import Here, resolved
    from components.lab.cores import OnCores
    from components.lab.kept import Kept
    from components.lab.lab import fit_table, to_rows
    from components.lab.reading import read_file
    from components.settings import Settings
    from components.tables import guess, to_table

    watch = Watch()
    with watch.watching():
        table(rows, folder / "table.csv")
        run, spec = OnCores(Here(Settings()).run), resolved(BACKBONE)
        watch.phase = "read"
        sheet = read_file(folder / "table.csv")
        found, _notes = to_table(sheet, guess(sheet))
        plan = Plan((BACKBONE,), POOLINGS)
        kept = Kept(folder / "work", to_rows(found, plan, Settings(lab_rows=rows)), run)
        del sheet
        watch.phase = "embed"
        for step in fit_table(kept, [spec], kept.asked, 5.0, kept.allocate):
            if isinstance(step, Stage):
                watch.phase = "fit" if step.done == step.total or step.name != "embed" else "embed"
    return watch.most


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before huggingface_hub is imported
    if sys.argv[1:2] == ["of"]:
        with TemporaryDirectory() as place:
            print(json.dumps(_measure(int(sys.argv[2]), Path(place))))
    else:
        report(tuple(map(int, sys.argv[1:])) or SIZES)
