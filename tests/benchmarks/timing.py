"""Two ways timed in turns: machines are noisy, and a ratio of neighbours is less so."""

import time
from collections.abc import Callable, Iterable

import numpy as np

Pair = tuple[float, float]  # seconds of ours, and of what it is measured against


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a call takes by a ``clock``."""
    start = clock()
    call()
    return clock() - start


def turns(ours: Callable[[], object], base: Callable[[], object], rounds: int) -> list[Pair]:
    """Time one after the other in each round, after two rounds of warming up."""
    return [(seconds(ours), seconds(base)) for _ in range(rounds + 2)][2:]


def tell(name: str, pairs: Iterable[Pair], bar: str = "") -> None:
    """Print medians of both and of their ratio, with its quartiles."""
    times = np.array(list(pairs))
    ours, base = np.median(times, axis=0)
    low, ratio, high = np.percentile(times[:, 0] / times[:, 1], [25, 50, 75])
    numbers = f"{1000 * ours:9.1f} ms {1000 * base:9.1f} ms   x {ratio:.3f} ({low:.3f} to {high:.3f})"
    print(f"{name:<44}{numbers}  {bar}", flush=True)
