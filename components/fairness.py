"""Fairness: whose turn it is, of all addresses and of the visitors of each."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

MAX_CLIENTS = 10_000  # who are remembered: a flood of addresses must not fill the memory
Waiting_co = TypeVar("Waiting_co", covariant=True)
Noted = TypeVar("Noted")


@dataclass(frozen=True)
class Waiting(Generic[Waiting_co]):
    """Something that waits, and of whom: a visitor at an address."""

    what: Waiting_co
    address: str
    visitor: str


class FairTurns:
    """Round robin: addresses take turns, so do the visitors of each, and each visitor's questions keep order.

    Who asks a hundred times waits behind who asks once, and a thousand made-up visitors of one address behind
    one of another. Who was served longest ago is forgotten first.
    """

    def __init__(self, remembered: int = MAX_CLIENTS) -> None:
        self._remembered = remembered
        self._addresses: OrderedDict[str, int] = OrderedDict()  # address -> when it was last served
        self._visitors: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._now = 0

    def take(self, waiting: Iterable[Waiting[Waiting_co]]) -> Waiting_co | None:
        """The one whose turn it is, of those who wait in this order; None where nobody does."""
        chosen = min(waiting, key=self._served, default=None)
        if chosen is None:
            return None
        self._now += 1
        self._note(self._addresses, chosen.address)
        self._note(self._visitors, (chosen.address, chosen.visitor))
        return chosen.what

    def order(self, waiting: Sequence[Waiting[Waiting_co]]) -> list[Waiting[Waiting_co]]:
        """All who wait, in the order in which they are taken where nobody else comes; takes none of them."""
        own: dict[str, dict[str, deque[int]]] = {}  # address -> visitor -> places in ``waiting``
        for place, one in enumerate(waiting):
            own.setdefault(one.address, {}).setdefault(one.visitor, deque()).append(place)
        heaps = {
            address: [(self._served(waiting[mine[0]])[1], mine[0], who) for who, mine in visitors.items()]
            for address, visitors in own.items()
        }
        for heap in heaps.values():
            heapify(heap)
        addresses = [(self._addresses.get(one, 0), *heap[0][:2], one) for one, heap in heaps.items()]
        heapify(addresses)
        order = []
        for now in range(self._now + 1, self._now + 1 + len(waiting)):
            address = heappop(addresses)[-1]
            heap = heaps[address]
            places = own[address][who := heappop(heap)[-1]]
            order.append(waiting[places.popleft()])
            if places:
                heappush(heap, (now, places[0], who))
            if heap:
                heappush(addresses, (now, *heap[0][:2], address))
        return order

    def _served(self, one: Waiting[object]) -> tuple[int, int]:
        """When its address was last served, and when its visitor was; the first of equals is chosen."""
        return self._addresses.get(one.address, 0), self._visitors.get((one.address, one.visitor), 0)

    def _note(self, served: OrderedDict[Noted, int], who: Noted) -> None:
        served[who] = self._now
        served.move_to_end(who)
        if len(served) > self._remembered:
            served.popitem(last=False)


def share(limit: int) -> int:
    """How many of ``limit`` places one address may have: there is always one for others."""
    return max(1, limit // 2)


class FullError(Exception):
    """As many wait as may."""


class Places:
    """So many at work at once, and ``waiting`` more who wait; of one address half of each at most.

    Who waits goes by `FairTurns`.
    """

    def __init__(self, limit: int, waiting: int) -> None:
        self._free, self._share = limit, share(limit)
        self._most = limit + waiting
        self._held: Counter[str] = Counter()  # by address
        self.there: Counter[str] = Counter()  # those who wait, too
        self._waiting: list[Waiting[asyncio.Future[None]]] = []
        self._turns = FairTurns()

    @asynccontextmanager
    async def place(self, address: str, visitor: str) -> AsyncIterator[Callable[[], None]]:
        """Within, a visitor at an address has a place.

        What it gives says that the work is done: somebody else may begin, while the address has less of its
        share until the end. FullError where too many are there.
        """
        if self.there.total() >= self._most or self.there[address] >= share(self._most):
            raise FullError
        self.there[address] += 1
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(granted, address, visitor))
        self._grant()
        resting = False

        def rest() -> None:
            nonlocal resting
            resting = True
            self._free += 1
            self._grant()

        try:
            await granted
            yield rest
        finally:
            if granted.done() and not granted.cancelled():
                self._free += not resting
                self._held[address] -= 1
            self.there[address] -= 1
            self._held += Counter()  # forgets those who have none
            self.there += Counter()
            self._grant()

    def _grant(self) -> None:
        """Give places to who may have one."""
        while self._free:
            self._waiting = [one for one in self._waiting if not one.what.done()]
            may = {one.what: one for one in self._waiting if self._held[one.address] < self._share}
            granted = self._turns.take(may.values())
            if granted is None:
                return
            self._free -= 1
            self._held[may[granted].address] += 1
            granted.set_result(None)
