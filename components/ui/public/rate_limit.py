"""Rate limits: how often one visitor may ask, and everybody behind one address together."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

MINUTE = 60.0  # seconds
MAX_CLIENTS = 10_000  # who are remembered: a flood of addresses must not fill the memory


@dataclass(frozen=True)
class Rates:
    """Questions in a minute: of one visitor, and of all visitors with one address.

    A page in a browser is a visitor; programs are one for each address. ``trusts_local``: addresses outside
    of the internet have no rate of their own, since they are the room in which the app is shown.
    """

    visitor: int
    address: int
    trusts_local: bool = False


class RateLimiter:
    """A token bucket for each client: ``per_minute`` may be spent at once, and as much in every minute after.

    At most ``max_clients`` are remembered; who was not seen for longest is forgotten first.
    """

    def __init__(self, per_minute: float, max_clients: int = MAX_CLIENTS) -> None:
        self._per_minute = per_minute
        self._max_clients = max_clients
        self._full_at: OrderedDict[str, float] = OrderedDict()  # client -> when its bucket is full again

    def retry_after(self, client: str, cost: float, now: float) -> int:
        """Spend ``cost`` at the time ``now``, in seconds: gives 0, or in how many seconds there is enough."""
        full_at = max(self._full_at.pop(client, now), now)
        after = full_at + cost * MINUTE / self._per_minute
        missing = math.ceil(after - now - MINUTE - 1e-6)  # a rounding error is no debt
        self._full_at[client] = full_at if missing > 0 else after
        if len(self._full_at) > self._max_clients:
            self._full_at.popitem(last=False)
        return max(missing, 0)


def client_address(scope: Scope) -> str:
    """Who sent a request: its peer or, where that is in a private network, the one whom its proxies name.

    Every proxy appends the address that it was called from to X-Forwarded-For, so the last public address in
    it is the one that nobody can make up. IPv6 addresses count by their network: one visitor has a whole one.
    """
    peer: str = (scope.get("client") or ("",))[0]
    forwarded = Headers(scope=scope).get("x-forwarded-for", "")
    for address in (peer, *reversed(forwarded.split(","))):
        network = _network(address.strip())
        if network is None:
            break
        if network.is_global:
            return str(network)
    return str(_network(peer) or peer)


def is_local(address: str) -> bool:
    """Whether a `client_address` is none of the internet."""
    try:
        return not ip_network(address).is_global
    except ValueError:  # a socket without an address
        return True


def _network(address: str) -> IPv4Network | IPv6Network | None:
    """The network that stands for an address: /32 or /64; None if it is no address."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return ip_network((known, 64 if known.version == 6 else 32), strict=False)
