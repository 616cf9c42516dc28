"""Asking the hub: every request has its time and its size, every failure is a sentence for the visitor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx2
from huggingface_hub import constants, get_session, get_token, hf_raise_for_status
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from components.errors import PoolscopeError

PATIENCE = 10.0  # seconds without a byte
OFFLINE = "the hub cannot be reached from here, but every backbone on this machine works: choose one of these"
SLOW = "the hub does not answer in time: try again in a few minutes, or choose one on this machine"
UNKNOWN = "the hub has no public model of that name: check its spelling"
REFUSALS: tuple[tuple[type[Exception], str], ...] = (  # the first that fits
    (GatedRepoError, "its authors ask for consent first (it is gated): choose one that is open to all"),
    (RevisionNotFoundError, "the hub does not have its pinned revision any more: choose another one"),
    (RemoteEntryNotFoundError, "a file that it needs is not on the hub any more: choose another one"),
    (DisabledRepoError, "the hub has disabled it: choose another one"),
    (RepositoryNotFoundError, UNKNOWN),
    (OfflineModeIsEnabled, OFFLINE),
    (httpx2.TimeoutException, SLOW),
    (httpx2.TransportError, OFFLINE),
)
UNREADABLE = "the hub gives an answer that cannot be read: try again in a few minutes"
STATUSES = {
    401: UNKNOWN,
    403: "the hub does not hand it out to this server: choose one that is open to all",
    404: UNKNOWN,
    429: "the hub gets too many requests from here: try again in a few minutes",
}


class HubUnreachableError(PoolscopeError):
    """The hub gives no answer now: which says nothing of the model."""


@contextmanager
def opened(url: str, patience: float, start: int = 0) -> Iterator[httpx2.Response]:
    """The answer to a GET, its body still to be read, from byte ``start`` on if the hub can.

    ``patience``: seconds without any news. Raises what httpx and huggingface_hub raise; `refusal` says it.
    """
    headers = {"User-Agent": "poolscope", "Accept-Encoding": "identity"}
    token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
    if token:
        headers["Authorization"] = f"Bearer {token}"
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
                    reason = f"what it says of itself takes over {most:,} bytes: choose another one"
                    raise PoolscopeError("backbone", model, reason)
                if time.monotonic() > until:
                    raise HubUnreachableError("backbone", model, SLOW)
    except (httpx2.HTTPError, OfflineModeIsEnabled) as error:
        raise refusal(model, error) from error
    return bytes(body)


def refusal(model: str, error: Exception) -> PoolscopeError:
    """What a failed request means to a visitor who asked for ``model``."""
    reason = next((text for kind, text in REFUSALS if isinstance(error, kind)), UNREADABLE)
    if reason is UNREADABLE and isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        reason = STATUSES.get(
            status, f"the hub has a problem of its own ({status}): try again in a few minutes"
        )
        passing = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    else:
        passing = reason in (OFFLINE, SLOW)
    return (HubUnreachableError if passing else PoolscopeError)("backbone", model, reason)
