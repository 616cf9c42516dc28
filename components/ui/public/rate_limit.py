"""Rate limits: how often a visitor and an address may ask, and what each question costs of that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cachetools import LRUCache
from starlette.datastructures import Headers
from starlette.types import Scope

from components.admission import MAX_CLIENTS
from components.analyses.registry import Cost, analyses

MINUTE = 60.0  # seconds


@dataclass(frozen=True)
class Rates:
    """Questions in a minute: of one visitor, and of all visitors with one address.

    A page in a browser is a visitor; programs are one for each address. ``trusts_local``: addresses outside
    of the internet have no rate of their own, since they are the room in which the app is shown.
    ``proxies``: who is believed when they name the one that they were called from.
    """

    visitor: int
    address: int
    trusts_local: bool = False
    proxies: Sequence[IPv4Network | IPv6Network] = ()


class RateLimiter:
    """A token bucket for each client: ``per_minute`` may be spent at once, and as much in every minute after.

    At most ``max_clients`` are remembered; who was not seen for longest is forgotten first. (The library
    ``limits`` keeps every client in memory, and does not say when there is enough for a price.)
    """

    def __init__(self, per_minute: float, max_clients: int = MAX_CLIENTS) -> None:
        self._per_minute = per_minute
        self._full_at: LRUCache[str, float] = LRUCache(max_clients)  # when a client's bucket is full again

    def retry_after(self, client: str, cost: float, now: float) -> int:
        """Spend ``cost`` at the time ``now``, in seconds: gives 0, or in how many seconds there is enough."""
        full_at = max(self._full_at.get(client, now), now)
        after = full_at + cost * MINUTE / self._per_minute
        missing = math.ceil(after - now - MINUTE - 1e-6)  # a rounding error is no debt
        self._full_at[client] = full_at if missing > 0 else after
        return max(missing, 0)


def client_address(scope: Scope, proxies: Sequence[IPv4Network | IPv6Network]) -> str:
    """Find who sent a request, as a network: its peer, or the one whom that names, if it is of ``proxies``.

    Every proxy appends the address that it was called from to X-Forwarded-For, so the last one in it that is
    no proxy is one that nobody can make up. Addresses of IPv6 count by their /48: one visitor may have all.
    """
    peer: str = (scope.get("client") or ("",))[0]
    forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
    last = _address(peer)
    if last is None:
        return peer
    for given in reversed(forwarded.split(",")):
        before = _address(given.strip())
        if before is None or not any(last in network for network in proxies):
            break
        last = before
    return str(ip_network((last, 48 if last.version == 6 else 32), strict=False))


def is_local(address: str) -> bool:
    """Tell whether a `client_address` is none of the internet."""
    try:
        return not ip_network(address).is_global
    except ValueError:  # a socket without an address
        return True


def _address(given: str) -> IPv4Address | IPv6Address | None:
    """Read an address, of version 4 also where it is written as one of version 6; None if it is none."""
    try:
        known = ip_address(given.partition("%")[0])
    except ValueError:
        return None
    return getattr(known, "ipv4_mapped", None) or known


QUESTION = 10  # what a question costs, in a client's rate
OTHER = 2  # what any other POST costs: those redraw or cancel
CELLS = 4  # combinations of a comparison that take as long as a question (0.14 to 0.34 of one each, measured)
EVERY = 15  # what an empty list in a question stands for, about: everything that there is
CHARACTERS = 5_000  # so many more take as long again, about


Price = Callable[[Iterable[object]], float]  # of what a question is asked with, in a client's rate


def price(name: str, values: Iterable[object]) -> float:
    """Compute what it costs to ask a function with these ``values``."""
    return PRICES.get(name, _price_of_any)(values)


def _price_of_any(values: Iterable[object]) -> float:
    """Compute a price that grows with texts, and with combinations of lists."""
    characters, cells = _extent(values)
    return QUESTION * max(1.0, cells / CELLS) * (1 + characters // CHARACTERS)


def _price_of(cost: Cost) -> Price:
    """Make the price of an analysis, whose ``cost`` the registry knows."""

    def of(values: Iterable[object]) -> float:
        given = list(values)
        characters, _ = _extent(given)
        by_length = cost.several or cost.characters < math.inf  # a vector's is no text's
        more = 1 if by_length else 1 + characters // CHARACTERS
        return QUESTION * cost.of(characters, max(1, *map(_texts, given))) * more

    return of


def _price_by_length(characters: int) -> Price:
    """Make a price of a question for every so many ``characters``, and of one at least."""
    return lambda values: QUESTION * max(1.0, _extent(values)[0] / characters)


def _texts(value: object) -> int:
    """Count the texts that stand beside vectors in what was pasted, at most."""
    if isinstance(value, str):
        return value.count('"text"')
    if isinstance(value, dict):  # one of them, or of MCP
        return max(1, *map(_texts, value.values()))
    return sum(isinstance(one, dict) for one in value) if isinstance(value, list) else 1


def _extent(values: Iterable[object]) -> tuple[int, int]:
    """Count the characters of all texts, and the combinations of all lists."""
    texts, cells, unseen = 0, 1, list(values)
    while unseen:
        value = unseen.pop()
        if isinstance(value, list):
            cells *= len(value) or EVERY
        elif isinstance(value, str):
            texts += len(value)
        elif isinstance(value, dict):  # of MCP
            unseen.extend(value.values())
    return texts, cells


PRICES: Mapping[str, Price] = {  # by the name of a function; others: `_price_of_any`
    **{name: _price_of(kind.cost) for name, kind in analyses().items()},
    "detect_vector": _price_of(analyses()["detect"].cost),
    "fit": _price_by_length(50),
    "fit_table": _price_by_length(50),
    "read_table": _price_by_length(100_000),
    "trace_versions": _price_of(analyses()["trace"].cost),
}
