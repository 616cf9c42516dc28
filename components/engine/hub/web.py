"""Asking the hub: every request has its time and its size, every failure is a sentence for the visitor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx2
from huggingface_hub import get_session, hf_raise_for_status
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from components.engine.internals.hub_internals import token
from components.errors import PoolscopeError

PATIENCE = 10.0  # seconds without a byte
OFFLINE = "errors.hub_offline"
SLOW = "errors.hub_slow"
UNKNOWN = "errors.hub_unknown"
REFUSALS: tuple[tuple[type[Exception], str], ...] = (  # the first that fits
    (GatedRepoError, "errors.hub_gated"),
    (RevisionNotFoundError, "errors.hub_revision"),
    (RemoteEntryNotFoundError, "errors.hub_file"),
    (DisabledRepoError, "errors.hub_disabled"),
    (RepositoryNotFoundError, UNKNOWN),
    (OfflineModeIsEnabled, OFFLINE),
    (httpx2.TimeoutException, SLOW),
    (httpx2.TransportError, OFFLINE),
)
UNREADABLE = "errors.hub_unreadable"
STATUSES = {
    401: UNKNOWN,
    403: "errors.hub_forbidden",
    404: UNKNOWN,
    429: "errors.hub_often",
}


class HubUnreachableError(PoolscopeError):
    """The hub gives no answer now: which says nothing of the model."""


@contextmanager
def opened(url: str, patience: float, start: int = 0) -> Iterator[httpx2.Response]:
    """The answer to a GET, its body still to be read, from byte ``start`` on if the hub can.

    ``patience``: seconds without any news. Raises what httpx and huggingface_hub raise; `refusal` says it.
    """
    headers = {"User-Agent": "poolscope", "Accept-Encoding": "identity"}
    if secret := token():
        headers["Authorization"] = f"Bearer {secret}"
    if start:
        headers["Range"] = f"bytes={start}-"
    with get_session().stream("GET", url, headers=headers, timeout=patience) as response:
        hf_raise_for_status(response)
        yield response


def small(url: str, model: str, most: int, until: float) -> bytes:
    """A whole answer of at most ``most`` bytes, by ``until`` of the monotonic clock; or PoolscopeError."""
    body = bytearray()
    try:
        with opened(url, max(0.001, min(PATIENCE, until - time.monotonic()))) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > most:
                    raise PoolscopeError("backbone", model, "errors.hub_long", most=most)
                if time.monotonic() > until:
                    raise HubUnreachableError("backbone", model, SLOW)
    except (httpx2.HTTPError, OfflineModeIsEnabled) as error:
        raise refusal(model, error) from error
    return bytes(body)


def refusal(model: str, error: Exception) -> PoolscopeError:
    """What a failed request means to a visitor who asked for ``model``."""
    key = next((key for kind, key in REFUSALS if isinstance(error, kind)), UNREADABLE)
    if key == UNREADABLE and isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        passing = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        kind = HubUnreachableError if passing else PoolscopeError
        if status in STATUSES:
            return kind("backbone", model, STATUSES[status])
        return kind("backbone", model, "errors.hub_trouble", status=status)
    return (HubUnreachableError if key in (OFFLINE, SLOW) else PoolscopeError)("backbone", model, key)
