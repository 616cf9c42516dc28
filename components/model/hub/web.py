"""Asking the hub: every request has its time and its size, every failure is a sentence for the visitor."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

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

from components.errors import PoolscopeError
from components.model.internals.hub_internals import endpoint, token

PATIENCE = 10.0  # seconds without a byte
BEGIN = 20.0  # seconds until an answer begins: its head may come byte by byte
REDIRECTS = 5
OFFLINE = "errors.hub_offline"
SLOW = "errors.hub_slow"
UNKNOWN = "errors.hub_unknown"


class SlowBeginningError(httpx2.TransportError):
    """The head of an answer did not come in time, though something came."""


class PrivateAddressError(httpx2.TransportError):
    """The hub sends elsewhere: to an address of this machine's own network."""


REFUSALS: tuple[tuple[type[Exception], str], ...] = (  # the first that fits
    (GatedRepoError, "errors.hub_gated"),
    (RevisionNotFoundError, "errors.hub_revision"),
    (RemoteEntryNotFoundError, "errors.hub_file"),
    (DisabledRepoError, "errors.hub_disabled"),
    (RepositoryNotFoundError, UNKNOWN),
    (OfflineModeIsEnabled, OFFLINE),
    (httpx2.TimeoutException, SLOW),
    (SlowBeginningError, SLOW),
    (PrivateAddressError, "errors.hub_private"),
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
def opened(
    url: str, patience: float, start: int = 0, begin: float | None = None
) -> Iterator[httpx2.Response]:
    """The answer to a GET, its body still to be read, from byte ``start`` on if the hub can.

    ``patience``: seconds without any news; ``begin``: until the answer begins. Raises what httpx and
    huggingface_hub raise, and the two errors above; `refusal` says it.
    """
    headers = {"User-Agent": "poolscope", "Accept-Encoding": "identity", "Connection": "close"}
    if secret := token():
        headers["Authorization"] = f"Bearer {secret}"
    if start:
        headers["Range"] = f"bytes={start}-"
    with left_after(BEGIN if begin is None else begin) as connected:
        request = get_session().build_request(
            "GET", url, headers=headers, timeout=patience, extensions={"trace": connected}
        )
        response = _followed(request)
    with closing(response):
        hf_raise_for_status(response)
        yield response


def _followed(request: httpx2.Request) -> httpx2.Response:
    """The answer to a request, or to where it is sent on; httpx takes the token away on the way elsewhere."""
    own = is_private(httpx2.URL(endpoint()).host)  # an owner's own hub may send to its own network
    for _ in range(REDIRECTS):
        response = get_session().send(request, stream=True, follow_redirects=False)
        if response.next_request is None:
            return response
        response.close()
        trace, request = request.extensions["trace"], response.next_request
        request.extensions["trace"] = trace
        if not own and is_private(request.url.host):
            raise PrivateAddressError("sent to a private address", request=request)
    raise httpx2.TooManyRedirects("sent on too often", request=request)


def is_private(host: str) -> bool:
    """Whether a host's name leads to any address that is not public."""
    try:
        found = {str(place[0]).partition("%")[0] for *_, place in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False  # nobody can be asked there, either
    return any(not ip_address(address).is_global for address in found)


@contextmanager
def left_after(seconds: float) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Within, connections are closed after so many ``seconds``; what it gives is told of them by httpx.

    A timeout of httpx begins anew with each byte.
    """
    connections: list[socket.socket] = []
    late = threading.Event()

    def connected(event: str, told: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            connections.append(told["return_value"].get_extra_info("socket"))
            if late.is_set():
                leave()

    def leave() -> None:
        late.set()
        for connection in connections:
            with suppress(OSError):  # which is closed by now
                connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()
    try:
        yield connected
    except httpx2.TransportError as error:
        if late.is_set():
            raise SlowBeginningError("no answer began in time") from error
        raise
    finally:
        timer.cancel()


def small(url: str, model: str, most: int, until: float) -> bytes:
    """A whole answer of at most ``most`` bytes, by ``until`` of the monotonic clock; or PoolscopeError."""
    body = bytearray()
    try:
        left = max(0.001, until - time.monotonic())
        with opened(url, min(PATIENCE, left), begin=min(BEGIN, left)) as response:
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
