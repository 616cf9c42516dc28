"""Joins a cluster of Ray's for as long as a command needs it. Ray is optional, imported when asked for."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from components.errors import PoolscopeError

PATIENCE = 5.0  # seconds until somebody answers at an address: Ray itself tries for minutes, and says nothing


@contextmanager
def joined(address: str) -> Iterator[ModuleType]:
    """Ray, in the cluster at ``address``; ``auto`` is that of this machine, ``local`` one that ends with it.

    PoolscopeError where Ray is not installed, or no cluster is there.
    """
    show_token(address)
    try:
        import ray
    except ImportError as error:
        raise PoolscopeError("ray", address, "errors.ray_missing") from error
    logging.getLogger("ray").setLevel(logging.ERROR)  # a command's own lines are on the screen
    try:
        _reach(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:  # a ConnectionError is an OSError
        raise PoolscopeError("ray", address, "errors.ray_cluster") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """OSError where nobody listens at ``address``; a name is no place to listen at."""
    host, colon, port = address.rpartition(":")
    if colon:
        socket.create_connection((host.rpartition("/")[2], int(port)), PATIENCE).close()


def show_token(address: str) -> None:
    """Have Ray show the token that lies on this machine at an ``address`` with a port; before it is loaded.

    A cluster that `ray start` began asks for it, if it lay there by then. Ray itself does so elsewhere.
    """
    kept = Path(os.environ.get("RAY_AUTH_TOKEN_PATH", Path.home() / ".ray" / "auth_token"))
    if ":" in address and (os.environ.get("RAY_AUTH_TOKEN") or kept.is_file()):
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # what the owner has set stays
