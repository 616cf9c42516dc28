"""`make bench`: speed as ratios within one run, and sizes. Nothing here passes or fails."""

import os

from components.settings import cores
from tests.benchmarks import engine, page, room

if __name__ == "__main__":
    os.environ.setdefault("POOLSCOPE_WORKERS", str(cores()))
    engine.report()
    page.report()
    room.report()
