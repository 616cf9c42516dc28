"""What gradio does not promise of its queue: whose event begins next, how many may wait, who listens.

Any release of gradio may change it; tests/ui/test_gradio_queue.py checks it.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from typing import Any

from gradio.block_function import BlockFunction
from gradio.exceptions import Error
from gradio.queueing import Event, EventQueue, Queue
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import error_payload
from starlette.datastructures import Headers
from starlette.requests import Request

from components.fairness import FairTurns, Waiting, share
from components.ui.public.locale import request_texts
from components.ui.public.rate_limit import ADDRESS

EACH = 16  # events of one visitor that may wait: a page asks for a few at once, where a link is followed
UNREAD = 8  # messages that a visitor has not read, before nothing more is begun for them
UNHEARD = 30.0  # seconds that an event waits for somebody to listen
MOMENT = 0.05  # seconds
JOINED = "/queue/join"  # where a page asks; programs ask elsewhere


class VisitorsQueue(Queue):
    """Gradio's queue, in which events of one visitor never overtake each other, and visitors take turns.

    What a visitor asks depends on what is shown to them: the next event of a line (a concurrency id) begins
    when the one before has filled the page. Others are let past meanwhile. Of one visitor EACH events
    may wait, and of one address half of what the queue holds. An event begins when somebody listens to what
    comes of it; answers that nobody hears would stay in memory. ``heard``: how many listen, by the visitor or
    by the event. Of what a line may have at work, one address has half at most.
    """

    turns: FairTurns
    again: float  # when to look anew for an event that may begin, on the monotonic clock
    heard: Counter[str]
    joined: dict[str, float]  # event -> when it came, of those that wait
    closing: dict[str, asyncio.Event]  # visitor whose page is told to close its stream -> when it has

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """The next event that may begin, if there is any; it leaves its line.

        Gradio asks a thousand times a second as long as any waits: what has just been looked for in vain is
        not looked for before something has changed, or a moment has passed.
        """
        if time.monotonic() < self.again:
            return None
        at_work = [event for job in self.active_jobs for event in job or ()]
        lines = list(self.event_queue_per_concurrency_id.values())
        for line in random.sample(lines, len(lines)):
            if line.concurrency_limit is None or line.current_concurrency < line.concurrency_limit:
                event = self.turns.take(self._free(line, at_work))
                if event is not None:
                    line.queue.remove(event)
                    return [event], False, line.concurrency_id
        self.again = time.monotonic() + MOMENT
        return None

    def _free(self, line: EventQueue, at_work: list[Event]) -> list[Waiting[Event]]:
        """What of a line may begin: of visitors who have nothing of it at work, and listen."""
        own = [event for event in at_work if event.concurrency_id == line.concurrency_id]
        busy = {event.session_hash for event in own}
        near = Counter(_address(event.request) for event in own)
        most = share(line.concurrency_limit or self.max_thread_count)
        return [
            _waiting(event)
            for event in line.queue
            if event.session_hash not in busy
            and near[_address(event.request)] < most
            and self._is_heard(event)
        ]

    async def push(self, body: Any, request: Request, username: str | None) -> Any:
        """Let an event wait, or say that the queue is full for the one who asks.

        A visitor whose page is told to close its stream is answered once it has: told sooner, the page would
        take the stream that is about to close for one that brings this answer, and open no other.
        """
        while closing := self.closing.get(body.session_hash):
            await closing.wait()
        await self._forget_unheard()
        waiting = [event for line in self.event_queue_per_concurrency_id.values() for event in line.queue]
        own = sum(event.session_hash == body.session_hash for event in waiting)
        address = _address(request)
        near = sum(_address(event.request) == address for event in waiting)
        if own >= EACH or near >= max((self.max_size or 0) // 2, 1):
            return False, "this visitor or this address has enough events waiting", "queue_full"
        success, event, state = await super().push(body, request, username)
        if success:
            self.joined[str(event)] = time.monotonic()
            self.again = 0.0
        return success, event, state

    async def process_events(
        self, events: list[Event], batch: bool, begin_time: float, fn: BlockFunction
    ) -> None:
        """Answer an event; where its work is cancelled, its owner reads so."""
        try:
            await super().process_events(events, batch, begin_time, fn)
        except asyncio.CancelledError:
            self._tell_cancelled(events)
            raise
        finally:
            self.again = 0.0

    async def remove_from_queue(self, event_id: str) -> None:
        """Take an event out of its line, and say so to its owner."""
        event = self.event_ids_to_events.get(event_id)
        await super().remove_from_queue(event_id)
        if event is not None and event_id not in self.event_ids_to_events:
            self._tell_cancelled([event])

    def quiet(self) -> bool:
        """Whether nobody who listens still waits for anything."""
        pending = list(self.pending_event_ids_session.items())
        return not any(ids and (session in self.heard or ids & self.heard.keys()) for session, ids in pending)

    def _tell_cancelled(self, events: list[Event]) -> None:
        """A program reads a sentence; a page has cancelled by itself, and shows its own."""
        for event in events:
            if not event.request.url.path.endswith(JOINED):
                say = request_texts(Headers(scope=event.request.scope))
                told = error_payload(Error(say("refusal.cancelled"), print_exception=False), False)
                self.send_message(event, ProcessCompletedMessage(output=told, success=False))

    def listens(self, one: str) -> None:
        """Note that a visitor, or who asked one event, reads a stream of answers."""
        self.heard[one] += 1
        self.again = 0.0

    def listens_no_more(self, one: str) -> None:
        """Note that nothing more is sent into a stream that they have read."""
        self.heard[one] -= 1
        if not self.heard[one]:
            del self.heard[one]

    def closes(self, visitor: str) -> None:
        """Note that a visitor's page is told to close its stream."""
        self.closing.setdefault(visitor, asyncio.Event())
        self.listens_no_more(visitor)

    def closed(self, one: str) -> None:
        """Note that a stream is closed; what nobody has read of a visitor who has no other is dropped."""
        if one not in self.heard:
            self._forget(one)
        if closing := self.closing.pop(one, None):
            closing.set()

    def _forget(self, session: str) -> None:
        """Drop what a visitor has not read, unless something of theirs is still to be answered."""
        begun = (event for job in self.active_jobs for event in job or ())
        waiting = (event for line in self.event_queue_per_concurrency_id.values() for event in line.queue)
        if not any(event.session_hash == session and event.alive for event in (*begun, *waiting)):
            self.pending_messages_per_session.pop(session, None)
            self.pending_event_ids_session.pop(session, None)

    def broadcast_estimations(self, concurrency_id: str, after: int | None = None) -> None:
        """Tell those who wait their place: that in which they will be served, not that in which they came."""
        if after is None:
            queue = self.event_queue_per_concurrency_id[concurrency_id].queue
            queue[:] = [one.what for one in self.turns.order([_waiting(event) for event in queue])]
        super().broadcast_estimations(concurrency_id, after)

    def _is_heard(self, event: Event) -> bool:
        """Whether somebody reads what comes of an event, and has read nearly all that has come before."""
        unread = self.pending_messages_per_session.get(event.session_hash)
        behind = unread is not None and unread.qsize() > UNREAD
        return (self.heard[event.session_hash] > 0 or self.heard[event._id] > 0) and not behind

    async def _forget_unheard(self) -> None:
        """Drop what was asked a while ago by somebody who does not listen."""
        waiting = {e._id: e for line in self.event_queue_per_concurrency_id.values() for e in line.queue}
        now = time.monotonic()
        self.joined = {one: at for one, at in self.joined.items() if one in waiting}
        ago = now - UNHEARD
        for key, event in waiting.items():
            if self.joined.get(key, ago) < ago and not self._is_heard(event):
                await self.clean_events(event_id=key)
                ids = self.pending_event_ids_session.get(event.session_hash, set())
                ids.discard(key)
                if not ids and not self.heard[event.session_hash]:
                    self.pending_event_ids_session.pop(event.session_hash, None)
                    self.pending_messages_per_session.pop(event.session_hash, None)


def keep_fair(queue: Queue) -> None:
    """Make ``queue``, which gradio has made, a `VisitorsQueue` that keeps no statistics."""
    forget_statistics(queue)
    queue.__class__ = VisitorsQueue
    own = {
        "turns": FairTurns(),
        "heard": Counter(),
        "joined": {},
        "closing": {},
        "again": 0.0,
    }
    vars(queue).update(own)  # of its class


def wait_until_quiet(queue: Queue, seconds: float) -> None:
    """Return when everybody who listens has been told what they wait for, or after so many ``seconds``.

    Called from another thread than the queue's.
    """
    until = time.monotonic() + seconds
    while not queue.quiet() and time.monotonic() < until:  # type: ignore[attr-defined]  # its class
        time.sleep(0.02)  # nobody tells when a message has been sent


def _waiting(event: Event) -> Waiting[Event]:
    """An event, and of whom."""
    return Waiting(event, _address(event.request), event.session_hash)


def _address(request: Request) -> str:
    """Who sent it, as the guard has noted; one name for all where there is no guard."""
    return str(request.scope.get(ADDRESS, ""))


def forget_statistics(queue: Queue) -> None:
    """Let ``queue`` keep no account of the last 10,000 events: it makes a DataFrame of them after each one.

    They are for a monitoring page, which is closed here.
    """
    queue.ANALYTICS_MAX_EVENTS = 1
    queue.ANAYLTICS_CACHE_FREQUENCY = sys.maxsize
