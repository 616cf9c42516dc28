"""Has a cluster of Ray's do the steps that take long: Ray Data embeds the texts, tasks fit the folds."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from components.analyses.fit import Call, Steps
from components.errors import PoolscopeError
from components.inference.engine import InProcess
from components.inference.jobs import in_turns
from components.inference.payload import pack, unpack
from components.settings import Settings

PATIENCE = 5.0  # seconds until somebody answers at an address
RETRIES = 3  # how often a fit is begun anew whose process died; Ray Data does so by itself
BLOCKS = 4096  # at most, of batches: Ray Data keeps a record of each


@contextmanager
def on_cluster(address: str, local: Steps) -> Iterator[Steps]:
    """The steps of fits in the cluster at ``address``, until the end; "local" begins one of its own.

    ``local``: does those that are short. PoolscopeError where Ray is not installed, or no cluster is there.
    """

    def steps(call: Call) -> Iterator[Any]:
        return {"embed": embedded, "fold": folds}.get(call.name, local)(call)

    try:
        import ray
    except ImportError as error:
        raise PoolscopeError("ray", address, "errors.ray_missing") from error
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)  # the command's own lines are on the screen
    try:
        _reach(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:  # a ConnectionError is an OSError
        raise PoolscopeError("ray", address, "errors.ray_cluster") from error
    try:
        yield steps
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """OSError where nobody listens at ``address``: Ray would try for minutes, and say nothing."""
    host, colon, port = address.rpartition(":")
    if colon:
        socket.create_connection((host.rpartition("/")[2], int(port)), PATIENCE).close()


class Embedder:
    """One process of the cluster: it loads a checkpoint once and keeps it."""

    def __init__(self, call: Call) -> None:
        self._call, self._steps = call, in_turns(InProcess(Settings()).run)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The part of one batch or, where it is refused, the reason."""
        try:
            (part,) = self._steps(replace(self._call, each=[unpack(row["batch"])]))
        except PoolscopeError as error:
            part = error
        return {"part": pack(part)}


def embedded(call: Call) -> Iterator[Any]:
    """The vectors of all batches, in their order."""
    import ray.data

    packed = [{"batch": pack(tuple(one))} for one in call.each]
    if not packed:
        return
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    processors = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    found = ray.data.from_items(packed, override_num_blocks=min(len(packed), BLOCKS)).map(
        Embedder,
        fn_constructor_args=(replace(call, each=()),),
        compute=ray.data.ActorPoolStrategy(size=min(len(packed), processors)),
        num_cpus=1,
    )
    for row in found.iter_rows():
        part = unpack(row["part"])
        if isinstance(part, PoolscopeError):
            raise part
        yield part


def folds(call: Call) -> Iterator[Any]:
    """All folds, each fitted by a task; the vectors are sent once."""
    import ray

    from components.analyses.fit.classifier import fold  # scikit-learn

    task = ray.remote(num_cpus=1, max_retries=RETRIES)(fold)
    shared = [ray.put(one) for one in call.given]
    yield from ray.get([task.remote(*shared, *more) for more in call.each])
