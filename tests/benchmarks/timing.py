"""Two ways timed in turns: machines are noisy, and a ratio of neighbours is less so."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Median seconds of both ways, and the median over rounds of their ratio with its quartiles."""

    ours: float
    base: float
    ratio: float
    low: float
    high: float


def compare(ours: Callable[[], object], base: Callable[[], object], rounds: int) -> Comparison:
    """Time ``ours`` against ``base``, one after the other in each round, after two rounds of warming up."""
    return summary([(seconds(ours), seconds(base)) for _ in range(rounds + 2)][2:])


def summary(pairs: list[tuple[float, float]]) -> Comparison:
    """Medians of pairs of seconds (ours, base)."""
    ratios = [one / other for one, other in pairs]
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
    ours, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Comparison(ours, base, statistics.median(ratios), low, high)


def row(name: str, result: Comparison, bar: str = "") -> str:
    """One line of the report."""
    times = f"{1000 * result.ours:9.1f} ms {1000 * result.base:9.1f} ms"
    return f"{name:<44}{times}   x {result.ratio:.3f} ({result.low:.3f} to {result.high:.3f})  {bar}"


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a call takes by a ``clock``."""
    start = clock()
    call()
    return clock() - start
