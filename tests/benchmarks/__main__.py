"""`make bench`: speed as ratios within one run, and sizes. Nothing here passes or fails."""

import os

from joblib import cpu_count

from tests.benchmarks import engine, page, room

if __name__ == "__main__":
    os.environ.setdefault("POOLSCOPE_WORKERS", str(cpu_count()))
    engine.report()
    page.report()
    room.report()
