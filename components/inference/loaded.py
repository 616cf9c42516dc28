"""All that a worker needs, loaded: on Linux once, in the process that all workers are copies of."""

import os

THREADS = "OMP_NUM_THREADS"  # of torch, in each worker: one, unless the owner says otherwise

os.environ.setdefault(THREADS, "1")  # before torch is loaded; so it has no threads, which no copy would have

from components.inference.measurer import Measurer  # noqa: E402

__all__ = ["Measurer"]
