"""Admission: how many may be at work at once, how many may wait, and whose turn it is."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cachetools import FIFOCache, LRUCache

MAX_CLIENTS = 10_000  # who are remembered: a flood of addresses must not fill the memory
WAITING_BYTES = 32_000_000  # of what waits: half of it one address's
EACH = 16  # tickets of one visitor that may wait: a page asks for a few at once, where a link is followed


class FullError(Exception):
    """As many wait as may, of all or of this address."""


class ClosedError(Exception):
    """Nobody is admitted any more."""


@dataclass(eq=False)
class Ticket:
    """A wait for a place in a ``line``, by a visitor at an address.

    ``ready``: it may be granted. ``last``: it waits until nobody else does. ``granted`` is done as soon as
    there is a place, or holds ClosedError; it is cancelled if the ticket was left before.
    """

    address: str = ""
    visitor: str = ""
    line: str = ""
    ready: bool = True
    last: bool = False
    size: int = 0  # in bytes, of what is asked
    granted: Future[None] = field(default_factory=Future)
    holds: bool = False  # a place


class Admission:
    """Has ``places`` in lines, and lets ``waiting`` tickets wait in all. Several threads may use it.

    Addresses take turns, so do the visitors of each, and each visitor's tickets keep their order: who asks a
    hundred times waits behind who asks once. Of those who wait, and of WAITING_BYTES, one address has half at
    most, and a visitor with a name EACH. Of the places of a line, one address has ``share`` at most, which
    is half of those that it begins with; more where no other has come for ``alone`` seconds.
    """

    def __init__(
        self, places: Mapping[str, int], waiting: int | None, alone: float | None = None, share: int = 0
    ) -> None:
        self._waits, self._alone, self._free = waiting, alone, dict(places)
        self._shares = {line: share or half(most) for line, most in places.items()}
        self._lock = threading.Condition()  # told when somebody leaves
        self._waiting: list[Ticket] = []
        self._held: Counter[tuple[str, str]] = Counter()  # places, by line and address
        self._served: LRUCache[tuple[str, ...], int] = LRUCache(2 * MAX_CLIENTS)  # when, by whom
        self._latest: FIFOCache[str, float] = FIFOCache(2)  # the two addresses that came last -> when
        self._turn = 0
        self._closed = False

    def enter(self, ticket: Ticket) -> None:
        """Grant a ticket or let it wait; FullError or ClosedError where it may not."""
        with self._lock:
            if self._closed:
                raise ClosedError
            self._latest[ticket.address] = time.monotonic()
            self._waiting.append(ticket)
            self._grant()
            if not ticket.holds and self._is_too_many(ticket):
                self._waiting.remove(ticket)
                raise FullError

    def leave(self, ticket: Ticket, returns: bool = True) -> None:
        """Let a ticket go, as often as one likes; where it ``returns`` its place, that is free again."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                ticket.granted.cancel()
            elif ticket.holds:
                ticket.holds = False
                self._free[ticket.line] += 1 if returns else 0
                self._held[ticket.line, ticket.address] -= 1
                self._held = +self._held  # without those who have none
                self._lock.notify_all()
            self._grant()

    def add(self, line: str = "") -> None:
        """Note that a line has a place more."""
        with self._lock:
            self._free[line] += 1
            self._grant()

    def close(self, seconds: float) -> None:
        """Admit nobody more, tell who waits, and return when all have left, after ``seconds`` at most."""
        with self._lock:
            self._closed = True
            for ticket in self._waiting:
                if not ticket.granted.done():
                    ticket.granted.set_exception(ClosedError())
            self._waiting.clear()
            self._lock.wait_for(lambda: not self._held.total(), seconds)

    @asynccontextmanager
    async def place(self, ticket: Ticket) -> AsyncIterator[Callable[[], None]]:
        """Hold the place of a ticket that was entered; what it gives lets another address have it already."""
        returned = False

        def give_back() -> None:
            nonlocal returned
            if not returned:
                returned = True
                self.add(ticket.line)

        try:
            with self._lock:
                ticket.ready = True
                self._grant()
            await asyncio.wrap_future(ticket.granted)
            yield give_back
        finally:
            self.leave(ticket, returns=not returned)

    def _grant(self) -> None:
        while True:
            ticket = min(filter(self._may, self._waiting), key=self._order, default=None)
            if ticket is None:
                return
            self._waiting.remove(ticket)
            if not ticket.granted.set_running_or_notify_cancel():
                continue
            self._turn += 1
            for who in ((ticket.address,), (ticket.address, ticket.visitor)):
                self._served[who] = self._turn
            self._free[ticket.line] -= 1
            self._held[ticket.line, ticket.address] += 1
            ticket.holds = True
            ticket.granted.set_result(None)

    def _order(self, ticket: Ticket) -> tuple[bool, int, int]:
        """Order by when the address was last served, then by when the visitor was."""
        address = self._served.get((ticket.address,), 0)
        return ticket.last, address, self._served.get((ticket.address, ticket.visitor), 0)

    def _may(self, ticket: Ticket) -> bool:
        if not ticket.ready or self._free[ticket.line] <= 0:
            return False
        if self._held[ticket.line, ticket.address] < self._shares[ticket.line]:
            return True
        if self._alone is None:
            return False
        ago = time.monotonic() - self._alone
        return not any(came > ago for other, came in self._latest.items() if other != ticket.address)

    def _is_too_many(self, ticket: Ticket) -> bool:
        if self._waits is None:
            return False
        near = [one for one in self._waiting if one.address == ticket.address]
        own = sum(one.visitor == ticket.visitor for one in near) if ticket.visitor else 0
        size, all_ = sum(one.size for one in near), sum(one.size for one in self._waiting)
        heavy = all_ > WAITING_BYTES or size > half(WAITING_BYTES)
        return heavy or len(self._waiting) > self._waits or len(near) > half(self._waits) or own > EACH


def half(limit: int) -> int:
    """Compute how many of ``limit`` places one address may have: there is always one for others."""
    return max(1, limit // 2)
