"""A forward pass that gives the same every time and leaves the model as it was.

Some models draw random numbers outside of training too, and some change for good with what they read: after a
short text one exchanges its attention modules. Neither may depend on what was asked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from components.model.torch_internals import Table, seeded, tables


@contextmanager
def repeatable(model: nn.Module) -> Iterator[None]:
    """Within, random numbers start from one seed; afterwards they and the model's parts are as before."""
    before = [(table, table.copy()) for table in _tables(model)]
    try:
        with seeded():  # models run on the CPU alone
            yield
    finally:
        for table, entries in before:
            table.update(entries)  # what is new stays: transformers remembers there which hooks it has set


def _tables(model: nn.Module) -> Iterator[Table]:
    """Everything that a forward pass may assign to, configs included."""
    configs: dict[int, Table] = {}
    yield from tables(model)
    for module in model.modules():
        config = module.__dict__.get("config")
        if config is not None:
            configs[id(config)] = vars(config)
    yield from configs.values()
